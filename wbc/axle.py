"""Axle: wheels that are no joints, but let the base they carry roll in one direction only; and the contact of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wbc.checks import Array
from wbc.errors import RobotError

if TYPE_CHECKING:
    from wbc.contact import Contact


@dataclass(frozen=True, slots=True)
class Axle:
    """The line through the middles of a differential drive's two wheels.

    Attributes:
        name: what the contact is called, such as ``"wheels"``.
        frame: frame on that line, fixed to a planar base.
        axis: (3,) direction of the line in the frame.
        hold: largest force along the axle that the tyres hold [N]; what a simulator lets them slide at.
        make: makes the contact from keywords such as ``gains=Gains(0.0, 20.0)``; given by the file of the robot.
    """

    name: str
    frame: str
    axis: tuple[float, float, float]
    hold: float
    make: Callable[..., Contact]

    def row(self, model: Any, frame_id: int) -> tuple[slice, Array]:
        """The coordinates (vx, vy, ω) of the base in v, and the row (3,) with ``row · v`` the speed along the axle.

        The row is constant, since base and axle turn together.

        Raises:
            RobotError: the frame is not fixed to a planar base.
        """
        frame = model.frames[frame_id]
        joint = model.joints[frame.parentJoint]
        if joint.shortname() != "JointModelPlanar":
            raise RobotError(f"axle {self.name!r}: frame {self.frame!r} is not fixed to a planar base (root='planar')")
        x, y, _ = frame.placement.translation
        nx, ny, nz = frame.placement.rotation @ (np.array(self.axis) / np.linalg.norm(self.axis))
        if abs(nz) > 1e-9:
            raise RobotError(f"axle {self.name!r}: its axis {self.axis} is not level in frame {self.frame!r}")
        return slice(joint.idx_v, joint.idx_v + 3), np.array([nx, ny, ny * x - nx * y])
