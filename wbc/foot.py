"""Foot: a place where a robot stands, and the contact that is made there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wbc.checks import Array

if TYPE_CHECKING:
    from wbc.contact import Contact


@dataclass(frozen=True, slots=True)
class Foot:
    """A sole or a ball that a robot stands on.

    Attributes:
        name: what the contact is called, such as ``"left_foot"``.
        frame: for a sole the middle of its plane, x forward and z up when the robot stands; for a ball its centre.
        half_size: (X, Y) half length along x and half width along y of a sole [m]; ``None`` for a ball.
        radius: of a ball [m]; 0 for a sole.
        make: makes the contact from keywords such as ``friction=0.6``; given by the file of the robot.
    """

    name: str
    frame: str
    half_size: tuple[float, float] | None
    radius: float
    make: Callable[..., Contact]

    def touching(self, placement: Any) -> Array:
        """Points (n, 3) that touch level ground below, the frame being at ``placement`` (pin.SE3): corners or one."""
        if self.half_size is None:
            lowest: Array = placement.translation - np.array([0.0, 0.0, self.radius])
            return lowest[None]
        x, y = self.half_size
        corners = np.array([[x, y, 0.0], [x, -y, 0.0], [-x, -y, 0.0], [-x, y, 0.0]])
        points: Array = corners @ placement.rotation.T + placement.translation
        return points
