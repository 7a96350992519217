"""The closed form: project zero onto each level inside what the earlier ones left free, in Gauss coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from wbc.checks import Array
from wbc.hierarchy.damping import damped
from wbc.hierarchy.gauss_coordinates import GaussRows, LevelRows

RANK_TOLERANCE = 1e-9  # relative to the level's longest row: a direction below is not there at all


@dataclass(slots=True, eq=False)
class Split:
    """The weak directions of one level, decided once and for both routes.

    Attributes:
        tikhonov: rows (d, n) μ vᵀ of the damped directions.
        left_out: share of the demand that damping leaves out in each damped direction (d,).
        weak_rows: the damped directions seen in the level's rows (k, d).
    """

    tikhonov: Array
    left_out: Array
    weak_rows: Array


@dataclass(slots=True, eq=False)
class ClosedForm:
    """The lexicographic solution of the equalities alone.

    Attributes:
        y: the solution (n,).
        splits, labels: the weak directions of each level, and what the levels are called.
        used, free: orthonormal directions (n, k) that the strict levels take, and (n, r) that they leave.
        rest: y before the soft tasks moved it. These three are empty where the shortcut needs them no more.
    """

    y: Array
    splits: list[Split]
    labels: list[str]
    used: Array
    free: Array
    rest: Array


def solve(rows: GaussRows, sigma0: float) -> ClosedForm:
    """Project 0 onto each level inside what the earlier ones left free, by SVD, then add the soft tasks.

    The result is the least-norm point that does so, which is Gauss's: for one task on a fixed base it is Khatib's law.

    Args:
        rows: all equality rows in Gauss coordinates.
        sigma0: damping threshold.
    """
    y, free = np.zeros(rows.n), np.eye(rows.n)
    splits, taken = [], []
    for level in rows.levels:
        used, free, target, split = _split(level, y, free, 0.0 if level.exact else sigma0)
        y = y + used @ target
        splits.append(split)
        taken.append(used)
    rest = y
    if rows.soft is not None and free.shape[1]:
        H, f = soft_cost(rows, y, free)
        _, w, _ = lapack.dposv(H, -f)
        y = y + free.dot(w)
    labels = [level.label for level in rows.levels]
    return ClosedForm(y, splits, labels, np.hstack([np.zeros((rows.n, 0)), *taken]), free, rest)


def soft_cost(rows: GaussRows, y: Array, free: Array) -> tuple[Array, Array]:
    """Gauss and soft cost of ``y + free w``: ½ wᵀ H w + fᵀ w, with ``H = I + Bᵀ B``, ``B = √w A C⁻¹ free``."""
    f = free.T.dot(y)
    if rows.soft is None:
        return np.eye(free.shape[1]), f
    A, b = rows.soft.weighted()
    B = A.T.dot(free)
    H = B.T.dot(B)
    H.flat[:: H.shape[0] + 1] += 1.0
    f += B.T.dot(b + A.T.dot(y))
    return H, f


def _split(level: LevelRows, y: Array, free: Array, sigma0: float) -> tuple[Array, Array, Array, Split]:
    """Directions used and left, target along the used ones, and weak directions of one level in the free space.

    By SVD of the weighted rows: conflicts are shared, weak directions damped, absent ones left.
    """
    residual = level.b + level.At.T.dot(y)
    Pt = free.T.dot(level.At)
    k = len(residual)
    if not free.shape[1] or not k:  # no room left, or no row present
        nothing = Split(np.zeros((0, len(y))), np.zeros(0), np.zeros((k, 0)))
        return np.zeros((len(y), 0)), free, np.zeros(0), nothing
    weights, mixing = level.root_weights, level.mixing
    whole = level.At * weights
    if mixing is not None:
        whole, Pt, residual = level.weighted()[0], Pt @ mixing.T, mixing @ residual
    V, sigma, Ut, info = lapack.dgesdd(Pt * weights)
    if info:
        V, sigma, Ut, info = lapack.dgesvd(Pt * weights)
    longest = float(np.sqrt((whole**2).sum(axis=0).max(initial=0.0)))
    rank = int((sigma > RANK_TOLERANCE * longest).sum()) if longest > 0.0 else 0
    U, sigma = Ut[:rank].T, sigma[:rank]
    # a weak direction u in weighted rows is S W^-½ u in comparable units: its threshold is measured there
    in_rows = U / weights[:, None]
    if mixing is not None:
        in_rows = np.linalg.pinv(mixing, rcond=RANK_TOLERANCE) @ in_rows
    length = np.linalg.norm(level.lengths[:, None] * in_rows, axis=0)
    inverse, mu2 = damped(sigma, sigma0 / length)
    target = -inverse * (U.T @ (weights * residual))
    used, left = free @ V[:, :rank], free @ V[:, rank:]
    weak = mu2 > 0.0
    tikhonov = np.sqrt(mu2[weak])[:, None] * used[:, weak].T
    left_out = 1.0 - sigma[weak] * inverse[weak]
    weak_rows = U[:, weak] if mixing is None else in_rows[:, weak] / np.linalg.norm(in_rows[:, weak], axis=0)
    return used, left, target, Split(tikhonov, left_out, weak_rows)
