"""The whole stack as one M-weighted QP in Gauss coordinates, solved as it is: nothing polished."""

from __future__ import annotations

import numpy as np

from wbc.checks import Array
from wbc.hierarchy.closed_form import ClosedForm, soft_cost
from wbc.hierarchy.gauss_coordinates import GaussRows
from wbc.solvers import QP, Answer, Solver


def whole_qp(rows: GaussRows, closed: ClosedForm, solver: Solver) -> tuple[Answer, Array]:
    """``min ½ ‖y‖² + Σ ½ w ‖A y + b‖²`` with the strict levels as equalities on orthonormal rows, and the limits.

    Where this has a solution it is the lexicographic one: every strict level reaches what it would without limits. Only
    for problems without internal forces, whose level comes after this one.

    Returns:
        The solver's answer, and the multipliers (m,) of the inequality rows in their own units.
    """
    G, offset = rows.inequalities()
    lower, upper = rows.problem.lower - offset, rows.problem.upper - offset
    E = closed.used.T
    # the point that the closed form reaches before the soft tasks has exactly the targets of all levels
    t = E @ closed.rest
    finite = np.flatnonzero(np.isfinite(lower) | np.isfinite(upper))
    norms = np.linalg.norm(G[finite], axis=1)
    H, f = soft_cost(rows, np.zeros(rows.n), np.eye(rows.n))
    qp = QP(
        H,
        f,
        np.vstack([E, G[finite] / norms[:, None]]),
        np.concatenate([t, lower[finite] / norms]),
        np.concatenate([t, upper[finite] / norms]),
        "whole",
    )
    answer = solver.solve(qp)
    multipliers = np.zeros(len(G))
    if answer.solved:
        multipliers[finite] = answer.multipliers[len(E) :] / norms
    return answer, multipliers
