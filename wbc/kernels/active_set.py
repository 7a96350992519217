"""Limits, compiled: from a guess of the active rows to the motion that keeps them, checked against KKT."""

from __future__ import annotations

import numpy as np

from wbc.checks import Array
from wbc.kernels.compiled import compiled
from wbc.kernels.equalities import torques
from wbc.kernels.limits import clip_torques
from wbc.kernels.linear_algebra import Indices, reflect_back, triangularise, triangularise_pivoted

DEPENDENT = 1e-9  # rows of unit norm: below, one is a combination of the others
VIOLATED = 1e-10
WRONG_SIGN = 1e-10
VANISHED = 1e-9  # a row this short, relative to the longest, does not depend on what is free
OUTSIDE = 1e-9  # by how much such a row may be exceeded
FELT = 1e-9  # a multiplier above this, relative to the largest, holds its level back

BLOCKS = ("M", "h", "J", "G", "G_wrench", "G_torque", "offset", "lower", "upper")


@compiled(
    "Tuple((int64, float64))(float64[:, ::1], float64[::1], float64[::1], float64[::1], float64[::1], float64[::1], "
    "float64[::1])"
)
def _what_is_wrong(
    G: Array, lower: Array, upper: Array, side: Array, x: Array, mu: Array, nu: Array
) -> tuple[int, float]:
    """The row to put on a side (1, −1) or to let go (0) before the KKT conditions can hold; −1 where they do."""
    worst, row, to = VIOLATED, -1, 0.0
    for i in range(len(lower)):
        value = 0.0
        for k in range(len(x)):
            value += G[i, k] * x[k]
        size = max(1.0, abs(value))
        if (value - upper[i]) / size > worst and side[i] <= 0.0:
            worst, row, to = (value - upper[i]) / size, i, 1.0
        if (lower[i] - value) / size > worst and side[i] >= 0.0:
            worst, row, to = (lower[i] - value) / size, i, -1.0
    if row >= 0:
        return row, to
    scale, scale_nu = 1.0, 1.0
    for i in range(len(mu)):
        scale, scale_nu = max(scale, abs(mu[i])), max(scale_nu, abs(nu[i]))
    worst = WRONG_SIGN
    for i in range(len(mu)):
        if lower[i] == upper[i]:
            continue
        wrong = -side[i] * mu[i] / scale
        if wrong <= WRONG_SIGN and abs(mu[i]) <= WRONG_SIGN * scale:
            wrong = -side[i] * nu[i] / scale_nu
        if wrong > worst:
            worst, row = wrong, i
    return row, 0.0


@compiled(
    "int64(float64[:, ::1], int64, float64[::1], float64[::1], float64[::1], int64, float64[::1], float64[::1], "
    "float64[::1])"
)
def two_levels(
    G: Array, n_u: int, lower: Array, upper: Array, side: Array, most_changes: int, x: Array, mu: Array, nu: Array
) -> int:
    """``min ½ ‖u‖² ≻ min ½ ‖λ‖²`` under ``lower ≤ G_u u + G_λ λ ≤ upper``, from a guess of the active rows.

    With W the active rows and Kᵀ their left null space at G_λ, level 1 is ``K G_u u = K b``, whose shortest u has
    ``u + G_uᵀ μ = 0``, ``G_λᵀ μ = 0``; level 2 is ``G_λ λ = b − G_u u`` with ``λ + G_λᵀ ν = 0``. A row that holds level
    1 back (μ ≠ 0) stays where it is, so that ν may have any sign there.

    Args:
        G, n_u, lower, upper: rows of unit norm (m, n_u + n_λ) and their bounds (m,).
        side: guess (m,): 1 for a row at its upper side, −1 at its lower, 0 for the others; mended where it is wrong.
        most_changes: of the guess.
        x, mu, nu: result (n_u + n_λ,), (m,), (m,).

    Returns:
        The number of active sets that were looked at; 0 where none passes.
    """
    m, n = G.shape
    p = n - n_u
    for turn in range(most_changes):
        count = 0
        for i in range(m):
            if not np.isfinite(upper[i] if side[i] > 0.0 else lower[i]):
                side[i] = 0.0  # a guess may be of a tick in which there was a bound
            if side[i] != 0.0:
                count += 1
        W = np.empty(count, dtype=np.int64)
        b = np.empty(count)
        at = 0
        for i in range(m):
            if side[i] != 0.0:
                W[at] = i
                b[at] = upper[i] if side[i] > 0.0 else lower[i]
                at += 1
        # G_λᵀ P = Q R: rank many rows carry λ, every other one is a combination of them in λ
        order = np.empty(count, dtype=np.int64)
        rank = 0
        T = np.empty((p, count))
        tau = np.zeros(max(p, 1))
        if p > 0 and count > 0:
            for j in range(count):
                for i in range(p):
                    T[i, j] = G[W[j], n_u + i]
            rank = triangularise_pivoted(T, tau, order, DEPENDENT)
            while rank > 0 and not abs(T[rank - 1, rank - 1]) > DEPENDENT:  # no row has more than rounding there
                rank -= 1
        else:
            for j in range(count):
                order[j] = j
        free = count - rank
        if free > n_u:
            return 0
        # K = [−R₁₂ᵀ R₁₁⁻ᵀ, I] on the rows in order: S = K G_u, and its right side
        K = np.zeros((free, rank))
        for j in range(free):
            for i in range(rank - 1, -1, -1):
                total = -T[i, rank + j]
                for k in range(i + 1, rank):
                    total -= T[i, k] * K[j, k]
                K[j, i] = total / T[i, i]
        St = np.empty((n_u, free))
        g = np.empty(free)
        for j in range(free):
            row = W[order[rank + j]]
            g[j] = b[order[rank + j]]
            for k in range(n_u):
                St[k, j] = G[row, k]
            for i in range(rank):
                other = W[order[i]]
                g[j] += K[j, i] * b[order[i]]
                for k in range(n_u):
                    St[k, j] += K[j, i] * G[other, k]
        tau_u = np.zeros(max(free, 1))
        triangularise(St, 0, free, tau_u)
        for j in range(free):
            if not abs(St[j, j]) > DEPENDENT:
                return 0
        x[:] = 0.0
        mu[:] = 0.0
        nu[:] = 0.0
        for j in range(free):  # Rᵀ w = g
            for i in range(j):
                g[j] -= St[i, j] * g[i]
            g[j] /= St[j, j]
        x[:free] = g
        reflect_back(St, free, tau_u, x[:n_u])
        multiplier = np.empty(free)
        for j in range(free - 1, -1, -1):  # R μ' = −w
            total = -g[j]
            for k in range(j + 1, free):
                total -= St[j, k] * multiplier[k]
            multiplier[j] = total / St[j, j]
        for j in range(free):
            mu[W[order[rank + j]]] += multiplier[j]
            for i in range(rank):
                mu[W[order[i]]] += K[j, i] * multiplier[j]
        # the shortest λ on the rows that carry it: R₁₁ᵀ w = b − G_u u, λ = Q₁ w, ν = −R₁₁⁻¹ w
        w = np.zeros(max(p, 1))
        for i in range(rank):
            row = W[order[i]]
            total = b[order[i]]
            for k in range(n_u):
                total -= G[row, k] * x[k]
            for k in range(i):
                total -= T[k, i] * w[k]
            w[i] = total / T[i, i]
        if rank > 0:
            for i in range(rank - 1, -1, -1):
                total = -w[i]
                for k in range(i + 1, rank):
                    total -= T[i, k] * nu[W[order[k]]]
                nu[W[order[i]]] = total / T[i, i]
            x[n_u:] = w[:p]
            reflect_back(T, rank, tau, x[n_u:])
        for i in range(n):
            if not np.isfinite(x[i]):  # which no comparison would find
                return 0
        change, to = _what_is_wrong(G, lower, upper, side, x, mu, nu)
        if change < 0:
            return turn + 1
        side[change] = to
    return 0


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
