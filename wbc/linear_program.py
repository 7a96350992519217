"""Linear programs on named rows: how near a request can come, and how much wider bounds would have to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

from wbc.checks import Array

TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
FELT = 1e-7  # a multiplier above this, relative to the largest
NARROW = 1e-12  # a widening below this is none


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """``lower ≤ A x ≤ upper``, (m, n), (m,), (m,), with the name of each row; several may share one.

    ``offset`` (m,) is added to what a row takes where its bounds are spoken of.
    """

    A: Array
    lower: Array
    upper: Array
    names: list[str]
    offset: Array

    @classmethod
    def none(cls, n: int) -> Rows:
        """No rows on n variables."""
        return cls(np.zeros((0, n)), np.zeros(0), np.zeros(0), [], np.zeros(0))


def least_miss(
    fixed: Rows, rows: Rows, names: Sequence[str], A: Array, lower: Array, upper: Array
) -> tuple[float, dict[str, float]]:
    """``min t`` with ``lower − t ≤ A x ≤ upper + t``, under the fixed rows and those of these names.

    Returns:
        t, and the largest multiplier of each name that has one.
    """
    use = _of(rows, names)
    S = np.vstack([fixed.A, rows.A[use], A])
    low = np.concatenate([fixed.lower, rows.lower[use], lower])
    high = np.concatenate([fixed.upper, rows.upper[use], upper])
    slack = np.zeros((len(S), 1))
    slack[len(S) - len(A) :] = 1.0
    labels = [*fixed.names, *(rows.names[i] for i in use), *[""] * len(A)]
    cost = np.zeros(S.shape[1] + 1)
    cost[-1] = 1.0
    answer, owners = _solve(cost, S, slack, low, high)
    if answer is None:
        return np.inf, dict.fromkeys(names, 1.0)
    felt: dict[str, float] = {}
    largest = float(np.abs(answer.ineqlin.marginals).max(initial=0.0))
    for owner, multiplier in zip(owners, np.abs(answer.ineqlin.marginals), strict=True):
        if labels[owner] and multiplier > FELT * largest:
            felt[labels[owner]] = max(felt.get(labels[owner], 0.0), float(multiplier))
    return float(answer.fun), felt


def least_widening(
    fixed: Rows, rows: Rows, names: Sequence[str], A: Array, lower: Array, upper: Array
) -> list[tuple[str, float, float]]:
    """The least widening of the rows of these names with which ``lower ≤ A x ≤ upper``, all other rows kept.

    Each is counted relative to its bound, and their sum is made least.

    Returns:
        (name, bound, the wider bound) of those that have to be wider; empty where no widening suffices.
    """
    S = np.vstack([fixed.A, rows.A, A])
    low = np.concatenate([fixed.lower, rows.lower, lower])
    high = np.concatenate([fixed.upper, rows.upper, upper])
    wide = _of(rows, names)
    bounds = np.stack([rows.lower[wide], rows.upper[wide]])
    size = np.maximum(1.0, np.abs(np.where(np.isfinite(bounds), bounds, 0.0)).max(axis=0, initial=0.0))
    slack = np.zeros((len(S), len(wide)))
    slack[len(fixed.A) + wide, np.arange(len(wide))] = size
    cost = np.concatenate([np.zeros(S.shape[1]), np.ones(len(wide))])
    answer, _ = _solve(cost, S, slack, low, high)
    if answer is None:
        return []
    x, by = answer.x[: S.shape[1]], answer.x[S.shape[1] :] * size
    found = []
    for k, i in enumerate(wide):
        if by[k] > NARROW * size[k]:
            over = rows.A[i] @ x > rows.upper[i]
            bound = float((rows.upper[i] if over else rows.lower[i]) + rows.offset[i])
            found.append((rows.names[i], bound, bound + float(by[k] if over else -by[k])))
    return found


def _of(rows: Rows, names: Sequence[str]) -> Any:
    wanted = set(names)
    return np.array([i for i, name in enumerate(rows.names) if name in wanted], dtype=np.intp)


def _solve(cost: Array, S: Array, slack: Array, low: Array, high: Array) -> tuple[Any, list[int]]:
    """``min cost·(x, s)``, ``s ≥ 0``, ``low − slack s ≤ S x ≤ high + slack s``; the answer and the row of each side."""
    lengths = np.maximum(np.linalg.norm(S, axis=1), 1e-300)
    S, slack, low, high = S / lengths[:, None], slack / lengths[:, None], low / lengths, high / lengths
    above, below = np.flatnonzero(np.isfinite(high)), np.flatnonzero(np.isfinite(low))
    A_ub = np.vstack([np.hstack([S[above], -slack[above]]), np.hstack([-S[below], -slack[below]])])
    n = S.shape[1]
    bounds = [(None, None)] * n + [(0.0, None)] * (len(cost) - n)
    b_ub = np.concatenate([high[above], -low[below]])
    answer = linprog(cost, A_ub=A_ub, b_ub=b_ub, bounds=bounds, method="highs", options=TIGHT)
    return (answer if answer.status == 0 else None), [*above.tolist(), *below.tolist()]
