"""Scenes of the soak: a robot with a full stack, and everything that can happen to it."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from wbc.checks import Array
from wbc.controller import Controller
from wbc.errors import RobotWarning
from wbc.robot import Robot
from wbc.robots import load
from wbc.scenarios import legged
from wbc.stack import Stack
from wbc.state import State
from wbc.tasks import JointLimits, PoseTask, PositionTask, PostureTask, TorqueLimits, UprightTask

DT = 0.001  # s
FARTHEST = (0.001, 0.01, 0.3, 30.0)  # m: how far a target may jump; the last cannot be reached
FASTEST = (0.0, 0.1, 0.5, 1.0, 1.5)  # of the velocity limits
WEAKEST = (1.0, 1.0, 0.5, 0.1)  # of the torque limits: at a tenth few robots can hold themselves
RAMPS = (0.0, 0.005, 0.03)  # s
LONGEST = 40  # ticks of an episode, which begins with a jump to another state
JUMP, TOGGLE, RESET = 0.1, 0.06, 0.7  # how often a target jumps and a part is switched at a tick; a reset at a jump
OUTSIDE = 0.2  # rad, m: how far a joint may be beyond its limit
UNLIMITED = 1.0  # rad/s, m/s: counts as the speed limit of a coordinate that has none

Random = np.random.Generator


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A robot, its controller, the tasks on points and poses whose targets jump, and the parts that come and go."""

    robot: Robot
    controller: Controller
    jumping: tuple[str, ...]
    switched: tuple[str, ...]


def arm(name: str, hand: str, elbow: str) -> Scene:
    """A strict pose of the hand above the elbow's height, above a posture."""
    robot = _quiet(name)
    stack = Stack(
        nominal=PostureTask("posture", target=robot.home),
        limits=[TorqueLimits(), JointLimits()],
        strict=[[PoseTask("hand", frame=hand)], [PositionTask("elbow", frame=elbow, mask=(0, 0, 1))]],
        soft=[(PositionTask("beside", frame=elbow, mask=(1, 1, 0)), 2.0)],
    )
    return _scene(robot, stack, ("hand", "elbow", "beside"), ("hand", "elbow", "beside", "posture", "joint"))


def mobile(name: str, hand: str, wheels: str) -> Scene:
    """The hand strict above its own uprightness, on wheels that do not slide."""
    robot = _quiet(name)
    stack = Stack(
        contacts=[robot.contact(wheels)],
        limits=[TorqueLimits(), JointLimits()],
        strict=[[PositionTask("hand", frame=hand)], [UprightTask("level", frame=hand, axis=(0, 0, 1))]],
        soft=[(PostureTask("posture", target=robot.home), 30.0)],
    )
    return _scene(robot, stack, ("hand",), ("hand", "level", "posture", "joint", wheels))


def standing(name: str, limb: str, lever: str) -> Scene:
    """A limb strict, and another point below it, on feet with cones."""
    robot = _quiet(name)
    strict = [[PositionTask("limb", frame=limb)], [PositionTask("lever", frame=lever, mask=(0, 0, 1))]]
    stack = legged.stand(robot, strict=strict)
    return _scene(robot, stack, ("limb", "lever", "com"), ("limb", "lever", "com", "trunk", "joint", *robot.feet))


SCENES: dict[str, Callable[[], Scene]] = {
    "panda": lambda: arm("panda", "panda_hand_tcp", "panda_link4"),
    "ur5": lambda: arm("ur5", "tool0", "forearm_link"),
    "tiago": lambda: mobile("tiago", "hand_grasping_frame", "wheels"),
    "talos": lambda: standing("talos", "gripper_right_base_link", "torso_2_link"),
    "g1": lambda: standing("g1", "right_wrist_yaw_link", "torso_link"),
    "anymal_c": lambda: standing("anymal_c", "LF_FOOT", "base"),
}


def happen(scene: Scene, state: State, random: Random, present: dict[str, bool]) -> None:
    """What may happen before a tick: a target jumps, a part comes or goes."""
    stack: Any = scene.controller.stack
    if random.random() < JUMP:
        task = stack[scene.jumping[random.integers(len(scene.jumping))]]
        direction = random.normal(size=3)
        here = _place(scene.robot, task, state)
        here.translation = here.translation + direction / np.linalg.norm(direction) * random.choice(FARTHEST)
        if isinstance(task, PoseTask):
            here.rotation = here.rotation @ pin.exp3(random.normal(size=3) * random.choice((0.01, 3.0)))
            task.target = here
        else:
            task.target = here.translation
    if random.random() < TOGGLE:
        name = scene.switched[random.integers(len(scene.switched))]
        present[name] = not present[name]
        (stack.activate if present[name] else stack.deactivate)(name, over=float(random.choice(RAMPS)))


def begin(scene: Scene, random: Random) -> State:
    """A new episode: another state, other torque limits, and mostly a reset; without one everything jumps."""
    stack: Any = scene.controller.stack
    stack["torque"].scale = float(random.choice(WEAKEST))
    if random.random() < RESET:
        scene.controller.reset()
    return random_state(scene.robot, random)


def random_state(robot: Robot, random: Random) -> State:
    """Inside the limits, at them, beyond them, stretched out where robots are singular, or near home; at any speed."""
    lower, upper = (np.clip(bound, -np.pi, np.pi) for bound in robot.position_limits)
    kind = random.integers(8)  # half of the states are near home
    if kind >= 4:
        q = pin.integrate(robot.model, robot.home, 0.1 * random.normal(size=robot.nv))
    else:
        joints = random.uniform(lower, upper)
        if kind == 3:
            joints = np.clip(np.where(random.random(robot.nv) < 0.7, 0.0, joints), lower, upper)
        elif kind:
            at_end = np.where(random.random(robot.nv) < 0.5, lower, upper)
            joints = np.where(random.random(robot.nv) < 0.5, at_end, joints)
        if kind == 2:
            joints = joints + np.where(random.random(robot.nv) < 0.3, random.uniform(-OUTSIDE, OUTSIDE, robot.nv), 0.0)
        if robot.nv - robot.nu == 6:
            joints[:3] = 0.0
            joints[3:6] = random.normal(size=3) * random.choice((0.0, 0.1, 1.0))
        q = pin.integrate(robot.model, pin.neutral(robot.model), joints)
    speed = np.where(np.isfinite(robot.velocity_limits), robot.velocity_limits, UNLIMITED)
    return State(q, random.choice(FASTEST) * speed * random.uniform(-1.0, 1.0, robot.nv))


def advance(scene: Scene, state: State, vdot: Array) -> State | None:
    """The state one period later; ``None`` where the motion has left everything behind."""
    v = state.v + DT * vdot
    speed = np.where(np.isfinite(scene.robot.velocity_limits), scene.robot.velocity_limits, UNLIMITED)
    if not (np.abs(v) < 10.0 * (1.0 + speed)).all():
        return None
    return State(pin.normalize(scene.robot.model, pin.integrate(scene.robot.model, state.q, DT * v)), v)


def _place(robot: Robot, task: Any, state: State) -> Any:
    """Where a task's frame, or the centre of mass, is now."""
    data = robot.model.createData()
    if not hasattr(task, "frame"):
        return pin.SE3(np.eye(3), pin.centerOfMass(robot.model, data, state.q))
    pin.framesForwardKinematics(robot.model, data, state.q)
    return pin.SE3(data.oMf[robot.frame_id(task.frame)])


def _scene(robot: Robot, stack: Stack, jumping: tuple[str, ...], switched: tuple[str, ...]) -> Scene:
    return Scene(robot, Controller(robot, stack, dt=DT), jumping, switched)


@functools.cache
def _quiet(name: str) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)
        return load(name)
