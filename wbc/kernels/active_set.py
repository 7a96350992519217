"""Two levels on an active set, compiled: least motion first, least internal forces second, checked against KKT."""

from __future__ import annotations

import numpy as np

from wbc.checks import Array
from wbc.kernels.compiled import compiled
from wbc.kernels.linear_algebra import reflect_back, triangularise, triangularise_pivoted

DEPENDENT = 1e-9  # rows of unit norm: below, one is a combination of the others
VIOLATED = 1e-10
WRONG_SIGN = 1e-10


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
