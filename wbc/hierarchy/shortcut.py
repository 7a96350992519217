"""The shortcut: the closed form of a tick in one compiled call, where no level is weak; most ticks end here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wbc.checks import Array
from wbc.hierarchy.closed_form import ClosedForm, Split
from wbc.hierarchy.gauss_coordinates import GaussRows, metric_matrix
from wbc.kernels import BROKEN, INSIDE, OUTSIDE, WEAK, equalities, linear_algebra
from wbc.layout import Layout
from wbc.problem import Problem

if TYPE_CHECKING:
    from wbc.kernels.equalities import Indices

__all__ = ["BROKEN", "INSIDE", "INSIDE_TOLERANCE", "OUTSIDE", "WEAK", "Shortcut"]

INSIDE_TOLERANCE = 5e-10  # a limit is kept when it is exceeded by no more than this
ABSENT = 1e-6  # relative: QR alone decides the rank only where it is beyond doubt


class Shortcut:
    """The workspace of the compiled closed form for one layout; :meth:`solve` fills it, the rest reads it.

    Attributes:
        out: vdot, f, torque and y of the last call, one behind the other; new at every call.
    """

    _columns: Indices
    _bounds: Indices
    _weights: Array

    def __init__(self, problem: Problem) -> None:
        layout = problem.layout
        nv, n_eq = layout.nv, layout.n_eq
        starts = layout.starts()
        self._layout = layout
        self._starts = np.array([starts[name] for name in equalities.BLOCKS])
        self._sizes = np.array([nv, layout.nf, n_eq, layout.n_acc, layout.n_cone, layout.n_tau, layout.nu])
        self._actuated, self._base = layout.actuated.astype(np.int64), layout.unactuated.astype(np.int64)
        self._C, self._At, self._offset = np.empty((nv, nv)), np.empty((nv, n_eq)), np.empty(n_eq)
        self._T, self._tau = np.empty((nv, n_eq)), np.empty(nv)
        self._everything = _plan(layout, problem, everything=True)
        self._seen: tuple[bytes, tuple[Indices, Indices]] | None = None
        self._labels = list(layout.labels)
        self._splits = [Split(np.zeros((0, nv)), np.zeros(0), np.zeros((w.stop - w.start, 0))) for w in layout.slices]
        self._nothing = np.zeros((nv, 0))
        self._sigma = np.empty(len(layout.slices))
        self.out = np.empty(0)

    def solve(self, problem: Problem, metric: Any, sigma0: float) -> int:
        """INSIDE, OUTSIDE (of a limit), WEAK (a level needs the SVD) or BROKEN (the metric is not positive)."""
        layout = self._layout
        W = np.ascontiguousarray(metric_matrix(problem, metric))
        (columns, bounds), weights = self._everything, layout.root_weights
        if not problem.everything_on:
            key = problem.on.tobytes()
            if self._seen is None or self._seen[0] != key:
                self._seen = (key, _plan(layout, problem, everything=False))
            columns, bounds = self._seen[1]
            weights = weights.copy()
            weights[layout.soft_rows] *= np.sqrt(problem.soft_share)
        self._columns, self._bounds, self._weights = columns, bounds, weights
        if self._T.shape[1] != len(columns):
            self._T = np.empty((layout.nv, len(columns)))
        self._sigma[:] = sigma0
        self.out = np.empty(2 * layout.nv + layout.nf + layout.nu)
        found: int = equalities.closed_form(
            problem.record, self._starts, self._sizes, W, self._actuated, self._base, columns, bounds,
            self._sigma, layout.lengths, weights, ABSENT, INSIDE_TOLERANCE,
            self._C, self._At, self._offset, self._T, self._tau, self.out,
        )  # fmt: skip
        return found

    @property
    def vdot(self) -> Array:
        """Accelerations (nv,)."""
        return self.out[: self._layout.nv]

    @property
    def f(self) -> Array:
        """Contact forces (nf,)."""
        return self.out[self._layout.nv : self._layout.nv + self._layout.nf]

    @property
    def torque(self) -> Array:
        """Torques (nu,)."""
        start = self._layout.nv + self._layout.nf
        return self.out[start : start + self._layout.nu]

    @property
    def closed(self) -> ClosedForm:
        """The solution of the equalities, none of whose levels has a weak direction."""
        y, nothing = self.out[-self._layout.nv :], self._nothing
        return ClosedForm(y, self._splits, self._labels, nothing, nothing, y)

    @property
    def free(self) -> Array:
        """Orthonormal directions (n, r) of y that the strict levels leave."""
        count = int(self._bounds[-1]) if len(self._bounds) else 0
        Q2: Array = linear_algebra.directions(self._T, count, self._tau, count)
        return Q2

    def rows(self, problem: Problem, metric: Any) -> GaussRows:
        """The rows in Gauss coordinates, as the last call computed them."""
        return GaussRows(problem, metric, (self._C, self._At, self._offset))


def _plan(layout: Layout, problem: Problem, *, everything: bool) -> tuple[Indices, Indices]:
    """Present equality rows, strict ones first, and the places in that list at which the levels end."""
    on = np.ones(layout.n_eq, dtype=bool) if everything else problem.on > 0.0
    kept = [np.flatnonzero(on[where]) + where.start for where in layout.slices]
    bounds = np.cumsum([len(rows) for rows in kept], dtype=np.int64)
    soft = np.arange(layout.soft_rows.start, layout.n_eq)
    return np.concatenate([*kept, soft]).astype(np.int64), bounds
