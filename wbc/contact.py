"""What every rigid contact shares: motion rows that hold it, a wrench, and the cone that the wrench stays in."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from wbc import checks
from wbc.attributes import Attributes, Constant
from wbc.checks import Array
from wbc.errors import InputError
from wbc.kernels import contacts
from wbc.rows import Gains, InNumbers
from wbc.target import Target, text
from wbc.terms import FrameTerms, Terms


@dataclass(slots=True)
class ContactRows:
    """A contact at one tick, in the axes (t₁, t₂, n) of its surface at the origin of its frame.

    Args:
        J: contact Jacobian (k, nv); ``Jᵀ f`` is what the contact gives to the robot.
        b: offset (k,) of the motion rows ``J v̇ + b = 0``.
        axes: surface axes in the world (3, 3), as columns.
    """

    J: Array
    b: Array
    axes: Array


def _two_gains(value: Any, label: str) -> Gains:
    if not isinstance(value, Gains) or np.ndim(value.kp) or np.ndim(value.kd):
        raise InputError(f"{label}: expected Gains(kp, kd) of two numbers, got {value!r}")
    return value


class Contact(Attributes):
    """A frame that rests on a surface without moving.

    Motion: ``J v̇ + J̇v = kp Δx − kd ξ``, where Δx leads back to the place that the frame had when the contact was made
    (Baumgarte). Forces: the wrench f (k,) that the ground applies, in a cone about the surface's normal.

    Args:
        name: name in the stack, in the report and in ``command.wrenches``.
        frame: frame of the robot, at the contact point or in the middle of the sole.
        friction: Coulomb μ; ``None`` for a bilateral contact, which can pull and has no cone.
        normal: (3,) in the world, out of the surface; normalised. Never taken from the link.
        min_force, max_force: bounds of the normal force [N].
        gains: drift correction; critically damped at 100 1/s² by default, so that 1 mm is mended in half a second.

    ``normal`` and ``gains`` may be assigned at any time; the rest stays, since a controller makes its cone rows once.
    """

    _part = "contact"
    size: ClassVar[int]
    name: Any = Constant("name")
    frame: Any = Constant("frame of the robot")
    friction: Any = Constant("Coulomb μ, or None")
    min_force: Any = Constant("least normal force [N]")
    max_force: Any = Constant("largest normal force [N]")
    normal: Any = Target(checks.direction, "unit vector (3,) in the world", required=True)
    gains: Any = Target(_two_gains, "pair of gains", required=True)
    _name: str
    _frame: str
    _normal: Array
    _gains: Gains

    def __init__(
        self,
        name: str,
        *,
        frame: str,
        friction: float | None = 0.7,
        normal: Any = (0.0, 0.0, 1.0),
        min_force: float = 0.0,
        max_force: float = math.inf,
        gains: Gains | None = None,
    ) -> None:
        self.name = text(name, "a contact's name")
        self.frame = text(frame, f"contact {name!r}: frame")
        self.friction = None
        if friction is not None:
            self.friction = checks.scalar(friction, f"contact {name!r}: friction", lower=0.0, strict=True)
        self.normal = normal
        self.min_force = checks.scalar(min_force, f"contact {name!r}: min_force", lower=0.0)
        if max_force != math.inf:
            max_force = checks.scalar(max_force, f"contact {name!r}: max_force", lower=self.min_force)
        self.max_force = float(max_force)
        self.gains = Gains.critical(100.0) if gains is None else gains

    @abstractmethod
    def rows(self, terms: Terms) -> ContactRows:
        """The contact at this tick."""

    def in_numbers(self, terms: Terms) -> InNumbers | None:
        """What the contact asks where compiled code knows its kind; ``None`` where :meth:`rows` has to be asked."""
        return None

    @abstractmethod
    def cone(self, friction: float) -> Array:
        """Rows (m, k) with ``A f ≤ 0`` for every wrench that the surface can give."""

    def elements(self) -> tuple[str, ...]:
        """The name of each cone row."""
        rows = len(self.bounded_cone()[0])
        return tuple(["friction"] * (rows - 1) + ["normal force"]) if rows else ()

    def bounded_cone(self) -> tuple[Array, Array, Array]:
        """Cone rows and the bounds of the normal force: matrix (m, k), lower and upper (m,)."""
        if self.friction is None:
            return np.zeros((0, self.size)), np.zeros(0), np.zeros(0)
        cone = self.cone(self.friction)
        normal = np.zeros((1, self.size))
        normal[0, 2] = 1.0
        lower = np.full(len(cone) + 1, -math.inf)
        upper = np.zeros(len(cone) + 1)
        lower[-1], upper[-1] = self.min_force, self.max_force
        return np.vstack([cone, normal]), lower, upper

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, frame={self.frame!r})"


def surface_axes(normal: Array, forward: Array) -> Array:
    """Axes (t₁, t₂, n) as columns: n the normal, t₁ along ``forward`` as far as the surface allows."""
    axes = np.empty((3, 3))
    contacts.surface_axes(normal, forward, axes)
    return axes


def contact_rows(contact: Contact, frame: FrameTerms, gap: Array, forward: Array) -> ContactRows:
    """The motion rows ``J v̇ + J̇v = kp Δx − kd ξ`` of a contact in the axes of its surface.

    Args:
        contact: gives size (3 or 6), normal and gains.
        frame: its frame at this tick.
        gap: Δx (3,) or (6,), back to its place [m, rad].
        forward: (3,) in the world, the direction of t₁.
    """
    # one call instead of a dozen array operations on three to six rows
    nv = frame.J.shape[1]
    J, b, axes = np.empty((contact.size, nv)), np.empty(contact.size), np.empty((3, 3))
    kp, kd = float(contact._gains.kp), float(contact._gains.kd)
    contacts.contact_rows(frame.J, frame.Jdot_v, frame.velocity, gap, contact._normal, forward, kp, kd, J, b, axes)
    return ContactRows(J, b, axes)


def steepest_across(normal: Array, frame: FrameTerms) -> int:
    """Index of the frame's axis that points most along the surface, the first where several do."""
    along = np.abs(normal @ frame.rotation)
    return int(np.argmax(along < 0.8))
