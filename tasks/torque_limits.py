"""TorqueLimits: no motor asked for more than it can give."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from wbc import checks
from wbc.attributes import Attributes
from wbc.rows import Rows
from wbc.target import text
from wbc.terms import Terms


class TorqueLimits(Attributes):
    """``−τ_max ≤ τ ≤ τ_max`` for every actuated coordinate that has a limit.

    Args:
        scale: factor on the robot's limits; 0.8 keeps a fifth in reserve.
        name: name in the stack and the report.
    """

    _part = "limit"
    yields: ClassVar[bool] = False  # motors cannot give more

    def __init__(self, *, scale: float = 1.0, name: str = "torque") -> None:
        self._name = text(name, "TorqueLimits: name")
        self.scale = scale

    @property
    def name(self) -> str:
        """The limit's name."""
        return self._name

    @property
    def scale(self) -> float:
        """Factor on the robot's limits; may be assigned at any time."""
        return self._scale

    @scale.setter
    def scale(self, value: float) -> None:
        self._scale = checks.scalar(value, "TorqueLimits: scale", lower=0.0)
        self._placed: tuple[Terms, Rows] | None = None  # the rows are constant, and made once for each controller

    def elements(self, robot: Any) -> tuple[str, ...]:
        """The joints, in torque order."""
        names: tuple[str, ...] = robot.joint_names
        return names

    def rows(self, terms: Terms) -> Rows:
        """``−τ_max ≤ τ ≤ τ_max``; inf where there is no limit."""
        if self._placed is None or self._placed[0] is not terms:
            upper = np.array(terms.robot.torque_limits)
            upper[np.isfinite(upper)] *= self._scale  # 0 times inf is no bound
            lower = -upper
            lower.flags.writeable = upper.flags.writeable = False
            rows = Rows(terms.identity_torque, terms.zero_torque, lower=lower, upper=upper, on="torque")
            self._placed = (terms, rows)
        return self._placed[1]
