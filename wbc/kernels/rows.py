"""The rows of a tick, compiled: frames, then every contact and task of the table, written into the flat record."""

from __future__ import annotations

import math

import numpy as np

from wbc.checks import Array
from wbc.kernels import COM, CONTACT, FRAME, NOMINAL, POSTURE
from wbc.kernels.compiled import compiled
from wbc.kernels.contacts import contact_rows
from wbc.kernels.frames import frames
from wbc.kernels.linear_algebra import Indices
from wbc.kernels.motion import frame_error, motion_offset

BLOCKS = ("M", "h", "nominal", "A", "b", "drift", "J", "axes")
ALONG = 0.8  # cosine: an axis of a frame that lies closer to the normal is not used as a direction along the surface


@compiled(
    "void(float64[:, ::1], float64[::1], float64[:, ::1], float64[::1], float64[::1], float64[::1], float64,"
    " float64[::1], float64[:, ::1], float64[::1], float64[::1])"
)
def free_flyer_com(
    M: Array, h: Array, R: Array, p: Array, v: Array, gravity: Array, mass: float, position: Array, J: Array,
    twist: Array, drift: Array,
) -> None:  # fmt: skip
    """The centre of mass of a free-flyer, read off the first rows of M and h: the momentum is M_b v in the base's axes.

    ``J = R M[:3]/m``, ``J̇v = R h[:3]/m + g``, and the offset c − p stands in ``M[:3, 3:6] = −m [Rᵀ(c − p)]ₓ``.

    Args:
        M, h: mass matrix (nv, nv) and bias forces (nv,); v (nv,); gravity (3,) [m/s²]; mass [kg].
        R, p: placement of the base (3, 3) and (3,).
        position, J, twist, drift: results (3,), (3, nv), (3,), (3,).
    """
    nv = len(v)
    x, y, z = M[1, 5] / mass, -M[0, 5] / mass, M[0, 4] / mass
    for i in range(3):
        position[i] = p[i] + R[i, 0] * x + R[i, 1] * y + R[i, 2] * z
        r0, r1, r2 = R[i, 0] / mass, R[i, 1] / mass, R[i, 2] / mass
        total = 0.0
        for j in range(nv):
            value = r0 * M[0, j] + r1 * M[1, j] + r2 * M[2, j]
            J[i, j] = value
            total += value * v[j]
        twist[i] = total
        drift[i] = r0 * h[0] + r1 * h[1] + r2 * h[2] + gravity[i]


@compiled(
    "void(float64[::1], float64[::1], float64[::1], float64[::1], float64[::1], int64[::1], int64, float64[::1],"
    " float64[::1], float64[::1])"
)
def joint_errors(
    q: Array, v: Array, target: Array, velocity: Array, acceleration: Array, place: Indices, base: int, error: Array,
    twist: Array, drift: Array,
) -> None:  # fmt: skip
    """``Δx = q_target ⊖ q`` and ξ = v of joints with one axis; what the base of a robot is told is taken back.

    Args:
        q, target: (nq,); v, velocity, acceleration: (nv,), the last two asked for.
        place: where each coordinate's position stands in q (nv,), −1 − place for a continuous joint's (cos, sin).
        base: number of coordinates of a floating base, the first ones.
        error, twist, drift: results (nv,).
    """
    for i in range(len(v)):
        at = place[i]
        drift[i] = 0.0
        twist[i] = v[i]
        if i < base:
            error[i], twist[i], drift[i] = 0.0, velocity[i], acceleration[i]
        elif at >= 0:
            error[i] = target[at] - q[at]
        else:
            at = -1 - at
            c, s, c_t, s_t = q[at], q[at + 1], target[at], target[at + 1]
            error[i] = math.atan2(c * s_t - s * c_t, c * c_t + s * s_t)


@compiled("void(float64[:, ::1], float64[::1], int64, float64[::1])")
def hold_contact(R: Array, p: Array, turns: int, numbers: Array) -> None:
    """A contact is made: its place, and the direction along the surface, the first of the frame's axes that is one.

    That direction turns with a sole (``turns`` = 1) and stays in the world for a point.
    """
    numbers[:3] = p
    for i in range(3):
        for j in range(3):
            numbers[3 + 3 * i + j] = R[i, j]
    if turns == 2:  # it was given
        return
    axis = 0
    for j in range(2, -1, -1):
        along = numbers[12] * R[0, j] + numbers[13] * R[1, j] + numbers[14] * R[2, j]
        if abs(along) < ALONG:
            axis = j
    for i in range(3):
        numbers[15 + i] = R[i, axis]
        if turns:
            numbers[15 + i] = 1.0 if i == axis else 0.0


@compiled(
    "void(int64[:, ::1], int64[::1], float64[::1], float64[::1], float64[::1], int64[::1], int64, float64,"
    " float64[::1], int64[::1], int64[::1], float64[::1], float64[::1],"
    " int64[::1], float64[:, :, ::1], float64[:, ::1], int64[::1], int64[::1], float64[:, ::1], float64[:, ::1],"
    " float64[:, ::1], float64[:, ::1], float64[::1], float64[:, :, ::1], float64[:, ::1], float64[:, ::1],"
    " float64[:, :, ::1], float64[:, ::1])"
)
def table_rows(
    table: Indices, keep: Indices, share: Array, numbers: Array, errors: Array, place: Indices, base: int, mass: float,
    record: Array, starts: Indices, sizes: Indices, q: Array, v: Array,
    joint: Indices, turn: Array, shift: Array, columns: Indices, ends: Indices, oMi: Array, twists: Array, a_gf: Array,
    Jt: Array, gravity: Array, R: Array, p: Array, frame_twist: Array, frame_J: Array, frame_drift: Array,
) -> None:  # fmt: skip
    """``A = J``, ``b = J̇v − ξ̇_r`` of every task and contact that is present; v̇₀ = Σ ξ̇_r of nominal postures.

    Args:
        table, keep, share, numbers, errors: what is asked; see :class:`wbc.row_table.RowTable`.
        place, base: of :func:`joint_errors`; mass [kg].
        record, starts: the flat record, and where the blocks of :data:`BLOCKS` start.
        sizes: nv, n_eq, nf, number of contacts.
        q, v: state.
        joint, ...: of :func:`wbc.kernels.frames.frames`.
    """
    nv, n_eq, nf, n_contacts = sizes
    M = record[starts[0] : starts[0] + nv * nv].reshape(nv, nv)
    h, nominal = record[starts[1] : starts[1] + nv], record[starts[2] : starts[2] + nv]
    A = record[starts[3] : starts[3] + n_eq * nv].reshape(n_eq, nv)
    b, drift = record[starts[4] : starts[4] + n_eq], record[starts[5] : starts[5] + n_eq]
    J = record[starts[6] : starts[6] + nf * nv].reshape(nf, nv)
    axes = record[starts[7] : starts[7] + 9 * n_contacts].reshape(n_contacts, 3, 3)
    if len(joint):
        frames(
            v, joint, turn, shift, columns, ends, oMi, twists, a_gf, Jt, gravity, R, p, frame_twist, frame_J,
            frame_drift,
        )  # fmt: skip
    most = max(nv, 6)
    gap, offset, joint_twist, joint_drift = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    forward, com, com_twist, com_drift = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    com_J = np.empty((3, nv))
    com_is_known = False
    nominal[:] = 0.0
    for k in range(len(table)):
        if share[k] == 0.0:
            continue
        kind, frame, first, dim, row = table[k, 0], table[k, 1], table[k, 2], table[k, 3], table[k, 4]
        start, size, at, seen = table[k, 5], table[k, 6], table[k, 7], table[k, 8]
        table[k, 8] = 1
        if kind == CONTACT:
            hold = numbers[start : start + size]
            if not seen:
                hold_contact(R[frame], p[frame], first, hold)
            forward[:] = hold[15:18]
            if first:  # it turns with the frame
                for i in range(3):
                    forward[i] = R[frame, i, 0] * hold[15] + R[frame, i, 1] * hold[16] + R[frame, i, 2] * hold[17]
            frame_error(R[frame], p[frame], hold[:12], 0, gap[:dim])
            contact_rows(
                frame_J[frame], frame_drift[frame], frame_twist[frame], gap[:dim], hold[12:15], forward, hold[18],
                hold[19], J[row : row + dim], b[row : row + dim], axes[at],
            )  # fmt: skip
            A[row : row + dim] = J[row : row + dim]
            continue
        target, gains = numbers[start : start + size], numbers[start + size : start + size + 4 * dim]
        kp, kd, velocity, acceleration = gains[:dim], gains[dim : 2 * dim], gains[2 * dim : 3 * dim], gains[3 * dim :]
        error = errors[at : at + dim]
        if kind == FRAME:
            if not seen:
                target[:3] = p[frame]
                target[3:] = R[frame].reshape(9)
            frame_error(R[frame], p[frame], target, first, error)
            task_J, twist, task_drift = frame_J[frame], frame_twist[frame], frame_drift[frame]
        elif kind == COM:
            if not com_is_known:
                com_is_known = True
                free_flyer_com(M, h, R[frame], p[frame], v, gravity, mass, com, com_J, com_twist, com_drift)
            if not seen:
                target[:] = com
            for i in range(dim):
                error[i] = target[i] - com[i]
            task_J, twist, task_drift = com_J, com_twist, com_drift
        else:
            if not seen:
                target[:] = q
            joint_errors(q, v, target, velocity, acceleration, place, base, error, joint_twist, joint_drift)
            task_J, twist, task_drift = M, joint_twist, joint_drift  # J is the identity, which stands in A already
        for i in range(dim):
            gap[i] = velocity[i] - twist[first + i]
        motion_offset(task_drift[first:], kp, error, kd, gap, acceleration, offset[:dim])
        if kind == NOMINAL:
            for i in range(dim):
                nominal[i] -= share[k] * offset[i]
            continue
        for j in range(table[k, 9], table[k, 10]):
            i = keep[j]
            b[row], drift[row] = offset[i], task_drift[first + i]
            if kind != POSTURE:
                A[row] = task_J[first + i]
            row += 1
