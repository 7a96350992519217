"""Weights that know the task-space inertia: ``½ w ‖A v̇ + b‖²_Λ``, so that w closes w/(1 + w) of a gap in any units."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack

from wbc.checks import Array
from wbc.hierarchy import closed_form
from wbc.hierarchy.damping import damped
from wbc.hierarchy.gauss_coordinates import GaussRows
from wbc.hierarchy.shortcut import INSIDE, OUTSIDE, Shortcut
from wbc.problem import Problem

FAINT = 1e-2  # of a row's own length: a direction that the rows feel less is faded out; ordinary poses have 3e-2
HEAVIER = (
    1e-4  # of σ₀, the strict levels' threshold: rows in any units from km to mm stand above, a vanishing one below
)

NO_LENGTH = 1e-100  # of rows of zeros


def weigh(problem: Problem, metric: Any, threshold: float) -> None:
    """Multiply the rows of the soft tasks that ask for it by a factor L of their task-space inertia ``Λ = LᵀL``.

    In Gauss coordinates and in the directions F that the strict levels leave free the rows are Ã F, and
    ``Λ = (Ã F Fᵀ Ãᵀ)⁺``: with L the rows are orthonormal, and ½ ‖y‖² + ½ w ‖L (Ã y + b)‖² is least where w/(1 + w) of
    the gap is closed. With nothing strict above, ``Λ = (A M⁻¹ Aᵀ)⁺``, Khatib's; with contacts and strict tasks it is
    the inertia consistent with them (Sentis, Khatib 2005).

    Rows in task units are read from, and stay in, ``A_task`` and ``b_task``. Called once for every solution, since
    parts that come and go change what is free.

    Args:
        problem: this tick's rows; soft rows of ``A`` and ``b`` are written.
        metric: its own inertia takes the place of M.
        threshold: of damping, in the coordinates of the metric.
    """
    layout = problem.layout
    problem.in_task_units(problem.A, problem.b)
    free, whole = _soft_rows(problem, metric, threshold)
    norms = np.sqrt((whole**2).sum(axis=0))
    first = layout.soft_rows.start
    for part in layout.weighted:
        where, mine = part.rows, slice(part.start - first, part.stop - first)
        L = factor(free[:, mine], norms[mine], layout.lengths[where], HEAVIER * threshold)
        problem.A[where] = L @ problem.A[where]
        problem.b[where] = L @ problem.b[where]


def factor(rows: Array, norms: Array, lengths: Array, threshold: float) -> Array:
    """L (k, k) with ``L Ã F`` orthonormal, rows counted in their own lengths so that no unit matters.

    Directions that the free motion hardly feels, or not at all, fade out as damped ones do: without that a task near a
    singularity would drive it with an endless weight.

    Args:
        rows: Ã F as columns (r, k).
        norms: lengths of the rows Ã (k,).
        lengths: 1 or 0.2 m for each row (k,).
        threshold: in comparable units, below which a direction fades out whatever its own length.
    """
    k = len(norms)
    inverse = np.divide(1.0, norms, out=np.zeros(k), where=norms > 0.0)
    if not rows.shape[0] or not k:
        return np.zeros((k, k))
    _, sigma, Ut, info = lapack.dgesdd(rows * inverse, full_matrices=0)
    if info:
        _, sigma, Ut, info = lapack.dgesvd(rows * inverse, full_matrices=0)
    size = np.linalg.norm((lengths * norms)[:, None] * Ut.T, axis=0)
    floor = np.maximum(FAINT, threshold / np.maximum(size, NO_LENGTH))
    found: Array = (Ut.T * damped(sigma, floor)[0]) @ Ut * inverse
    return found


def _soft_rows(problem: Problem, metric: Any, threshold: float) -> tuple[Array, Array]:
    """Soft rows in Gauss coordinates as columns, in the free directions (r, k) and whole (n, k)."""
    shortcut = problem.workspace = problem.workspace or Shortcut(problem)
    if shortcut.solve(problem, metric, threshold) in (INSIDE, OUTSIDE):
        found: tuple[Array, Array] = shortcut.soft_rows()
        return found
    rows = GaussRows(problem, metric)
    At = rows.At[:, problem.layout.soft_rows]
    return closed_form.solve(rows, threshold).free.T @ At, At
