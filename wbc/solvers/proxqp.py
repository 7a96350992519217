"""proxqp: a proximal augmented-Lagrangian solver (proxsuite), dense."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from proxsuite import proxqp

from wbc.checks import Array
from wbc.solvers.qp import QP, TIME_CAP, Answer, answer

ACCURACY = 1e-12
INFEASIBLE = 1e-13  # thresholds below the accuracy asked for, or feasible problems are called infeasible
MOST_ITERATIONS = 200  # a crossed problem costs 1.7 ms an iteration and never ends by itself
MOST_INNER = 300  # Newton steps of one iteration; its default of 1500 took 1.5 s on dependent rows, to no better end
AT_A_TIME = 25  # iterations between two looks at the clock, which proxqp itself has not; hardly any problem needs more
UNBOUNDED = 1e20
MOST_WORKSPACES = 32


class Proxqp:
    """One persistent workspace for each recurring problem, warm-started from its last solution.

    Args:
        time_cap: time after which one call goes on no further [s].
    """

    name = "proxqp"

    def __init__(self, time_cap: float = TIME_CAP) -> None:
        self._time_cap = time_cap
        self._workspaces: dict[tuple[str, int, int, int], Any] = {}

    def solve(self, qp: QP) -> Answer:
        """Solve; the first solution of a size is cold, later ones start from the one before."""
        equal = qp.equalities
        other = ~equal
        A, b = qp.G[equal], qp.upper[equal]
        C = qp.G[other]
        lower, upper = np.maximum(qp.lower[other], -UNBOUNDED), np.minimum(qp.upper[other], UNBOUNDED)
        key = (qp.key, qp.H.shape[0], len(A), len(C))
        workspace = self._workspaces.get(key)
        warm = workspace is not None
        if workspace is None:
            workspace = proxqp.dense.QP(qp.H.shape[0], len(A), len(C))
            settings = workspace.settings
            settings.eps_abs, settings.eps_rel = ACCURACY, 0.0
            settings.eps_primal_inf = settings.eps_dual_inf = INFEASIBLE
            settings.max_iter, settings.max_iter_in = AT_A_TIME, MOST_INNER
            settings.check_duality_gap = False
            settings.initial_guess = proxqp.InitialGuess.EQUALITY_CONSTRAINED_INITIAL_GUESS
            workspace.init(qp.H, qp.f, A, b, C, lower, upper)
        else:
            workspace.settings.initial_guess = proxqp.InitialGuess.WARM_START_WITH_PREVIOUS_RESULT
            workspace.update(qp.H, qp.f, A, b, C, lower, upper)
        iterations, close = self._iterate(workspace, qp)
        results = workspace.results
        status = {
            proxqp.PROXQP_SOLVED: "solved",
            proxqp.PROXQP_PRIMAL_INFEASIBLE: "infeasible",
        }.get(results.info.status, "solved" if close else "failed")
        multipliers = np.zeros(len(qp.G))
        multipliers[equal], multipliers[other] = results.y, results.z
        if status == "solved" and warm and not _satisfies(qp, np.array(results.x), multipliers):
            status = "failed"  # seen: SOLVED at iteration 0, far from the optimum
        result = answer(np.array(results.x), multipliers, status, iterations, f"proxqp: {results.info.status}")
        if result.solved:
            if len(self._workspaces) >= MOST_WORKSPACES:
                self._workspaces.clear()
            self._workspaces[key] = workspace
            return result
        self._workspaces.pop(key, None)  # a failed solution would poison every later one
        return self.solve(qp) if warm else result

    def _iterate(self, workspace: Any, qp: QP) -> tuple[int, bool]:
        """Solve, some iterations at a time, up to the caps: how many there were, and whether the residual is small."""
        ends, iterations, outer = time.perf_counter() + self._time_cap, 0, 0
        # converging to the last digit can stall one step above the accuracy: what counts is the residual itself
        small = 1e3 * ACCURACY * (1.0 + np.abs(qp.f).max(initial=0.0))
        while True:
            workspace.solve()
            info = workspace.results.info
            iterations, outer = iterations + int(info.iter), outer + AT_A_TIME
            close = bool(max(info.pri_res, info.dua_res) < small)
            out_of_iterations = info.status == proxqp.PROXQP_MAX_ITER_REACHED
            if close or not out_of_iterations or outer >= MOST_ITERATIONS or time.perf_counter() > ends:
                return iterations, close
            workspace.settings.initial_guess = proxqp.InitialGuess.WARM_START_WITH_PREVIOUS_RESULT

    def reset(self) -> None:
        """Forget all workspaces."""
        self._workspaces.clear()


def _satisfies(qp: QP, x: Array, multipliers: Array) -> bool:
    """Whether a warm answer is stationary, inside, and holds only rows that are at their bound."""
    value = qp.G @ x
    gradient = np.abs(qp.H @ x + qp.f + qp.G.T @ multipliers).max(initial=0.0)
    bound = np.where(multipliers > 0.0, qp.upper, qp.lower)
    held = np.abs(multipliers) > 1e-6 * np.abs(multipliers).max(initial=0.0)
    apart = np.abs(value - bound)[held].max(initial=0.0)
    size = 1.0 + np.abs(value).max(initial=0.0) + np.abs(multipliers).max(initial=0.0)
    return bool(max(gradient, apart, qp.violation(x)) < 1e-8 * size)
