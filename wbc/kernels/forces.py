"""Contact forces, compiled: what the base rows ``M_b v̇ + h_b = B f`` make of a motion, and what they leave free."""

from __future__ import annotations

import math

import numpy as np

from wbc.checks import Array
from wbc.kernels.compiled import compiled
from wbc.kernels.linear_algebra import Indices, directions, reflect_back, triangularise

SURELY = 1e-6  # relative: QR alone decides the rank only where it is beyond doubt


@compiled("boolean(float64[:, ::1], int64[::1], int64[::1], float64[::1], float64[:, ::1], float64[::1])")
def factor_base(J: Array, base: Indices, present: Indices, scale: Array, T: Array, tau: Array) -> bool:
    """``B̃ᵀ = Q [R; 0]`` of the base rows of Jᵀ, scaled by R^-½; False where the rank is not beyond doubt.

    Args:
        J: contact Jacobian (nf, nv); base: coordinates without a motor (nb,).
        present: which forces there are (k,); scale: R^-½ (nf,).
        T, tau: results (k, nb) and (nb,), as :func:`triangularise` leaves them.
    """
    k, nb = len(present), len(base)
    if k < nb:
        return False
    for i in range(k):
        for j in range(nb):
            T[i, j] = J[present[i], base[j]] * scale[present[i]]
    triangularise(T, 0, nb, tau)
    largest, smallest = 0.0, math.inf
    for j in range(nb):
        largest, smallest = max(largest, abs(T[j, j])), min(smallest, abs(T[j, j]))
    return smallest > SURELY * largest


@compiled(
    "boolean(float64[:, ::1], float64[::1], float64[:, ::1], int64[::1], float64[::1], float64[::1], float64[::1], "
    "float64[::1], float64[::1])"
)
def contact_forces(
    M: Array, h: Array, J: Array, base: Indices, vdot: Array, f0: Array, root_weight: Array, active: Array, f: Array
) -> bool:
    """``f = f₀ + R^-½ B̃⁺ (M_b v̇ + h_b − B f₀)``, the load shared nearest to f₀; False where B̃ may lose rank.

    With B̃ᵀ = Q [R; 0] the pseudoinverse B̃⁺ is Q [R⁻ᵀ; 0].
    """
    nf, nb = len(J), len(base)
    f[:] = f0 * active
    if nb == 0:
        return True
    present = np.flatnonzero(active)
    scale = 1.0 / root_weight
    T, tau = np.empty((len(present), nb)), np.empty(nb)
    if not factor_base(J, base, present, scale, T, tau):
        return False
    z = np.zeros(len(present))
    for j in range(nb):
        row = base[j]
        z[j] = h[row]
        for i in range(len(vdot)):
            z[j] += M[row, i] * vdot[i]
        for i in range(nf):
            z[j] -= J[i, row] * f[i]
    for i in range(nb):
        for j in range(i):
            z[i] -= T[j, i] * z[j]
        z[i] /= T[i, i]
    reflect_back(T, nb, tau, z)
    for i in range(len(present)):
        f[present[i]] += z[i] * scale[present[i]]
    return True


@compiled("boolean(float64[:, ::1], int64[::1], int64[::1], float64[::1], float64[:, ::1], float64[:, ::1])")
def eliminate(J: Array, base: Indices, present: Indices, scale: Array, to_force: Array, internal: Array) -> bool:
    """``R^-½ B̃⁺`` (nf, nb) and ``R^-½ N`` (nf, n_λ) of contact forces: B̃⁺ = Q₁ R⁻ᵀ and N = Q₂.

    Args:
        J, base, present, scale: as in :func:`factor_base`, which says whether the rank is beyond doubt.
        to_force, internal: results; rows of absent forces stay as they are.
    """
    k, nb = len(present), len(base)
    T, tau = np.empty((k, nb)), np.empty(nb)
    if not factor_base(J, base, present, scale, T, tau):
        return False
    Q = directions(T, nb, tau, 0)
    for i in range(k):
        row = present[i]
        for j in range(nb - 1, -1, -1):  # x Rᵀ = a row of Q₁, scaled, from the last column on
            total = Q[i, j] * scale[row]
            for m in range(j + 1, nb):
                total -= T[j, m] * to_force[row, m]
            to_force[row, j] = total / T[j, j]
        for j in range(k - nb):
            internal[row, j] = Q[i, nb + j] * scale[row]
    return True
