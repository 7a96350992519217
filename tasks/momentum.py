"""MomentumTask: angular or linear momentum about the centre of mass."""

from __future__ import annotations

from typing import Any

import numpy as np

from wbc import checks
from wbc.rows import Gains, Kinematics
from wbc.target import Target
from wbc.task import MotionTask
from wbc.terms import Terms

ROWS = {"linear": slice(0, 3), "angular": slice(3, 6), "both": slice(0, 6)}
TURNS: dict[str, bool | tuple[bool, ...]] = {
    "linear": False,
    "angular": True,
    "both": (False, False, False, True, True, True),
}


class MomentumTask(MotionTask):
    """Bring the momentum about the centre of mass to a target: ``ḣ = A_G v̇ + Ȧ_G v = kd (h_target − h) + ḣ_d``.

    The momentum stands where other tasks have their velocity ξ, so that there is no position error and ``gains.kp`` is
    not used; the error in reports is ``h_target − h``. The rows are in N and N m: a weight counts more the heavier the
    robot, and 1/m² makes a linear row count as much as that of a ComTask.

    Args:
        name: name in the stack and the report.
        kind: ``"angular"``, ``"linear"`` or ``"both"`` (linear before angular).
        gains: feedback gains; kd [1/s].
        mask: zeros and ones, (3,) or (6,) for both, for the world axes.
        mask_frame: frame in whose axes errors, gains and mask are counted; the world by default.
        weighting: ``"identity"`` or ``"inertia"``; see :class:`wbc.MotionTask`.

    Attributes:
        target: momentum, (3,) or (6,) [N s, N m s]; zero where it was never set.
        target_acceleration: rate of the target, (3,) or (6,) [N, N m].

    Source: Orin and Goswami (2008); Wensing and Orin (2013).
    """

    in_world_axes = True
    of_velocity = True
    target: Any = Target(checks.vector, "momentum (3,), or (6,) for both [N s, N m s]", size="dim")
    target_acceleration: Any = Target(checks.vector, "rate of momentum (3,), or (6,) for both [N, N m]", size="dim")

    def __init__(
        self,
        name: str,
        *,
        kind: str = "angular",
        gains: Gains | None = None,
        mask: Any = None,
        mask_frame: str = "world",
        weighting: str = "identity",
    ) -> None:
        self._kind = checks.choice(kind, ROWS, f"task {name!r}: kind")
        self.dim = 6 if kind == "both" else 3
        self.angular = TURNS[kind]
        super().__init__(name, gains=gains, mask=mask, mask_frame=mask_frame, weighting=weighting)

    @property
    def kind(self) -> str:
        """``"angular"``, ``"linear"`` or ``"both"``."""
        return self._kind

    def kinematics(self, terms: Terms) -> Kinematics:
        """``ξ`` is the momentum itself, ``h = A_G v``."""
        momentum, rows = terms.momentum, ROWS[self._kind]
        target = 0.0 if self._target is None else self._target
        gap = target - momentum.momentum[rows]
        return Kinematics(np.zeros_like(gap), gap, momentum.A[rows], momentum.Adot_v[rows])
