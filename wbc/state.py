"""State: where the robot is and how fast it moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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

    @classmethod
    def unchecked(cls, q: Any, v: Any) -> State:
        """A state as a sensor gave it, which may hold NaN and inf: for ``Controller(on_bad_state="fallback")``.

        The controller looks at it when it ticks.

        Raises:
            InputError: an argument is not a vector of numbers.
        """
        state = object.__new__(cls)
        object.__setattr__(state, "q", checks.vector_of_any(q, "q"))
        object.__setattr__(state, "v", checks.vector_of_any(v, "v"))
        return state
