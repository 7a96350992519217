"""One QP where every strict level can be met under the limits: the closed form, moved just so far as the limits ask."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wbc.checks import Array
from wbc.hierarchy.contact_forces import ContactForces
from wbc.hierarchy.shortcut import Shortcut
from wbc.kernels import active_set, limits
from wbc.problem import Problem
from wbc.solvers import QP, Solver

# weights of internal forces beside the motion, only to find the rows that are active; with dependent rows a light one
# makes feasible problems look infeasible
PROXIMAL = (1e-6, 1e-3, 1.0)
VANISHED = 1e-9  # a row this short, relative to the longest, does not depend on what is free
ABSURD = 1e12  # no rounding is left to decide anything
MOST_CHANGES = 30


@dataclass(slots=True, eq=False)
class Moved:
    """Where the limits let the robot be: v̇ (nv,), f (nf,), and prices (m,) at the levels gauss and forces."""

    vdot: Array
    f: Array
    gauss: Array
    forces: Array
    iterations: int


def one_qp(problem: Problem, shortcut: Shortcut, solver: Solver) -> Moved | None:
    """``min ½ ‖u‖² ≻ min ½ ‖λ‖²`` under all limits; ``None`` where that has no solution that passes the KKT conditions.

    From the closed form v̇ the strict levels leave ``v̇ + V u``, ``V = C⁻¹ Q₂ L⁻ᵀ`` with ``L Lᵀ = I + BBᵀ`` the Gauss
    and soft cost there, so that ½ ‖u‖² is what the limits cost; f follows v̇ up to internal forces λ.
    """
    layout = problem.layout
    V = shortcut.free_motion(problem)
    n_u = V.shape[1]
    forces = ContactForces(problem) if len(layout.unactuated) or layout.nf else None
    to_force, internal = (np.zeros((0, 0)), np.zeros((0, 0))) if forces is None else (forces.base, forces.internal)
    p = internal.shape[1]
    F, rows = np.empty((layout.nf, n_u)), np.empty((layout.n_in, n_u + p))
    actuated, unactuated = layout.actuated.astype(np.int64), layout.unactuated.astype(np.int64)
    limits.rows_on_free(
        problem.M, problem.J, problem.G, problem.G_wrench, problem.G_torque, actuated, unactuated, V, to_force,
        internal, F, rows,
    )  # fmt: skip
    value = problem.limit_values(shortcut.vdot, shortcut.f, shortcut.torque)
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
    vdot = shortcut.vdot + V @ x[:n_u]
    f = shortcut.f if forces is None else shortcut.f + F @ x[:n_u] + internal @ x[n_u:]
    price, price_forces = np.zeros(layout.n_in), np.zeros(layout.n_in)
    price[real], price_forces[real] = np.abs(mu) / norms, np.abs(nu) / norms
    return Moved(vdot, f, price, price_forces, answer.iterations)
