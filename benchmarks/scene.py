"""What a benchmark of controllers needs of its scenes: a stack, moments of a motion, torque limits that bind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import linprog

from wbc import Controller, Robot, Stack, State
from wbc.checks import Array
from wbc.problem import Problem
from wbc.tasks import TorqueLimits

CASES = ("idle", "active", "conflict")
DT = 0.001
NEVER = 1e3  # factor on torque limits: they stand in the problem and do not bind


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """One tick of the recorded motion.

    Attributes:
        state: of the robot.
        scale: factor on the robot's torque limits.
        targets: name of a task, its target, and the target's velocity and acceleration.
    """

    state: State
    scale: float = 1.0
    targets: tuple[tuple[str, Any, Any, Any], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A stack with the torque limits whose ``scale`` a run may set; ``limits`` is ``None`` where it has none."""

    stack: Stack
    limits: TorqueLimits | None

    def take(self, moment: Moment) -> None:
        """Set the torque limits and targets of a moment."""
        if self.limits is not None:
            self.limits.scale = moment.scale
        for name, target, velocity, acceleration in moment.targets:
            task: Any = self.stack[name]
            task.target, task.target_velocity, task.target_acceleration = target, velocity, acceleration


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """A robot and its stack, made anew for each who is measured.

    Attributes:
        robot: the robot.
        make: makes the stack, with limits and friction cones or without either.
    """

    robot: Robot
    make: Callable[[Robot, bool], Scene]

    def scene(self, limited: bool) -> Scene:
        """A scene of one's own, with limits and cones or without."""
        return self.make(self.robot, limited)


def moments(setting: Setting, metric: str, case: str, motion: Sequence[Sequence[Moment]]) -> list[list[Moment]]:
    """The motion with torque limits that bind as the case says.

    Let ``need`` be the smallest factor on the limits under which the strict tasks can still be met (a linear program),
    and ``use`` the one that the solution without limits takes. In ``"idle"`` the factor is 1, or above ``use`` where
    that is more; in ``"active"`` halfway between the two, so that limits bind and every strict task is still met; in
    ``"conflict"`` 0.9 of ``need``, so that a strict task has to give way. Found at the ends of each block, linear
    between.
    """
    free, limited = setting.scene(limited=False), setting.scene(limited=True)
    without = Controller(setting.robot, free.stack, method="closed_form", metric=metric, dt=DT)
    bounded = Controller(setting.robot, limited.stack, metric=metric, dt=DT)

    def factor(moment: Moment) -> float:
        free.take(moment)
        use = float((np.abs(without.tick(moment.state).torque) / setting.robot.torque_limits).max())
        if case == "idle":
            return max(1.0, 1.1 * use)
        limited.take(replace(moment, scale=NEVER))
        need = least_factor(bounded.tick(moment.state).report.problem, setting.robot.torque_limits)
        return 0.5 * (need + use) if case == "active" else 0.9 * need

    found = []
    for block in motion:
        factors = np.linspace(factor(block[0]), factor(block[-1]), len(block))
        found.append([replace(moment, scale=float(s)) for moment, s in zip(block, factors, strict=True)])
    return found


def least_factor(problem: Problem, torque_limits: Array) -> float:
    """The smallest s with ``|τ| ≤ s τ_max`` for some v̇ and f that meet strict rows, base rows and cones.

    A linear program in (v̇, f, s).
    """
    layout = problem.layout
    strict, nf = layout.soft_rows.start, layout.nf
    dynamics = np.hstack([problem.M, -problem.J.T])
    moved, h = dynamics[layout.actuated], problem.h[layout.actuated]
    column = -torque_limits[:, None]
    cones = np.hstack([np.zeros((layout.n_cone, layout.nv)), problem.G_wrench, np.zeros((layout.n_cone, 1))])
    where = slice(layout.n_acc, layout.n_acc + layout.n_cone)
    lower, upper = (side[where] - problem.offset[where] for side in (problem.lower, problem.upper))
    below, above = np.isfinite(lower), np.isfinite(upper)
    A = np.vstack([np.hstack([problem.A[:strict], np.zeros((strict, nf))]), dynamics[layout.unactuated]])
    found = linprog(
        np.append(np.zeros(layout.nv + nf), 1.0),
        A_ub=np.vstack([np.hstack([moved, column]), np.hstack([-moved, column]), cones[above], -cones[below]]),
        b_ub=np.concatenate([-h, h, upper[above], -lower[below]]),
        A_eq=np.hstack([A, np.zeros((len(A), 1))]),
        b_eq=-np.concatenate([problem.b[:strict], problem.h[layout.unactuated]]),
        bounds=(None, None),
    )
    if not found.success:
        raise ArithmeticError(f"no acceleration and forces meet the strict tasks: {found.message}")
    return float(found.x[-1])
