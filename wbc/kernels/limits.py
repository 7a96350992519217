"""Limits, compiled: their rows on what the strict levels leave free, and torques put inside their bounds."""

from __future__ import annotations

import numpy as np

from wbc.checks import Array
from wbc.kernels.compiled import compiled
from wbc.kernels.linear_algebra import Indices, add_product


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
