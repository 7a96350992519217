"""The textbook operational space controllers on plain arrays, written straight from their published formulas.

They share no code with the stack, its solvers or `wbc.gauss`, so that they can judge them: where a stack is one
equality task on a fixed base, its torque must be theirs. Λ_J = (J M⁻¹Jᵀ)⁺ is never formed: Λ_J r is the least-norm
solution of (J M⁻¹Jᵀ) f = r, whose residual is rounding where the explicit inverse loses digits.

Numbers in brackets, and "post" as a source, are the equations of "Operational Space Control and the Principle of Least
Constraint" (2026); a null-space torque carries the transpose P_M(J)ᵀ, which the post leaves out in eqs. 13-15 and
before eq. 16. (13) and (14) are (15) with the desired acceleration ξ̇_d, without feedback, in the place of ξ̇_r.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lstsq, pinv, solve

from wbc import checks
from wbc.checks import Array
from wbc.errors import InputError

MASS_TOLERANCE = 1e-12  # an eigenvalue of J M⁻¹Jᵀ below this part of the largest is a lost direction (rounding: 1e-15)
RANK_TOLERANCE = 1e-9  # the same for singular values of J
SYMMETRY_TOLERANCE = 1e-9  # of the largest entry of M: far above rounding, far below a triangle that was never filled


def operational_space_control(
    M: ArrayLike, h: ArrayLike, J: ArrayLike, Jdot_v: ArrayLike, xi_dot_r: ArrayLike, *, tau0: ArrayLike = 0.0
) -> Array:
    """The torque that gives the task the acceleration ξ̇_r and stays nearest to τ₀ in the metric M⁻¹.

    u = JᵀΛ_J (J M⁻¹h + ξ̇_r − J̇v) + P_M(J)ᵀ τ₀,  P_M(J)ᵀ = 1 − JᵀΛ_J J M⁻¹        (13, 14, 15)

    With τ₀ = 0 the motions that the task leaves free are not compensated: they fall, coast and swing.

    Args:
        M: mass matrix (n, n) [kg, kg m²].
        h: gravity, centrifugal and Coriolis forces (n,) [N, N m].
        J: task Jacobian (p, n), ξ = J v; of any rank.
        Jdot_v: J̇v (p,) [task units/s²].
        xi_dot_r: reference acceleration ξ̇_r = K_p Δx + K_d Δξ + ξ̇_d, or ξ̇_d itself (p,) [task units/s²].
        tau0: nominal torque (n,), or one number for all joints [N, N m].

    Returns:
        The torque u (n,) [N, N m].

    Raises:
        InputError: a wrong shape, NaN or inf, or M not symmetric positive definite; the message names the argument.

    Source: Khatib (1987), eqs. 51, 55; post (2026), eqs. 13, 14, 15.
    """
    M, h, J, xi_dot = _door(M, h, J, Jdot_v, xi_dot_r)
    tau0 = _filled(tau0, "tau0", len(M))
    J_Minv = solve(M, J.T, assume_a="pos").T
    task = J.T @ _task_force(J, J_Minv, J_Minv @ h + xi_dot)
    return task + tau0 - J.T @ _task_force(J, J_Minv, J_Minv @ tau0)


def compensated_operational_space_control(
    M: ArrayLike, h: ArrayLike, J: ArrayLike, Jdot_v: ArrayLike, xi_dot_r: ArrayLike, *, vdot0: ArrayLike = 0.0
) -> Array:
    """The torque that gives the task the acceleration ξ̇_r, compensates h in every joint, and stays nearest to v̇₀.

    u = JᵀΛ_J (ξ̇_r − J̇v) + h + P_M(J)ᵀ M v̇₀, that is (15) with τ₀ = M v̇₀ + h        (16 with v̇₀ = 0)

    Args:
        M: mass matrix (n, n) [kg, kg m²].
        h: gravity, centrifugal and Coriolis forces (n,) [N, N m].
        J: task Jacobian (p, n), ξ = J v; of any rank.
        Jdot_v: J̇v (p,) [task units/s²].
        xi_dot_r: reference acceleration ξ̇_r = K_p Δx + K_d Δξ + ξ̇_d (p,) [task units/s²].
        vdot0: nominal acceleration (n,), or one number for all joints [m/s², rad/s²].

    Returns:
        The torque u (n,) [N, N m].

    Raises:
        InputError: a wrong shape, NaN or inf, or M not symmetric positive definite; the message names the argument.

    Source: Khatib (1987), eqs. 51, 55; post (2026), eq. 16 and the law before it.
    """
    M, h, J, xi_dot = _door(M, h, J, Jdot_v, xi_dot_r)
    vdot0 = _filled(vdot0, "vdot0", len(M))
    J_Minv = solve(M, J.T, assume_a="pos").T
    task = J.T @ _task_force(J, J_Minv, xi_dot)
    return task + h + M @ vdot0 - J.T @ _task_force(J, J_Minv, J @ vdot0)


def resolved_acceleration_control(
    M: ArrayLike, h: ArrayLike, J: ArrayLike, Jdot_v: ArrayLike, xi_dot_r: ArrayLike, *, vdot0: ArrayLike = 0.0
) -> Array:
    """The torque of the acceleration that gives the task ξ̇_r and stays nearest to v̇₀ in the Euclidean norm.

    u = M (J⁺(ξ̇_r − J̇v) + (1 − J⁺J) v̇₀) + h        (17 with v̇₀ = 0)

    It follows the task as the others do, but it is not dynamically consistent: the constraint is not the least, and
    the free motion depends on the units of the joints.

    Args:
        M: mass matrix (n, n) [kg, kg m²].
        h: gravity, centrifugal and Coriolis forces (n,) [N, N m].
        J: task Jacobian (p, n), ξ = J v; of any rank.
        Jdot_v: J̇v (p,) [task units/s²].
        xi_dot_r: reference acceleration ξ̇_r = K_p Δx + K_d Δξ + ξ̇_d (p,) [task units/s²].
        vdot0: nominal acceleration (n,), or one number for all joints [m/s², rad/s²].

    Returns:
        The torque u (n,) [N, N m].

    Raises:
        InputError: a wrong shape, NaN or inf, or M not symmetric positive definite; the message names the argument.

    Source: Hsu, Hauser and Sastry (1989); Peters et al. (2008); post (2026), eq. 17.
    """
    M, h, J, xi_dot = _door(M, h, J, Jdot_v, xi_dot_r)
    vdot0 = _filled(vdot0, "vdot0", len(M))
    J_pinv = pinv(J, rtol=RANK_TOLERANCE)
    vdot = J_pinv @ xi_dot + vdot0 - J_pinv @ (J @ vdot0)
    return M @ vdot + h


def _task_force(J: Array, J_Minv: Array, r: Array) -> Array:
    """Λ_J r, the force at the task, as the least-norm least-squares solution of (J M⁻¹Jᵀ) f = r."""
    mobility = J_Minv @ J.T
    force: Array = lstsq(0.5 * (mobility + mobility.T), r, cond=MASS_TOLERANCE)[0]
    return force


def _door(M: Any, h: Any, J: Any, Jdot_v: Any, xi_dot_r: Any) -> tuple[Array, Array, Array, Array]:
    """The checked M, h, J, and the acceleration J v̇ = ξ̇_r − J̇v that is asked of the joints."""
    M = _matrix(M, "M")
    if M.shape[0] != M.shape[1] or not M.size:
        raise InputError(f"M has shape {M.shape}, expected a square matrix")
    if np.abs(M - M.T).max() > SYMMETRY_TOLERANCE * np.abs(M).max():
        raise InputError("M is not symmetric (pinocchio.crba may fill the upper triangle only: mirror it first)")
    eigenvalues = np.linalg.eigvalsh(M)
    if eigenvalues[0] <= len(M) * np.finfo(float).eps * eigenvalues[-1]:
        raise InputError(f"M is not positive definite: its smallest eigenvalue is {eigenvalues[0]:.3g}")
    h, J = checks.vector(h, "h", len(M)), _matrix(J, "J", len(M))
    return M, h, J, checks.vector(xi_dot_r, "xi_dot_r", len(J)) - checks.vector(Jdot_v, "Jdot_v", len(J))


def _matrix(value: Any, name: str, columns: int | None = None) -> Array:
    try:
        result = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: expected a matrix of numbers, got {value!r}") from error
    if result.ndim != 2 or columns not in (None, result.shape[1]):
        raise InputError(f"{name} has shape {result.shape}, expected a matrix (rows, {columns or 'columns'})")
    return checks.finite(result, name)


def _filled(value: Any, name: str, length: int) -> Array:
    return checks.vector(np.full(length, value) if isinstance(value, int | float) else value, name, length)
