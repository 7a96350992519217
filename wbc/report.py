"""Report: what each task asked and got, which limits are active at what price, what gave way; computed when read."""

from __future__ import annotations

import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wbc import report_limits, report_tasks
from wbc.by_name import ByName
from wbc.checks import Array
from wbc.circumstances import Circumstances, Moment
from wbc.hierarchy.closed_form import Split
from wbc.hierarchy.gauss_coordinates import GaussRows
from wbc.hierarchy.solve import Solution
from wbc.layout import Part
from wbc.outcome import ActiveLimit, Relaxed, Status, TaskReport
from wbc.problem import Problem

if TYPE_CHECKING:
    from wbc.blame import Blame


class Report:
    """What happened in one tick, kept in a copy of the tick's flat record; every field is computed when it is read.

    Attributes:
        problem: the tick's rows.
        solution: what the hierarchy found; ``None`` in a fallback.
        circumstances, moment: how it was solved; what the tick saw and sent.
        trouble: what a solver said where it failed.
        time_us: time the tick took [µs].
        deadline_missed: whether the tick came late.
        stale_ticks: age of the command where an old one had to do.
        failures: consecutive ticks without a solution, this one included.
        forces: contact forces (nf,) that a fallback counts on; ``None`` where there is a solution.
    """

    deadline_missed = False
    stale_ticks = 0
    failures = 0
    forces: Array | None = None

    def __init__(
        self,
        problem: Problem,
        solution: Solution | None,
        circumstances: Circumstances,
        moment: Moment,
        trouble: str,
        started_ns: int,
    ) -> None:
        self._layout = problem.layout
        # measured: a copy of its own (1.3 us for 38 joints) costs less than one into a ring (2.2), and never wraps
        self._record = problem.record.copy()
        self._vdot = moment.vdot
        self.solution = solution
        self.circumstances, self.moment = circumstances, moment
        self.started_ns = started_ns
        self.trouble = trouble
        self.time_us = (time.perf_counter_ns() - started_ns) * 1e-3

    @property
    def record(self) -> Array:
        """The flat record of the tick's rows."""
        return self._record

    @cached_property
    def problem(self) -> Problem:
        """The rows of the tick."""
        return Problem(self._layout, self._record)

    @cached_property
    def status(self) -> Status:
        """OPTIMAL, RELAXED where a hard row gave way or a strict task is missed for a limit or damping, or FALLBACK."""
        if self.solution is None:
            return Status.FALLBACK
        if self.relaxed:
            return Status.RELAXED
        for _, part in self.strict_parts():
            task = self.tasks[part.name]
            if task.is_missed and any(cause == "singular" or cause.startswith("limit: ") for cause in task.because):
                return Status.RELAXED
        return Status.OPTIMAL

    @cached_property
    def tasks(self) -> dict[str, TaskReport]:
        """Each task by name; nominal tasks with v̇₀ as what they ask."""
        return ByName(report_tasks.tasks(self), "task", "the report, where the tasks of this tick are")

    @cached_property
    def active(self) -> tuple[ActiveLimit, ...]:
        """The limits that hold the solution back, the dearest first."""
        return report_limits.active(self)

    @cached_property
    def relaxed(self) -> tuple[Relaxed, ...]:
        """The limit rows that gave way."""
        return report_limits.relaxed(self)

    @property
    def solver(self) -> str:
        """The solver that was asked; ``"closed form"`` where none had to be."""
        return "none" if self.solution is None else self.solution.solver or "closed form"

    @property
    def route(self) -> str:
        """``"closed form"``, ``"qp"``, ``"cascade"`` or ``"fallback"``."""
        return "fallback" if self.solution is None else self.solution.route

    @property
    def iterations(self) -> int:
        """Iterations of all solver calls of the tick."""
        return 0 if self.solution is None else self.solution.iterations

    @property
    def clipped(self) -> float:
        """By how much the solver's answer left the torque limits before it was put inside [N m]."""
        return 0.0 if self.solution is None else self.solution.clipped

    @cached_property
    def conditioning(self) -> float:
        """σ_max/σ_min of the worst strict task, in Gauss coordinates; inf where one has lost rank."""
        worst = 1.0
        for _, part in self.strict_parts():
            if not np.isfinite(self.gauss_rows.At[:, part.rows]).all():
                return np.inf
            sigma = np.linalg.svd(self.gauss_rows.At[:, part.start : part.stop], compute_uv=False)
            worst = max(worst, float(sigma[0] / sigma[-1]) if sigma[-1] > 1e-12 * sigma[0] else np.inf)
        return worst

    @property
    def near_singular(self) -> bool:
        """Whether a strict level has a direction that is damped, or a task one that it cannot move at all."""
        solution = self.solution
        damped = solution is not None and any(len(split.left_out) for split in solution.closed.splits)
        return damped or self.conditioning > 1e9

    @cached_property
    def gauss_rows(self) -> GaussRows:
        """The equality rows in Gauss coordinates of the inertia metric."""
        return GaussRows(self.problem, "inertia")

    @cached_property
    def gauss_limits(self) -> Array:
        """The inequality rows on accelerations in these coordinates and on internal forces (n_in, nv + n_λ)."""
        return self.gauss_rows.inequalities()[0]

    @cached_property
    def wrenches(self) -> dict[str, Array]:
        """Contact name -> force, or force and moment, that the ground applies; world axes, at the frame's origin."""
        p, found = self.problem, {}
        for part, axes in zip(self._layout.contacts, p.axes, strict=True):
            local = self.contact_forces[part.start : part.stop]
            along = axes[:, : len(local)]  # an axle has one force, along the first of its axes
            found[part.name] = (local.reshape(-1, along.shape[1]) @ along.T).ravel()
        return ByName(found, "contact", "the report")

    def explain(self) -> str:
        """The tick in plain sentences, for a person."""
        from wbc.explain import sentences

        return "\n".join(sentences(self))

    def blame(self) -> tuple[Blame, ...]:
        """For every missed strict task and everything that gave way, a smallest set of rows that leave no room for it.

        Some linear programs each, so for a person, not for a loop; see :mod:`wbc.blame`.
        """
        from wbc.blame import blame

        return blame(self)

    def save(self, path: str | Path) -> Path:
        """Write the tick to one file that suffices alone (.npz); :func:`wbc.replay.load` gives it back.

        Raises:
            InputError: the file cannot be written.
        """
        from wbc.replay import save

        return save(self, path)

    def strict_parts(self) -> list[tuple[int, Part]]:
        """Strict tasks that are present, with their level."""
        on = self.problem.on
        return [(k, part) for k, level in enumerate(self._layout.levels) for part in level if on[part.start]]

    @property
    def vdot(self) -> Array:
        """Accelerations (nv,) of the command."""
        return self._vdot

    @cached_property
    def contact_forces(self) -> Array:
        """Contact forces (nf,) of the command, in the axes of their surfaces."""
        if self.solution is not None:
            return self.solution.f
        return np.zeros(self._layout.nf) if self.forces is None else self.forces

    @cached_property
    def limit_values(self) -> Array:
        """What each limit row reached (n_in,)."""
        f = self.contact_forces
        return self.problem.limit_values(self._vdot, f, self.problem.torque(self._vdot, f))

    def split_of(self, level: int) -> Split:
        """What a strict level decided."""
        assert self.solution is not None
        closed = self.solution.closed
        return closed.splits[closed.labels.index(f"strict {level + 1}")]
