"""DistanceTask: two frames, or a frame and a point, at a distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from wbc import checks
from wbc.checks import Array
from wbc.errors import InputError
from wbc.rows import Gains, Kinematics
from wbc.target import Target, numbers, text
from wbc.task import MotionTask
from wbc.terms import Terms

NEAREST = 1e-3  # m; nearer than this the lever of the centripetal term no longer shrinks, so that rows stay finite


def _distance(value: Any, label: str) -> Array:
    return np.array([checks.scalar(value, label, lower=0.0, strict=True)])


def _rate(value: Any, label: str) -> Array:
    return np.array([checks.scalar(value, label)])


def _number(value: Array) -> float:
    return float(value[0])


class DistanceTask(MotionTask):
    """Bring the origins of two frames, or of a frame and a point of the world, to a distance: ``Δx = r_target − r``.

    With d = p − p_other, r = |d|, n = d/r and u = ḋ: ``ṙ = n · u``, ``r̈ = n · d̈ + (u² − (n · u)²)/r``. The direction
    along which r can grow from zero is not defined: there it is the world's z.

    Args:
        name: name in the stack and the report.
        frame: frame of the robot.
        other: another frame of the robot; or else
        point: (3,) in the world [m], which may be assigned at any time.
        target: the distance [m], above zero; holds what it sees at the first tick where left out.
        gains: feedback gains [1/s², 1/s].
        weighting: ``"identity"`` or ``"inertia"``; see :class:`wbc.MotionTask`.
        mask: (1,), of no use but that every task has one.

    Attributes:
        target: may be assigned at any time.
        target_velocity: rate of the distance [m/s].
        target_acceleration: [m/s²].

    Raises:
        InputError: not exactly one of ``other`` and ``point`` is given, both frames are the same, or the target is 0.
    """

    dim = 1
    _frame: str
    _other: Any = None
    _point: Array | None = None
    frame: Any = Target(text, "name of a frame", required=True, fixed=True, unlike="other")
    other: Any = Target(text, "name of a frame", fixed=True, unlike="frame", instead_of="point")
    point: Any = Target(numbers(3), "point (3,) [m]", instead_of="other")
    target: Any = Target(_distance, "distance [m]", give=_number)
    target_velocity: Any = Target(_rate, "rate of the distance [m/s]", give=_number)
    target_acceleration: Any = Target(_rate, "acceleration of the distance [m/s²]", give=_number)

    def __init__(
        self,
        name: str,
        *,
        frame: str,
        other: str | None = None,
        point: Any = None,
        target: Any = None,
        gains: Gains | None = None,
        mask: Any = None,
        weighting: str = "identity",
    ) -> None:
        super().__init__(name, gains=gains, mask=mask, weighting=weighting)
        if (other is None) == (point is None):
            raise InputError(f"task {name!r}: expected either other, a frame, or point, (3,) in the world")
        self.frame = frame
        if other is None:
            self.point = point
        else:
            self.other = other
        self.target = target

    def kinematics(self, terms: Terms) -> Kinematics:
        """``ξ`` is the rate of the distance."""
        frame = terms.frame(self._frame)
        position, velocity, J, drift = frame.position, frame.velocity[:3], frame.J[:3], frame.Jdot_v[:3]
        if self._point is not None:
            d = position - self._point
        else:
            other = terms.frame(self._other)
            d = position - other.position
            velocity, J, drift = velocity - other.velocity[:3], J - other.J[:3], drift - other.Jdot_v[:3]
        r = float(np.sqrt(d.dot(d)))
        n = d / r if r > 1e-9 else np.array((0.0, 0.0, 1.0))
        rate = float(n.dot(velocity))
        bend = (float(velocity.dot(velocity)) - rate * rate) / max(r, NEAREST)
        distance = np.array([r])
        target = self.held(terms, distance)
        return Kinematics(
            target - distance, self.velocity_gap(np.array([rate])), n.dot(J)[None], np.array([n.dot(drift) + bend])
        )
