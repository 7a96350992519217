"""What is measured against the peers: a robot, tasks that a peer can be given too, and a recorded motion.

One level of soft tasks, contacts and torque limits, since that is what the peers have. The Gauss cost stays in as the
regularisation that the peers have too: tasks weigh ``HEAVY`` times as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from wbc.benchmarks.tick_motion import Motion, Reference, Sway, sway
from wbc.checks import Array
from wbc.controller import Controller
from wbc.errors import UnknownNameError
from wbc.robot import Robot
from wbc.robots import load
from wbc.rows import Gains
from wbc.stack import Stack
from wbc.state import State
from wbc.tasks import ComTask, OrientationTask, PoseTask, PostureTask, TorqueLimits

Kind = Literal["pose", "orientation", "com", "posture"]
Case = Literal["idle", "active"]

DT = 0.001  # s
HEAVY = 1e7  # of every task's weight: what is left of the Gauss cost bends accelerations by 1e-5 m/s² or less
FRICTION = 0.9
KP, KP_POSTURE, KP_CONTACT = 100.0, 25.0, 100.0  # 1/s², critically damped
SETTLING = 100  # ticks before the record begins
STEP = 0.03  # of the share on torque limits
HELD = 1e-6  # m/s², rad/s²: a contact whose rows miss no more than this holds
ROOM = 1.1  # a limit of the hard run is at least this times what standing still takes


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """One soft task: ``kind`` of the error, the ``frame`` that it is about, and its weight."""

    name: str
    kind: Kind
    weight: float
    frame: str = ""

    @property
    def kp(self) -> float:
        """Stiffness [1/s²]; damping is critical."""
        return KP_POSTURE if self.kind == "posture" else KP


@dataclass(frozen=True, slots=True)
class _Plan:
    """A robot's tasks, and how its hard run differs from the gentle one."""

    tasks: tuple[TaskSpec, ...]
    contacts: tuple[str, ...]
    hard: Sway
    share: float  # of the hard run's largest torques: the tightest limits that are tried


_LEGGED = ("front_left_foot", "front_right_foot", "rear_left_foot", "rear_right_foot")


_GENTLE = Sway(point=0.02, com=0.005, joint=0.03, pace=0.3)


def _arm(frame: str, contacts: tuple[str, ...] = ()) -> _Plan:
    tasks = (TaskSpec("hand", "pose", 10.0, frame), TaskSpec("posture", "posture", 1.0))
    return _Plan(tasks, contacts, Sway(point=0.12, com=0.0, joint=0.5, pace=1.3), share=0.7)


def _quadruped(size: float) -> _Plan:
    tasks = (TaskSpec("base", "pose", 10.0, "base"), TaskSpec("posture", "posture", 1.0))
    return _Plan(tasks, _LEGGED, Sway(point=size, com=0.0, joint=0.3, pace=1.0), share=0.6)


def _humanoid(torso: str, hand: str, size: float) -> _Plan:
    tasks = (
        TaskSpec("com", "com", 100.0),
        TaskSpec("torso", "orientation", 10.0, torso),
        TaskSpec("hand", "pose", 10.0, hand),
        TaskSpec("posture", "posture", 1.0),
    )
    return _Plan(
        tasks, ("left_foot", "right_foot"), Sway(point=2 * size, com=0.5 * size, joint=0.3, pace=1.0), share=0.5
    )


_PLANS = {
    "panda": _arm("panda_hand_tcp"),
    "tiago": _arm("hand_grasping_frame", ("wheels",)),
    "anymal_c": _quadruped(0.04),
    "talos": _humanoid("torso_2_link", "wrist_right_ft_tool_link", 0.02),
    "g1": _humanoid("torso_link", "right_rubber_hand", 0.015),
    "go2": _quadruped(0.025),
}
ROBOTS = tuple(_PLANS)


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """One robot and case, recorded.

    Attributes:
        robot: with the torque limits of the case.
        case: ``"idle"`` (the robot's own limits, none of them active) or ``"active"``.
        tasks, contacts: what a stack of it holds.
        states: consecutive states, ``DT`` apart.
        references: what the tasks are to follow at each of them.
    """

    robot: Robot
    case: Case
    tasks: tuple[TaskSpec, ...]
    contacts: tuple[str, ...]
    states: tuple[State, ...]
    references: tuple[Reference, ...]

    def controller(self, method: str = "auto", **arguments: Any) -> Controller:
        """A controller of this scene; ``"closed_form"`` without limits and cones, for which it has no room."""
        chosen: Any = method
        return Controller(
            self.robot,
            _stack(self.robot, self.tasks, self.contacts, limited=method != "closed_form"),
            dt=DT,
            method=chosen,
            **arguments,
        )


def scene(name: str, case: Case, ticks: int) -> Scene:
    """Record a robot that follows smooth references, in a plant that does exactly what is commanded.

    In the case ``"active"`` references are faster and larger, and the torque limits are a share of the largest torques
    that each joint takes in this run without them, never below what standing still takes. Legs get as much more as it
    takes for contacts to hold on every tick, because peers know no answer where they do not.

    Raises:
        UnknownNameError: there is no such scene.
        NotInstalledError: the robot's description is not installed.
    """
    if name not in _PLANS:
        raise UnknownNameError(f"there is no benchmark scene {name!r}; there are {', '.join(_PLANS)}")
    plan, robot = _PLANS[name], load(name)
    motion = sway(
        robot, [(task.name, task.kind, task.frame) for task in plan.tasks], plan.hard if case == "active" else _GENTLE
    )
    record = _record(_unlimited(robot) if case == "active" else robot, plan, motion, ticks)
    made = Scene(robot, case, plan.tasks, plan.contacts, record.states, record.references)
    return made if case == "idle" else _tightened(made, record.torques, plan.share)


def _tightened(hard: Scene, most: Array, share: float) -> Scene:
    """The scene with ``share`` of ``most`` as its torque limits, of legs as much more as it takes for contacts to hold.

    A joint that moves no contact can always have less: the contacts never need it.
    """
    floor, legs = ROOM * _still(hard), _carrying(hard)
    for more in np.arange(share, 1.0 + STEP, STEP):
        limits = np.maximum(np.where(legs, more, share) * most, floor)
        made = replace(hard, robot=replace(hard.robot, torque_limits=limits))
        if _contacts_hold(made):
            return made
    return hard


def _carrying(made: Scene) -> NDArray[np.bool_]:
    """Which joints (nu,) move a contact."""
    controller = made.controller()
    problem = controller.tick(made.states[0]).report.problem
    return np.abs(problem.J[:, made.robot.actuated]).max(axis=0, initial=0.0) > 0.0


def _contacts_hold(made: Scene) -> bool:
    controller = made.controller()
    for state, reference in zip(made.states, made.references, strict=True):
        follow(controller.stack, made.tasks, reference)
        command = controller.tick(state)
        problem = command.report.problem
        n = problem.layout.nf
        if np.abs(problem.A[:n] @ command.acceleration + problem.b[:n]).max(initial=0.0) > HELD:
            return False
    return True


@dataclass(frozen=True, slots=True, eq=False)
class _Record:
    states: tuple[State, ...]
    references: tuple[Reference, ...]
    torques: Array  # (nu,) the largest of each joint


def _record(robot: Robot, plan: _Plan, motion: Motion, ticks: int) -> _Record:
    """The states of a run, from home at rest, in which the commanded acceleration is what happens."""
    controller = Controller(robot, _stack(robot, plan.tasks, plan.contacts, limited=True), dt=DT)
    q, v = np.array(robot.home), np.zeros(robot.nv)
    states, references, torques = [], [], []
    for i in range(SETTLING + ticks):
        state, reference = State(q, v), motion(i * DT)
        follow(controller.stack, plan.tasks, reference)
        command = controller.tick(state)
        if i >= SETTLING:
            states.append(state)
            references.append(reference)
            torques.append(np.abs(command.torque))
        q = pin.integrate(robot.model, q, v * DT + command.acceleration * (0.5 * DT**2))
        q = pin.normalize(robot.model, q)
        v = v + command.acceleration * DT
    return _Record(tuple(states), tuple(references), np.max(torques, axis=0))


def _still(made: Scene) -> Array:
    """|τ| (nu,) of standing still at home."""
    controller = made.controller()
    torque: Array = np.abs(controller.tick(State(made.robot.home, np.zeros(made.robot.nv))).torque)
    return torque


def _unlimited(robot: Robot) -> Robot:
    return replace(robot, torque_limits=np.full(robot.nu, np.inf))


def _stack(robot: Robot, tasks: Sequence[TaskSpec], contacts: Sequence[str], *, limited: bool) -> Stack:
    standing = bool(robot.feet)
    return Stack(
        contacts=[robot.contact(name, friction=FRICTION if limited else None) for name in contacts]
        if standing
        else [robot.contact(name) for name in contacts],
        limits=[TorqueLimits()] if limited else [],
        soft=[(_task(robot, task), HEAVY * task.weight) for task in tasks],
    )


def _task(robot: Robot, spec: TaskSpec) -> Any:
    gains = Gains.critical(spec.kp)
    if spec.kind == "pose":
        return PoseTask(spec.name, frame=spec.frame, gains=gains)
    if spec.kind == "orientation":
        return OrientationTask(spec.name, frame=spec.frame, gains=gains)
    if spec.kind == "com":
        return ComTask(spec.name, gains=gains)
    mask = np.zeros(robot.nv)
    mask[robot.actuated] = 1.0
    return PostureTask(spec.name, target=robot.home, gains=gains, mask=mask)


def follow(stack: Stack, tasks: Sequence[TaskSpec], reference: Reference) -> None:
    """Give the tasks of a stack the references of one tick."""
    for spec in tasks:
        task, goal = stack[spec.name], reference[spec.name]
        if spec.kind == "pose":
            task.target = pin.SE3(goal.rotation, goal.position)
            task.target_velocity = np.concatenate((goal.velocity, np.zeros(3)))
            task.target_acceleration = np.concatenate((goal.acceleration, np.zeros(3)))
        elif spec.kind == "orientation":
            task.target = goal.rotation
        elif spec.kind == "com":
            task.target, task.target_velocity = goal.position, goal.velocity
            task.target_acceleration = goal.acceleration
        else:
            task.target, task.target_velocity = goal.position, goal.velocity
