"""ObstacleTask: a nominal that moves away from a sphere or a wall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from wbc import checks
from wbc.checks import Array
from wbc.errors import InputError
from wbc.rows import Gains, Kinematics
from wbc.target import Target, text
from wbc.task import MotionTask
from wbc.terms import Terms


@dataclass(frozen=True, slots=True, eq=False)
class Sphere:
    """A ball in the world: center (3,) [m], radius [m]."""

    center: Any
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", checks.vector(self.center, "Sphere: center", 3))
        object.__setattr__(self, "radius", checks.scalar(self.radius, "Sphere: radius", lower=0.0))

    def distance(self, point: Array) -> tuple[float, Array]:
        """Signed distance of a point from the surface [m], and the direction (3,) that leads away."""
        gap = point - self.center
        norm = float(np.linalg.norm(gap))
        away = gap / norm if norm > 1e-9 else np.array((0.0, 0.0, 1.0))
        return norm - self.radius, away


@dataclass(frozen=True, slots=True, eq=False)
class HalfSpace:
    """All points behind a plane: point (3,) on the plane [m], normal (3,) that leads out of it."""

    point: Any
    normal: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", checks.vector(self.point, "HalfSpace: point", 3))
        object.__setattr__(self, "normal", checks.direction(self.normal, "HalfSpace: normal"))

    def distance(self, point: Array) -> tuple[float, Array]:
        """Signed distance of a point from the plane [m], and the direction (3,) that leads away."""
        return float(self.normal @ (point - self.point)), self.normal


def _sphere_or_half_space(value: Any, label: str) -> Sphere | HalfSpace:
    if not isinstance(value, Sphere | HalfSpace):
        raise InputError(f"{label}: expected a Sphere or a HalfSpace, got {value!r}")
    return value


def _not_negative(value: Any, label: str) -> float:
    return checks.scalar(value, label, lower=0.0)


def _positive(value: Any, label: str) -> float:
    return checks.scalar(value, label, lower=0.0, strict=True)


class ObstacleTask(MotionTask):
    """Move a ball on a frame away from an obstacle: ``v̇₀ = kp e s M⁻¹Jᵀn − kd s v`` inside the clearance, zero outside.

    n leads away from the obstacle, ``e = clearance − distance`` [m], and ``s = e/clearance`` rises from 0 at the
    border, so that v̇₀ is continuous there. The push is a force: what a strict task leaves of it, in the metric of M,
    never leads towards the obstacle, as a bare gradient Jᵀn may.

    Args:
        name: name in the stack and the report.
        frame: frame that carries the ball, at its origin.
        obstacle: a :class:`Sphere` or a :class:`HalfSpace`.
        radius: radius of the ball [m].
        clearance: distance between the surfaces below which it acts [m].
        gains: kp pushes [N/m], kd damps [1/s].
        weighting: ``"identity"`` or ``"inertia"``; see :class:`wbc.MotionTask`.

    Source: Khatib (1986), artificial potentials, with a slope that vanishes at the border.
    """

    dim = None
    angular = True

    _frame: str
    _obstacle: Sphere | HalfSpace
    _radius: float
    _clearance: float
    frame: Any = Target(text, "name of a frame", required=True, fixed=True)
    obstacle: Any = Target(_sphere_or_half_space, "Sphere or HalfSpace", required=True)
    radius: Any = Target(_not_negative, "radius [m]", required=True)
    clearance: Any = Target(_positive, "distance [m]", required=True)

    def __init__(
        self,
        name: str,
        *,
        frame: str,
        obstacle: Sphere | HalfSpace,
        radius: float = 0.0,
        clearance: float = 0.1,
        gains: Gains | None = None,
        mask: Any = None,
        weighting: str = "identity",
    ) -> None:
        super().__init__(name, gains=gains, mask=mask, weighting=weighting)
        self.frame = frame
        self.obstacle = obstacle
        self.radius = radius
        self.clearance = clearance

    def distance(self, terms: Terms) -> float:
        """Distance between the ball's surface and the obstacle's at this tick [m]."""
        return self._obstacle.distance(terms.frame(self._frame).position)[0] - self._radius

    def kinematics(self, terms: Terms) -> Kinematics:
        """The push as an error on the joints."""
        frame = terms.frame(self._frame)
        distance, away = self._obstacle.distance(frame.position)
        e = max(0.0, self._clearance - (distance - self._radius))
        s = min(1.0, e / self._clearance)
        push = np.linalg.solve(terms.M, (e * s) * away.dot(frame.J[:3]))
        return Kinematics(push, -s * terms.v, terms.identity, terms.zero_velocity)
