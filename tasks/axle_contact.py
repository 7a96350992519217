"""AxleContact: wheels that roll, but do not slide along their axle."""

from __future__ import annotations

from typing import Any

import numpy as np

from wbc import checks
from wbc.attributes import Constant
from wbc.checks import Array
from wbc.contact import Contact, ContactRows, surface_axes
from wbc.rows import Gains
from wbc.terms import Terms


class AxleContact(Contact):
    """The base of a differential drive: a point of its axle does not move along the axle, and turns with it freely.

    One motion row, and one force along the axle, which may push either way and has no cone. With n the axle's direction
    in the world, ω the angular velocity of its frame and v the velocity of the frame's origin,

        n·J v̇ + n·J̇v + (ω × n)·v = −kd n·v.

    This is a condition on velocities that no condition on positions is behind (it is not holonomic): there is no
    place to lead back to, only a slide to stop, and of ``gains`` only kd acts.

    Args:
        name: name in the stack, in the report and in ``command.wrenches``, as a force (3,) in world axes.
        frame: frame of the robot, on the line of the axle.
        axis: (3,) direction of the axle in the frame; normalised.
        gains: a slide decays at kd [1/s], 20 by default.

    Source: Siciliano et al. (2009), Robotics, section 11.2 (pure rolling as a Pfaffian constraint).
    """

    size = 1
    axis: Any = Constant("direction (3,) of the axle in the frame")

    def __init__(self, name: str, *, frame: str, axis: Any = (0.0, 1.0, 0.0), gains: Gains | None = None) -> None:
        self.axis = checks.direction(axis, f"contact {name!r}: axis")
        other = np.cross(self.axis, np.eye(3)[int(np.argmin(np.abs(self.axis)))])
        self._axes = surface_axes(other / np.linalg.norm(other), self.axis)  # the axle is the first column
        super().__init__(name, frame=frame, friction=None, gains=gains)

    def cone(self, friction: float) -> Array:
        """No rows: the force may push either way."""
        return np.zeros((0, self.size))

    def rows(self, terms: Terms) -> ContactRows:
        """Motion along the axle."""
        frame = terms.frame(self._frame)
        axes = frame.rotation.dot(self._axes)
        n, v, omega = axes[:, 0], frame.velocity[:3], frame.velocity[3:]
        drift = n.dot(frame.Jdot_v[:3]) + omega.dot(np.cross(n, v))  # (ω × n)·v = ω·(n × v)
        return ContactRows(n.dot(frame.J[:3])[None], np.array([drift + self._gains.kd * n.dot(v)]), axes)
