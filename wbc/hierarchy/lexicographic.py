"""The lexicographic solve: level after level, equalities and inequalities, in what the earlier ones left free."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wbc.checks import Array
from wbc.hierarchy.closed_form import RANK_TOLERANCE
from wbc.hierarchy.level_qp import InfeasibleError, SolverFailedError, minimise
from wbc.solvers import Solver

Indices = NDArray[np.intp]

VANISHED = 1e-9  # a row this short on the free space, relative to its own length, does not depend on it
FELT = 1e-9  # a multiplier above this, relative to the largest, holds the level back
DOUBT = 1e5  # multipliers below so many times a level's own residual of stationarity are not believed; 1e4 to 1e7 do
PRICED = 1e-10  # and above this at all
# directions that a level feels by less than this are left to the next ones where it has no answer with them: internal
# forces of straight legs that move the robot by 1e-8 of themselves, and would have to be 1e9 N to be of use
FAINT = 1e-6
OUTSIDE = 1e-7  # a row that is outside by more has given way; below, it is a solver's rounding


@dataclass(slots=True, eq=False)
class Level:
    """What one level asks for: ``min ½ ‖A z + b‖² + ½ ‖s‖²``, ``lower ≤ G z + s ≤ upper`` for some inequality rows.

    Attributes:
        label: what reports call the level.
        A, b: rows (k, n) and offsets (k,), weights multiplied in.
        asked: indices of the inequality rows that the level asks for.
        root_weights: roots of the weights of these rows; all 1 where left out.
    """

    label: str
    A: Array
    b: Array
    asked: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    root_weights: Array | None = None


@dataclass(slots=True, eq=False)
class Cascade:
    """The state of a lexicographic solve: a point, the space still free, and the inequality rows.

    Attributes:
        z: the point (n,), accelerations y and internal forces λ, that is optimal for all levels so far.
        free: orthonormal directions (n, r) that no level so far speaks of.
        G, lower, upper: inequality rows on z (m, n), (m,), (m,); they are written to.
        solver: who solves the QPs.
        enforced: (m,) the rows that hold from here on: hard ones, and those that earlier levels asked for.
        price: (m,) price of each row at the first level whose value it changes.
        price_level: (m,) index of that level in ``levels``, −1 where none.
        held_by: the rows that held each level back, by its label.
        relaxed: (m,) by how much a row gave way, 0 where not.
        feasible: whether z satisfies the enforced rows, which it does from the first level on.
    """

    z: Array
    free: Array
    G: Array
    lower: Array
    upper: Array
    solver: Solver
    enforced: NDArray[np.bool_]
    price: Array = field(init=False)
    price_level: Indices = field(init=False)
    relaxed: Array = field(init=False)
    levels: list[str] = field(default_factory=list)
    held_by: dict[str, Indices] = field(default_factory=dict)
    iterations: int = 0
    feasible: bool = False
    _lengths: Array = field(init=False)
    _bounded: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        m = len(self.G)
        self.price, self.relaxed = np.zeros(m), np.zeros(m)
        self.price_level = np.full(m, -1)
        self._lengths = np.sqrt((self.G**2).sum(axis=1))
        self._bounded = np.isfinite(self.lower) | np.isfinite(self.upper)

    def solve(self, level: Level) -> None:
        """Solve one level, then freeze its optimal residual and the rows that hold it back.

        The residual's own coordinates u come first, the rest c second: with A free = U Σ Vᵀ and
        w = V Σ⁻¹ (u − Uᵀ r) + V₂ c, the cost is ½ ‖u‖² + const.
        """
        self.levels.append(level.label)
        bounds = self.lower.copy(), self.upper.copy()
        for tolerance in (RANK_TOLERANCE, FAINT):
            start, to_u, to_c = self._split(level, tolerance)
            if self._met(level, start, to_c):
                return
            try:
                self._minimise(level.label, start, to_u, to_c, level.asked, level.root_weights)
                return
            except (InfeasibleError, SolverFailedError):
                if tolerance == FAINT:
                    raise
                self.lower[:], self.upper[:] = bounds  # middles of crossed rows are written to them

    def meet(self, level: Level) -> bool:
        """Solve a level if it can be met exactly under all enforced rows; nothing is changed where it cannot."""
        start, _, to_c = self._split(level)
        met = self._met(level, start, to_c)
        if met:
            self.levels.append(level.label)
        return met

    def _split(self, level: Level, tolerance: float = RANK_TOLERANCE) -> tuple[Array, Array, Array]:
        """w = start + to_u u + to_c c, with u the part of the free space that the level's equality rows feel."""
        r = self.free.shape[1]
        if not r or not len(level.A):
            return np.zeros(r), np.zeros((r, 0)), np.eye(r)
        A = level.A @ self.free
        U, sigma, Vt = np.linalg.svd(A, full_matrices=len(A) < r)  # all of V, but no more of U than that takes
        longest = np.sqrt((level.A**2).sum(axis=1).max())
        rank = int((sigma > tolerance * longest).sum())
        to_u = Vt[:rank].T / sigma[:rank]
        return -to_u @ (U[:, :rank].T @ (level.A @ self.z + level.b)), to_u, Vt[rank:].T

    def _met(self, level: Level, start: Array, to_c: Array) -> bool:
        """Move to a point with u = 0 that satisfies all rows, where there is one: then no row holds the level back."""
        enforced = self.enforced.copy()
        enforced[level.asked] = True
        try:
            rows, G, lower, upper, _ = self._rows_on(self.free @ to_c, self.z + self.free @ start, enforced)
            c = np.zeros(to_c.shape[1])
            if len(rows) and np.minimum(-lower, upper).min() < 0.0:
                answer = minimise(self.solver, f"{level.label} met", G, lower, upper, len(c))
                self.iterations += answer.iterations
                c = answer.x
        except (InfeasibleError, SolverFailedError):
            return False
        self.z = self.z + self.free @ (start + to_c @ c)
        self.free = self.free @ to_c
        self.enforced = enforced
        self.feasible = True
        return True

    def _minimise(
        self,
        label: str,
        start: Array,
        to_u: Array,
        to_c: Array,
        asked: Indices | None = None,
        roots: Array | None = None,
    ) -> None:
        """The level's QP in (u, s, c), w = start + to_u u + to_c c; moves to its solution and freezes it."""
        asked = np.zeros(0, dtype=np.intp) if asked is None else asked
        roots = np.ones(len(asked)) if roots is None else roots
        rank, m = to_u.shape[1], len(self.G)
        basis, z = self.free @ np.hstack([to_u, to_c]), self.z + self.free @ start
        hard, G_hard, lower, upper, norms = self._rows_on(basis, z, self.enforced)
        crossed = self.lower[asked] > self.upper[asked]
        wish = self.lower[asked].copy(), self.upper[asked].copy()
        middle = 0.5 * (wish[0][crossed] + wish[1][crossed])
        self.lower[asked[crossed]] = self.upper[asked[crossed]] = middle
        roots = np.where(crossed, np.sqrt(2.0) * roots, roots)  # two one-sided rows that pull against each other
        # slack s/√w on each row asked for, rows of unit norm
        G_soft = self.G[asked] @ basis
        lengths = np.sqrt((G_soft**2).sum(axis=1) + 1.0 / roots**2)
        offset = self.G[asked] @ z
        G = np.zeros((len(hard) + len(asked), basis.shape[1] + len(asked)))
        slack = slice(rank, rank + len(asked))
        G[: len(hard), :rank], G[: len(hard), slack.stop :] = G_hard[:, :rank], G_hard[:, rank:]
        G[len(hard) :, :rank], G[len(hard) :, slack.stop :] = G_soft[:, :rank], G_soft[:, rank:]
        G[len(hard) + np.arange(len(asked)), rank + np.arange(len(asked))] = 1.0 / roots
        G[len(hard) :] /= lengths[:, None]
        lower = np.concatenate([lower, (self.lower[asked] - offset) / lengths])
        upper = np.concatenate([upper, (self.upper[asked] - offset) / lengths])
        real = np.isfinite(lower) | np.isfinite(upper)
        x = np.zeros(G.shape[1])
        multipliers = np.zeros(m)
        if len(x):
            answer = minimise(self.solver, label, G[real], lower[real], upper[real], slack.stop)
            self.iterations += answer.iterations
            x, rows = answer.x, np.concatenate([hard, asked])
            held = answer.multipliers
            # what a proximal term left in the last answer shows as a slope along c, and as multipliers of that size
            noise = DOUBT * np.abs(G[real, slack.stop :].T @ held).max(initial=0.0)
            held = np.where(np.abs(held) > noise, held, 0.0)
            multipliers[rows[real]] = held / np.concatenate([norms, lengths])[real]
        self.z = z + basis @ np.concatenate([x[:rank], x[slack.stop :]])
        self.feasible = True
        value = self.G[asked] @ self.z
        beyond = np.maximum(wish[0] - value, value - wish[1])
        self.relaxed[asked] = np.where(beyond > OUTSIDE * np.maximum(1.0, np.abs(value)), beyond, 0.0)
        self.enforced[asked] = True  # kept rows stay inside; what gave way stays where it is, as the rows felt below
        felt = self._felt(multipliers)
        first = felt & (self.price_level < 0)
        self.price[first] = np.abs(multipliers[first])
        self.price_level[first] = len(self.levels) - 1
        self.held_by[label] = np.flatnonzero(felt)
        self._shrink(self.free @ to_c, np.flatnonzero(felt))

    def _rows_on(
        self, basis: Array, z: Array, enforced: NDArray[np.bool_]
    ) -> tuple[Indices, Array, Array, Array, Array]:
        """The rows that can still be violated on ``z + basis x``: indices, unit rows, bounds, and their lengths.

        Raises:
            InfeasibleError: a row has crossed bounds, or is outside whatever x.
        """
        rows = np.flatnonzero(enforced & self._bounded)
        A, low, high = self.G[rows], self.lower[rows], self.upper[rows]
        if self.feasible:  # the point is inside up to rounding: let it be inside exactly, or a level may find no room
            known, value = self.enforced[rows], A @ self.z
            low, high = np.where(known, np.minimum(low, value), low), np.where(known, np.maximum(high, value), high)
            self.lower[rows], self.upper[rows] = low, high
        G = A @ basis
        norms = np.sqrt(np.einsum("ij,ij->i", G, G))
        offset = A @ z
        lives = norms > VANISHED * self._lengths[rows] * np.abs(basis).max(initial=0.0)
        if (low > high).any():
            raise InfeasibleError
        if not lives.all():
            value = offset[~lives]
            if self.feasible:  # rows frozen by earlier levels stay as they are: a long step would show their rounding
                left = np.sqrt(((A[~lives] @ self.free) ** 2).sum(axis=1))
                frozen = left <= VANISHED * self._lengths[rows[~lives]]
                value = np.where(frozen, A[~lives] @ self.z, value)
            outside = np.maximum(low[~lives] - value, value - high[~lives])
            if (outside > OUTSIDE * np.maximum(1.0, np.abs(value))).any():
                raise InfeasibleError
            rows, norms, offset, G, low, high = (kept[lives] for kept in (rows, norms, offset, G, low, high))
        return rows, G / norms[:, None], (low - offset) / norms, (high - offset) / norms, norms

    @staticmethod
    def _felt(multipliers: Array) -> NDArray[np.bool_]:
        """Which rows hold a level back."""
        size = np.abs(multipliers)
        felt: NDArray[np.bool_] = size > max(PRICED, FELT * float(size.max(initial=0.0)))
        return felt

    def _shrink(self, free: Array, held: Indices) -> None:
        """Leave to the next levels only the directions along which the rows that hold this one stay where they are."""
        held = held[self._lengths[held] > 0.0]  # an all-zero row is outside by the same amount everywhere
        if len(held) and free.shape[1]:
            G = self.G[held] @ free
            _, sigma, Vt = np.linalg.svd(G / self._lengths[held][:, None], full_matrices=len(G) < G.shape[1])
            rank = int((sigma > RANK_TOLERANCE).sum())
            free = free @ Vt[rank:].T
        self.free = free


def solve_levels(
    n: int, hard: tuple[Array, Array, Array], levels: list[tuple[Level, tuple[Array, Array, Array]]], solver: Solver
) -> Cascade:
    """Solve a lexicographic problem given as plain arrays: hard rows ≻ level 1 ≻ level 2 ≻ …

    Args:
        n: number of variables.
        hard: matrix (m, n), lower and upper (m,) of the rows that always hold; some point satisfies them.
        levels: each level, with the matrix, lower and upper of the inequality rows that it asks for.
        solver: who solves the QPs.

    Raises:
        InfeasibleError: no point satisfies the hard rows; SolverFailedError: a level could not be solved.
    """
    matrices, lowers, uppers = ([block[i] for block in (hard, *(rows for _, rows in levels))] for i in range(3))
    G = np.vstack([np.reshape(matrix, (-1, n)) for matrix in matrices])
    enforced = np.arange(len(G)) < len(hard[1])
    lower, upper = (np.concatenate(bounds).astype(np.float64) for bounds in (lowers, uppers))
    cascade = Cascade(np.zeros(n), np.eye(n), G, lower, upper, solver, enforced)
    at = len(hard[1])
    for level, (_, lower, _) in levels:
        level.asked = np.arange(at, at + len(lower))
        at += len(lower)
        cascade.solve(level)
    return cascade
