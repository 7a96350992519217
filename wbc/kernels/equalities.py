"""The closed form of a tick, compiled: Gauss coordinates, one orthogonal projection, soft tasks, forces, torques.

With M = CᵀC and y = C (v̇ − v̇₀) a row A v̇ + b = 0 reads (A C⁻¹) y = −(b + A v̇₀). Where all strict rows, level under
level, are independent and none is weak, every level is met, and the point nearest to 0 that meets them all is the
lexicographic solution: with (A C⁻¹)ᵀ = Q₁ R it is y = Q₁ w, Rᵀ w = −(b + A v̇₀).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wbc.checks import Array
from wbc.kernels import BROKEN, INSIDE, OUTSIDE, WEAK
from wbc.kernels.compiled import compiled
from wbc.kernels.forces import contact_forces
from wbc.kernels.linear_algebra import (
    factor,
    inverse_square,
    one_plus_gram,
    reflect_back,
    solve,
    solve_positive,
    solve_transposed,
    triangularise,
)

Indices = NDArray[np.int64]

BLOCKS = (
    "M", "h", "nominal", "A", "b", "J", "active", "f0", "root_weight_f", "G", "G_wrench", "G_torque", "offset", "lower",
    "upper",
)  # fmt: skip


@compiled(
    "boolean(float64[:, ::1], float64[:, ::1], float64[::1], float64[::1], float64[:, ::1], float64[:, ::1],"
    " float64[::1])"
)
def gauss_coordinates(W: Array, A: Array, b: Array, nominal: Array, C: Array, At: Array, offset: Array) -> bool:
    """``W = CᵀC``, rows as columns ``(A C⁻¹)ᵀ`` (n, k), offsets ``b + A v̇₀`` (k,); False if W is not positive."""
    if not factor(W, C):
        return False
    k, n = A.shape
    for i in range(k):
        total = b[i]
        for j in range(n):
            value = A[i, j]
            At[j, i] = value
            total += value * nominal[j]
        offset[i] = total
    solve_transposed(C, At)
    return True


@compiled(
    "boolean(float64[:, ::1], float64[::1], int64[::1], float64[::1], int64[::1], float64[::1], float64,"
    " float64[:, ::1], float64[::1], float64[::1])"
)
def project(
    At: Array, offset: Array, columns: Indices, lengths: Array, bounds: Indices, sigma: Array, absent: float,
    T: Array, tau: Array, y: Array,
) -> bool:  # fmt: skip
    """Project 0 onto the strict rows that are on; False where a level has a direction that is weak or absent.

    Columns of T: the strict rows, then the soft ones, which the reflections carry into the free space on the way.

    Args:
        At, offset: rows in Gauss coordinates (n, k) and offsets (k,).
        columns: which rows are in T (m,), strict ones first.
        lengths: 1 or 0.2 m for each row (k,).
        bounds: columns of T at which the levels end (l,).
        sigma: threshold (l,) below which a singular value of a level counts as weak.
        absent: relative size below which one may not be there at all.
        T: workspace (n, m); tau (m,).
        y: result (n,).
    """
    n = len(At)
    count = bounds[-1] if len(bounds) else 0
    if count > n:
        return False
    for i in range(n):
        for j in range(len(columns)):
            T[i, j] = At[i, columns[j]]
    first = 0
    scale = np.empty(max(count, 1))
    for j in range(count):
        scale[j] = lengths[columns[j]]
    for level in range(len(bounds)):
        last = bounds[level]
        if last == first:
            continue
        triangularise(T, first, last, tau)
        # σ_min(S P) ≥ 1/‖(R S)⁻¹‖_F: where even this bound is above the threshold, no direction is weak
        threshold = max(sigma[level], absent * abs(T[first, first]))
        if not inverse_square(T, first, last, scale) * threshold * threshold < 1.0:
            return False
        first = last
    for i in range(count):  # Rᵀ w = −offset
        total = -offset[columns[i]]
        for j in range(i):
            total -= T[j, i] * y[j]
        y[i] = total / T[i, i]
    y[count:] = 0.0
    return True


@compiled("boolean(float64[:, ::1], int64, float64[::1], float64[::1], float64[::1])")
def add_soft(T: Array, count: int, offset: Array, root_weights: Array, y: Array) -> bool:
    """Soft tasks in the free space: x = argmin ½ ‖x‖² + ½ ‖Bᵀ x + ρ‖², Bᵀ = √w A C⁻¹ Q₂, written into y behind w.

    ``x = −B (I + BᵀB)⁻¹ ρ`` or ``x = −(I + BBᵀ)⁻¹ B ρ``, whichever is smaller.
    T as :func:`project` left it, y = (w, 0).
    """
    n, k = len(T), T.shape[1] - count
    r = n - count
    if r == 0 or k == 0:
        return True
    B = np.empty((r, k))
    rho = np.empty(k)
    for j in range(k):
        rho[j] = offset[j]
        for i in range(count):
            rho[j] += T[i, count + j] * y[i]
        rho[j] *= root_weights[j]
        for i in range(r):
            B[i, j] = T[count + i, count + j] * root_weights[j]
    if k <= r:
        H = one_plus_gram(B)
        if not solve_positive(H, rho):
            return False
    else:
        H = one_plus_gram(np.ascontiguousarray(B.T))
    x = np.zeros(r)
    for i in range(r):
        for j in range(k):
            x[i] -= B[i, j] * rho[j]
    if k > r and not solve_positive(H, x):
        return False
    y[count:] = x
    return True


@compiled("void(float64[:, ::1], float64[::1], float64[:, ::1], int64[::1], float64[::1], float64[::1], float64[::1])")
def torques(M: Array, h: Array, J: Array, actuated: Indices, vdot: Array, f: Array, torque: Array) -> None:
    """``τ = S (M v̇ + h − Jᵀ f)``."""
    for i in range(len(actuated)):
        row = actuated[i]
        total = h[row]
        for j in range(len(vdot)):
            total += M[row, j] * vdot[j]
        torque[i] = total
    for k in range(len(f)):
        force = f[k]
        if force != 0.0:
            for i in range(len(actuated)):
                torque[i] -= J[k, actuated[i]] * force


@compiled(
    "boolean(float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[::1], float64[::1], float64[::1], "
    "float64[::1], float64[::1], float64[::1], float64)"
)
def is_inside(
    G: Array, G_wrench: Array, G_torque: Array, offset: Array, lower: Array, upper: Array, vdot: Array, f: Array,
    torque: Array, tolerance: float,
) -> bool:  # fmt: skip
    """Whether ``lower ≤ G · + offset ≤ upper`` holds for every row; a NaN anywhere does not."""
    n, m = len(G), len(G_wrench)
    for i in range(len(offset)):
        value = offset[i]
        if i < n:
            for j in range(len(vdot)):
                value += G[i, j] * vdot[j]
        elif i < n + m:
            for j in range(len(f)):
                value += G_wrench[i - n, j] * f[j]
        else:
            for j in range(len(torque)):
                value += G_torque[i - n - m, j] * torque[j]
        if not (value >= lower[i] - tolerance and value <= upper[i] + tolerance):
            return False
    return True


@compiled(
    "int64(float64[::1], int64[::1], int64[::1], float64[:, ::1], int64[::1], int64[::1], int64[::1], int64[::1], "
    "float64[::1], float64[::1], float64[::1], float64, float64, float64[:, ::1], float64[:, ::1], float64[::1], "
    "float64[:, ::1], float64[::1], float64[::1])"
)
def closed_form(
    record: Array, starts: Indices, sizes: Indices, W: Array, actuated: Indices, base: Indices, columns: Indices,
    bounds: Indices, sigma: Array, lengths: Array, root_weights: Array, absent: float, tolerance: float,
    C: Array, At: Array, offset: Array, T: Array, tau: Array, out: Array,
) -> int:  # fmt: skip
    """One tick's closed form from the problem's flat record; returns INSIDE, OUTSIDE (of a limit), WEAK or BROKEN.

    Args:
        record, starts: the flat record, and where the blocks of :data:`BLOCKS` start.
        sizes: nv, nf, n_eq, n_acc, n_cone, n_tau, nu.
        W: the metric.
        actuated, base: coordinates with and without a motor.
        columns, bounds: present rows, strict ones first, and the columns where the levels end.
        sigma, absent: thresholds of :func:`project`.
        lengths, root_weights: of all rows (n_eq,).
        tolerance: by how much a limit may be exceeded.
        C, At, offset, T, tau: workspace; C, At and offset are what the level QPs start from.
        out: vdot (nv,), f (nf,), torque (nu,), y (nv,), one behind the other.
    """
    nv, nf, n_eq, n_acc, n_cone, n_tau, nu = sizes
    n_in = n_acc + n_cone + n_tau
    M = record[starts[0] : starts[0] + nv * nv].reshape(nv, nv)
    h, nominal = record[starts[1] : starts[1] + nv], record[starts[2] : starts[2] + nv]
    A = record[starts[3] : starts[3] + n_eq * nv].reshape(n_eq, nv)
    b = record[starts[4] : starts[4] + n_eq]
    J = record[starts[5] : starts[5] + nf * nv].reshape(nf, nv)
    active, f0 = record[starts[6] : starts[6] + nf], record[starts[7] : starts[7] + nf]
    root_weight_f = record[starts[8] : starts[8] + nf]
    G = record[starts[9] : starts[9] + n_acc * nv].reshape(n_acc, nv)
    G_wrench = record[starts[10] : starts[10] + n_cone * nf].reshape(n_cone, nf)
    G_torque = record[starts[11] : starts[11] + n_tau * nu].reshape(n_tau, nu)
    g, lower, upper = (
        record[starts[12] : starts[12] + n_in],
        record[starts[13] : starts[13] + n_in],
        record[starts[14] : starts[14] + n_in],
    )
    vdot, f, torque = out[:nv], out[nv : nv + nf], out[nv + nf : nv + nf + nu]
    y = out[nv + nf + nu :]
    if not gauss_coordinates(W, A, b, nominal, C, At, offset):
        return BROKEN
    if not project(At, offset, columns, lengths, bounds, sigma, absent, T, tau, y):
        return WEAK
    count = bounds[-1] if len(bounds) else 0
    n_soft = len(columns) - count
    if n_soft > 0:
        soft_offset, soft_weights = np.empty(n_soft), np.empty(n_soft)
        for j in range(n_soft):
            soft_offset[j], soft_weights[j] = offset[columns[count + j]], root_weights[columns[count + j]]
        if not add_soft(T, count, soft_offset, soft_weights, y):
            return WEAK
    reflect_back(T, count, tau, y)
    vdot[:] = y
    solve(C, vdot)
    for i in range(nv):
        vdot[i] += nominal[i]
    if not contact_forces(M, h, J, base, vdot, f0, root_weight_f, active, f):
        return WEAK
    torques(M, h, J, actuated, vdot, f, torque)
    if is_inside(G, G_wrench, G_torque, g, lower, upper, vdot, f, torque, tolerance):
        return INSIDE
    return OUTSIDE
