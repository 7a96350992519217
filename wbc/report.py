"""Report: what each task asked and got, which limits are active at what price, what gave way; computed when read."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cached_property

import numpy as np

from wbc.causes import causes_of_miss, clash_of_motion, clash_of_row, limit_label
from wbc.checks import Array
from wbc.hierarchy.closed_form import Split
from wbc.hierarchy.gauss_coordinates import GaussRows
from wbc.hierarchy.solve import Solution
from wbc.layout import Part
from wbc.outcome import MISSED, ActiveLimit, Relaxed, Status, TaskReport
from wbc.problem import Problem

PRICED = 1e-9  # a multiplier below this is a solver's rounding


class Report:
    """What happened in one tick, kept in a copy of the tick's flat record; every field is computed when it is read.

    Attributes:
        problem: the tick's rows.
        solution: what the hierarchy found; ``None`` in a fallback.
        trouble: what a solver said where it failed.
        time_us: time the tick took [µs].
        deadline_missed: whether the tick came late.
        stale_ticks: age of the command where an old one had to do.
    """

    deadline_missed = False
    stale_ticks = 0

    def __init__(
        self,
        problem: Problem,
        solution: Solution | None,
        vdot: Array,
        nominal: tuple[str, ...],
        trouble: str,
        started_ns: int,
    ) -> None:
        self._layout = problem.layout
        self._record = problem.record.copy()
        self._nominal = nominal
        self._vdot = vdot
        self.solution = solution
        self.trouble = trouble
        self.time_us = (time.perf_counter_ns() - started_ns) * 1e-3

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
        for _, part in self._strict_parts():
            task = self.tasks[part.name]
            if task.is_missed and any(cause == "singular" or cause.startswith("limit: ") for cause in task.because):
                return Status.RELAXED
        return Status.OPTIMAL

    @cached_property
    def tasks(self) -> dict[str, TaskReport]:
        """Each task by name; nominal tasks with v̇₀ as what they ask."""
        p = self.problem
        got = p.A @ self._vdot + p.drift
        asked = p.drift - p.b
        found = {}
        for level, part in self._strict_parts():
            found[part.name] = self._task(part, asked, got, level)
        for part in self._layout.soft:
            if not self.problem.soft_share[part.start - self._layout.soft_rows.start]:
                continue
            found[part.name] = self._task(part, asked, got, None)
        for part in self._layout.forces:
            if p.force_share[part.start]:
                found[part.name] = self._force_task(part)
        for name in self._nominal:
            gap = p.nominal - self._vdot
            found[name] = TaskReport(p.nominal.copy(), self._vdot.copy(), gap, np.zeros_like(gap), (), 0.0)
        return found

    @cached_property
    def active(self) -> tuple[ActiveLimit, ...]:
        """The limits that hold the solution back, the dearest first."""
        solution = self.solution
        if solution is None or solution.price is None or solution.price_level is None:
            return ()
        p, values = self.problem, self._limit_values
        found = []
        for part in self._layout.limits:
            for i in range(part.start, part.stop):
                price = float(solution.price[i])
                if price <= PRICED:
                    continue
                upper = abs(values[i] - p.upper[i]) <= abs(values[i] - p.lower[i])
                bound = float(p.upper[i] if upper else p.lower[i])
                level = solution.levels[int(solution.price_level[i])]
                element = part.elements[i - part.start]
                found.append(ActiveLimit(part.name, element, bound, float(values[i]), price, level))
        return tuple(sorted(found, key=lambda limit: -limit.price))

    @cached_property
    def relaxed(self) -> tuple[Relaxed, ...]:
        """The hard rows and limits that gave way: limits by element, contact motion by contact."""
        solution = self.solution
        if solution is None or solution.relaxed is None:
            return ()
        relaxed = solution.relaxed
        found = []
        for part in self._layout.contacts:
            rows = slice(part.start, part.stop)
            moved = float(np.abs(self._contact_motion[rows]).max(initial=0.0))
            if "contacts" in solution.held_by and moved > MISSED * (
                1.0 + np.abs(self.problem.b[rows]).max(initial=0.0)
            ):
                found.append(Relaxed(part.name, "motion", moved, clash_of_motion(self, part)))
        for part in self._layout.limits:
            for i in range(part.start, part.stop):
                if relaxed[i] > 0.0:
                    element = part.elements[i - part.start]
                    found.append(Relaxed(part.name, element, float(relaxed[i]), clash_of_row(self, i)))
        return tuple(found)

    @cached_property
    def _contact_motion(self) -> Array:
        """By how much the motion of contacts (nf,) differs from what it would be without limits, m/s² or rad/s²."""
        p, solution = self.problem, self.solution
        n = self._layout.nf
        moved: Array = p.on[:n] * (p.A[:n] @ (self._vdot - solution.vdot_alone)) if solution else np.zeros(n)
        return moved

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
        for _, part in self._strict_parts():
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
    def wrenches(self) -> dict[str, Array]:
        """Contact name -> force, or force and moment, that the ground applies; world axes, at the frame's origin."""
        p, found = self.problem, {}
        for part, axes in zip(self._layout.contacts, p.axes, strict=True):
            local = (
                np.zeros(part.stop - part.start) if self.solution is None else self.solution.f[part.start : part.stop]
            )
            along = axes[:, : len(local)]  # an axle has one force, along the first of its axes
            found[part.name] = (local.reshape(-1, along.shape[1]) @ along.T).ravel()
        return found

    def explain(self) -> str:
        """The tick in plain sentences, for a person."""
        from wbc.explain import sentences

        return "\n".join(sentences(self))

    @cached_property
    def _limit_values(self) -> Array:
        p = self.problem
        f = np.zeros(self._layout.nf) if self.solution is None else self.solution.f
        return p.limit_values(self._vdot, f, p.torque(self._vdot, f))

    @cached_property
    def _forces(self) -> Array:
        """Least-norm forces F of all strict rows with Σ Aᵀ F nearest to M (v̇ − v̇₀) in M⁻¹."""
        n_strict = self._layout.soft_rows.start  # contact motion included
        rows = self.gauss_rows
        y = rows.C @ (self._vdot - self.problem.nominal)
        force: Array = np.linalg.lstsq(rows.At[:, :n_strict], y, rcond=1e-9)[0]
        return force

    def _strict_parts(self) -> list[tuple[int, Part]]:
        """Strict tasks that are present, with their level."""
        on = self.problem.on
        return [(k, part) for k, level in enumerate(self._layout.levels) for part in level if on[part.start]]

    def _task(self, part: Part, asked: Array, got: Array, level: int | None) -> TaskReport:
        where = slice(part.start, part.stop)
        force = np.zeros(part.stop - part.start) if level is None else self._forces[where].copy()
        bare = TaskReport(asked[where], got[where], asked[where] - got[where], force, (), 0.0)
        damping = 0.0
        if level is not None and self.solution is not None:
            split = self.split_of(level)
            first = self._layout.levels[level][0].start
            mine = split.weak_rows[part.start - first : part.stop - first]
            damping = float((np.linalg.norm(mine, axis=0) * split.left_out).max(initial=0.0))
        because = causes_of_miss(self, part, level) if bare.is_missed else ()
        return TaskReport(bare.asked, bare.got, bare.missed, force, because, damping)

    def _force_task(self, part: Part) -> TaskReport:
        """A soft task on a wrench or on torques."""
        where, p = slice(part.start, part.stop), self.problem
        f = np.zeros(self._layout.nf) if self.solution is None else self.solution.f
        missed = -p.force_rows(f, p.torque(self._vdot, f))[where]
        asked = -p.b_force[where]
        bare = TaskReport(asked, asked - missed, missed, np.zeros_like(missed), (), 0.0)
        if not bare.is_missed or self.solution is None:
            return bare
        A = self.gauss_rows.force_matrix()[where]
        beyond = missed - A @ (np.linalg.pinv(A) @ missed) if A.size else missed
        shared = float(np.abs(missed - beyond).max(initial=0.0))
        because = [] if float(np.abs(beyond).max(initial=0.0)) <= MISSED else ["motion"]
        if shared > MISSED:
            limits = [limit_label(a.limit, a.element) for a in self.active if a.level == "forces"]
            because += limits or ["weight"]
        return replace(bare, because=tuple(because))

    def split_of(self, level: int) -> Split:
        """What a strict level decided."""
        assert self.solution is not None
        closed = self.solution.closed
        return closed.splits[closed.labels.index(f"strict {level + 1}")]
