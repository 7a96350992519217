"""One QP where every strict level can be met under the limits: the closed form, moved just so far as the limits ask."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wbc.checks import Array
from wbc.hierarchy.gauss_coordinates import GaussRows
from wbc.kernels import active_set
from wbc.solvers import QP, Solver

# weights of internal forces beside the motion, only to find the rows that are active; with dependent rows a light one
# makes feasible problems look infeasible
PROXIMAL = (1e-6, 1e-3, 1.0)
VANISHED = 1e-9  # a row this short, relative to the longest, does not depend on what is free
ABSURD = 1e12  # no rounding is left to decide anything
MOST_CHANGES = 30


@dataclass(slots=True, eq=False)
class Point:
    """A solution of the equalities alone: v̇ (nv,), f (nf,), torque (nu,)."""

    vdot: Array
    f: Array
    torque: Array


@dataclass(slots=True, eq=False)
class Moved:
    """Where the limits let the robot be: v̇ (nv,), f (nf,), and prices (m,) at the levels gauss and forces."""

    vdot: Array
    f: Array
    gauss: Array
    forces: Array
    iterations: int


def one_qp(rows_of: GaussRows, at: Point, V: Array, solver: Solver) -> Moved | None:
    """``min ½ ‖u‖² ≻ min ½ ‖λ‖²`` under all limits; ``None`` where that has no solution that passes the KKT conditions.

    Args:
        rows_of: the problem in Gauss coordinates.
        at: the closed form, best for every level where there are no limits.
        V: motions (nv, r) that the strict levels leave, scaled so that ½ ‖u‖² is what moving by V u costs Gauss and
            the soft tasks (:meth:`GaussRows.free_motion`).
        solver: who finds the active rows.
    """
    problem = rows_of.problem
    layout = problem.layout
    n_u = V.shape[1]
    F, N = rows_of.shared(V)
    p = N.shape[1]
    rows = rows_of.limit_rows(V, F, N)
    value = problem.limit_values(at.vdot, at.f, at.torque)
    norms = np.sqrt((rows * rows).sum(axis=1))
    real = np.flatnonzero(np.isfinite(problem.lower) | np.isfinite(problem.upper))
    lives = norms[real] > VANISHED * norms.max(initial=0.0)
    dead, real = real[~lives], real[lives]
    if (np.maximum(problem.lower[dead] - value[dead], value[dead] - problem.upper[dead]) > 1e-9).any():
        return None
    norms = norms[real]
    G = rows[real] / norms[:, None]
    lower, upper = (problem.lower[real] - value[real]) / norms, (problem.upper[real] - value[real]) / norms
    if not len(real) or (lower > upper).any():
        return None
    # solvers have absolute tolerances: the bound that is exceeded most counts as one
    size = max(1e-9, float(np.maximum(lower, -upper).max()))
    if not size < ABSURD:
        return None
    H = np.eye(n_u + p)
    for weight in PROXIMAL if p else PROXIMAL[:1]:
        H[n_u:, n_u:] = weight * np.eye(p)
        answer = solver.solve(QP(H, np.zeros(n_u + p), G, lower / size, upper / size, "one"))
        if answer.solved:
            break
    else:
        return None
    strength = np.abs(answer.multipliers)
    side = np.sign(answer.multipliers) * (strength > 1e-9 * max(1e-9, strength.max()))
    side[lower == upper] = 1.0
    x, mu, nu = np.zeros(n_u + p), np.zeros(len(real)), np.zeros(len(real))
    if not active_set.two_levels(G, n_u, lower, upper, side, MOST_CHANGES, x, mu, nu):
        return None
    vdot, f = at.vdot + V @ x[:n_u], at.f + F @ x[:n_u] + N @ x[n_u:]
    price, price_forces = np.zeros(layout.n_in), np.zeros(layout.n_in)
    price[real], price_forces[real] = np.abs(mu) / norms, np.abs(nu) / norms
    return Moved(vdot, f, price, price_forces, answer.iterations)
