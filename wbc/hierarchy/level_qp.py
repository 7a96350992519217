"""Level QPs: one level of the hierarchy after the other, under inequality rows, in what the earlier ones left free."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from wbc.checks import Array
from wbc.hierarchy.closed_form import RANK_TOLERANCE
from wbc.hierarchy.polish import kkt_residual, polish, without_proximal
from wbc.solvers import QP, Answer, Solver

Indices = NDArray[np.intp]

PROXIMAL = 1e-6  # weight of the directions that a level does not speak of; it vanishes in the repetitions
WEAKEST = 1e-10
VANISHED = 1e-9  # a row this short on the free space, relative to its own length, does not depend on it
FELT = 1e-9  # a multiplier above this, relative to the largest, holds the level back
PRICED = 1e-10  # and above this at all
CERTIFIED = 1e-7  # relative KKT residual of an answer that could not be polished
SETTLED = 1e-12
MOST_REPETITIONS = 30


class InfeasibleError(Exception):
    """No point of the free space satisfies the inequality rows."""


class SolverFailedError(Exception):
    """The solver gave no answer that can be used."""


@dataclass(slots=True, eq=False)
class Cascade:
    """The state of a lexicographic solve: a point, the space still free, and the inequality rows.

    Attributes:
        z: the point (n,), accelerations y and internal forces λ, that is optimal for all levels so far.
        free: orthonormal directions (n, r) that no level so far speaks of.
        G, lower, upper: inequality rows on z (m, n), (m,), (m,).
        solver: who solves the QPs.
        price: (m,) price of each row at the first level whose value it changes.
        price_level: (m,) index of that level in ``levels``, −1 where none.
        relaxed: (m,) by how much a row gave way, 0 where not.
        feasible: whether z satisfies the rows, which it does from the first level on.
    """

    z: Array
    free: Array
    G: Array
    lower: Array
    upper: Array
    solver: Solver
    price: Array = field(init=False)
    price_level: Indices = field(init=False)
    relaxed: Array = field(init=False)
    levels: list[str] = field(default_factory=list)
    iterations: int = 0
    feasible: bool = False
    _norms: Array = field(init=False)

    def __post_init__(self) -> None:
        m = len(self.G)
        self.price, self.relaxed = np.zeros(m), np.zeros(m)
        self.price_level = np.full(m, -1)

    def least_squares(self, label: str, A: Array, b: Array) -> None:
        """Minimise ½ ‖A z + b‖² in the free space, then freeze its optimal residual and the rows that hold it.

        The residual's own coordinates u come first, the rest c second: with A free = U Σ Vᵀ and
        w = V Σ⁻¹ (u − Uᵀ r) + V₂ c, the cost is ½ ‖u‖² + const. The proximal term on c is repeated from the last c
        until u stays, when it acts no more.
        """
        self.levels.append(label)
        if not self.free.shape[1]:
            return
        residual = A @ self.z + b
        U, sigma, Vt = np.linalg.svd(A @ self.free, full_matrices=True)
        longest = np.sqrt((A**2).sum(axis=1).max(initial=0.0))
        rank = int((sigma > RANK_TOLERANCE * longest).sum())
        if not rank:
            return
        wanted = U[:, :rank].T @ residual
        self._minimise(
            label, Vt[:rank].T / sigma[:rank], Vt[rank:].T, -(Vt[:rank].T / sigma[:rank]) @ wanted, may_be_met=True
        )

    def gauss(self, label: str, H: Array, f: Array) -> None:
        """Minimise ½ cᵀ H c + fᵀ c over the first directions of the free space; the others cost nothing.

        H is positive definite; with H = L Lᵀ and c = L⁻ᵀ u − H⁻¹ f the cost is ½ ‖u‖² + const.
        """
        self.levels.append(label)
        n, k = self.free.shape[1], len(H)
        L = np.linalg.cholesky(H)
        first = np.zeros((n, k))
        first[:k] = solve_triangular(L, np.eye(k), lower=True, check_finite=False).T
        self._minimise(label, first, np.eye(n)[:, k:], -first @ (first[:k].T @ f), may_be_met=False)

    def _minimise(self, label: str, to_u: Array, to_c: Array, start: Array, *, may_be_met: bool) -> None:
        """The level's QP in (u, c), w = start + to_u u + to_c c; moves to its solution and freezes it."""
        rank, n = to_u.shape[1], to_u.shape[1] + to_c.shape[1]
        if may_be_met and self._meet(label, to_c, start):
            return
        to_w = np.hstack([to_u, to_c])
        rows, G, lower, upper = self._rows_on(self.free @ to_w, self.z + self.free @ start)
        x = np.zeros(n)
        multipliers = np.zeros(len(rows))
        if n:
            answer = self._repeat(label, G, lower, upper, slice(0, rank), slice(rank, n))
            x, multipliers = answer.x, answer.multipliers / self._norms[rows]
        self.z = self.z + self.free @ (start + to_w @ x)
        self.feasible = True
        self._charge(rows, multipliers)
        self._shrink(self.free @ to_c, rows[self._felt(multipliers)])

    def _meet(self, label: str, to_c: Array, start: Array) -> bool:
        """Try to meet a level exactly: where some c satisfies all rows at u = 0, no row holds the level back."""
        try:
            rows, G, lower, upper = self._rows_on(self.free @ to_c, self.z + self.free @ start)
            c = np.zeros(to_c.shape[1])
            if len(rows) and len(c) and (np.minimum(-lower, upper).min() < 0.0):
                c = self._ask(QP(np.eye(len(c)), np.zeros(len(c)), G, lower, upper, f"{label} met")).x
        except (InfeasibleError, SolverFailedError):
            return False
        self.z = self.z + self.free @ (start + to_c @ c)
        self.free = self.free @ to_c
        self.feasible = True
        return True

    def least_violation(self, label: str, soft: NDArray[np.bool_]) -> None:
        """Minimise ½ ‖s‖², the amounts by which the rows ``soft`` (a mask) give way, the others kept; then freeze them.

        Rows that gave way become equalities at the value they reached.
        """
        self.levels.append(label)
        rows = np.flatnonzero(np.isfinite(self.lower) | np.isfinite(self.upper))
        giving = np.flatnonzero(soft[rows])
        r, k = self.free.shape[1], len(giving)
        G = np.zeros((len(rows), r + k))
        G[:, :r] = self.G[rows] @ self.free
        G[giving, r + np.arange(k)] = 1.0
        norms = np.linalg.norm(G, axis=1)
        lower, upper = ((bound[rows] - self.G[rows] @ self.z) / norms for bound in (self.lower, self.upper))
        answer = self._repeat(label, G / norms[:, None], lower, upper, slice(r, r + k), slice(0, r))
        slack, multipliers = answer.x[r:], answer.multipliers / norms
        self.z = self.z + self.free @ answer.x[:r]
        gave = rows[giving]
        big = np.abs(slack) > 1e-7
        value = self.G[gave] @ self.z
        self.relaxed[gave[big]] = np.abs(slack[big])
        self.lower[gave] = np.where(big & (slack > 0.0), value, self.lower[gave])
        self.upper[gave] = np.where(big & (slack < 0.0), value, self.upper[gave])
        self.feasible = True
        self._charge(rows, multipliers)
        self._shrink(self.free, rows[self._felt(multipliers)])

    def _repeat(self, label: str, G: Array, lower: Array, upper: Array, u: slice, c: slice) -> Answer:
        """Minimise ½ ‖u‖² with a proximal term on c, then without it on the active set found.

        Where that does not pass, again from the last c with a weaker term: its gradient ε (c − c_before) holds c back
        where the level's own slope is small, and at the solution it must be nothing.
        """
        n, weight = G.shape[1], PROXIMAL
        f, H = np.zeros(n), np.eye(n)
        before = f[c]
        for _ in range(MOST_REPETITIONS):
            H[c, c] = weight * np.eye(len(before))
            qp = QP(H, f, G, lower, upper, label)
            answer = self._ask(qp)
            moved = np.abs(answer.x[c] - before).max(initial=0.0)
            if weight * moved <= SETTLED * np.abs(answer.x[u]).max(initial=0.0):
                return answer
            pure = without_proximal(qp, u, c, answer)
            if pure is not None:
                return pure
            before, weight = answer.x[c], max(0.1 * weight, WEAKEST)
            f = np.zeros(n)
            f[c] = -weight * before
        return answer

    def _rows_on(self, basis: Array, z: Array) -> tuple[Indices, Array, Array, Array]:
        """The inequality rows that can still be violated on ``z + basis x``: indices, unit rows and bounds."""
        rows = np.flatnonzero(np.isfinite(self.lower) | np.isfinite(self.upper))
        if self.feasible:  # the point is inside up to rounding: let it be inside exactly, or a level may find no room
            value = self.G[rows] @ self.z
            self.lower[rows] = np.minimum(self.lower[rows], value)
            self.upper[rows] = np.maximum(self.upper[rows], value)
        G = self.G[rows] @ basis
        norms = np.linalg.norm(G, axis=1)
        offset = self.G[rows] @ z
        lengths = np.linalg.norm(self.G[rows], axis=1)
        lives = norms > VANISHED * lengths * np.abs(basis).max(initial=0.0)
        dead = ~lives
        outside = np.maximum(self.lower[rows] - offset, offset - self.upper[rows])[dead]
        if (outside > 1e-7 * np.maximum(1.0, np.abs(offset[dead]))).any():
            raise InfeasibleError
        rows, norms, offset = rows[lives], norms[lives], offset[lives]
        self._norms = np.ones(len(self.G))
        self._norms[rows] = norms
        return rows, G[lives] / norms[:, None], (self.lower[rows] - offset) / norms, (self.upper[rows] - offset) / norms

    def _ask(self, qp: QP) -> Answer:
        answer = self.solver.solve(qp)
        self.iterations += answer.iterations
        if answer.status == "infeasible":
            raise InfeasibleError
        if not answer.solved:
            raise SolverFailedError(answer.message)
        polished = polish(qp, answer)
        if polished is answer and kkt_residual(qp, answer) > CERTIFIED:
            raise SolverFailedError(f"{self.solver.name}: its answer does not satisfy the KKT conditions")
        return polished

    @staticmethod
    def _felt(multipliers: Array) -> NDArray[np.bool_]:
        """Which rows hold a level back."""
        size = np.abs(multipliers)
        return size > max(PRICED, FELT * float(size.max(initial=0.0)))

    def _charge(self, rows: Indices, multipliers: Array) -> None:
        """Note the price of every row that holds this level back and held no earlier one."""
        felt = self._felt(multipliers) & (self.price_level[rows] < 0)
        self.price[rows[felt]] = np.abs(multipliers[felt])
        self.price_level[rows[felt]] = len(self.levels) - 1

    def _shrink(self, free: Array, held: Indices) -> None:
        """Leave to the next levels only the directions along which the rows that hold this one stay where they are."""
        if len(held) and free.shape[1]:
            G = self.G[held] @ free
            lengths = np.linalg.norm(self.G[held], axis=1)
            _, sigma, Vt = np.linalg.svd(G / lengths[:, None])
            rank = int((sigma > RANK_TOLERANCE).sum())
            free = free @ Vt[rank:].T
        self.free = free
