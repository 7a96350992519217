"""daqp: a dual active-set solver, the default; exact, and fastest at these sizes."""

from __future__ import annotations

from typing import Any

import daqp
import numpy as np

from wbc.checks import Array
from wbc.solvers.qp import QP, TIME_CAP, Answer, answer

# eps_prox = 0 and a tight primal tolerance: the defaults regularise silently and accept rows that are 1e-6 outside
# sing_tol: with its default of 1e-11 a feasible level (demand of 700 m/s², PROXIMAL 1e-6) was called infeasible
SETTINGS = {
    "eps_prox": 0.0, "primal_tol": 1e-10, "dual_tol": 1e-12, "sing_tol": 1e-13, "iter_limit": 1000,
}  # fmt: skip
UNBOUNDED = 1e30  # daqp's infinity
EQUALITY = 5
MOST_MODELS = 32  # sizes change with rank and with the limits that are finite; far more than ever recur together


class Daqp:
    """One persistent ``daqp.Model`` for each recurring problem; it starts from the last active set.

    Args:
        time_cap: time that one call may take [s].
    """

    name = "daqp"

    def __init__(self, time_cap: float = TIME_CAP) -> None:
        self._settings = {**SETTINGS, "time_limit": time_cap}
        self._models: dict[tuple[str, int, int], tuple[Any, bytes]] = {}

    def solve(self, qp: QP) -> Answer:
        """Solve, warm where a problem of this key, size and equalities was solved before; cold where that fails."""
        if not len(qp.G):  # Model.update raises an IndexError on a problem without rows
            free: Array = np.asarray(np.linalg.solve(qp.H, -qp.f), dtype=np.float64)
            return answer(free, np.zeros(0), "solved", 0, "daqp")
        upper, lower = np.minimum(qp.upper, UNBOUNDED), np.maximum(qp.lower, -UNBOUNDED)
        sense = np.where(qp.equalities, EQUALITY, 0).astype(np.int32)
        data = (np.ascontiguousarray(qp.H), np.ascontiguousarray(qp.f), np.ascontiguousarray(qp.G), upper, lower)
        key, pattern = (qp.key, *qp.G.shape), sense.tobytes()
        model, known = self._models.get(key, (None, b""))
        if model is not None and known == pattern and model.update(*data) >= 0:
            x, _, flag, info = model.solve()
            found = answer(x, info["lam"], "solved" if flag > 0 else "failed", int(info["iterations"]), "daqp")
            if found.solved:
                return found
        self._models.pop(key, None)
        if len(self._models) >= MOST_MODELS:
            self._models.clear()
        model = daqp.Model()
        model.settings = self._settings
        flag, _ = model.setup(*data, sense)
        if flag < 0:
            return answer(None, None, "infeasible" if flag == -1 else "failed", 0, f"daqp setup: exit flag {flag}")
        x, _, flag, info = model.solve()
        if flag > 0:
            self._models[key] = (model, pattern)
        status = "solved" if flag > 0 else "infeasible" if flag == -1 else "failed"
        return answer(x, info["lam"], status, int(info["iterations"]), f"daqp: exit flag {flag}")

    def reset(self) -> None:
        """Forget all models and active sets."""
        self._models.clear()
