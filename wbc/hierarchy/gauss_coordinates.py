"""Gauss coordinates: with W = CᵀC and y = C (v̇ − v̇₀) the metric is Euclidean; A v̇ + b is (A C⁻¹) y + b + A v̇₀."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh, lapack

from wbc.checks import Array
from wbc.hierarchy.contact_forces import ContactForces
from wbc.hierarchy.one_qp import Free
from wbc.kernels import equalities, limits, linear_algebra
from wbc.problem import Problem

ABSENT_DIRECTION = 1e-9  # of rows of unit length: a direction below is not there at all
METRICS = ("inertia", "identity", "inertia_squared")


@dataclass(slots=True, eq=False)
class LevelRows:
    """The equality rows of one level in Gauss coordinates.

    Attributes:
        label: what reports call the level.
        At: rows A C⁻¹ as columns (n, k).
        b: offsets b + A v̇₀ (k,).
        lengths: 1 or 0.2 m of each row.
        root_weights: √w of each row.
        exact: whether the rows are dynamics, which are never damped.
        mixing: factor (k, k) of the inertia of tasks that are weighted by it; ``None`` where no task is.
    """

    label: str
    At: Array
    b: Array
    lengths: Array
    root_weights: Array
    exact: bool = False
    mixing: Array | None = None

    def weighted(self) -> tuple[Array, Array]:
        """Rows (as columns) and offsets multiplied by the roots of their weights."""
        if self.mixing is not None:
            return (self.At @ self.mixing.T) * self.root_weights, (self.mixing @ self.b) * self.root_weights
        return self.At * self.root_weights, self.b * self.root_weights


class GaussRows:
    """A problem in Gauss coordinates, and the way back.

    Attributes:
        n: number of coordinates.
        C: factor of the metric (n, n), lower triangular, ``CᵀC``.
        At, b: all equality rows A C⁻¹, as columns (n, n_eq), and their offsets.
        levels: the levels in order: dynamics that no contact carries, contacts, strict 1, strict 2, ...
        soft: the soft tasks, ``None`` where there are none.
        forces: contact forces as a function of v̇.
    """

    __slots__ = ("At", "C", "b", "forces", "levels", "n", "problem", "soft")

    def __init__(self, problem: Problem, metric: Any, known: tuple[Array, Array, Array] | None = None) -> None:
        """``known`` are C, At and b where the closed form has computed them already."""
        self.problem = problem
        layout = problem.layout
        self.n = layout.nv
        if known is None:
            W = np.ascontiguousarray(metric_matrix(problem, metric))
            known = np.empty((self.n, self.n)), np.empty((self.n, layout.n_eq)), np.empty(layout.n_eq)
            if not equalities.gauss_coordinates(W, problem.A, problem.b, problem.nominal, *known):
                raise np.linalg.LinAlgError("the metric is not positive definite")
        self.C, self.At, self.b = known
        self.forces = ContactForces(problem) if len(layout.unactuated) or layout.nf else None
        self.levels = self._dynamics() if self.forces is not None and self.forces.L.shape[1] else []
        for label, where in zip(layout.labels, layout.slices, strict=True):
            self.levels.append(self._level(label, where))
        self.soft = self._level("soft", layout.soft_rows) if layout.soft else None

    def _level(self, label: str, where: slice) -> LevelRows:
        layout, problem = self.problem.layout, self.problem
        lengths, weights = layout.lengths[where], layout.root_weights[where]
        if problem.everything_on:
            return LevelRows(
                label, self.At[:, where], self.b[where], lengths, weights, mixing=self._mixing(label, where)
            )
        if label == "soft":
            return LevelRows(label, self.At[:, where], self.b[where], lengths, weights * np.sqrt(problem.soft_share))
        on = np.flatnonzero(problem.on[where])
        At = np.asfortranarray(self.At[:, where][:, on])
        mixing = self._mixing(label, where)
        if mixing is not None:
            mixing = mixing[np.ix_(on, on)]
        return LevelRows(label, At, self.b[where][on], lengths[on], weights[on], mixing=mixing)

    def _mixing(self, label: str, where: slice) -> Array | None:
        """Factors of the inertia of a strict level's tasks; soft ones have theirs in their rows already."""
        if not label.startswith("strict"):
            return None
        parts = self.problem.layout.levels[int(label.split()[1]) - 1]
        if all(part.weighting != "inertia" for part in parts):
            return None
        mixing = np.eye(where.stop - where.start)
        for part in parts:
            mine = slice(part.start - where.start, part.stop - where.start)
            if part.weighting == "inertia":
                mixing[mine, mine] = root_of_inertia(self.At[:, part.rows])
        return mixing

    def _dynamics(self) -> list[LevelRows]:
        assert self.forces is not None
        A, b = self.forces.dynamics()
        At = np.array(A.T, order="C")
        linear_algebra.solve_transposed(self.C, At)
        ones = np.ones(len(b))
        return [LevelRows("dynamics", At, b + A @ self.problem.nominal, ones, ones, exact=True)]

    def acceleration(self, y: Array) -> Array:
        """``v̇ = v̇₀ + C⁻¹ y``."""
        vdot = np.array(y)
        linear_algebra.solve(self.C, vdot)
        vdot += self.problem.nominal
        return vdot

    def motion(self, directions: Array) -> Array:
        """``C⁻¹ Y`` (nv, k): the accelerations that directions Y (n, k) of y are."""
        V = np.array(directions, order="C")
        linear_algebra.solve_columns(self.C, V)
        return V

    def free_motion(self, free: Array) -> Array:
        """``C⁻¹ F L⁻ᵀ`` with ``L Lᵀ = I + Fᵀ B Bᵀ F``: free directions F, each as dear to Gauss and the soft tasks."""
        if self.soft is not None and free.shape[1]:
            B = free.T @ self.soft.weighted()[0]
            H = B @ B.T
            H.flat[:: len(H) + 1] += 1.0
            L, _ = lapack.dpotrf(H, lower=1)
            free = lapack.dtrtrs(L, free.T, lower=1)[0].T
        return self.motion(free)

    def force_matrix(self) -> Array:
        """Rows of soft tasks on forces as they feel λ: τ = S (M v̇ + h − Jᵀ f), f = f(v̇) + R^-½ N λ."""
        p = self.problem
        if self.forces is None:
            return np.zeros((p.layout.n_force, 0))
        A: Array = p.A_wrench @ self.forces.internal
        A -= p.A_torque @ (p.J[:, p.layout.actuated].T @ self.forces.internal)
        return A

    def force_rows(self, vdot: Array) -> tuple[Array, Array]:
        """The load-sharing level with the motion fixed, ``½ ‖A λ + b‖²``: soft tasks on forces, and λ itself."""
        if self.forces is None:
            return np.zeros((0, 0)), np.zeros(0)
        p, n = self.problem, self.forces.internal.shape[1]
        if not p.layout.n_force:
            return np.eye(n), np.zeros(n)
        f = self.forces.of(vdot)
        weights = p.layout.root_weights_force * np.sqrt(p.force_share)
        b = weights * p.force_rows(f, p.torque(vdot, f))
        return np.vstack([weights[:, None] * self.force_matrix(), np.eye(n)]), np.concatenate([b, np.zeros(n)])

    def shared_forces(self, vdot: Array) -> Array:
        """f (nf,) at an acceleration, the load shared as f₀, R and the soft tasks on forces ask, cones left aside."""
        if self.forces is None or not self.problem.layout.n_force or not self.forces.internal.shape[1]:
            return self.contact_forces(vdot)
        A, b = self.force_rows(vdot)
        # least squares by QR: normal equations would square the ratio of the weights
        _, x, _ = lapack.dgels(A, -b)
        return self.contact_forces(vdot, x[: A.shape[1]])

    def contact_forces(self, vdot: Array, internal: Array | None = None) -> Array:
        """f (nf,) at an acceleration, with internal forces λ."""
        return np.zeros(0) if self.forces is None else self.forces.of(vdot, internal)

    def carried(self, V: Array) -> tuple[Array, Array]:
        """Contact forces F (nf, k) that go with motions V (nv, k) at λ = 0, and those of λ, N (nf, n_λ)."""
        forces = self.forces
        if forces is None:
            return np.zeros((0, V.shape[1])), np.zeros((0, 0))
        return forces.base @ (self.problem.M[self.problem.layout.base] @ V), forces.internal

    def shared(self, V: Array) -> tuple[Array, Array]:
        """The same where λ is what the load-sharing level wants: F follows the motion, N costs ½ ‖λ‖² there."""
        F, N = self.carried(V)
        p = self.problem
        if not p.layout.n_force or not N.shape[1]:
            return F, N
        actuated = p.layout.actuated
        weights = (p.layout.root_weights_force * np.sqrt(p.force_share))[:, None]
        slope = p.A_wrench @ F + p.A_torque @ (p.M[actuated] @ V - p.J[:, actuated].T @ F)
        Q, R = np.linalg.qr(np.vstack([weights * self.force_matrix(), np.eye(N.shape[1])]))
        N = lapack.dtrtrs(R, N.T, trans=1)[0].T
        return F - N @ (Q[: len(slope)].T @ (weights * slope)), N

    def limit_rows(self, V: Array, F: Array, N: Array) -> Array:
        """Inequality rows (n_in, k + n_λ) where v̇ moves by V u and f by F u + N λ."""
        p, layout = self.problem, self.problem.layout
        rows = np.empty((layout.n_in, V.shape[1] + N.shape[1]))
        limits.rows_on_free(
            p.M, p.J, p.G, p.G_wrench, p.G_torque, np.array(layout.actuated), V, np.hstack([F, N]), rows
        )
        return rows

    def free(self, V: Array) -> Free:
        """What the motions V (nv, k) carry with them."""
        F, N = self.shared(V)
        return Free(V, np.hstack([F, N]), self.limit_rows(V, F, N))

    def inequalities(self) -> tuple[Array, Array]:
        """All inequality rows on z = (y, λ): matrix (n_in, n + n_λ) and offset (n_in,)."""
        p = self.problem
        V = self.motion(np.eye(self.n))
        f = self.contact_forces(p.nominal)
        return self.limit_rows(V, *self.carried(V)), p.limit_values(p.nominal, f, p.torque(p.nominal, f))


def root_of_inertia(rows: Array) -> Array:
    """L (k, k) with LᵀL = (Ã Ãᵀ)⁺, the inertia of rows Ã that are given as columns (n, k)."""
    norms = np.sqrt((rows**2).sum(axis=0))
    inverse = np.divide(1.0, norms, out=np.zeros(len(norms)), where=norms > 0.0)
    U, sigma, _ = np.linalg.svd((rows * inverse).T, full_matrices=False)
    there = sigma > ABSENT_DIRECTION
    found: Array = (U[:, there] / sigma[there]) @ U[:, there].T * inverse
    return found


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
