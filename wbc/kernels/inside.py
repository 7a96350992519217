"""Inside the limits, compiled: a tick's inequality rows as unit rows, and its solution moved to where they hold."""

from __future__ import annotations

import numpy as np

from wbc.checks import Array
from wbc.kernels.active_set import two_levels
from wbc.kernels.compiled import compiled
from wbc.kernels.equalities import torques
from wbc.kernels.limits import clip_torques
from wbc.kernels.linear_algebra import Indices

VANISHED = 1e-9  # a row this short, relative to the longest, does not depend on what is free
OUTSIDE = 1e-9  # by how much such a row may be exceeded
FELT = 1e-9  # a multiplier above this, relative to the largest, holds its level back

BLOCKS = ("M", "h", "J", "G", "G_wrench", "G_torque", "offset", "lower", "upper")


@compiled(
    "boolean(float64[::1], int64[::1], int64[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[::1], "
    "float64[::1], float64[::1])"
)
def unit_rows(
    record: Array, starts: Indices, sizes: Indices, at: Array, rows: Array, G: Array, lower: Array, upper: Array,
    norms: Array,
) -> bool:  # fmt: skip
    """``lower ≤ G x ≤ upper`` with rows of unit norm, x the way from a solution; False where nothing can be done.

    Args:
        record, starts: the flat record, and where the blocks of :data:`BLOCKS` start.
        sizes: nv, nf, n_acc, n_cone, n_tau, nu.
        at: v̇ (nv,), f (nf,) and torque (nu,) of the solution, one behind the other.
        rows: inequality rows (m, n) on x.
        G, lower, upper, norms: results (m, n), (m,), (m,), (m,); rows without a bound or that feel nothing are empty.
    """
    nv, nf, n_acc, n_cone, n_tau, nu = sizes
    m, n = rows.shape
    G_acc = record[starts[3] : starts[3] + n_acc * nv].reshape(n_acc, nv)
    G_wrench = record[starts[4] : starts[4] + n_cone * nf].reshape(n_cone, nf)
    G_torque = record[starts[5] : starts[5] + n_tau * nu].reshape(n_tau, nu)
    longest = 0.0
    for i in range(m):
        square = 0.0
        for k in range(n):
            square += rows[i, k] * rows[i, k]
        norms[i] = np.sqrt(square)
        longest = max(longest, norms[i])
    for i in range(m):
        low, high = record[starts[7] + i], record[starts[8] + i]
        lower[i], upper[i] = -np.inf, np.inf
        G[i] = 0.0
        if low == -np.inf and high == np.inf:
            norms[i] = 1.0
            continue
        value = record[starts[6] + i]
        if i < n_acc:
            for k in range(nv):
                value += G_acc[i, k] * at[k]
        elif i < n_acc + n_cone:
            for k in range(nf):
                value += G_wrench[i - n_acc, k] * at[nv + k]
        else:
            for k in range(nu):
                value += G_torque[i - n_acc - n_cone, k] * at[nv + nf + k]
        if not norms[i] > VANISHED * longest:
            norms[i] = 1.0
            if not (low - value <= OUTSIDE and value - high <= OUTSIDE):
                return False
            continue
        for k in range(n):
            G[i, k] = rows[i, k] / norms[i]
        lower[i], upper[i] = (low - value) / norms[i], (high - value) / norms[i]
        if not lower[i] <= upper[i]:
            return False
    return True


@compiled(
    "Tuple((int64, float64))(float64[::1], int64[::1], int64[::1], int64[::1], float64[::1], float64[:, ::1], "
    "float64[:, ::1], float64[:, ::1], float64[::1], float64[::1], float64[::1], float64[::1], int64, float64[::1], "
    "float64[::1], int64[::1])"
)
def move_inside(
    record: Array, starts: Indices, sizes: Indices, actuated: Indices, at: Array, V: Array, force: Array,
    G: Array, lower: Array, upper: Array, norms: Array, side: Array, most_changes: int, out: Array, price: Array,
    level: Indices,
) -> tuple[int, float]:  # fmt: skip
    """The solution moved just so far as the limits ask: ``v̇ + V u``, ``f + (F, N)(u, λ)``, with torques and prices.

    Args:
        record, starts, sizes, at, G, lower, upper, norms: as in :func:`unit_rows`.
        actuated: coordinates with a motor.
        V, force: motions (nv, n_u) and forces (nf, n_u + n_λ) that are free.
        side, most_changes: of :func:`two_levels`.
        out: v̇, f and torque, one behind the other.
        price, level: of each inequality row: its multiplier and 0 (motion), 1 (forces), −1 (holds nothing back).

    Returns:
        The number of active sets that were looked at, 0 where none passes; and by how much rounding had left torques
        outside before they were put inside their limits.
    """
    nv, nf, n_acc, n_cone, n_tau, nu = sizes
    m, n = G.shape
    n_u = V.shape[1]
    x, mu, nu_ = np.empty(n), np.empty(m), np.empty(m)
    for i in range(m):
        if lower[i] == upper[i]:
            side[i] = 1.0
    looked_at = two_levels(G, n_u, lower, upper, side, most_changes, x, mu, nu_)
    if looked_at == 0:
        return 0, 0.0
    M = record[starts[0] : starts[0] + nv * nv].reshape(nv, nv)
    h = record[starts[1] : starts[1] + nv]
    J = record[starts[2] : starts[2] + nf * nv].reshape(nf, nv)
    vdot, f, torque = out[:nv], out[nv : nv + nf], out[nv + nf :]
    for i in range(nv):
        vdot[i] = at[i]
        for k in range(n_u):
            vdot[i] += V[i, k] * x[k]
    for i in range(nf):
        f[i] = at[nv + i]
        for k in range(n):
            f[i] += force[i, k] * x[k]
    torques(M, h, J, actuated, vdot, f, torque)
    first = n_acc + n_cone
    G_torque = record[starts[5] : starts[5] + n_tau * nu].reshape(n_tau, nu)
    clipped = clip_torques(
        G_torque, record[starts[6] + first : starts[6] + first + n_tau],
        record[starts[7] + first : starts[7] + first + n_tau],
        record[starts[8] + first : starts[8] + first + n_tau], torque,
    )  # fmt: skip
    largest, largest_force = 0.0, 0.0
    for i in range(m):
        mu[i], nu_[i] = abs(mu[i]) / norms[i], abs(nu_[i]) / norms[i]
        largest, largest_force = max(largest, mu[i]), max(largest_force, nu_[i])
    for i in range(m):
        price[i], level[i] = 0.0, -1
        if mu[i] > FELT * largest:
            price[i], level[i] = mu[i], 0
        elif nu_[i] > FELT * largest_force:
            price[i], level[i] = nu_[i], 1
    return looked_at, clipped
