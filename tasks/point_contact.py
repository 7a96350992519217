"""PointContact: a point that may push, but not slide."""

from __future__ import annotations

from typing import Any

from wbc import checks
from wbc.attributes import Constant
from wbc.checks import Array
from wbc.cones import point_cone
from wbc.contact import Contact, ContactRows, contact_rows, steepest_across
from wbc.kernels import CONTACT
from wbc.rows import Gains, InNumbers
from wbc.terms import Terms


class PointContact(Contact):
    """The origin of a frame rests on a surface: three motion rows, three forces, a friction pyramid.

    Args:
        name, frame, friction, normal, min_force, max_force, gains: as for every :class:`wbc.contact.Contact`.
        facets: number of sides of the pyramid inscribed in the Coulomb cone; with four, μ/√2 acts on each axis.
    """

    size = 3
    facets: Any = Constant("number of sides of the pyramid")
    _facets: int

    def __init__(
        self,
        name: str,
        *,
        frame: str,
        friction: float | None = 0.7,
        normal: Any = (0.0, 0.0, 1.0),
        min_force: float = 0.0,
        max_force: float = float("inf"),
        gains: Gains | None = None,
        facets: int = 4,
    ) -> None:
        self.facets = int(checks.scalar(facets, f"contact {name!r}: facets", lower=3))
        super().__init__(
            name, frame=frame, friction=friction, normal=normal, min_force=min_force, max_force=max_force, gains=gains
        )

    def cone(self, friction: float) -> Array:
        """``cos θ_i f₁ + sin θ_i f₂ ≤ μ cos(π/k) f_n`` for each facet."""
        return point_cone(friction, self.facets)

    def in_numbers(self, terms: Terms) -> InNumbers:
        """Rows of a point; its forward direction stays in the world."""
        return InNumbers(CONTACT, 3, None, self._frame)

    def rows(self, terms: Terms) -> ContactRows:
        """Motion of the point and its force, both in the surface's axes."""
        frame = terms.frame(self._frame)
        forward = terms.seen(self._name, what="forward")
        if forward is None:
            forward = terms.held(self._name, frame.rotation[:, steepest_across(self._normal, frame)], what="forward")
        gap = terms.held(self._name, frame.position, what="place") - frame.position
        return contact_rows(self, frame, gap, forward)
