"""Polish: the exact solution on the active set that a solver found, checked against the KKT conditions."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from wbc.checks import Array
from wbc.solvers import QP, Answer

FEASIBLE = 1e-10  # rows have unit norm
RIGHT_SIGN = 1e-10  # relative to the largest multiplier
DEPENDENT = 1e-10  # active rows below this singular value, relative, depend on others
STATIONARY = 1e-10
MOST_CHANGES = 30


def polish(qp: QP, answer: Answer) -> Answer:
    """Solve the equality-constrained problem on the active set, mending the set where the KKT conditions ask for it.

    Level QPs have a diagonal Hessian, which this relies on.

    The active rows come from the multipliers. Where the exact solution violates a row, the worst one joins; where a
    multiplier has the wrong sign, the worst one leaves; at most ``MOST_CHANGES`` times. If no set passes, the solver's
    own answer is returned, which is then the best that is known: look at :func:`kkt_residual` before using it.
    """
    side = active_sides(qp, answer.multipliers)
    root = np.sqrt(np.diagonal(qp.H))
    free = -qp.f / root**2  # the minimum without any row
    half = qp.G / root  # rows where the cost is Euclidean
    for _ in range(MOST_CHANGES):
        active = np.flatnonzero(side)
        bound = np.where(side[active] > 0.0, qp.upper[active], qp.lower[active])
        U, sigma, Vt = np.linalg.svd(half[active], full_matrices=False)
        keep = sigma > DEPENDENT * sigma.max(initial=0.0)
        U, sigma, Vt = U[:, keep], sigma[keep], Vt[keep]
        w = Vt.T @ ((U.T @ (bound - qp.G[active] @ free)) / sigma)  # least norm: the shortest way onto the active rows
        x = free + w / root
        multipliers = np.zeros(len(side))
        multipliers[active] = -U @ ((Vt @ w) / sigma)
        change = what_is_wrong(qp, x, multipliers, side)
        if change is None:
            return Answer(x, multipliers, "solved", answer.iterations, answer.message)
        row, value = change
        if side[row] == value:
            break
        side[row] = value
    return answer


def without_proximal(qp: QP, u: slice, c: slice, answer: Answer) -> Answer | None:
    """The solution of ``min ½ ‖u‖²`` alone on the active set of an answer that had a proximal term on c as well.

    Stationarity is ``u + G_uᵀ λ = 0``, ``G_cᵀ λ = 0``: λ = N μ with N the left null space of the active G_c, which
    leaves the least-norm u with ``Nᵀ G_u u = Nᵀ bound``; c is the one nearest to the answer's. ``None`` where no set
    passes.
    """
    side = active_sides(qp, answer.multipliers)
    near = answer.x[c]
    Gu, Gc = qp.G[:, u], qp.G[:, c]
    for _ in range(MOST_CHANGES):
        active = np.flatnonzero(side)
        bound = np.where(side[active] > 0.0, qp.upper[active], qp.lower[active])
        U, sigma, Vt = np.linalg.svd(Gc[active], full_matrices=True)
        rank = int((sigma > DEPENDENT).sum())
        N, U, Vt = U[:, rank:], U[:, :rank], Vt[:rank]
        inverse = np.linalg.pinv(N.T @ Gu[active], rcond=DEPENDENT)
        x = np.empty(len(answer.x))
        x[u] = inverse @ (N.T @ bound)
        x[c] = near + Vt.T @ ((U.T @ (bound - Gu[active] @ x[u] - Gc[active] @ near)) / sigma[:rank])
        multipliers = np.zeros(len(side))
        multipliers[active] = -N @ (inverse.T @ x[u])
        change = what_is_wrong(qp, x, multipliers, side)
        if change is not None and change[1] == 0.0:
            # dependent rows have many multipliers: the shortest may have a wrong sign where another has none
            signed = _signed_multipliers(qp, u, x, side)
            if signed is not None:
                multipliers, change = signed, None
        if change is None:
            return Answer(x, multipliers, "solved", answer.iterations, answer.message)
        row, value = change
        if side[row] == value:
            return None
        side[row] = value
    return None


def _signed_multipliers(qp: QP, u: slice, x: Array, side: Array) -> Array | None:
    """Multipliers of the right signs that make a point stationary for ½ ‖u‖²; ``None`` where there are none."""
    active = np.flatnonzero(side)
    gradient = np.zeros(len(x))
    gradient[u] = x[u]
    equal = qp.equalities[active]
    columns = qp.G[active].T * side[active]
    columns = np.hstack([columns, -columns[:, equal]])  # an equality may pull either way
    found, residual = nnls(columns, -gradient, maxiter=10 * columns.shape[1] + 10)
    if residual > STATIONARY * (1.0 + float(np.linalg.norm(gradient))):
        return None
    multipliers = np.zeros(len(side))
    multipliers[active] = found[: len(active)] * side[active]
    multipliers[active[equal]] -= found[len(active) :] * side[active[equal]]
    return multipliers


def kkt_residual(qp: QP, answer: Answer) -> float:
    """The worst KKT residual of an answer, relative to the size of the problem's numbers."""
    x, multipliers = answer.x, answer.multipliers
    value = qp.G @ x
    size = 1.0 + float(np.abs(qp.f).max(initial=0.0)) + float(np.abs(multipliers).max(initial=0.0))
    stationarity = np.abs(qp.H @ x + qp.f + qp.G.T @ multipliers).max(initial=0.0)
    away = np.where(multipliers > 0.0, qp.upper - value, value - qp.lower)
    finite = multipliers != 0.0
    complementarity = np.abs(multipliers[finite] * away[finite]).max(initial=0.0)
    reach = 1.0 + float(np.abs(value).max(initial=0.0))
    return float(max(stationarity / size, complementarity / (size * reach), qp.violation(x) / reach))


def active_sides(qp: QP, multipliers: Array) -> Array:
    """1 for each row held at its upper side, −1 at its lower one, 0 for the others."""
    scale = max(1.0, float(np.abs(multipliers).max(initial=0.0)))
    side: Array = np.sign(multipliers) * (np.abs(multipliers) > 1e-9 * scale)
    side[qp.equalities] = 1.0
    side[~np.isfinite(np.where(side > 0.0, qp.upper, qp.lower))] = 0.0  # a solver's rounding on a side without a bound
    return side


def what_is_wrong(qp: QP, x: Array, multipliers: Array, side: Array) -> tuple[int, float] | None:
    """The row to put on a side (1, −1) or to let go (0) before the KKT conditions can hold; ``None`` where they do."""
    if not len(side):
        return None
    value = qp.G @ x
    above, below = value - qp.upper, qp.lower - value
    worst = int(np.argmax(np.maximum(above, below)))
    if max(above[worst], below[worst]) > FEASIBLE * max(1.0, abs(value[worst])):
        return worst, 1.0 if above[worst] > below[worst] else -1.0
    wrong = np.where(qp.equalities, 0.0, -side * multipliers)
    if wrong.max() > RIGHT_SIGN * max(1.0, float(np.abs(multipliers).max())):
        return int(np.argmax(wrong)), 0.0
    return None
