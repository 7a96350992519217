"""Limits, compiled: their rows on what the strict levels leave free, and torques put inside their bounds."""

from __future__ import annotations

import numpy as np

from wbc.checks import Array
from wbc.kernels.compiled import compiled
from wbc.kernels.forces import eliminate
from wbc.kernels.linear_algebra import Indices, add_product, cholesky, directions, solve_columns

BLOCKS = ("M", "J", "active", "root_weight_f", "G", "G_wrench", "G_torque")


@compiled(
    "void(float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], int64[::1], "
    "float64[:, ::1], float64[:, ::1], float64[:, ::1])"
)
def rows_on_free(
    M: Array,
    J: Array,
    G: Array,
    G_wrench: Array,
    G_torque: Array,
    actuated: Indices,
    V: Array,
    force: Array,
    rows: Array,
) -> None:
    """Inequality rows on (u, λ) where v̇ moves by V u and f by (F, N)(u, λ).

    Accelerations feel ``G V``, wrenches ``G_f (F, N)``, torques ``G_τ S (M V − Jᵀ F, −Jᵀ N)``.

    Args:
        M, J, G, G_wrench, G_torque, actuated: of the problem.
        V: motions (nv, k); force: (F, N) (nf, k + n_λ).
        rows: result (n_in, k + n_λ).
    """
    n_u, width = V.shape[1], force.shape[1]
    n_acc, n_cone = len(G), len(G_wrench)
    MV = np.zeros((len(M), n_u))
    add_product(M, V, MV)
    torque = np.zeros((len(actuated), width))
    for i in range(len(actuated)):
        torque[i, :n_u] = MV[actuated[i]]
        for j in range(len(J)):
            value = J[j, actuated[i]]
            if value != 0.0:
                for k in range(width):
                    torque[i, k] -= value * force[j, k]
    rows[:] = 0.0
    for i in range(n_acc):
        for j in range(len(V)):
            value = G[i, j]
            if value != 0.0:
                for k in range(n_u):
                    rows[i, k] += value * V[j, k]
    add_product(G_wrench, force, rows[n_acc : n_acc + n_cone])
    add_product(G_torque, torque, rows[n_acc + n_cone :])


@compiled("boolean(float64[:, ::1], int64, float64[::1], float64[::1], float64[:, ::1], float64[:, ::1])")
def free_motion(T: Array, count: int, tau: Array, root_weights: Array, C: Array, V: Array) -> bool:
    """``V = C⁻¹ Q₂ L⁻ᵀ``, ``L Lᵀ = I + B Bᵀ``: what is free, each direction as dear to Gauss and the soft tasks.

    ``B = √w Q₂ᵀ (A C⁻¹)ᵀ`` of the soft tasks stands in T behind the strict rows, since the reflections went over it.

    Args:
        T, count, tau: strict and soft rows (n, m) as :func:`wbc.kernels.equalities.project` left them.
        root_weights: √w of the soft rows (m − count,).
        C: factor of the metric (n, n).
        V: result (n, n − count).
    """
    V[:] = directions(T, count, tau, count)
    n, r = V.shape
    L = np.eye(r)
    for k in range(len(root_weights)):
        for i in range(r):
            value = T[count + i, count + k] * root_weights[k] * root_weights[k]
            if value != 0.0:
                for j in range(i + 1):
                    L[i, j] += value * T[count + j, count + k]
    if not cholesky(L):
        return False
    for i in range(n):
        for j in range(r):
            total = V[i, j]
            for k in range(j):
                total -= V[i, k] * L[j, k]
            V[i, j] = total / L[j, j]
    solve_columns(C, V)
    return True


@compiled(
    "boolean(float64[::1], int64[::1], int64[::1], int64[::1], int64[::1], float64[:, ::1], int64, float64[::1], "
    "float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1])"
)
def free_rows(
    record: Array, starts: Indices, sizes: Indices, actuated: Indices, base: Indices, T: Array, count: int, tau: Array,
    root_weights: Array, C: Array, V: Array, force: Array, rows: Array,
) -> bool:  # fmt: skip
    """Motions V, forces ``(F, N)`` and inequality rows on (u, λ) of what the strict levels leave free.

    Args:
        record, starts: the flat record, and where the blocks of :data:`BLOCKS` start.
        sizes: nv, nf, n_acc, n_cone, n_tau, nu.
        actuated, base: coordinates with and without a motor.
        T, count, tau, root_weights, C, V: as in :func:`free_motion`.
        force, rows: results (nf, n_u + n_λ) and (n_in, n_u + n_λ).

    Returns:
        False where the contacts' rank is not beyond doubt.
    """
    nv, nf, n_acc, n_cone, n_tau, nu = sizes
    M = record[starts[0] : starts[0] + nv * nv].reshape(nv, nv)
    J = record[starts[1] : starts[1] + nf * nv].reshape(nf, nv)
    active, root_weight = record[starts[2] : starts[2] + nf], record[starts[3] : starts[3] + nf]
    G = record[starts[4] : starts[4] + n_acc * nv].reshape(n_acc, nv)
    G_wrench = record[starts[5] : starts[5] + n_cone * nf].reshape(n_cone, nf)
    G_torque = record[starts[6] : starts[6] + n_tau * nu].reshape(n_tau, nu)
    if not free_motion(T, count, tau, root_weights, C, V):
        return False
    n_u, nb = V.shape[1], len(base)
    force[:] = 0.0
    if nf > 0:
        present = np.flatnonzero(active)
        to_force, internal = np.zeros((nf, nb)), np.zeros((nf, len(present) - nb))
        if not eliminate(J, base, present, 1.0 / root_weight, to_force, internal):
            return False
        force[:, n_u:] = internal
        push = np.zeros((nb, n_u))
        for i in range(nb):
            for j in range(nv):
                value = M[base[i], j]
                if value != 0.0:
                    for k in range(n_u):
                        push[i, k] += value * V[j, k]
        for i in range(nf):
            for j in range(nb):
                value = to_force[i, j]
                for k in range(n_u):
                    force[i, k] += value * push[j, k]
    rows_on_free(M, J, G, G_wrench, G_torque, actuated, V, force, rows)
    return True


@compiled("float64(float64[:, ::1], float64[::1], float64[::1], float64[::1], float64[::1])")
def clip_torques(G_torque: Array, offset: Array, lower: Array, upper: Array, torque: Array) -> float:
    """Put torques inside the bounds of rows that speak of one torque alone; returns the largest change."""
    changed = 0.0
    for i in range(len(G_torque)):
        joint, entries = 0, 0
        for j in range(len(torque)):
            if G_torque[i, j] != 0.0:
                joint, entries = j, entries + 1
        if entries != 1:
            continue
        factor = G_torque[i, joint]
        first, second = (lower[i] - offset[i]) / factor, (upper[i] - offset[i]) / factor
        inside = min(max(torque[joint], min(first, second)), max(first, second))
        changed = max(changed, abs(inside - torque[joint]))
        torque[joint] = inside
    return changed
