"""Every other solver, through qpsolvers: for comparison; nothing is kept between ticks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import qpsolvers
from numpy.typing import NDArray
from qpsolvers.exceptions import QPError
from scipy.sparse import csc_matrix

from wbc.checks import Array
from wbc.solvers.qp import QP, TIME_CAP, Answer, answer

# as tight as each goes; every call has a cap on iterations where the solver offers one (quadprog does not)
SETTINGS: dict[str, dict[str, Any]] = {
    "clarabel": {"tol_feas": 1e-11, "tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "max_iter": 200},
    "piqp": {"eps_abs": 1e-11, "eps_rel": 1e-11, "max_iter": 200, "check_duality_gap": False},
    "scs": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iters": 20000},
    "qpalm": {"eps_abs": 1e-10, "eps_rel": 1e-10, "max_iter": 5000},
    "highs": {"time_limit": TIME_CAP, "qp_iteration_limit": 20000},
    "ecos": {"abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11, "max_iters": 200},
    "proxqp": {"eps_abs": 1e-10, "eps_rel": 0.0, "max_iter": 200},
    "osqp": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 20000},
    "daqp": {"primal_tol": 1e-10, "eps_prox": 0.0, "iter_limit": 1000},
}
ENDLESS = ("quadprog",)  # no cap of any kind, and rows that stand there twice make it go round for ever
TIME_LIMITS = {"highs": "time_limit", "clarabel": "time_limit", "scs": "time_limit_secs", "osqp": "time_limit"}


class ThroughQpsolvers:
    """A solver that qpsolvers knows by this name.

    Args:
        name: of the solver.
        time_cap: time that one call may take [s], for solvers that have such a setting.
    """

    def __init__(self, name: str, time_cap: float = TIME_CAP) -> None:
        self.name = name
        self._settings = dict(SETTINGS.get(name, {}))
        if name in TIME_LIMITS:
            self._settings[TIME_LIMITS[name]] = time_cap

    def solve(self, qp: QP) -> Answer:
        """Solve from scratch; one-sided rows without a real bound are dropped first."""
        equal = qp.equalities
        above, below = ~equal & np.isfinite(qp.upper), ~equal & np.isfinite(qp.lower)
        G = np.vstack([qp.G[above], -qp.G[below]])
        h = np.concatenate([qp.upper[above], -qp.lower[below]])
        kept = _tightest(G, h) if self.name in ENDLESS else np.arange(len(h))
        G, h, all_rows = G[kept], h[kept], len(h)
        sparse_only = self.name in qpsolvers.sparse_solvers and self.name not in qpsolvers.dense_solvers
        form = csc_matrix if sparse_only else np.ascontiguousarray
        problem = qpsolvers.Problem(
            form(qp.H),
            np.ascontiguousarray(qp.f),
            form(G) if len(G) else None,  # some solvers raise an IndexError on a matrix of no rows
            h if len(G) else None,
            form(qp.G[equal]) if equal.any() else None,
            qp.upper[equal] if equal.any() else None,
        )
        try:
            with warnings.catch_warnings():  # what a warning would say of the status stands in the answer
                warnings.simplefilter("ignore")
                solution = qpsolvers.solve_problem(problem, self.name, **self._settings)
        except (QPError, ValueError, ArithmeticError, AssertionError, RuntimeError) as error:
            return answer(None, None, "failed", 0, f"{self.name}: {error}")
        if not solution.found or solution.x is None:
            return answer(None, None, "failed", 0, f"{self.name}: no solution found")
        multipliers = np.zeros(len(qp.G))
        if solution.z is not None and len(G):
            z = np.zeros(all_rows)
            z[kept] = solution.z
            multipliers[above] += z[: above.sum()]
            multipliers[below] -= z[above.sum() :]
        if solution.y is not None and equal.any():
            multipliers[equal] = solution.y
        return answer(np.array(solution.x), multipliers, "solved", 0, self.name)

    def reset(self) -> None:
        """Nothing is kept."""


def _tightest(G: Array, h: Array) -> NDArray[np.intp]:
    """Indices of the rows ``G x ≤ h`` without those that another, equal to the last bit, implies."""
    if not len(G):
        return np.zeros(0, dtype=np.intp)
    which = np.unique(G + 0.0, axis=0, return_inverse=True)[1].ravel()  # −0 becomes 0
    order = np.lexsort((h, which))
    first = np.append(True, np.diff(which[order]) > 0)
    return np.sort(order[first])
