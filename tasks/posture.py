"""PostureTask: the joints near a configuration."""

from __future__ import annotations

from typing import Any

import numpy as np

from wbc import checks
from wbc.kernels import POSTURE
from wbc.rows import Gains, InNumbers, Kinematics
from wbc.target import Target
from wbc.task import MotionTask
from wbc.terms import Terms

BASE = 6  # coordinates of a floating base, the first ones


class PostureTask(MotionTask):
    """Keep the joints near a configuration, ``Δx = q_target ⊖ q``: the short way only for continuous joints.

    As the nominal it gives ``v̇₀ = kp (q_target ⊖ q) + kd (v_target − v) + v̇_target``. A floating base is no joint: its
    part of the target is not used, and its rows are empty, so that v̇₀ is zero there.

    Args:
        name: name in the stack and the report.
        target: configuration (nq,); holds what it sees at the first tick where left out.
        gains: feedback gains [1/s², 1/s].
        mask: zeros and ones (nv,).
        weighting: ``"identity"`` or ``"inertia"``; see :class:`wbc.MotionTask`.

    Attributes:
        target_velocity: (nv,) [rad/s, m/s].
        target_acceleration: (nv,) [rad/s², m/s²].
    """

    dim = None
    angular = True
    target: Any = Target(checks.vector, "configuration (nq,)", size="nq")
    target_velocity: Any = Target(checks.vector, "velocity (nv,)", size="nv")
    target_acceleration: Any = Target(checks.vector, "acceleration (nv,)", size="nv")

    def __init__(
        self,
        name: str,
        *,
        target: Any = None,
        gains: Gains | None = None,
        mask: Any = None,
        weighting: str = "identity",
    ) -> None:
        super().__init__(name, gains=gains, mask=mask, weighting=weighting)
        self.target = target

    def in_numbers(self, terms: Terms) -> InNumbers:
        """Rows of the joints."""
        return InNumbers(POSTURE, terms.robot.nq, self._target)

    def kinematics(self, terms: Terms) -> Kinematics:
        """``ξ`` is the velocity v itself."""
        error = terms.difference(terms.q, self.held(terms, terms.q))
        gap = self.velocity_gap(terms.v)
        drift = terms.zero_velocity
        if terms.joint_identity is not terms.identity:
            error[:BASE] = gap[:BASE] = 0.0
            if self._target_acceleration is not None:  # what the base is told is taken back, as its error is
                drift = np.concatenate([self._target_acceleration[:BASE], drift[BASE:]])
        return Kinematics(error, gap, terms.joint_identity, drift)
