"""Gauss's principle of least constraint on plain arrays: among all accelerations that satisfy A v̇ + b = 0, the one
nearest to the free acceleration v̇₀ in the metric of the mass matrix.

Everything is computed in Gauss coordinates: with M = CᵀC, y = C v̇ turns the metric into the Euclidean one, and the
singular value decomposition A C⁻¹ = U diag(σ) Vᵀ answers every question without an inverse of A M⁻¹Aᵀ, whose condition
number is the square. A may have any number of rows and any rank; where b is inconsistent, ‖A v̇ + b‖ is smallest first.

Equation numbers are those of the post "Operational Space Control and the Principle of Least Constraint" (2026).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cholesky, solve_triangular, svd

from wbc import checks
from wbc.checks import Array
from wbc.errors import InputError

RANK_TOLERANCE = 1e-9  # a singular value of A C⁻¹ up to this part of the largest one counts as zero
RANGE_TOLERANCE = 1e-8  # the part of xi that may stick out of the range of A: rounding, and what RANK_TOLERANCE drops
SYMMETRY_TOLERANCE = 1e-9  # of the largest entry of M: far above rounding, far below a triangle that was never filled


def least_constraint(M: ArrayLike, h: ArrayLike, A: ArrayLike, b: ArrayLike, tau0: ArrayLike) -> tuple[Array, Array]:
    """The force and the acceleration of a system that satisfies A v̇ + b = 0 with the least constraint.

    min ½‖τ_c − τ₀‖²_{M⁻¹}  subject to  A M⁻¹(τ_c − h) + b = 0                    (5)
    τ_c = τ₀ − Aᵀλ,  λ = Λ_A (A M⁻¹(τ₀ − h) + b)                                  (6, 7)
    v̇_c = M⁻¹(τ_c − h) = −A⁺_M b + P_M(A) v̇₀,  v̇₀ = M⁻¹(τ₀ − h)                   (8)

    Source: Gauss (1829); Udwadia and Kalaba (1992); post (2026), eqs. 5-7, and 8 with its sign corrected.

    Args:
        M: mass matrix (n, n) [kg, kg m²].
        h: gravity, centrifugal and Coriolis forces (n,) [N, N m].
        A: constraint matrix (p, n).
        b: constraint offset (p,) [units of A v̇].
        tau0: force on the free system (n,) [N, N m].

    Returns:
        tau_c (n,) [N, N m] and vdot_c (n,) [m/s², rad/s²].

    Raises:
        InputError: a wrong shape, NaN or inf, or M not symmetric positive definite; the message names the argument.
    """
    A, M = _door(A, M)
    h, b, tau0 = (checks.vector(*given) for given in ((h, "h", len(M)), (b, "b", len(A)), (tau0, "tau0", len(M))))
    C, U, sigma, Vt = _gauss_coordinates(A, M)
    vdot0 = solve_triangular(C, solve_triangular(C, tau0 - h, trans="T"))
    y = -Vt.T @ ((U.T @ (A @ vdot0 + b)) / sigma)  # C (v̇_c − v̇₀): the least-norm step onto the constraint
    return tau0 + C.T @ y, vdot0 + solve_triangular(C, y)


def constrained_acceleration(M: ArrayLike, A: ArrayLike, b: ArrayLike, vdot0: ArrayLike) -> Array:
    """The acceleration nearest to v̇₀ with A v̇ + b = 0: v̇_c = −A⁺_M b + P_M(A) v̇₀ (8).

    Source: Udwadia and Kalaba (1992); post (2026), eq. 8, which prints +A⁺_M b: that belongs to A v̇ = b.

    Args:
        M: mass matrix (n, n) [kg, kg m²].
        A: constraint matrix (p, n).
        b: constraint offset (p,) [units of A v̇].
        vdot0: free acceleration (n,) [m/s², rad/s²].

    Raises:
        InputError: a wrong shape, NaN or inf, or M not symmetric positive definite.
    """
    A, M = _door(A, M)
    return weighted_least_squares(A, -checks.vector(b, "b", len(A)), checks.vector(vdot0, "vdot0", len(M)), M)


def weighted_least_squares(A: ArrayLike, b: ArrayLike, y: ArrayLike, M: ArrayLike) -> Array:
    """The vector nearest to y in the metric M among those with A x = b: x* = A⁺_M b + P_M(A) y (10).

    Source: post (2026), eq. 10.

    Args:
        A: matrix (p, n).
        b: right-hand side (p,); with −b of A v̇ + b = 0 and y = v̇₀ the answer is the constrained acceleration (8).
        y: the vector to stay near to (n,).
        M: metric (n, n).

    Raises:
        InputError: a wrong shape, NaN or inf, or M not symmetric positive definite.
    """
    A, M = _door(A, M)
    b, y = checks.vector(b, "b", len(A)), checks.vector(y, "y", len(M))
    C, U, sigma, Vt = _gauss_coordinates(A, M)
    return y + solve_triangular(C, Vt.T @ ((U.T @ (b - A @ y)) / sigma))


def weighted_pseudoinverse(A: ArrayLike, M: ArrayLike) -> Array:
    """The M-weighted (dynamically consistent) pseudoinverse A⁺_M = M⁻¹AᵀΛ_A = C⁻¹(A C⁻¹)⁺, of shape (n, p) (9).

    It is a generalised inverse, A A⁺_M A = A, at any rank. Source: Khatib (1987), eq. 52; post (2026), eq. 9.

    Args:
        A: matrix (p, n).
        M: metric (n, n), as a rule the mass matrix [kg, kg m²].

    Raises:
        InputError: a wrong shape, NaN or inf, or M not symmetric positive definite.
    """
    C, U, sigma, Vt = _gauss_coordinates(*_door(A, M))
    return solve_triangular(C, Vt.T / sigma) @ U.T


def nullspace_projector(A: ArrayLike, M: ArrayLike) -> Array:
    """The projector of motions onto the null space of A, orthogonal in the metric M: P_M(A) = 1 − A⁺_M A, (n, n).

    Forces are projected by its transpose: A M⁻¹ P_M(A)ᵀ = 0, and A M⁻¹ P_M(A) is not.
    Source: Khatib (1987), eq. 55, for forces and full rank; post (2026), after eq. 9.

    Args:
        A: matrix (p, n).
        M: metric (n, n), as a rule the mass matrix [kg, kg m²].

    Raises:
        InputError: a wrong shape, NaN or inf, or M not symmetric positive definite.
    """
    C, _, _, Vt = _gauss_coordinates(*_door(A, M))
    return np.eye(len(C)) - solve_triangular(C, Vt.T) @ (Vt @ C)


def effective_mass(A: ArrayLike, M: ArrayLike) -> Array:
    """The mass matrix felt in the space of the constraint: Λ_A = (A M⁻¹Aᵀ)⁺ = U diag(1/σ²) Uᵀ, of shape (p, p).

    It grows without bound on the way to a singularity; at the singularity it is zero in the lost direction.
    Source: Khatib (1987), eq. 51, for A = J of full rank; post (2026), after eq. 7.

    Args:
        A: matrix (p, n).
        M: mass matrix (n, n) [kg, kg m²].

    Raises:
        InputError: a wrong shape, NaN or inf, or M not symmetric positive definite.
    """
    _, U, sigma, _ = _gauss_coordinates(*_door(A, M))
    return (U / sigma**2) @ U.T


def minimum_kinetic_energy(A: ArrayLike, M: ArrayLike, xi: ArrayLike) -> float:
    """The least kinetic energy ½ vᵀM v [J] of all velocities with A v = ξ: ½ ξᵀΛ_A ξ, where some v reaches ξ.

    Source: Khatib (1987), section VI; post (2026), before "Feedback".

    Args:
        A: matrix (p, n).
        M: mass matrix (n, n) [kg, kg m²].
        xi: velocity in the range of A (p,) [units of A v].

    Raises:
        InputError: no v reaches xi; a wrong shape, NaN or inf, or M not symmetric positive definite.
    """
    A, M = _door(A, M)
    xi = checks.vector(xi, "xi", len(A))
    _, U, sigma, _ = _gauss_coordinates(A, M)
    reached = U.T @ xi
    outside, norm = float(np.linalg.norm(xi - U @ reached)), float(np.linalg.norm(xi))
    if outside > RANGE_TOLERANCE * norm:
        raise InputError(
            f"xi is not in the range of A (rank {len(sigma)}, {len(A)} rows): no velocity reaches {outside:.3g} of its "
            f"norm {norm:.3g}, expected xi = A v for some v, such as A @ weighted_pseudoinverse(A, M) @ xi"
        )
    return 0.5 * float(np.sum((reached / sigma) ** 2))


def _gauss_coordinates(A: Array, M: Array) -> tuple[Array, Array, Array, Array]:
    """C, upper triangular with M = CᵀC, and U, σ, Vᵀ of A C⁻¹ without the directions that count as zero."""
    C = cholesky(M)
    U, sigma, Vt = svd(solve_triangular(C, A.T, trans="T").T, full_matrices=False)
    rank = int(np.sum(sigma > RANK_TOLERANCE * sigma.max(initial=0.0)))
    return C, U[:, :rank], sigma[:rank], Vt[:rank]


def _door(A: ArrayLike, M: ArrayLike) -> tuple[Array, Array]:
    M = _matrix(M, "M")
    if M.shape[0] != M.shape[1] or not M.size:
        raise InputError(f"M has shape {M.shape}, expected a square matrix")
    if np.abs(M - M.T).max() > SYMMETRY_TOLERANCE * np.abs(M).max():
        raise InputError("M is not symmetric (pinocchio.crba may fill the upper triangle only: mirror it first)")
    eigenvalues = np.linalg.eigvalsh(M := 0.5 * (M + M.T))
    if eigenvalues[0] <= len(M) * np.finfo(float).eps * eigenvalues[-1]:
        raise InputError(f"M is not positive definite: its smallest eigenvalue is {eigenvalues[0]:.3g}")
    return _matrix(A, "A", len(M)), M


def _matrix(value: Any, name: str, columns: int | None = None) -> Array:
    try:
        result = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: expected a matrix of numbers, got {value!r}") from error
    if result.ndim != 2 or columns not in (None, result.shape[1]):
        raise InputError(f"{name} has shape {result.shape}, expected a matrix (rows, {columns or 'columns'})")
    return checks.finite(result, name)
