"""The closed form: project zero onto each level inside what the earlier ones left free, in Gauss coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.linalg import lapack

from wbc.checks import Array
from wbc.hierarchy.damping import damped
from wbc.hierarchy.gauss_coordinates import GaussRows, LevelRows

RANK_TOLERANCE = 1e-9  # relative to the level's longest row: a direction below is not there at all
ABSENT = 1e-6  # relative: QR alone decides the rank only where it is beyond doubt


@dataclass(slots=True, eq=False)
class Split:
    """What one level decides, once and for both routes: its directions, its rank and its damping.

    Attributes:
        used: orthonormal directions (n, rank) of y that the level takes.
        free: orthonormal directions (n, r) that it leaves to later levels.
        target: what the level wants along ``used`` (rank,), measured from the solution of the levels before it.
        tikhonov: rows (d, n) μ vᵀ of the damped directions.
        left_out: share of the demand that damping leaves out in each damped direction (d,).
        weak_rows: the damped directions seen in the level's rows (k, d).
    """

    used: Array
    free: Array
    target: Array
    tikhonov: Array
    left_out: Array
    weak_rows: Array


@dataclass(slots=True, eq=False)
class ClosedForm:
    """The lexicographic solution of the equalities alone.

    Attributes:
        y: the solution (n,).
        splits, labels: what each level decided, and what the levels are called.
        free: the directions (n, r) that all strict levels leave.
        rest: y before the soft tasks moved it.
    """

    y: Array
    splits: list[Split]
    labels: list[str]
    free: Array
    rest: Array


def solve(rows: GaussRows, sigma0: float) -> ClosedForm:
    """Project 0 onto each level inside what the earlier ones left free, then add the soft tasks.

    The result is the least-norm point that does so, which is Gauss's: for one task on a fixed base it is Khatib's law.

    Args:
        rows: all equality rows in Gauss coordinates.
        sigma0: damping threshold.
    """
    y, free, splits = np.zeros(rows.n), None, []
    for level in rows.levels:
        split = _split(level, y, free, 0.0 if level.exact else sigma0)
        y = y + split.used.dot(split.target)
        free = split.free
        splits.append(split)
    if free is None:
        free = _identity(rows.n)
    rest = y
    if rows.soft is not None and free.shape[1]:
        H, f = soft_cost(rows, y, free)
        _, w, _ = lapack.dposv(H, -f)
        y = y + free.dot(w)
    return ClosedForm(y, splits, [level.label for level in rows.levels], free, rest)


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


def _split(level: LevelRows, y: Array, free: Array | None, sigma0: float) -> Split:
    """Rank, damping and target of one level in the free space, by QR where nothing is weak, by SVD where it is."""
    At = level.At  # (n, k): the level's rows are its columns
    residual = level.b + At.T.dot(y)
    Pt = At if free is None else free.T.dot(At)
    r, k = Pt.shape
    if not r or not k:  # no room left, or no row present
        n = len(y)
        return Split(np.zeros((n, 0)), np.eye(n) if free is None else free, np.zeros(0), *_nothing_weak(k, n))
    if k <= r:
        qr, tau, _, _ = lapack.dgeqrf(Pt)
        R = qr[:k]
        inverse, singular = lapack.dtrtrs(R, _identity(k))
        if not singular:
            # σ_min(S P) ≥ 1/‖(R S)⁻¹‖_F: where even this bound is above σ₀, no direction is weak
            scaled = inverse / level.lengths[:, None]
            square = np.vdot(scaled, scaled)
            if square * max(sigma0, ABSENT * np.abs(R[0, 0])) ** 2 < 1.0:
                full = np.zeros((r, r), order="F")
                full[:, :k] = qr
                Q = lapack.dorgqr(full, tau)[0]
                target = -inverse.T.dot(residual)
                used, left = Q[:, :k], Q[:, k:]
                if free is not None:
                    used, left = free.dot(used), free.dot(left)
                return Split(used, left, target, *_nothing_weak(k, len(y)))
    return _weak_split(level, residual, Pt, free, sigma0)


def _weak_split(level: LevelRows, residual: Array, Pt: Array, free: Array | None, sigma0: float) -> Split:
    """The same by SVD of the weighted rows: conflicts are shared, weak directions damped, absent ones left."""
    weights = level.root_weights
    V, sigma, Ut, info = lapack.dgesdd(Pt * weights)
    if info:
        V, sigma, Ut, info = lapack.dgesvd(Pt * weights)
    longest = float(np.sqrt(((level.At * weights) ** 2).sum(axis=0).max(initial=0.0)))
    rank = int((sigma > RANK_TOLERANCE * longest).sum()) if longest > 0.0 else 0
    U, sigma = Ut[:rank].T, sigma[:rank]
    # a weak direction u in weighted rows is S W^-½ u in comparable units: its threshold is measured there
    length = np.linalg.norm((level.lengths / weights)[:, None] * U, axis=0)
    inverse, mu2 = damped(sigma, np.maximum(sigma0 / length, 1e-300))
    target = -inverse * (U.T @ (weights * residual))
    used, left = V[:, :rank], V[:, rank:]
    if free is not None:
        used, left = free @ used, free @ left
    weak = mu2 > 0.0
    tikhonov = np.sqrt(mu2[weak])[:, None] * used[:, weak].T
    left_out = 1.0 - sigma[weak] * inverse[weak]
    return Split(used, left, target, tikhonov, left_out, U[:, weak])


@cache
def _identity(k: int) -> Array:
    return np.eye(k)


@cache
def _nothing_weak(k: int, n: int) -> tuple[Array, Array, Array]:
    """Tikhonov rows, shares left out and weak rows of a level without weak directions."""
    return np.zeros((0, n)), np.zeros(0), np.zeros((k, 0))
