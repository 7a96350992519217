"""PostureTask: the joints near a configuration."""

from __future__ import annotations

from typing import Any

from wbc import checks
from wbc.rows import Gains, Kinematics
from wbc.target import Target
from wbc.task import MotionTask
from wbc.terms import Terms


class PostureTask(MotionTask):
    """Keep the joints near a configuration, ``Δx = q_target ⊖ q``: the short way only for continuous joints.

    As the nominal it gives ``v̇₀ = kp (q_target ⊖ q) + kd (v_target − v) + v̇_target``.

    Args:
        name: name in the stack and the report.
        target: configuration (nq,); holds what it sees at the first tick where left out.
        gains: feedback gains [1/s², 1/s].
        mask: zeros and ones (nv,).

    Attributes:
        target_velocity: (nv,) [rad/s, m/s].
        target_acceleration: (nv,) [rad/s², m/s²].
    """

    dim = None
    angular = True
    target: Any = Target(checks.vector, "configuration (nq,)", size="nq")
    target_velocity: Any = Target(checks.vector, "velocity (nv,)", size="nv")
    target_acceleration: Any = Target(checks.vector, "acceleration (nv,)", size="nv")

    def __init__(self, name: str, *, target: Any = None, gains: Gains | None = None, mask: Any = None) -> None:
        super().__init__(name, gains=gains, mask=mask)
        self.target = target

    def kinematics(self, terms: Terms) -> Kinematics:
        """``ξ`` is the velocity v itself."""
        target = self.held(terms, terms.q)
        return Kinematics(
            terms.difference(terms.q, target), self.velocity_gap(terms.v), terms.identity, terms.zero_velocity
        )
