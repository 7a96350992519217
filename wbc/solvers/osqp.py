"""osqp: an operator-splitting (ADMM) solver with a fixed sparsity pattern."""

from __future__ import annotations

from typing import Any

import numpy as np
import osqp
from scipy import sparse

from wbc.solvers.qp import QP, TIME_CAP, Answer, answer

ACCURACY = 1e-9
MOST_ITERATIONS = 20000
MOST_WORKSPACES = 32


class Osqp:
    """One persistent workspace for each recurring problem, warm-started from its last solution.

    The pattern handed over is full, so that an entry that becomes zero, or stops to be, never changes it: an update
    with another pattern would print an error and silently keep the old matrix.

    Args:
        time_cap: time that one call may take [s].
    """

    name = "osqp"

    def __init__(self, time_cap: float = TIME_CAP) -> None:
        self._time_cap = time_cap
        self._workspaces: dict[tuple[str, int, int], Any] = {}

    def solve(self, qp: QP) -> Answer:
        """Solve; the first solution of a size is cold, later ones start from the one before."""
        m, n = qp.G.shape
        key = (qp.key, m, n)
        columns = np.concatenate([np.arange(j + 1) for j in range(n)])
        upper_triangle = qp.H[columns, np.repeat(np.arange(n), np.arange(1, n + 1))]
        workspace = self._workspaces.pop(key, None)
        warm = workspace is not None
        if workspace is None:
            starts = np.cumsum(np.arange(n + 1))
            P = sparse.csc_matrix((upper_triangle, columns, starts), shape=(n, n))
            A = sparse.csc_matrix((qp.G.T.ravel(), np.tile(np.arange(m), n), m * np.arange(n + 1)), shape=(m, n))
            workspace = osqp.OSQP()
            workspace.setup(
                P, qp.f, A, qp.lower, qp.upper, verbose=False, eps_abs=ACCURACY, eps_rel=ACCURACY,
                eps_prim_inf=1e-10, eps_dual_inf=1e-10, max_iter=MOST_ITERATIONS, warm_starting=True, polishing=False,
                adaptive_rho=True, scaling=0, time_limit=self._time_cap,
            )  # fmt: skip
        else:
            workspace.update(q=qp.f, l=qp.lower, u=qp.upper, Px=upper_triangle, Ax=qp.G.T.ravel())
        result = workspace.solve(raise_error=False)
        words = str(result.info.status)
        status = {"solved": "solved", "primal infeasible": "infeasible"}.get(words, "failed")
        found = answer(result.x, result.y, status, int(result.info.iter), f"osqp: {words}")
        if found.solved:
            if len(self._workspaces) >= MOST_WORKSPACES:
                self._workspaces.clear()
            self._workspaces[key] = workspace
            return found
        return self.solve(qp) if warm else found

    def reset(self) -> None:
        """Forget all workspaces."""
        self._workspaces.clear()
