"""The shortcut: the closed form of a tick in one compiled call, where no level is weak; most ticks end here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wbc.checks import Array
from wbc.hierarchy.closed_form import ClosedForm, Split
from wbc.hierarchy.gauss_coordinates import GaussRows, metric_matrix
from wbc.hierarchy.one_qp import Free
from wbc.kernels import BROKEN, INSIDE, OUTSIDE, WEAK, equalities, limits
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
        active: the inequality rows that held the last tick back, for the next one to begin with; ``None`` where none
            are known.
    """

    def __init__(self, problem: Problem) -> None:
        layout = problem.layout
        nv, n_eq = layout.nv, layout.n_eq
        self._layout = layout
        self._starts = layout.places(equalities.BLOCKS)
        self._sizes = np.array([nv, layout.nf, n_eq, layout.n_acc, layout.n_cone, layout.n_tau, layout.nu])
        self._C, self._At, self._offset = np.empty((nv, nv)), np.empty((nv, n_eq)), np.empty(n_eq)
        self._tau, self._sigma = np.empty(nv), np.empty(len(layout.slices))
        self._seen = b""
        self._take(None)
        self._labels = list(layout.labels)
        self._splits = [Split(np.zeros((0, nv)), np.zeros(0), np.zeros((w.stop - w.start, 0))) for w in layout.slices]
        self._nothing = np.zeros((nv, 0))
        self.out = np.empty(0)
        self.active: Array | None = None

    def _take(self, on: Array | None) -> None:
        """Which rows are in T, and how the kernel is called; for all rows, or for those that are on."""
        layout = self._layout
        self._columns, self._bounds = _plan(layout, on)
        self._weights = layout.root_weights
        self._T = np.empty((layout.nv, len(self._columns)))

    def solve(self, problem: Problem, metric: Any, sigma0: float) -> int:
        """INSIDE, OUTSIDE (of a limit), WEAK (a level needs the SVD) or BROKEN (the metric is not positive)."""
        layout = self._layout
        key = b"" if problem.everything_on else problem.on.tobytes()
        if key != self._seen:
            self._seen = key
            self._take(problem.on if key else None)
        if key:
            self._weights = layout.root_weights.copy()
            self._weights[layout.soft_rows] *= np.sqrt(problem.soft_share)
        self._sigma.fill(sigma0)
        self.out = np.empty(2 * layout.nv + layout.nf + layout.nu)
        found: int = equalities.closed_form(
            problem.record, self._starts, self._sizes, metric_matrix(problem, metric), layout.motors, layout.passive,
            self._columns, self._bounds, self._sigma, layout.lengths, self._weights, ABSENT, INSIDE_TOLERANCE,
            self._C, self._At, self._offset, self._T, self._tau, self.out,
        )  # fmt: skip
        return found

    def soft_rows(self) -> tuple[Array, Array]:
        """Soft rows as columns, in the directions that the strict levels leave free (r, k) and whole (n, k)."""
        count = int(self._bounds[-1]) if len(self._bounds) else 0
        return self._T[count:, count:], self._T[:, count:]

    @property
    def at(self) -> Array:
        """Accelerations, contact forces and torques, one behind the other."""
        return self.out[: -self._layout.nv]

    @property
    def closed(self) -> ClosedForm:
        """The solution of the equalities, none of whose levels has a weak direction."""
        y, nothing = self.out[-self._layout.nv :], self._nothing
        return ClosedForm(y, self._splits, self._labels, nothing, nothing, y)

    def free(self, problem: Problem) -> Free | None:
        """What the strict levels leave free; ``None`` where the contacts' rank is in doubt."""
        layout = self._layout
        count = int(self._bounds[-1]) if len(self._bounds) else 0
        n_u = layout.nv - count
        n = n_u
        if layout.nf:
            n += int(np.count_nonzero(problem.active)) - len(layout.passive)
            if n < n_u:
                return None
        V, force, rows = np.empty((layout.nv, n_u)), np.empty((layout.nf, n)), np.empty((layout.n_in, n))
        sure = limits.free_rows(
            problem.record, layout.places(limits.BLOCKS), layout.sizes, layout.motors, layout.passive, self._T, count,
            self._tau, self._weights[self._columns[count:]], self._C, V, force, rows,
        )  # fmt: skip
        return Free(V, force, rows) if sure else None

    def rows(self, problem: Problem, metric: Any) -> GaussRows:
        """The rows in Gauss coordinates, as the last call computed them."""
        return GaussRows(problem, metric, (self._C, self._At, self._offset))


def _plan(layout: Layout, on: Array | None) -> tuple[Indices, Indices]:
    """Present equality rows, strict ones first, and the places in that list at which the levels end."""
    present = np.ones(layout.n_eq, dtype=bool) if on is None else on > 0.0
    kept = [np.flatnonzero(present[where]) + where.start for where in layout.slices]
    bounds = np.cumsum([len(rows) for rows in kept], dtype=np.int64)
    soft = np.arange(layout.soft_rows.start, layout.n_eq)
    return np.concatenate([*kept, soft]).astype(np.int64), bounds
