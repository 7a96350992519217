"""The textbook laws of :mod:`wbc.osc` as controllers: a yardstick that shares no solution step with the stack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wbc.checks import Array
from wbc.robot import Robot
from wbc.stack import Stack
from wbc.state import State
from wbc.terms import Terms


@dataclass(frozen=True, slots=True, eq=False)
class TextbookCommand:
    """A torque (nu,) [N m] and nothing else: a formula has no report."""

    torque: Array


class TextbookController:
    """One task and a posture through one published formula; it takes its targets from a stack and nothing else.

    Args:
        robot: a robot on a fixed base with a motor at every joint.
        stack: holds the targets and gains of the tasks.
        law: a function of :mod:`wbc.osc` that takes ``vdot0``.
        task, nominal: names in the stack of the task and of the posture.
        clip: whether torques are cut off at the robot's limits, as a drive would do it.
        dt: control period [s].
    """

    def __init__(
        self,
        robot: Robot,
        stack: Stack,
        law: Callable[..., Array],
        *,
        task: str = "hand",
        nominal: str = "posture",
        clip: bool = False,
        dt: float = 0.001,
    ) -> None:
        self.robot, self.stack, self.dt = robot, stack, dt
        self._law, self._task, self._nominal, self._clip = law, stack[task], stack[nominal], clip
        self._terms = Terms(robot, dt)
        self._errors: dict[str, Array] = {}

    def reset(self) -> None:
        """Forget held targets."""
        self._terms.release()

    def errors(self) -> dict[str, Array]:
        """Error of the task at the last tick."""
        return self._errors

    def tick(self, state: State) -> TextbookCommand:
        """The law's torque."""
        terms, task, nominal = self._terms, self._task, self._nominal
        terms.update(state)
        at, rest = task.kinematics(terms), nominal.kinematics(terms)
        xi_dot_r = task.gains.kp * at.error + task.gains.kd * at.velocity_error
        if task.target_acceleration is not None:
            xi_dot_r = xi_dot_r + task.target_acceleration
        vdot0 = nominal.gains.kp * rest.error + nominal.gains.kd * rest.velocity_error
        torque = self._law(terms.M, terms.h, at.J, at.Jdot_v, xi_dot_r, vdot0=vdot0)
        self._errors = {task.name: at.error, nominal.name: rest.error}
        if self._clip:
            torque = np.clip(torque, -self.robot.torque_limits, self.robot.torque_limits)
        return TextbookCommand(torque)
