"""State: where the robot is and how fast it moves."""

from __future__ import annotations

from dataclasses import dataclass

from wbc import checks
from wbc.checks import Array


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Configuration and velocity of a robot, in pinocchio's order.

    A floating base comes first: position (3), quaternion xyzw (4) in ``q``; linear then angular velocity of the base
    in the base's own axes (6) in ``v``. A continuous joint is (cos, sin) in ``q`` and one number in ``v``.

    Args:
        q: configuration (nq,) [m, rad, unit quaternion].
        v: velocity (nv,) [m/s, rad/s].

    Raises:
        InputError: an entry is NaN or inf, or the argument is not a vector.
    """

    q: Array
    v: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "q", checks.vector(self.q, "q"))
        object.__setattr__(self, "v", checks.vector(self.v, "v"))
