"""The whole stack as one unreduced QP in x = [v̇; f], for people who compare solvers, teach, or want to see it."""

from __future__ import annotations

from typing import Any

import numpy as np
import qpsolvers
from scipy.linalg import block_diag, qr

from wbc.checks import Array
from wbc.hierarchy import Solution
from wbc.hierarchy.gauss_coordinates import metric_matrix
from wbc.layout import Part
from wbc.problem import Problem

ROOM = 1e-11  # relative; how far a limit stands behind the command, so that rounding leaves solvers a feasible point
INDEPENDENT = 1e-9  # relative; equality rows that others imply are left out, since solvers refuse them

FORCE_WEIGHT = 1e-6  # ε; it bends the motion by about 1e-3 m/s² where internal forces are free


def as_qp(problem: Problem, solution: Solution, metric: Any) -> Any:
    """``min ½ ‖v̇ − v̇₀‖²_W + Σ ½ w ‖A v̇ + b‖² + ½ ε ‖f − f₀‖²_R`` with strict levels at the values that they reached.

    The base rows are equalities, limits and cones inequalities; a limit that gave way stands at the value it reached,
    and none is nearer to the command than 1e-11 (1 + |value|): that
    moves the solution by up to 1e-6 N m where limits hold a strict level and fix the rest over a long lever.
    Rows that depend on others are left out. ε = ``FORCE_WEIGHT`` stands for "forces last", which one QP cannot say.

    Returns:
        A ``qpsolvers.Problem`` in x = [v̇; f] whose solution is the command's, with the names of its rows in the
        attributes ``equality_names`` and ``inequality_names``.
    """
    layout = problem.layout
    W = metric_matrix(problem, metric)
    soft, nf = layout.soft_rows, layout.nf
    weights = layout.root_weights[soft] ** 2
    A_soft = problem.A[soft]
    R = FORCE_WEIGHT * problem.root_weight_f**2
    P = block_diag(W + (A_soft.T * weights) @ A_soft, np.diag(R))
    q = np.concatenate(
        [-W @ problem.nominal + (A_soft.T * weights) @ problem.b[soft], -R * problem.f0 * problem.active]
    )
    x = np.concatenate([solution.vdot, solution.f])
    base = layout.unactuated
    A = np.vstack(
        [
            np.hstack([problem.M[base], -problem.J[:, base].T]),
            np.hstack([problem.A[: soft.start], np.zeros((soft.start, nf))]),
        ]
    )
    parts = [*layout.contacts, *(part for level in layout.levels for part in level)]
    names = [f"base {i}" for i in range(len(base))] + _names(parts)
    rows = _independent(A)
    G, h, limit_names = _inequalities(problem, solution, x)
    found: Any = qpsolvers.Problem(
        0.5 * (P + P.T),
        q,
        G if len(G) else None,
        h if len(h) else None,
        A[rows] if len(rows) else None,
        A[rows] @ x if len(rows) else None,
    )
    found.equality_names = tuple(names[i] for i in rows)
    found.inequality_names = tuple(limit_names)
    return found


def _inequalities(problem: Problem, solution: Solution, x: Array) -> tuple[Array, Array, list[str]]:
    """One-sided rows ``G x ≤ h`` with a finite side, and their names."""
    layout = problem.layout
    nv, nf, actuated = layout.nv, layout.nf, layout.actuated
    G = np.vstack(
        [
            np.hstack([problem.G, np.zeros((layout.n_acc, nf))]),
            np.hstack([np.zeros((layout.n_cone, nv)), problem.G_wrench]),
            problem.G_torque @ np.hstack([problem.M[actuated], -problem.J[:, actuated].T]),
        ]
    )
    offset = problem.offset.copy()
    offset[layout.n_in - layout.n_tau :] += problem.G_torque @ problem.h[actuated]
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
