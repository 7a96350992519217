"""Motion tasks, compiled: errors of frames, and the one place where b = J̇v − ξ̇_r is written."""

from __future__ import annotations

import math

import numpy as np

from wbc.checks import Array
from wbc.kernels.compiled import compiled

BLUNT = -0.9  # cosine of the angle beyond which the axis is read off the symmetric part of a rotation


@compiled("void(float64[:, :], float64[:])")
def log3(R: Array, theta: Array) -> None:
    """The rotation vector θ a of ``R = exp([θ a]ₓ)``, the shortest way round.

    The skew part of R is sin θ a, the symmetric one cos θ I + (1 − cos θ) a aᵀ, which still knows a where sin θ has
    lost it.
    """
    sx, sy, sz = 0.5 * (R[2, 1] - R[1, 2]), 0.5 * (R[0, 2] - R[2, 0]), 0.5 * (R[1, 0] - R[0, 1])
    sine = math.sqrt(sx * sx + sy * sy + sz * sz)
    cosine = 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)
    angle = math.atan2(sine, cosine)
    if cosine > BLUNT:
        factor = angle / sine if sine > 1e-4 else 1.0 + sine * sine / 6.0
        theta[0], theta[1], theta[2] = factor * sx, factor * sy, factor * sz
        return
    i = 0  # the longest component of a
    for k in range(1, 3):
        if R[k, k] > R[i, i]:
            i = k
    total = 0.0
    for k in range(3):
        theta[k] = R[k, i] + R[i, k]
    theta[i] -= 2.0 * cosine
    for k in range(3):
        total += theta[k] * theta[k]
    along = theta[0] * sx + theta[1] * sy + theta[2] * sz
    factor = math.copysign(angle / math.sqrt(total), along)
    for k in range(3):
        theta[k] *= factor


@compiled("void(float64[:, :], float64[:], float64[:], int64, float64[:])")
def frame_error(R: Array, p: Array, target: Array, first: int, error: Array) -> None:
    """``Δx = (p_target − p; log3(R_target Rᵀ))``, its rows from ``first`` on, as many as ``error`` has.

    Args:
        R, p: of the frame (3, 3) and (3,).
        target: p_target (3,), then R_target row by row (9,).
        first: 0 with the position, 3 without.
        error: result (3,) or (6,) [m, rad].
    """
    if first == 0:
        for k in range(3):
            error[k] = target[k] - p[k]
    if first + len(error) > 3:
        turn = np.empty((3, 3))
        for i in range(3):
            for j in range(3):
                turn[i, j] = 0.0
                for k in range(3):
                    turn[i, j] += target[3 + 3 * i + k] * R[j, k]
        log3(turn, error[3 - first :])


@compiled("void(float64[:], float64[:], float64[:], float64[:], float64[:], float64[:], float64[:])")
def motion_offset(
    drift: Array, kp: Array, error: Array, kd: Array, velocity_error: Array, acceleration: Array, b: Array
) -> None:
    """``b = J̇v − ξ̇_r``, ``ξ̇_r = kp Δx + kd Δξ + ξ̇_d``, all (k,)."""
    for i in range(len(b)):
        b[i] = drift[i] - kp[i] * error[i] - kd[i] * velocity_error[i] - acceleration[i]
