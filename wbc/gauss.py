"""Gauss's principle of least constraint on plain arrays: among all accelerations that satisfy A v̇ + b = 0, the one
nearest to the free acceleration v̇₀ in the metric of the mass matrix.

Everything is computed in Gauss coordinates: with M = CᵀC, y = C v̇ turns the metric into the Euclidean one, and the
singular value decomposition A C⁻¹ = U diag(σ) Vᵀ answers every question without an explicit inverse of A M⁻¹Aᵀ, which
would square the condition number. Numbers in brackets are the equations of the derivation that `docs/design.md` cites.
A may have any number of rows and any rank. Where b is inconsistent, A v̇ + b is smallest in the Euclidean norm.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from wbc import checks
from wbc.checks import Array
from wbc.errors import InputError

RANK_TOLERANCE = 1e-9  # a singular value of A C⁻¹ below this part of the largest one counts as zero
RANGE_TOLERANCE = (
    1e-8  # the part of xi that may stick out of the range of A: rounding, and rows that RANK_TOLERANCE drops
)
SYMMETRY_TOLERANCE = 1e-9  # of the largest entry: far above rounding, far below a triangle that was never filled


def least_constraint(M: ArrayLike, h: ArrayLike, A: ArrayLike, b: ArrayLike, tau0: ArrayLike) -> tuple[Array, Array]:
    """The force and the acceleration of a system that satisfies A v̇ + b = 0 with the least constraint.

    min ½‖τ_c − τ₀‖²_{M⁻¹}  subject to  A M⁻¹(τ_c − h) + b = 0                                            (5)
    τ_c = τ₀ − Aᵀλ,  λ = Λ_A (A M⁻¹(τ₀ − h) + b)                                                          (6, 7)
    v̇_c = M⁻¹(τ_c − h) = −A⁺_M b + P_M(A) v̇₀,  v̇₀ = M⁻¹(τ₀ − h)                                           (8)

    Args:
        M: mass matrix (n, n) [kg, kg m²].
        h: gravity, centrifugal and Coriolis forces (n,) [N, N m].
        A: constraint matrix (p, n), of any rank.
        b: constraint offset (p,) [units of A v̇].
        tau0: force on the free system (n,) [N, N m].

    Returns:
        tau_c (n,) [N, N m] and vdot_c (n,) [m/s², rad/s²].

    Raises:
        InputError: a wrong shape, a NaN or inf, or M not symmetric positive definite; the message names the argument.

    Source: Gauss (1829); Udwadia and Kalaba (1992), eq. 5b, for the acceleration.
    """
    M, A = _metric(M), _matrix(A, "A", np.shape(M)[-1])
    p, n = A.shape
    h, b, tau0 = checks.vector(h, "h", n), checks.vector(b, "b", p), checks.vector(tau0, "tau0", n)
    C, U, sigma, Vt = _gauss_coordinates(A, M)
    vdot0 = _solve(C, _solve(C, tau0 - h, trans="T"))
    y = -Vt.T @ ((U.T @ (A @ vdot0 + b)) / sigma)  # C (v̇_c − v̇₀): the least-norm step onto the constraint
    return tau0 + C.T @ y, vdot0 + _solve(C, y)


def gauss_cost(M: ArrayLike, tau: ArrayLike, tau0: ArrayLike) -> float:
    """How much a force constrains a free system: ½‖τ − τ₀‖²_{M⁻¹} = ½‖v̇ − v̇₀‖²_M, the objective of (5).

    Args:
        M: mass matrix (n, n) [kg, kg m²].
        tau: force on the constrained system (n,) [N, N m].
        tau0: force on the free system (n,) [N, N m].

    Raises:
        InputError: a wrong shape, a NaN or inf, or M not symmetric positive definite.

    Source: Gauss (1829); Udwadia and Kalaba (1992), eq. 1.
    """
    M = _metric(M)
    tau, tau0 = checks.vector(tau, "tau", len(M)), checks.vector(tau0, "tau0", len(M))
    y = _solve(np.linalg.cholesky(M).T, tau - tau0, trans="T")
    return 0.5 * float(y @ y)


def constrained_acceleration(M: ArrayLike, A: ArrayLike, b: ArrayLike, vdot0: ArrayLike) -> Array:
    """The acceleration nearest to v̇₀ with A v̇ + b = 0: v̇_c = −A⁺_M b + P_M(A) v̇₀ (8).

    Args:
        M: mass matrix (n, n) [kg, kg m²].
        A: constraint matrix (p, n), of any rank.
        b: constraint offset (p,) [units of A v̇].
        vdot0: free acceleration (n,) [m/s², rad/s²].

    Raises:
        InputError: a wrong shape, a NaN or inf, or M not symmetric positive definite.

    Source: Udwadia and Kalaba (1992), eq. 5b. The minus belongs to A v̇ + b = 0; with b on the right it is a plus (10).
    """
    M, A = _metric(M), _matrix(A, "A", np.shape(M)[-1])
    b, vdot0 = checks.vector(b, "b", len(A)), checks.vector(vdot0, "vdot0", len(M))
    return vdot0 - weighted_pseudoinverse(A, M) @ (A @ vdot0 + b)


def weighted_least_squares(A: ArrayLike, b: ArrayLike, y: ArrayLike, M: ArrayLike) -> Array:
    """The vector nearest to y in the metric M among those with A x = b: x* = A⁺_M b + P_M(A) y (10).

    Args:
        A: matrix (p, n), of any rank.
        b: right-hand side (p,); where no x satisfies A x = b, ‖A x − b‖ is smallest first.
        y: the vector to stay near to (n,).
        M: metric (n, n).

    Raises:
        InputError: a wrong shape, a NaN or inf, or M not symmetric positive definite.

    Source: Ben-Israel and Greville (2003), chapter 3, minimal-norm solutions in a weighted norm.
    """
    M, A = _metric(M), _matrix(A, "A", np.shape(M)[-1])
    b, y = checks.vector(b, "b", len(A)), checks.vector(y, "y", len(M))
    return y + weighted_pseudoinverse(A, M) @ (b - A @ y)


def weighted_pseudoinverse(A: ArrayLike, M: ArrayLike) -> Array:
    """The M-weighted (dynamically consistent) pseudoinverse A⁺_M = M⁻¹AᵀΛ_A = C⁻¹(A C⁻¹)⁺, of shape (n, p) (9).

    Args:
        A: matrix (p, n), of any rank.
        M: metric (n, n), as a rule the mass matrix [kg, kg m²].

    Raises:
        InputError: a wrong shape, a NaN or inf, or M not symmetric positive definite.

    Source: Khatib (1987), eq. 35, the dynamically consistent inverse of the Jacobian.
    """
    M, A = _metric(M), _matrix(A, "A", np.shape(M)[-1])
    C, U, sigma, Vt = _gauss_coordinates(A, M)
    return _solve(C, Vt.T / sigma) @ U.T


def nullspace_projector(A: ArrayLike, M: ArrayLike) -> Array:
    """The projector of accelerations onto the null space of A, orthogonal in the metric M: P_M(A) = 1 − A⁺_M A, (n, n).

    Forces are projected by its transpose: A M⁻¹ P_M(A)ᵀ = 0, whereas A M⁻¹ P_M(A) is not zero.

    Args:
        A: matrix (p, n), of any rank.
        M: metric (n, n), as a rule the mass matrix [kg, kg m²].

    Raises:
        InputError: a wrong shape, a NaN or inf, or M not symmetric positive definite.

    Source: Khatib (1987), eq. 36, whose null-space torques carry the transpose.
    """
    M, A = _metric(M), _matrix(A, "A", np.shape(M)[-1])
    C, _, _, Vt = _gauss_coordinates(A, M)
    return np.eye(len(M)) - _solve(C, Vt.T) @ (Vt @ C)


def effective_mass(A: ArrayLike, M: ArrayLike) -> Array:
    """The mass matrix that is felt in the space of the constraint: Λ_A = (A M⁻¹Aᵀ)⁺ = U diag(1/σ²) Uᵀ, of shape (p, p).

    It grows without bound on the way *to* a singularity, and is zero in the lost direction *at* it.

    Args:
        A: matrix (p, n), of any rank.
        M: mass matrix (n, n) [kg, kg m²].

    Raises:
        InputError: a wrong shape, a NaN or inf, or M not symmetric positive definite.

    Source: Khatib (1987), eq. 13, where A = J has full rank.
    """
    M, A = _metric(M), _matrix(A, "A", np.shape(M)[-1])
    _, U, sigma, _ = _gauss_coordinates(A, M)
    return (U / sigma**2) @ U.T


def minimum_kinetic_energy(A: ArrayLike, M: ArrayLike, xi: ArrayLike) -> float:
    """The least kinetic energy ½ vᵀM v [J] of all velocities with A v = ξ: ½ ξᵀΛ_A ξ.

    Args:
        A: matrix (p, n), of any rank.
        M: mass matrix (n, n) [kg, kg m²].
        xi: velocity in the space of the constraint (p,) [units of A v]; some v must reach it.

    Raises:
        InputError: no v reaches xi (½ ξᵀΛ_A ξ would be finite, and wrong), a wrong shape, a NaN or inf, or M not
            symmetric positive definite.

    Source: Khatib (1987), section IV, the kinetic energy in operational space.
    """
    M, A = _metric(M), _matrix(A, "A", np.shape(M)[-1])
    xi = checks.vector(xi, "xi", len(A))
    _, U, sigma, _ = _gauss_coordinates(A, M)
    reached = U.T @ xi
    outside, norm = float(np.linalg.norm(xi - U @ reached)), float(np.linalg.norm(xi))
    if outside > RANGE_TOLERANCE * norm:
        raise InputError(
            f"xi is not in the range of A (rank {len(sigma)}, {len(A)} rows): {outside:.3g} of its norm {norm:.3g} cannot "
            "be reached by any velocity, expected xi = A v for some v; A @ weighted_pseudoinverse(A, M) @ xi is the "
            "nearest one"
        )
    return 0.5 * float(np.sum((reached / sigma) ** 2))


def generalized_inverse_error(A: ArrayLike, G: ArrayLike) -> float:
    """The largest entry of |A G A − A|: zero where G is a generalised inverse of A, as A⁺_M is for every M.

    Args:
        A: matrix (p, n), of any rank.
        G: the candidate (n, p).

    Raises:
        InputError: a wrong shape, a NaN or inf.

    Source: Penrose (1955), the first of his four conditions.
    """
    A = _matrix(A, "A")
    G = checks.array(G, "G", (A.shape[1], A.shape[0]))
    return float(np.max(np.abs(A @ G @ A - A), initial=0.0))
