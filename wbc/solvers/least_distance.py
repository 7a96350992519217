"""nnls: a QP as a least-distance problem, by non-negative least squares: slower, and undisturbed by degenerate rows."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from wbc.checks import Array
from wbc.solvers.qp import QP, Answer, answer

NO_DISTANCE = 1e-14  # the square of the smallest relative residual that tells a feasible problem from an infeasible one


class LeastDistance:
    """``min ½ xᵀ H x + fᵀ x`` under rows, from scratch at every call."""

    name = "nnls"

    def solve(self, qp: QP) -> Answer:
        """Solve one problem; see :func:`least_distance`."""
        return least_distance(qp)

    def reset(self) -> None:
        """Nothing is kept."""


def least_distance(qp: QP) -> Answer:
    """The nearest point of a polyhedron to the origin.

    With H = L Lᵀ and ``w = Lᵀ x + L⁻¹ f`` the problem is min ½ ‖w‖² under ``E w ≥ e``, whose answer is the residual of
    min ‖(Eᵀ; eᵀ) λ − (0; 1)‖ over λ ≥ 0: a finite method.

    Source: Lawson and Hanson (1974), chapter 23.
    """
    try:
        L = np.linalg.cholesky(qp.H)
    except np.linalg.LinAlgError:
        return answer(None, None, "failed", 0, "nnls: H is not positive definite")
    centre: Array = np.asarray(-np.linalg.solve(qp.H, qp.f), dtype=np.float64)
    above, below = np.isfinite(qp.upper), np.isfinite(qp.lower)
    if not above.any() and not below.any():  # scipy's nnls ends the process on a matrix without columns
        return answer(centre, np.zeros(len(qp.G)), "solved", 0, "nnls")
    value = qp.G @ centre
    rows = solve_triangular(L, qp.G.T, lower=True, check_finite=False).T
    E = np.vstack([-rows[above], rows[below]])
    e = np.concatenate([value[above] - qp.upper[above], qp.lower[below] - value[below]])
    scale = max(1e-12, float(np.abs(e).max(initial=0.0)))  # so that the right-hand side compares with the rows
    n = len(centre)
    target = np.zeros(n + 1)
    target[n] = 1.0
    matrix = np.vstack([E.T, e / scale])
    if not np.isfinite(matrix).all():  # products of numbers like 1e200 overflow
        return answer(None, None, "failed", 0, "nnls: the problem's numbers are too large")
    try:
        weights, _ = nnls(matrix, target, maxiter=20 * len(e) + 20)
    except RuntimeError as error:
        return answer(None, None, "failed", 0, f"nnls: {error}")
    residual = np.append(E.T @ weights, e @ weights / scale) - target
    if -residual[n] < NO_DISTANCE:  # the last entry is −‖residual‖²
        return answer(None, None, "infeasible", 0, "nnls: infeasible")
    stretch = scale / -residual[n]
    w = residual[:n] * stretch
    multipliers = np.zeros(len(qp.G))
    multipliers[above] += weights[: above.sum()] * stretch
    multipliers[below] -= weights[above.sum() :] * stretch
    x = centre + solve_triangular(L, w, lower=True, trans="T", check_finite=False)
    return answer(x, multipliers, "solved", int((weights > 0.0).sum()), "nnls")
