"""Contact rows, compiled: a contact's motion and its place, turned into the axes of its surface."""

from __future__ import annotations

import math

from wbc.checks import Array
from wbc.kernels.compiled import compiled


@compiled("void(float64[:], float64[:], float64[:, ::1])")
def surface_axes(normal: Array, forward: Array, axes: Array) -> None:
    """``axes = (t₁, t₂, n)`` as columns: n the normal, ``t₁ ∝ forward − (n·forward) n``, ``t₂ = n × t₁``."""
    nx, ny, nz = normal[0], normal[1], normal[2]
    along = nx * forward[0] + ny * forward[1] + nz * forward[2]
    fx, fy, fz = forward[0] - along * nx, forward[1] - along * ny, forward[2] - along * nz
    length = math.sqrt(fx * fx + fy * fy + fz * fz)
    fx, fy, fz = fx / length, fy / length, fz / length
    axes[0, 0], axes[1, 0], axes[2, 0] = fx, fy, fz
    axes[0, 1], axes[1, 1], axes[2, 1] = ny * fz - nz * fy, nz * fx - nx * fz, nx * fy - ny * fx
    axes[0, 2], axes[1, 2], axes[2, 2] = nx, ny, nz


@compiled(
    "void(float64[:, :], float64[:], float64[:], float64[:], float64[:], float64[:], float64, float64,"
    " float64[:, ::1], float64[::1], float64[:, ::1])"
)
def contact_rows(
    J: Array,
    Jdot_v: Array,
    velocity: Array,
    gap: Array,
    normal: Array,
    forward: Array,
    kp: float,
    kd: float,
    rows: Array,
    b: Array,
    axes: Array,
) -> None:
    """``J v̇ + J̇v = kp Δx − kd ξ`` as ``rows v̇ + b = 0``, each three of them turned by axesᵀ.

    J, J̇v and ξ may hold more rows than the contact has: ``len(b)`` of them count, three for a point, six for a sole.
    """
    surface_axes(normal, forward, axes)
    for first in range(0, len(b), 3):
        for i in range(3):
            a0, a1, a2 = axes[0, i], axes[1, i], axes[2, i]
            for j in range(J.shape[1]):
                rows[first + i, j] = a0 * J[first, j] + a1 * J[first + 1, j] + a2 * J[first + 2, j]
            total = 0.0
            for k in range(3):
                row = first + k
                total += axes[k, i] * (Jdot_v[row] + kd * velocity[row] - kp * gap[row])
            b[first + i] = total
