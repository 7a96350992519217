"""One level as a QP: least squares in some directions, nothing in the others, under rows; exact on the active set."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from wbc.checks import Array
from wbc.hierarchy.polish import kkt_residual, polish, without_proximal
from wbc.solvers import QP, Answer, Solver

PROXIMAL = 1e-6  # weight of the directions that a level does not speak of; it vanishes in the repetitions
WEAKEST = 1e-10
CERTIFIED = 1e-7  # relative KKT residual of an answer that could not be polished
SETTLED = 1e-12
MOST_REPETITIONS = 30


class InfeasibleError(Exception):
    """No point of the free space satisfies the inequality rows."""


class SolverFailedError(Exception):
    """The solver gave no answer that can be used."""


def minimise(solver: Solver, label: str, G: Array, lower: Array, upper: Array, n_u: int) -> Answer:
    """Minimise ½ ‖u‖², the first ``n_u`` entries of x, with a proximal term on the rest c, then without it.

    Where the active set found does not pass without the proximal term, again from the last c with a weaker term: its
    gradient ε (c − c_before) holds c back where the level's own slope is small, and at the solution it must be nothing.

    Raises:
        InfeasibleError: no x satisfies the rows; SolverFailedError: nobody found a usable answer.
    """
    u, c = slice(0, n_u), slice(n_u, G.shape[1])
    weight = PROXIMAL
    f, H = np.zeros(G.shape[1]), np.eye(G.shape[1])
    before = f[c]
    iterations = 0
    for _ in range(MOST_REPETITIONS):
        H[c, c] = weight * np.eye(len(before))
        qp = QP(H, f, G, lower, upper, label)
        answer = ask(solver, qp)
        iterations += answer.iterations
        answer.iterations = iterations
        moved = np.abs(answer.x[c] - before).max(initial=0.0)
        if weight * moved <= SETTLED * np.abs(answer.x[u]).max(initial=0.0):
            return answer
        pure = without_proximal(qp, u, c, answer)
        if pure is not None:
            return pure
        before, weight = answer.x[c], max(0.1 * weight, WEAKEST)
        f = np.zeros(len(f))
        f[c] = -weight * before
    return answer


def ask(solver: Solver, qp: QP) -> Answer:
    """The solver's answer, polished; where it has none that is a KKT point, the one that :func:`least_distance` finds.

    Raises:
        InfeasibleError: no x satisfies the rows; SolverFailedError: neither found a KKT point.
    """
    answer = solver.solve(qp)
    if answer.solved:
        polished = _certified(qp, answer)
        if polished is not None:
            return polished
        answer = Answer(answer.x, answer.multipliers, "failed", answer.iterations, "its answer is no KKT point")
    other = least_distance(qp)
    if other.solved:
        polished = _certified(qp, other)
        if polished is not None:
            polished.iterations += answer.iterations
            return polished
    if "infeasible" in (answer.status, other.status):
        raise InfeasibleError
    raise SolverFailedError(f"{solver.name}: {answer.message}")


def least_distance(qp: QP) -> Answer:
    """A strictly convex QP with diagonal Hessian as a least-distance problem, by non-negative least squares.

    With ``w = H^½ x + H^-½ f``, min ½ ‖w‖² under ``E w ≥ e`` is min ‖(Eᵀ; eᵀ) λ − (0; 1)‖ over λ ≥ 0: a finite method
    that no degenerate or dependent row disturbs, slower than an active-set solver.

    Source: Lawson and Hanson (1974), chapter 23.
    """
    root = np.sqrt(np.diagonal(qp.H))
    centre = -qp.f / root**2
    above, below = np.isfinite(qp.upper), np.isfinite(qp.lower)
    value = qp.G @ centre
    E = np.vstack([-qp.G[above], qp.G[below]]) / root
    e = np.concatenate([value[above] - qp.upper[above], qp.lower[below] - value[below]])
    scale = max(1e-12, float(np.abs(e).max(initial=0.0)))  # so that the right-hand side compares with unit rows
    n = len(root)
    target = np.zeros(n + 1)
    target[n] = 1.0
    try:
        weights, _ = nnls(np.vstack([E.T, e / scale]), target, maxiter=20 * len(e) + 20)
    except RuntimeError:
        return Answer(centre, value, "failed", 0, "non-negative least squares did not end")
    residual = np.concatenate([E.T @ weights, [e @ weights / scale]]) - target
    if -residual[n] < 1e-14:  # the residual's last entry is −‖residual‖²
        return Answer(centre, value, "infeasible")
    w = residual[:n] * (scale / -residual[n])
    multipliers = np.zeros(len(qp.G))
    found = weights * (scale / -residual[n])
    multipliers[above] += found[: above.sum()]
    multipliers[below] -= found[above.sum() :]
    return Answer(centre + w / root, multipliers, "solved")


def _certified(qp: QP, answer: Answer) -> Answer | None:
    polished = polish(qp, answer)
    if polished is answer and kkt_residual(qp, answer) > CERTIFIED:
        return None
    return polished
