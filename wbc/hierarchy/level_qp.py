"""One level as a QP: least squares in some directions, nothing in the others, under rows; exact on the active set."""

from __future__ import annotations

import numpy as np

from wbc.checks import Array
from wbc.hierarchy.polish import kkt_residual, polish, without_proximal
from wbc.solvers import QP, Answer, Solver

PROXIMAL = 1e-6  # weight of the directions that a level does not speak of; it vanishes in the repetitions
WEAKEST = 1e-10
STRONGEST = 1.0
CERTIFIED = 1e-7  # relative KKT residual of an answer that could not be polished, where nothing better is found
EXACT = 1e-10  # and where something better can be looked for
SETTLED = 1e-12
NEARLY = 1e-6  # relative: an answer on which the proximal term acts by no more is one after all repetitions
MOST_REPETITIONS = 30


class InfeasibleError(Exception):
    """No point of the free space satisfies the inequality rows."""


class SolverFailedError(Exception):
    """The solver gave no answer that can be used."""


def minimise(solver: Solver, label: str, G: Array, lower: Array, upper: Array, n_u: int) -> Answer:
    """Minimise ½ ‖u‖², the first ``n_u`` entries of x, with a proximal term on the rest c, then without it.

    Where the active set found does not pass without the proximal term, again from the last c with a weaker term: its
    gradient ε (c − c_before) holds c back where the level's own slope is small, and at the solution it must be nothing.
    Where a solver finds no answer the term was too weak: with many dependent rows a Hessian of diag(1, 1e-6) makes
    feasible problems look infeasible (6 of 2,000 random ones), and one of diag(1, 1) does not.

    Raises:
        InfeasibleError: no x satisfies the rows; SolverFailedError: there is no usable answer, or it does not settle.
    """
    u, c = slice(0, n_u), slice(n_u, G.shape[1])
    weight, floor = PROXIMAL, WEAKEST
    f, H = np.zeros(G.shape[1]), np.eye(G.shape[1])
    before = f[c]
    iterations = 0
    for _ in range(MOST_REPETITIONS):
        H[c, c] = weight * np.eye(len(before))
        qp = QP(H, f, G, lower, upper, label)
        try:
            answer = ask(solver, qp, EXACT if weight < STRONGEST else CERTIFIED)
        except (InfeasibleError, SolverFailedError):
            if weight >= STRONGEST:
                raise
            floor = min(10.0 * weight, STRONGEST)  # back down to here, from better points
            weight = min(max(1e3 * weight, PROXIMAL), STRONGEST)
            f = np.zeros(len(f))
            f[c] = -weight * before
            continue
        iterations += answer.iterations
        answer.iterations = iterations
        moved = np.abs(answer.x[c] - before).max(initial=0.0)
        if weight * moved <= SETTLED * np.abs(answer.x[u]).max(initial=0.0):
            return answer
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


def ask(solver: Solver, qp: QP, certified: float = CERTIFIED) -> Answer:
    """The solver's answer, polished; where that does not succeed, its KKT residual must be below ``certified``.

    Raises:
        InfeasibleError: no x satisfies the rows; SolverFailedError: there is no answer, or it is no KKT point.
    """
    answer = solver.solve(qp)
    if answer.status == "infeasible":
        raise InfeasibleError
    if not answer.solved:
        raise SolverFailedError(answer.message)
    polished = polish(qp, answer)
    if polished is answer and kkt_residual(qp, answer) > certified:
        raise SolverFailedError(f"{solver.name}: its answer does not satisfy the KKT conditions")
    return polished
