"""What a level hands to a solver and gets back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wbc.checks import Array

TIME_CAP = 1.0  # s for one call where nobody asked for less; no answer so late is worth waiting for


@dataclass(slots=True, eq=False)
class QP:
    """``min ½ xᵀ H x + fᵀ x`` subject to ``lower ≤ G x ≤ upper``; equal sides make an equality.

    Args:
        H: symmetric positive definite (n, n).
        f: (n,).
        G: (m, n), rows of unit norm, each with at least one finite side.
        lower: (m,), −inf for none.
        upper: (m,), inf for none.
        key: which of the recurring problems this is, so that a workspace finds its own again.
    """

    H: Array
    f: Array
    G: Array
    lower: Array
    upper: Array
    key: str

    @property
    def equalities(self) -> NDArray[np.bool_]:
        """Which rows have equal sides."""
        equal: NDArray[np.bool_] = self.lower == self.upper
        return equal

    def violation(self, x: Array) -> float:
        """How far the worst row is outside."""
        value = self.G @ x
        return float(max((self.lower - value).max(initial=0.0), (value - self.upper).max(initial=0.0)))


@dataclass(slots=True, eq=False)
class Answer:
    """A solver's answer.

    Args:
        x: solution (n,); meaningless unless ``status`` is ``"solved"``.
        multipliers: (m,), positive where the upper side holds the solution back, negative for the lower.
        status: ``"solved"``, ``"infeasible"`` or ``"failed"``.
        iterations: of the solver.
        message: the solver's own words where it did not solve.
    """

    x: Array
    multipliers: Array
    status: str
    iterations: int = 0
    message: str = ""

    @property
    def solved(self) -> bool:
        """Whether x may be used."""
        return self.status == "solved"


class Solver(Protocol):
    """A QP solver; it may keep workspaces and active sets between ticks, by ``QP.key``."""

    name: str

    def solve(self, qp: QP) -> Answer:
        """Solve one problem; never raises for a hard one."""

    def reset(self) -> None:
        """Forget all warm starts."""


def is_finite(values: Array) -> bool:
    """Whether all entries are; the sum of their squares then is too: 0.7 us, against 2.6 of isfinite(...).all()."""
    flat = values.ravel("K")  # whatever the order in memory: a transposed matrix is not copied
    return math.isfinite(flat.dot(flat))


def answer(x: Array | None, multipliers: Array | None, status: str, iterations: int, message: str) -> Answer:
    """An answer whose numbers are looked at before anyone trusts them: a NaN that calls itself solved has failed."""
    empty = np.zeros(0)
    if status == "solved":
        if x is None or multipliers is None or not is_finite(x) or not is_finite(multipliers):
            return Answer(empty, empty, "failed", iterations, f"{message}: the solution is not finite")
        return Answer(x, multipliers, status, iterations, message)
    return Answer(empty, empty, status, iterations, message)
