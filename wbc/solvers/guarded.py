"""Guarded: one solver for the length of one solve, with everything that comes back from it looked at and counted."""

from __future__ import annotations

import time

import numpy as np

from wbc.solvers.qp import QP, Answer, Solver, is_finite

STATUSES = ("solved", "infeasible", "failed")
MOST_CALLS = 500  # of one solve: a cascade of ten levels with thirty repetitions each needs fewer
MOST_ITERATIONS = 200_000  # of one solve: ten calls of the solver with the most iterations, osqp
GRACE = 10.0  # deadlines of its own time after which a solver gets no further call; before, late is better than never
OUTSIDE = 1e-5  # relative; rows that are outside by less are rounding of loose solvers, and torques are clipped


class Guarded:
    """Hands QPs to a solver and gives a failed answer where anything at all is wrong with what comes back.

    A solver that raises, that returns something else than an answer, a NaN or a point outside its bounds has failed.
    Crossed bounds (lower > upper) reach no solver, since some iterate on them for seconds; nor does a NaN or inf. After
    500 calls, 200,000 iterations, or calls of ten deadlines together, no further call is made. A call that never
    returns cannot be interrupted from here: for that adapters have caps on iterations and time.

    Args:
        deadline: [s]; ``None`` for no bound on time.
    """

    __slots__ = ("_allowed_ns", "_inner", "calls", "iterations", "name", "said", "spent_ns")

    def __init__(self, deadline: float | None) -> None:
        self._allowed_ns = 0 if deadline is None else int(GRACE * deadline * 1e9)
        self._inner: Solver

    def begin(self, solver: Solver) -> None:
        """Count from zero, for this solver."""
        self._inner, self.name = solver, solver.name
        self.calls = self.iterations = self.spent_ns = 0
        self.said = ""  # the first words of a failure: later ones often only follow from it

    def solve(self, qp: QP) -> Answer:
        """The solver's answer, or a failed one; never raises, except for Ctrl-C and its like."""
        possible = qp.lower <= qp.upper
        if np.count_nonzero(possible) != len(possible):  # 1.0 us, against 3.5 of all()
            row = int(possible.argmin())
            if not np.isnan(qp.lower[row] + qp.upper[row]):
                return self._failed(
                    f"row {row} of {qp.key!r} asks for at least {qp.lower[row]:.6g} and at most {qp.upper[row]:.6g}; "
                    "no solver was asked",
                    "infeasible",
                )
            return self._failed(f"row {row} of {qp.key!r} has a bound that is nan; no solver was asked")
        if not (is_finite(qp.G) and is_finite(qp.f)):
            return self._failed(f"the problem {qp.key!r} is not finite; no solver was asked")
        if self._allowed_ns and self.spent_ns > self._allowed_ns:
            return self._failed(f"no time left after {self.calls} calls")
        if self.calls >= MOST_CALLS or self.iterations >= MOST_ITERATIONS:
            return self._failed(f"stopped after {self.calls} calls and {self.iterations} iterations")
        self.calls += 1
        started = time.perf_counter_ns()
        try:
            answer = self._inner.solve(qp)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # panics of solvers written in Rust are no Exception
            return self._failed(f"raised {type(error).__name__}: {error}")
        finally:
            self.spent_ns += time.perf_counter_ns() - started
        wrong = _what_is_wrong(qp, answer)
        if wrong:
            return self._failed(wrong)
        self.iterations += answer.iterations
        if answer.status != "solved" and not self.said:
            self.said = answer.message
        return answer

    def reset(self) -> None:
        """Forget the solver's warm starts."""
        self._inner.reset()

    def _failed(self, words: str, status: str = "failed") -> Answer:
        message = f"{self.name}: {words}"
        self.said = self.said or message
        return Answer(np.zeros(0), np.zeros(0), status, 0, message)


def _what_is_wrong(qp: QP, answer: Answer) -> str:
    """Why an answer cannot be used; empty where it can, or says itself that it cannot."""
    if not isinstance(answer, Answer):
        return f"returned {type(answer).__name__} instead of an answer"
    if answer.status not in STATUSES:
        return f"returned the unknown status {answer.status!r}"
    if answer.status != "solved":
        return ""
    x, multipliers = answer.x, answer.multipliers
    if getattr(x, "shape", None) != qp.f.shape or getattr(multipliers, "shape", None) != qp.lower.shape:
        return f"returned {np.shape(x)} numbers as solved, expected {qp.f.shape}, or as many multipliers as rows"
    if not is_finite(x) or not is_finite(multipliers):
        return "the solution is not finite"
    # levels polish an answer or judge its KKT residual, bounds included; the whole stack's is taken as it is
    if qp.key == "whole" and (beyond := qp.violation(x)) > OUTSIDE * (1.0 + float(np.abs(x).max(initial=0.0))):
        return f"returned a point that is outside its bounds by {beyond:.3g} as solved"
    return ""
