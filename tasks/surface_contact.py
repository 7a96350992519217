"""SurfaceContact: a sole that may push and twist, but neither slide nor tip."""

from __future__ import annotations

from typing import Any

import numpy as np

from wbc import checks
from wbc.attributes import Constant
from wbc.checks import Array
from wbc.cones import sole_cone
from wbc.contact import Contact, ContactRows, contact_rows, steepest_across
from wbc.errors import InputError
from wbc.kernels import CONTACT, motion
from wbc.rows import Gains, InNumbers
from wbc.terms import Terms


class SurfaceContact(Contact):
    """A rectangular sole rests on a surface: six motion rows, one wrench, the exact wrench cone with yaw friction.

    Args:
        name, frame, friction, normal, min_force, max_force, gains: as for every :class:`wbc.contact.Contact`; the frame
            stands in the middle of the sole.
        half_size: (X, Y) half length along ``forward`` and half width across it [m].
        forward: (3,) direction of the sole's length in the frame; by default the first of the frame's axes that lies
            along the surface when the contact is made.

    Source: Caron, Pham and Nakamura (2015).
    """

    size = 6
    half_size: Any = Constant("half length and half width (2,) [m]")
    forward: Any = Constant("direction (3,) of the length in the frame, or None")
    _half_size: Array
    _forward: Array | None

    def __init__(
        self,
        name: str,
        *,
        frame: str,
        half_size: Any,
        friction: float | None = 0.7,
        normal: Any = (0.0, 0.0, 1.0),
        forward: Any = None,
        min_force: float = 0.0,
        max_force: float = float("inf"),
        gains: Gains | None = None,
    ) -> None:
        self.half_size = checks.vector(half_size, f"contact {name!r}: half_size", 2)
        if not (self.half_size > 0.0).all():
            raise InputError(f"contact {name!r}: half_size is {self.half_size.tolist()}, expected positive lengths [m]")
        self.forward = None if forward is None else checks.direction(forward, f"contact {name!r}: forward")
        super().__init__(
            name, frame=frame, friction=friction, normal=normal, min_force=min_force, max_force=max_force, gains=gains
        )

    def cone(self, friction: float) -> Array:
        """The wrench cone of the sole at its middle."""
        return sole_cone(friction, *self.half_size)

    def in_numbers(self, terms: Terms) -> InNumbers:
        """Rows of a sole; its forward direction turns with it."""
        return InNumbers(CONTACT, 3, self._forward, self._frame, 1 if self._forward is None else 2)

    def rows(self, terms: Terms) -> ContactRows:
        """Motion of the sole and its wrench, both in the surface's axes."""
        frame = terms.frame(self._frame)
        if self._forward is None:
            # which axis that is, is decided once; afterwards it turns with the sole
            across = terms.seen(self._name, what="forward")
            if across is None:
                across = terms.held(self._name, np.array(steepest_across(self._normal, frame)), what="forward")
            forward = frame.rotation[:, int(across)]
        else:
            forward = frame.rotation.dot(self._forward)
        place = terms.held(self._name, np.concatenate([frame.position, frame.rotation.ravel()]), what="place")
        gap = np.empty(6)
        motion.frame_error(frame.rotation, frame.position, place, 0, gap)
        return contact_rows(self, frame, gap, forward)
