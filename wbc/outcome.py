"""What a report holds: the status of a tick, and its findings about tasks and limits."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from wbc.checks import Array

MISSED = 1e-6  # a strict task is missed when more than this, relative to 1 + |asked|, is left


class Status(enum.Enum):
    """How a tick ended."""

    OPTIMAL = "optimal"
    RELAXED = "relaxed"
    FALLBACK = "fallback"


@dataclass(frozen=True, slots=True, eq=False)
class TaskReport:
    """One task at one tick, in the task's units per second squared; tasks on forces in N and N m.

    Attributes:
        asked: ξ̇_r (k,), what feedback and feed-forward want.
        got: ξ̇ (k,), what the command gives.
        missed: asked − got (k,).
        force: least-norm constraint force (k,) [N, N m] of a strict task; zeros for others.
        because: why a part is missing: ``"limit: torque panda_joint2"``, ``"task: com"``, ``"singular"``, ``"weight"``,
            ``"ramp"`` while a part comes or goes;
            for tasks on forces also ``"motion"``, which leaves no internal force in that direction.
        damping: share of the demand that damping leaves out in the task's weakest direction, 0 to 1.
        closed: how much a soft task on motion closed of the gap between what the motion would be without soft tasks and
            limits and what is asked, 1 for all of it: ``r₀ᵀ(r₀ − r)/r₀ᵀr₀`` with r the residuals in the norm that the
            task is weighted in. ``None`` for other tasks.
    """

    asked: Array
    got: Array
    missed: Array
    force: Array
    because: tuple[str, ...]
    damping: float
    closed: float | None = None

    @property
    def is_missed(self) -> bool:
        """Whether more than rounding is missing."""
        asked = float(np.abs(self.asked).max(initial=0.0))
        return float(np.abs(self.missed).max(initial=0.0)) > MISSED * (1.0 + asked)


@dataclass(frozen=True, slots=True)
class ActiveLimit:
    """A limit that holds the solution back.

    Attributes:
        limit, element: name of the limit and of its row, such as the joint.
        bound, value: the bound that holds, and the value reached [N m, rad/s²].
        price: −∂(½ ‖residual‖² of ``level``)/∂bound, how much the level would gain from a wider bound.
        level: the first level whose value the bound changes.
        one_sided: whether the active rows are degenerate: one of them holds nothing back yet, or this one is a
            combination of others. The price is then a subgradient: no less than what a wider bound brings, and no more
            than what a narrower one costs.
    """

    limit: str
    element: str
    bound: float
    value: float
    price: float
    level: str
    one_sided: bool = False


@dataclass(frozen=True, slots=True)
class Relaxed:
    """A limit row that gave way: by how much, and against what."""

    name: str
    element: str
    by: float
    because: tuple[str, ...]
