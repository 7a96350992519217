"""GazeTask: an axis of a frame points at a point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from wbc import checks
from wbc.checks import Array
from wbc.rows import Gains, Kinematics
from wbc.target import Target, numbers, text
from wbc.task import MotionTask
from wbc.tasks.upright import angle_across, orthogonal_pair
from wbc.terms import Terms

NEAREST = 1e-3  # m; a point nearer than this to the frame's origin counts as this far, so that rows stay finite


class GazeTask(MotionTask):
    """Point an axis of a frame, such as a camera, at a point of the world; the turn about the axis stays free.

    With d = (p − o)/r the direction from the frame's origin to the point and u = ȯ − ṗ, the direction turns with
    d × ḋ = −d × u/r. In two axes b_i that are fixed in the frame and orthogonal to ``axis``, the rows are

        Δx_i = b_i · θ (a × d)/|a × d|,   ξ_i = b_i · (ω + d × u/r),
        ξ̇_i = b_i · (ω̇ + d × (ö − p̈)/r + 2 (d · u) d × u/r²) + (ω × b_i) · d × u/r.

    Args:
        name: name in the stack and the report.
        frame: frame of the robot.
        axis: (3,) in the frame; normalised.
        target: the point (3,) in the world [m]; where left out, the one that lies 1 m ahead at the first tick.
        gains: feedback gains [1/s², 1/s].
        mask: zeros and ones (2,) for rotations about b₁, b₂.
        weighting: ``"identity"`` or ``"inertia"``; see :class:`wbc.MotionTask`.

    Attributes:
        target: may be assigned at any time.
        point_velocity: (3,) velocity of the point [m/s].
        point_acceleration: (3,) acceleration of the point [m/s²].

    Raises:
        InputError: ``axis`` is zero.
    """

    dim = 2
    angular = True
    _axis: Array
    _frame: str
    _point_velocity: Array | None = None
    _point_acceleration: Array | None = None
    frame: Any = Target(text, "name of a frame", required=True, fixed=True)
    axis: Any = Target(checks.direction, "unit vector (3,) in the frame", required=True)
    target: Any = Target(numbers(3), "point (3,) [m]")
    point_velocity: Any = Target(numbers(3), "velocity (3,) [m/s]")
    point_acceleration: Any = Target(numbers(3), "acceleration (3,) [m/s²]")

    def __init__(
        self,
        name: str,
        *,
        frame: str,
        axis: Any = (0.0, 0.0, 1.0),
        target: Any = None,
        gains: Gains | None = None,
        mask: Any = None,
        weighting: str = "identity",
    ) -> None:
        super().__init__(name, gains=gains, mask=mask, weighting=weighting)
        self.frame = frame
        self.axis = axis
        self.target = target

    def kinematics(self, terms: Terms) -> Kinematics:
        """``ξ`` is the angular velocity of the frame about b₁ and b₂, less that of the direction to the point."""
        frame = terms.frame(self._frame)
        axis = frame.rotation.dot(self._axis)
        across = frame.rotation.dot(orthogonal_pair(self._axis)).T  # rows b₁, b₂ in world axes
        gap = self.held(terms, frame.position + axis) - frame.position
        distance = float(np.sqrt(gap.dot(gap)))
        d = gap / distance if distance > 1e-9 else axis
        u, a, omega = frame.velocity[:3], frame.Jdot_v[:3], frame.velocity[3:]
        if self._point_velocity is not None:
            u = u - self._point_velocity
        if self._point_acceleration is not None:
            a = a - self._point_acceleration
        turn = pin.skew(d / max(distance, NEAREST))  # d × · / r
        swing = turn.dot(u)
        J = across.dot(frame.J[3:] + turn.dot(frame.J[:3]))
        drift = frame.Jdot_v[3:] + turn.dot(a) + (2.0 * d.dot(u) / max(distance, NEAREST)) * swing
        drift -= pin.skew(omega).dot(swing)  # (ω × b) · s = −b · (ω × s)
        return Kinematics(angle_across(across, axis, d), -across.dot(omega + swing), J, across.dot(drift))
