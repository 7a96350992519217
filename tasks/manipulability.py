"""ManipulabilityTask: a nominal that climbs away from singular configurations."""

from __future__ import annotations

from typing import Any

import numpy as np

from wbc import checks
from wbc.rows import Gains, Kinematics
from wbc.target import Target, text
from wbc.task import MotionTask
from wbc.terms import Terms

SOFTENING = 0.01  # ε: singular values far below this (m/rad) no longer steepen the slope


class ManipulabilityTask(MotionTask):
    """Climb the manipulability of a frame: ``v̇₀ = kp M⁻¹ ∂w/∂q − kd v``, ``w = ½ log det (J Jᵀ + ε² I)``.

    Up to ε this is the logarithm of Yoshikawa's measure √det(J Jᵀ); ε keeps the slope finite at a singularity.
    M⁻¹ makes the gradient the acceleration of a force: a bare gradient, projected beside a strict task in the metric of
    M, may descend (it did in 41 of 200 random states of Panda); this one never does. The gradient uses the derivative
    of Jacobian columns on a chain, ∂J_j/∂q_i = ω_i × J_j for a joint i at or before j, and ω_j × lin_i in the linear
    rows for one behind it.

    Args:
        name: name in the stack and the report.
        frame: frame of the robot.
        gains: kp climbs [N m], kd damps [1/s].
        weighting: ``"identity"`` or ``"inertia"``; see :class:`wbc.MotionTask`.
        axes: zeros and ones (6,): the rows of J that count; all by default.

    Source: Yoshikawa (1985), eq. 9; the gradient after Lynch and Park (2017), section 5.
    """

    dim = None
    angular = True

    _frame: str
    frame: Any = Target(text, "name of a frame", required=True, fixed=True)

    def __init__(
        self,
        name: str,
        *,
        frame: str,
        gains: Gains | None = None,
        axes: Any = (1, 1, 1, 1, 1, 1),
        mask: Any = None,
        weighting: str = "identity",
    ) -> None:
        super().__init__(name, gains=gains, mask=mask, weighting=weighting)
        self.frame = frame
        self._axes = checks.mask(axes, f"task {name!r}: axes", 6)

    def manipulability(self, terms: Terms) -> float:
        """``w`` at this tick."""
        J = terms.frame(self._frame).J[self._axes]
        return 0.5 * float(np.linalg.slogdet(J @ J.T + SOFTENING**2 * np.eye(len(J)))[1])

    def kinematics(self, terms: Terms) -> Kinematics:
        """The acceleration of the force ∂w/∂q as an error on the joints."""
        J = terms.frame(self._frame).J
        climb = np.linalg.solve(terms.M, self._gradient(J))
        return Kinematics(climb, -terms.v, terms.identity, terms.zero_velocity)

    def _gradient(self, J: Any) -> Any:
        rows = J[self._axes]
        inverse = np.zeros_like(J)  # (J Jᵀ + ε² I)⁻¹ J, whose columns weigh ∂J_j
        inverse[self._axes] = np.linalg.solve(rows @ rows.T + SOFTENING**2 * np.eye(len(rows)), rows)
        lin, ang, a, b = J[:3].T, J[3:].T, inverse[:3].T, inverse[3:].T
        moved = np.cross(lin, a) + np.cross(ang, b)  # what turning about an earlier axis does to column j
        shifted = np.cross(a, ang)  # what moving the point does to column j of an earlier joint
        at_or_after = np.cumsum(moved[::-1], axis=0)[::-1]
        before = np.cumsum(shifted, axis=0) - shifted
        return np.einsum("ij,ij->i", ang, at_or_after) + np.einsum("ij,ij->i", lin, before)
