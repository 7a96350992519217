"""One level as a QP: least squares in some directions, nothing in the others, under rows; exact on the active set."""

from __future__ import annotations

import numpy as np

from wbc.checks import Array
from wbc.hierarchy.polish import DEPENDENT, active_sides, kkt_residual, polish, what_is_wrong, without_proximal
from wbc.kernels import active_set
from wbc.solvers import QP, Answer, Solver

PROXIMAL = 1e-6  # weight of the directions that a level does not speak of; it vanishes in the repetitions
WEAKEST = 1e-10
STRONGEST = 1.0
CERTIFIED = 1e-7  # relative KKT residual of an answer that could not be polished, where nothing better is found
EXACT = 1e-10  # and where something better can be looked for
SETTLED = 1e-12
NEARLY = 1e-6  # relative: an answer on which the proximal term acts by no more is one after all repetitions
STILL = 1e-10  # relative: as exact as the rows allow, where the proximal term acts by no more and no less than before
MOST_REPETITIONS = 30
HOLDS = 1e-9  # a multiplier above this, relative to the largest, holds the level back
MOST_CHANGES = 10  # of the active set that a solver found; one or none in nearly all levels


class InfeasibleError(Exception):
    """No point of the free space satisfies the inequality rows."""


class SolverFailedError(Exception):
    """The solver gave no answer that can be used."""


def minimise(solver: Solver, label: str, G: Array, lower: Array, upper: Array, n_u: int) -> Answer:
    """Minimise ½ ‖u‖², the first ``n_u`` entries of x, and ½ ‖c‖² of the rest below it, under rows of unit norm.

    A solver sees both at once, c with a small weight; on the active rows that it finds the two levels are solved one
    after the other, which the KKT conditions certify (97 of 100 levels of random ticks and more, at a fifth of the
    cost of what follows). Where no set of rows passes, ½ ‖u‖² alone: again from the last c with a weaker term, whose
    gradient ε (c − c_before) holds c back where the level's own slope is small, and at the solution must be nothing.
    Where a solver finds no answer the term was too weak: with many dependent rows a Hessian of diag(1, 1e-6) makes
    feasible problems look infeasible (6 of 2,000 random ones), and one of diag(1, 1) does not.

    Raises:
        InfeasibleError: no x satisfies the rows; SolverFailedError: there is no usable answer, or it does not settle.
    """
    u, c = slice(0, n_u), slice(n_u, G.shape[1])
    weight, floor = PROXIMAL if n_u < G.shape[1] else STRONGEST, WEAKEST
    f, H = np.zeros(G.shape[1]), np.eye(G.shape[1])
    before = f[c]
    iterations, slope = 0, np.inf
    tried: set[bytes] = set()  # active rows on which there is no exact solution
    for _ in range(MOST_REPETITIONS):
        H[c, c] = weight * np.eye(len(before))
        qp = QP(H, f, G, lower, upper, label)
        try:
            found = _solved(solver, qp)
            iterations += found.iterations
            rows = active_sides(qp, found.multipliers).tobytes()
            if rows not in tried:
                exact = _two_levels(qp, n_u, found)
                if exact is None and 0 < n_u < len(f):
                    exact = _apart(solver, qp, n_u, found)
                if exact is not None:
                    exact.iterations = iterations
                    return exact
            answer = _certified(solver, qp, found, EXACT if weight < STRONGEST else CERTIFIED)
        except (InfeasibleError, SolverFailedError):
            if weight >= STRONGEST:
                raise
            floor = min(10.0 * weight, STRONGEST)  # back down to here, from better points
            weight = min(max(1e3 * weight, PROXIMAL), STRONGEST)
            f = np.zeros(len(f))
            f[c] = -weight * before
            continue
        answer.iterations = iterations
        slope, last = weight * np.abs(answer.x[c] - before).max(initial=0.0), slope
        if slope <= SETTLED * np.abs(answer.x[u]).max(initial=0.0):
            return answer
        if slope > 0.5 * last and slope <= STILL * np.abs(answer.multipliers).max(initial=0.0):
            return answer
        if rows not in tried:
            tried.add(rows)
            pure = without_proximal(qp, u, c, answer)
            if pure is not None:
                return pure
        before, weight = answer.x[c], max(0.1 * weight, floor)
        f = np.zeros(len(f))
        f[c] = -weight * before
    slope = np.abs(qp.G[:, c].T @ answer.multipliers).max(initial=0.0)  # what the proximal term still holds
    if slope > NEARLY * np.abs(answer.multipliers).max(initial=0.0):
        raise SolverFailedError(f"{solver.name}: level {label!r} does not settle")
    return answer


def _solved(solver: Solver, qp: QP) -> Answer:
    answer = solver.solve(qp)
    if answer.status == "infeasible":
        raise InfeasibleError
    if not answer.solved:
        raise SolverFailedError(answer.message)
    return answer


def _two_levels(qp: QP, n_u: int, answer: Answer) -> Answer | None:
    """The exact solution from the active rows of an answer; ``None`` where no set of rows passes."""
    m, n = qp.G.shape
    x, multipliers, below = np.zeros(n), np.zeros(m), np.zeros(m)
    side = active_sides(qp, answer.multipliers)
    G = np.ascontiguousarray(qp.G)
    if not active_set.two_levels(G, n_u, qp.lower, qp.upper, side, MOST_CHANGES, x, multipliers, below):
        return None
    return Answer(x, multipliers, "solved", answer.iterations, answer.message)


def _apart(solver: Solver, qp: QP, n_u: int, answer: Answer) -> Answer | None:
    """u and its multipliers from the active rows, then c by a QP of its own, the rows that hold u back kept.

    A point that satisfies all rows, at the bounds of those with multipliers, is optimal, whichever it is. ``None``
    where the active rows are not those of u, or leave no room for c. Without this a level of G1 took 0.3 s.
    """
    side = active_sides(qp, answer.multipliers)
    active = np.flatnonzero(side)
    bound = np.where(side[active] > 0.0, qp.upper[active], qp.lower[active])
    Gu, Gc = qp.G[:, :n_u], qp.G[:, n_u:]
    U, sigma, _ = np.linalg.svd(Gc[active], full_matrices=True)
    N = U[:, int((sigma > DEPENDENT).sum()) :]
    inverse = np.linalg.pinv(N.T @ Gu[active], rcond=DEPENDENT)
    x, multipliers = np.zeros(len(qp.f)), np.zeros(len(side))
    u = x[:n_u] = inverse @ (N.T @ bound)
    multipliers[active] = -N @ (inverse.T @ u)
    pull = side[active] * multipliers[active]
    equal, noise = qp.equalities[active], HOLDS * np.abs(pull).max(initial=0.0)
    if (pull[~equal] < -noise).any():
        return None
    holds = equal | (pull > noise)
    held, kept = active[holds], bound[holds]
    U, sigma, Vt = np.linalg.svd(Gc[held], full_matrices=True)
    rank = int((sigma > DEPENDENT).sum())
    x[n_u:] = Vt[:rank].T @ ((U[:, :rank].T @ (kept - Gu[held] @ u)) / sigma[:rank])
    left, value = Vt[rank:].T, qp.G @ x
    G = Gc @ left
    norms = np.sqrt((G**2).sum(axis=1))
    lives = norms > DEPENDENT
    lives[held] = False
    norms = norms[lives]
    lower, upper = (qp.lower[lives] - value[lives]) / norms, (qp.upper[lives] - value[lives]) / norms
    iterations = answer.iterations
    if lives.any():  # else nothing is left to decide, and solvers refuse a problem without variables
        try:
            rest = minimise(solver, f"{qp.key} rest", G[lives] / norms[:, None], lower, upper, G.shape[1])
        except (InfeasibleError, SolverFailedError):
            return None
        x[n_u:] += left @ rest.x
        iterations += rest.iterations
    if what_is_wrong(qp, x, multipliers, side) is not None:
        return None
    return Answer(x, multipliers, "solved", iterations, answer.message)


def _certified(solver: Solver, qp: QP, answer: Answer, certified: float) -> Answer:
    """The answer polished; where that does not succeed, its KKT residual must be below ``certified``."""
    polished = polish(qp, answer)
    if polished is answer and kkt_residual(qp, answer) > certified:
        raise SolverFailedError(f"{solver.name}: its answer does not satisfy the KKT conditions")
    return polished
