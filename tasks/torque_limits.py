"""TorqueLimits: no motor asked for more than it can give."""

from __future__ import annotations

from typing import Any

from wbc import checks
from wbc.rows import Rows
from wbc.terms import Terms


class TorqueLimits:
    """``−τ_max ≤ τ ≤ τ_max`` for every actuated coordinate that has a limit.

    Args:
        scale: factor on the robot's limits; 0.8 keeps a fifth in reserve.
        name: name in the stack and the report.
    """

    def __init__(self, *, scale: float = 1.0, name: str = "torque") -> None:
        self.name = name
        self.scale = checks.scalar(scale, "TorqueLimits: scale", lower=0.0)

    def elements(self, robot: Any) -> tuple[str, ...]:
        """The joints, in torque order."""
        names: tuple[str, ...] = robot.joint_names
        return names

    def rows(self, terms: Terms) -> Rows:
        """``−τ_max ≤ τ ≤ τ_max``; inf where there is no limit."""
        bounds = terms.robot.torque_limits
        if self.scale != 1.0:
            bounds = self.scale * bounds
        return Rows(terms.identity_torque, terms.zero_torque, -bounds, bounds, on="torque")
