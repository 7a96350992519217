"""The whole stack as one unreduced QP in x = [v̇; f], for people who compare solvers, teach, or want to see it."""

from __future__ import annotations

from typing import Any

import numpy as np
import qpsolvers
from scipy.linalg import block_diag, qr
from scipy.optimize import nnls

from wbc.checks import Array
from wbc.hierarchy import Solution
from wbc.hierarchy.gauss_coordinates import metric_matrix
from wbc.layout import Part
from wbc.problem import Problem

ROOM = 1e-11  # relative; how far a limit stands behind the command, so that rounding leaves solvers a feasible point
ACTIVE = 1e-9  # relative; limits this near to the command may hold its forces
INDEPENDENT = 1e-9  # relative; equality rows that others imply are left out, since solvers refuse them

FORCE_WEIGHT = 1e-3  # ε; any positive one has the same solution, and smaller ones leave solvers fewer digits of f


def as_qp(problem: Problem, solution: Solution, metric: Any) -> Any:
    """``min ½ ‖v̇ − v̇₀‖²_W + Σ ½ w ‖A v̇ + b‖² + ε (½ ‖f − f₀‖²_R + Σ ½ w ‖A_f f + A_τ τ + b‖² − rᵀ v̇)`` on x = [v̇; f].

    Strict levels are equalities at the values that they reached, base rows are equalities, limits and cones
    inequalities. Soft tasks on wrenches and torques stand behind ε, with ``τ = S (M v̇ + h − Jᵀ f)``.

    One QP cannot say "forces last": whatever ε, what forces would gain from another motion bends it (by 1e-3 m/s² at
    ε = 1e-6, R alone). So r, that gain at the command, is taken away: the derivative of the sharing cost along v̇ with
    f following. Then the solution is the command's for every ε.

    A limit that gave way stands at the value it reached, and none is nearer to the command than 1e-11 (1 + |value|):
    that moves the solution by up to 1e-6 N m where limits hold a strict level and fix the rest over a long lever.
    Rows that depend on others, and those of parts that are absent, are left out.

    Returns:
        A ``qpsolvers.Problem`` in x = [v̇; f] whose solution is the command's, with the names of its rows in the
        attributes ``equality_names`` and ``inequality_names``.
    """
    layout = problem.layout
    soft, nv = layout.soft_rows, layout.nv
    W = metric_matrix(problem, metric)
    weights = layout.root_weights[soft] ** 2 * problem.soft_share
    A_soft = problem.A[soft]
    P = block_diag(W + (A_soft.T * weights) @ A_soft, np.zeros((layout.nf, layout.nf)))
    q = np.concatenate([-W @ problem.nominal + (A_soft.T * weights) @ problem.b[soft], np.zeros(layout.nf)])
    x = np.concatenate([solution.vdot, solution.f])
    torque = _torque_rows(problem)
    A, equalities = _equalities(problem, torque)
    G, h, inequalities = _inequalities(problem, torque, x)
    P_last, q_last = _forces_last(problem, torque)
    P += FORCE_WEIGHT * P_last
    q += FORCE_WEIGHT * q_last
    holding = G[h - G @ x <= ACTIVE * (1.0 + np.abs(h))]
    q[:nv] -= FORCE_WEIGHT * _gain(P_last @ x + q_last, A[: len(layout.unactuated)], holding, nv)
    rows = _independent(A)
    found: Any = qpsolvers.Problem(
        0.5 * (P + P.T),
        q,
        G if len(G) else None,
        h if len(h) else None,
        A[rows] if len(rows) else None,
        A[rows] @ x if len(rows) else None,
    )
    found.equality_names = tuple(equalities[i] for i in rows)
    found.inequality_names = tuple(inequalities)
    return found


def _torque_rows(problem: Problem) -> Array:
    """∂τ/∂x (nu, nv + nf), ``S [M, −Jᵀ]``, with no column for a contact that is absent."""
    actuated = problem.layout.actuated
    return np.hstack([problem.M[actuated], -_present(problem)[:, actuated].T])


def _present(problem: Problem) -> Array:
    """J (nf, nv), zero where a contact is absent."""
    J: Array = np.where(problem.active[:, None] > 0.0, problem.J, 0.0)
    return J


def _forces_last(problem: Problem, torque: Array) -> tuple[Array, Array]:
    """Hessian and gradient at zero of the load-sharing cost on x: f near f₀ in R, and the soft tasks on forces."""
    layout = problem.layout
    R = problem.root_weight_f**2
    P = block_diag(np.zeros((layout.nv, layout.nv)), np.diag(R))
    q = np.concatenate([np.zeros(layout.nv), -R * problem.f0 * problem.active])
    if layout.n_force:
        rows = problem.A_torque @ torque
        rows[:, layout.nv :] += problem.A_wrench * problem.active
        weighted = rows.T * (layout.root_weights_force**2 * problem.force_share)
        P += weighted @ rows
        q += weighted @ (problem.A_torque @ problem.h[layout.actuated] + problem.b_force)
    return P, q


def _gain(gradient: Array, base: Array, holding: Array, nv: int) -> Array:
    """r (nv,): what the load-sharing cost feels of v̇ where f is its best, multipliers of base and limits included.

    The command's forces are the best with its motion: ``∂/∂f + B_fᵀ μ + G_fᵀ ν = 0`` with ν ≥ 0 on limits that hold.
    The same multipliers along v̇ leave ``r = ∂/∂v̇ + B_vᵀ μ + G_vᵀ ν``.
    """
    rows = np.vstack([base, -base, holding])
    # only rows that hold forces: a limit of joints alone has no say in how the load is shared
    rows = rows[np.abs(rows[:, nv:]).max(axis=1, initial=0.0) > 0.0]
    if not len(rows):
        return gradient[:nv]
    lengths = np.linalg.norm(rows[:, nv:], axis=1)
    multipliers = nnls(rows[:, nv:].T / lengths, -gradient[nv:], maxiter=50 * len(rows) + 100)[0] / lengths
    r: Array = gradient[:nv] + rows[:, :nv].T @ multipliers
    return r


def _equalities(problem: Problem, torque: Array) -> tuple[Array, list[str]]:
    """Base rows, and the strict rows of parts that are present; and their names."""
    layout = problem.layout
    base, strict = layout.unactuated, layout.soft_rows.start
    rows = np.vstack(
        [
            np.hstack([problem.M[base], -_present(problem)[:, base].T]),
            np.hstack([problem.A[:strict], np.zeros((strict, layout.nf))]),
            np.hstack([np.zeros((layout.nf, layout.nv)), np.eye(layout.nf)]),  # no force of an absent contact
        ]
    )
    parts = [*layout.contacts, *(part for level in layout.levels for part in level)]
    names = [f"base {i}" for i in range(len(base))] + _names(parts)
    names += [f"{name} absent" for name in _names(list(layout.contacts))]
    there = np.concatenate([np.ones(len(base)), problem.on[:strict], 1.0 - problem.active]) > 0.0
    return rows[there], [name for name, present in zip(names, there, strict=True) if present]


def _inequalities(problem: Problem, torque: Array, x: Array) -> tuple[Array, Array, list[str]]:
    """One-sided rows ``G x ≤ h`` with a finite side, and their names."""
    layout = problem.layout
    nv, nf = layout.nv, layout.nf
    G = np.vstack(
        [
            np.hstack([problem.G, np.zeros((layout.n_acc, nf))]),
            np.hstack([np.zeros((layout.n_cone, nv)), problem.G_wrench]),
            problem.G_torque @ torque,
        ]
    )
    offset = problem.offset.copy()
    offset[layout.n_in - layout.n_tau :] += problem.G_torque @ problem.h[layout.actuated]
    lower, upper = problem.lower - offset, problem.upper - offset
    # the equalities alone may fix the command, and it stands on its active limits only to rounding
    value = G @ x
    room = ROOM * (1.0 + np.abs(value))
    lower, upper = np.minimum(lower, value - room), np.maximum(upper, value + room)
    names = [f"{part.name} {element}" for part in layout.limits for element in part.elements]
    above, below = np.isfinite(upper), np.isfinite(lower)
    return (
        np.vstack([G[above], -G[below]]),
        np.concatenate([upper[above], -lower[below]]),
        [f"{names[i]} upper" for i in np.flatnonzero(above)] + [f"{names[i]} lower" for i in np.flatnonzero(below)],
    )


def _independent(A: Array) -> Array:
    """Indices of a largest set of independent rows, in order."""
    if not len(A):
        return np.zeros(0, dtype=np.intp)
    _, R, pivots = qr(A.T, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    rank = int((size > INDEPENDENT * size.max(initial=0.0)).sum()) if size.size else 0
    rows: Array = np.sort(pivots[:rank])
    return rows


def _names(parts: list[Part]) -> list[str]:
    return [f"{part.name} {i}" for part in parts for i in range(part.stop - part.start)]
