"""Frames, compiled: placement, twist, Jacobian and drift of every frame in use, from what two pinocchio calls leave."""

from __future__ import annotations

import numpy as np

from wbc.checks import Array
from wbc.kernels.compiled import compiled
from wbc.kernels.linear_algebra import Indices


@compiled(
    "void(float64[::1], int64[::1], float64[:, :, ::1], float64[:, ::1], int64[::1], int64[::1], "
    "float64[:, ::1], float64[:, ::1], "
    "float64[:, ::1], float64[:, ::1], float64[::1], float64[:, :, ::1], float64[:, ::1], "
    "float64[:, ::1], float64[:, :, ::1], float64[:, ::1])"
)
def frames(
    velocity: Array, joint: Indices, turn: Array, shift: Array, columns: Indices, ends: Indices, oMi: Array, v: Array,
    a_gf: Array, Jt: Array, gravity: Array, R: Array, p: Array, twist: Array, J: Array, drift: Array,
) -> None:  # fmt: skip
    """Placement (R, p), twist J v, Jacobian and classical acceleration at v̇ = 0, in world axes at the frame's origin.

    With the twist columns (v_O, ω) of the joints at the world's origin: ``J = (v_O + ω × p, ω)``. In the joint's axes,
    with (a, α) its acceleration and (v, ω) its twist, the frame's origin r away has the classical acceleration
    ``a + α × r + ω × (v + ω × r)``.

    Args:
        velocity: of the robot (nv,).
        joint: parent joint of each frame (k,); turn (k, 3, 3) and shift (k, 3) [m] lead from it to the frame.
        columns, ends: the columns of J that move each frame, one frame behind the other, and where they end (k,).
        oMi: joint placements (n, 12): rotation column by column, translation.
        v, a_gf: twists and accelerations that contain −g, in joint axes (n, 6).
        Jt: twist columns at the world's origin (nv, 6); gravity (3,) [m/s²].
        R, p, twist, J, drift: results (k, 3, 3), (k, 3), (k, 6), (k, 6, nv), (k, 6); other columns of J stay zero.
    """
    a, w, r, u = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    start = 0
    for f in range(len(joint)):
        i = joint[f]
        for row in range(3):
            p[f, row] = oMi[i, 9 + row]
            for k in range(3):
                p[f, row] += oMi[i, 3 * k + row] * shift[f, k]
            for column in range(3):
                total = 0.0
                for k in range(3):
                    total += oMi[i, 3 * k + row] * turn[f, k, column]
                R[f, row, column] = total
        x, y, z = p[f, 0], p[f, 1], p[f, 2]
        twist[f, :] = 0.0
        for at in range(start, ends[f]):
            c = columns[at]
            wx, wy, wz = Jt[c, 3], Jt[c, 4], Jt[c, 5]
            J[f, 0, c] = Jt[c, 0] + wy * z - wz * y
            J[f, 1, c] = Jt[c, 1] + wz * x - wx * z
            J[f, 2, c] = Jt[c, 2] + wx * y - wy * x
            J[f, 3, c], J[f, 4, c], J[f, 5, c] = wx, wy, wz
            for row in range(6):
                twist[f, row] += J[f, row, c] * velocity[c]
        start = ends[f]
        for k in range(3):
            w[k], r[k] = v[i, 3 + k], shift[f, k]
            a[k] = a_gf[i, k]
            for row in range(3):  # the gravity that a_gf lacks, in joint axes
                a[k] += oMi[i, 3 * k + row] * gravity[row]
        u[0] = v[i, 0] + w[1] * r[2] - w[2] * r[1]
        u[1] = v[i, 1] + w[2] * r[0] - w[0] * r[2]
        u[2] = v[i, 2] + w[0] * r[1] - w[1] * r[0]
        bx, by, bz = a_gf[i, 3], a_gf[i, 4], a_gf[i, 5]
        a[0] += by * r[2] - bz * r[1] + w[1] * u[2] - w[2] * u[1]
        a[1] += bz * r[0] - bx * r[2] + w[2] * u[0] - w[0] * u[2]
        a[2] += bx * r[1] - by * r[0] + w[0] * u[1] - w[1] * u[0]
        for row in range(3):
            drift[f, row] = oMi[i, row] * a[0] + oMi[i, 3 + row] * a[1] + oMi[i, 6 + row] * a[2]
            drift[f, 3 + row] = oMi[i, row] * bx + oMi[i, 3 + row] * by + oMi[i, 6 + row] * bz
