"""UprightTask: an axis of a frame along a direction, the turn about it left free."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wbc import checks
from wbc.checks import Array
from wbc.rows import Gains, Kinematics
from wbc.target import Target, numbers, text
from wbc.task import MotionTask
from wbc.terms import Terms


class UprightTask(MotionTask):
    """Point an axis of a frame along a direction: two rows, the rotation about the axis stays free.

    With a = R axis and d = direction, the error is the angle between them about a × d, seen in two axes b₁, b₂ that
    are fixed in the frame and orthogonal to ``axis``: ``Δx_i = b_i · θ (a × d)/|a × d|``, ``ξ_i = b_i · ω``. Since
    ḃ_i · ω = (ω × b_i) · ω = 0, the drift is just ``b_i · ω̇`` at v̇ = 0.

    Args:
        name: name in the stack and the report.
        frame: frame of the robot.
        axis: (3,) in the frame; normalised.
        direction: (3,) in the world; normalised. Assign ``direction`` to change it.
        gains: feedback gains [1/s², 1/s].
        mask: zeros and ones (2,) for rotations about b₁, b₂.
        weighting: ``"identity"`` or ``"inertia"``; see :class:`wbc.MotionTask`.

    Attributes:
        target_velocity: (2,) rotation rate about b₁, b₂ [rad/s].
        target_acceleration: (2,) [rad/s²].

    Raises:
        InputError: ``axis`` or ``direction`` is zero.
    """

    dim = 2
    angular = True
    _axis: Array
    _direction: Array
    _frame: str
    frame: Any = Target(text, "name of a frame", required=True, fixed=True)
    axis: Any = Target(checks.direction, "unit vector (3,) in the frame", required=True)
    direction: Any = Target(checks.direction, "unit vector (3,) in the world", required=True)
    target_velocity: Any = Target(numbers(2), "rotation rate (2,) [rad/s]")
    target_acceleration: Any = Target(numbers(2), "rotation acceleration (2,) [rad/s²]")

    def __init__(
        self,
        name: str,
        *,
        frame: str,
        axis: Any = (0.0, 0.0, 1.0),
        direction: Any = (0.0, 0.0, 1.0),
        gains: Gains | None = None,
        mask: Any = None,
        weighting: str = "identity",
    ) -> None:
        super().__init__(name, gains=gains, mask=mask, weighting=weighting)
        self.frame = frame
        self.axis = axis
        self.direction = direction

    def kinematics(self, terms: Terms) -> Kinematics:
        """``ξ`` is the angular velocity of the frame about b₁ and b₂."""
        frame = terms.frame(self._frame)
        axis = self._axis
        across = frame.rotation.dot(orthogonal_pair(axis)).T  # rows b₁, b₂ in world axes
        return Kinematics(
            angle_across(across, frame.rotation.dot(axis), self._direction),
            self.velocity_gap(across.dot(frame.velocity[3:])),
            across.dot(frame.J[3:]),
            across.dot(frame.Jdot_v[3:]),
        )


def angle_across(across: Array, axis: Array, direction: Array) -> Array:
    """θ (a × d)/|a × d| in two axes b₁, b₂ (rows of ``across``) that are orthogonal to a; all in world axes."""
    # a × d lies across a, so that its two components along b₁ and b₂ are all of it
    cosine = float(axis.dot(direction))
    components = across.dot(direction)  # d = cos a + s (c₁ b₁ + c₂ b₂)  ⇒  a × d has components (−c₂, c₁)
    sine = math.hypot(components[0], components[1])
    if sine > 1e-9:
        angle = math.atan2(sine, cosine) / sine
        return np.array((-components[1] * angle, components[0] * angle))
    # aligned, or at the antipode, where any axis would do: turn about b₁
    return np.array((0.0 if cosine > 0.0 else math.pi, 0.0))


def orthogonal_pair(axis: Array) -> Array:
    """Two unit vectors (3, 2) that complete a unit vector to a right-handed triad (b₁, b₂, axis)."""
    x, y, z = axis
    # Duff et al. (2017): no branch on the direction but the sign, no division by a small number
    s = math.copysign(1.0, z)
    a = -1.0 / (s + z)
    c = x * y * a
    return np.array(((1.0 + s * x * x * a, c), (s * c, s + y * y * a), (-s * x, -y)))
