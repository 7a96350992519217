"""Gauss coordinates: with W = CᵀC and y = C (v̇ − v̇₀) the metric is Euclidean; A v̇ + b is (A C⁻¹) y + b + A v̇₀."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import eigh, lapack

from wbc.checks import Array
from wbc.problem import Problem

METRICS = ("inertia", "identity", "inertia_squared")


class GaussRows:
    """The equality rows of a problem in Gauss coordinates, and the way back.

    Attributes:
        n: number of coordinates.
        C: upper Cholesky factor of the metric (n, n).
        At: rows A C⁻¹, as columns (n, n_eq).
        b: offsets b + A v̇₀ (n_eq,).
        slices: rows of the hard equalities and of each strict level.
        soft: rows of the soft tasks.
        lengths: 1 or 0.2 m of each row.
        root_weights: √w of each row.
    """

    __slots__ = ("At", "C", "b", "has_soft", "lengths", "n", "problem", "root_weights", "slices", "soft")

    def __init__(self, problem: Problem, metric: Any) -> None:
        self.problem = problem
        layout = problem.layout
        self.n = layout.nv
        W = metric_matrix(problem, metric)
        self.C, failed = lapack.dpotrf(W.T)
        if failed:
            raise np.linalg.LinAlgError("the metric is not positive definite")
        # C-ordered rows seen transposed are what LAPACK wants: Cᵀ X = Aᵀ, without a copy of A
        self.At = lapack.dtrtrs(self.C, problem.A.T, trans=1)[0] if layout.n_eq else np.zeros((self.n, 0))
        self.b = problem.b + problem.A.dot(problem.nominal)
        self.slices = layout.slices
        self.soft = layout.soft_rows
        self.has_soft = bool(layout.soft)
        self.lengths = layout.lengths
        self.root_weights = layout.root_weights

    def weighted(self, where: slice) -> tuple[Array, Array]:
        """Rows (as columns) and offsets multiplied by the roots of their weights."""
        root = self.root_weights[where]
        return self.At[:, where] * root, self.b[where] * root

    def acceleration(self, y: Array) -> Array:
        """``v̇ = v̇₀ + C⁻¹ y``."""
        vdot: Array = lapack.dtrtrs(self.C, y)[0]
        vdot += self.problem.nominal
        return vdot

    def inequalities(self) -> tuple[Array, Array]:
        """All inequality rows on y: matrix (n_in, n) and offset (n_in,)."""
        p, layout = self.problem, self.problem.layout
        on_acceleration = np.empty((layout.n_in, layout.nv))
        on_acceleration[: layout.n_acc] = p.G
        on_acceleration[layout.n_acc :] = p.G_torque @ p.M[layout.actuated]
        offset = p.offset + on_acceleration @ p.nominal
        offset[layout.n_acc :] += p.G_torque @ p.h[layout.actuated]
        return lapack.dtrtrs(self.C, on_acceleration.T, trans=1)[0].T, offset


def metric_matrix(problem: Problem, metric: Any) -> Array:
    """The matrix of a metric by name, or the one that was given."""
    if not isinstance(metric, str):
        given: Array = metric
        return given
    if metric == "inertia":
        return problem.M
    return np.eye(problem.layout.nv) if metric == "identity" else problem.M @ problem.M


def threshold_in(problem: Problem, metric: Any, sigma0: float) -> float:
    """The damping threshold in the coordinates of a metric: no task with σ ≥ σ₀ in inertia coordinates is below it.

    ``σ_W(A) ≥ √λ_min(M, W) σ_M(A)`` for every row block A, with λ the generalised eigenvalues of M v = λ W v.
    """
    if isinstance(metric, str) and metric == "inertia":
        return sigma0
    smallest = eigh(problem.M, metric_matrix(problem, metric), eigvals_only=True, subset_by_index=(0, 0))[0]
    return sigma0 * math.sqrt(max(float(smallest), 0.0))
