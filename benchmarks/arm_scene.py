"""What is measured on an arm: one stack, a recorded smooth motion, and torque limits that bind as a case says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.optimize import linprog

from wbc import Controller, Gains, Robot, Stack, State
from wbc.checks import Array
from wbc.problem import Problem
from wbc.tasks import JointLimits, PositionTask, PostureTask, TorqueLimits, UprightTask

CASES = ("idle", "active", "conflict")
DT = 0.001
SPAN = 10.0  # s, from the first to the last block of the motion
AMPLITUDE = 0.15  # rad of each of 7 joints; less with more joints, so that the hand moves as far
_FRAMES = {"panda": ("panda_hand_tcp", "panda_link4"), "ur5": ("tool0", "forearm_link")}


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """One tick of the recorded motion, and the factor on the robot's torque limits there."""

    state: State
    scale: float


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A stack with the torque limits whose ``scale`` a run may set; ``limits`` is ``None`` where it has none."""

    stack: Stack
    limits: TorqueLimits | None


def scene(robot: Robot, limited: bool) -> Scene:
    """Hand position, then hand upright as strict levels; elbow height soft; posture as the nominal; limits."""
    hand_frame, elbow_frame = _FRAMES.get(robot.name, ("tip", f"link{max(1, robot.nv // 2)}"))
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.home)
    there = data.oMf[robot.frame_id(hand_frame)]
    gains = Gains.critical(25.0)
    hand = PositionTask("hand", frame=hand_frame, gains=gains)
    hand.target = there.translation
    upright = UprightTask("upright", frame=hand_frame, direction=there.rotation[:, 2], gains=gains)
    elbow = PositionTask("elbow", frame=elbow_frame, mask=(0, 0, 1), gains=gains)
    elbow.target = data.oMf[robot.frame_id(elbow_frame)].translation
    posture = PostureTask("posture", target=robot.home, gains=Gains.critical(100.0))
    limits = TorqueLimits() if limited else None
    stack = Stack(
        nominal=posture,
        limits=[limits, JointLimits()] if limits else [],
        strict=[[hand], [upright]],
        soft=[(elbow, 10.0)],
    )
    return Scene(stack, limits)


def motion(robot: Robot, blocks: int, length: int) -> list[list[State]]:
    """Blocks of consecutive moving states, ``DT`` apart, spread over ``SPAN`` seconds of sines around home.

    Every joint has its own frequency (0.3 to 0.7 Hz) and phase from a seeded generator; v is the derivative of q.
    """
    rng = np.random.default_rng(7)
    amplitude = AMPLITUDE * min(1.0, 7.0 / robot.nv)
    omega = 2.0 * np.pi * rng.uniform(0.3, 0.7, robot.nv)
    phase = rng.uniform(0.0, 2.0 * np.pi, robot.nv)

    def at(t: float) -> State:
        away = amplitude * np.sin(omega * t + phase)
        return State(pin.integrate(robot.model, robot.home, away), amplitude * omega * np.cos(omega * t + phase))

    return [[at(start + k * DT) for k in range(length)] for start in np.linspace(0.0, SPAN, blocks, endpoint=False)]


def moments(robot: Robot, metric: str, case: str, states: list[list[State]]) -> list[list[Moment]]:
    """The motion with torque limits that bind as the case says.

    Let ``need`` be the smallest factor on the limits under which the strict tasks can still be met (a linear program),
    and ``use`` the one that the solution without limits takes. In ``"idle"`` the factor is 1, or above ``use`` where
    that is more; in ``"active"`` halfway between the two, so that limits bind and every strict task is still met; in
    ``"conflict"`` 0.9 of ``need``, so that a strict task has to give way. Found at the ends of each block, linear
    between.
    """
    free = Controller(robot, scene(robot, limited=False).stack, method="closed_form", metric=metric, dt=DT)

    def factor(state: State) -> float:
        command = free.tick(state)
        use = float((np.abs(command.torque) / robot.torque_limits).max())
        if case == "idle":
            return max(1.0, 1.1 * use)
        need = least_factor(command.report.problem, robot.torque_limits)
        return 0.5 * (need + use) if case == "active" else 0.9 * need

    found = []
    for block in states:
        factors = np.linspace(factor(block[0]), factor(block[-1]), len(block))
        found.append([Moment(state, float(s)) for state, s in zip(block, factors, strict=True)])
    return found


def least_factor(problem: Problem, torque_limits: Array) -> float:
    """The smallest s with ``|τ| ≤ s τ_max`` for some v̇ that meets all strict rows: a linear program in (v̇, s)."""
    nv = problem.layout.nv
    strict = slice(0, problem.layout.soft_rows.start)
    A = problem.A[strict]
    M, h = problem.M[problem.layout.actuated], problem.h[problem.layout.actuated]
    column = -torque_limits[:, None]
    found = linprog(
        np.append(np.zeros(nv), 1.0),
        A_ub=np.vstack([np.hstack([M, column]), np.hstack([-M, column])]),
        b_ub=np.concatenate([-h, h]),
        A_eq=np.hstack([A, np.zeros((len(A), 1))]),
        b_eq=-problem.b[strict],
        bounds=(None, None),
    )
    return float(found.x[-1])
