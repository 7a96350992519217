"""What a report says of tasks: what each asked and got, the force that holds it, and why something is missing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from wbc.causes import causes_of_miss, limit_label
from wbc.checks import Array
from wbc.hierarchy import closed_form
from wbc.hierarchy.gauss_coordinates import GaussRows, threshold_in
from wbc.layout import Part
from wbc.outcome import MISSED, TaskReport

if TYPE_CHECKING:
    from wbc.report import Report


def tasks(report: Report) -> dict[str, TaskReport]:
    """Each task by name; nominal tasks with v̇₀ as what they ask."""
    p, vdot = report.problem, report.vdot
    layout = p.layout
    A, b = p.task_rows()
    got = A @ vdot + p.drift
    asked = p.drift - b
    shares = _closed(report)
    forces = _constraint_forces(report)
    found = {}
    for level, part in report.strict_parts():
        found[part.name] = _motion_task(report, part, asked, got, forces, level)
    for part in layout.soft:
        if p.soft_share[part.start - layout.soft_rows.start]:
            task = _motion_task(report, part, asked, got, forces, None)
            found[part.name] = replace(task, closed=shares.get(part.name))
    for part in layout.forces:
        if p.force_share[part.start]:
            found[part.name] = _force_task(report, part)
    for name in report.circumstances.nominal:
        gap = p.nominal - vdot
        found[name] = TaskReport(p.nominal.copy(), vdot.copy(), gap, np.zeros_like(gap), (), 0.0)
    return found


def _closed(report: Report) -> dict[str, float]:
    """How much each soft task closed of the gap that the strict levels and v̇₀ alone leave."""
    p, how = report.problem, report.circumstances
    if report.solution is None or not p.layout.soft:
        return {}
    rows = GaussRows(p, how.metric)
    rest = rows.acceleration(closed_form.solve(rows, threshold_in(p, how.metric, how.sigma0)).rest)
    found = {}
    for part in p.layout.soft:
        A, b = p.A[part.rows], p.b[part.rows]
        before, after = A @ rest + b, A @ report.vdot + b
        size = float(before @ before)
        nothing = size <= (MISSED * (1.0 + float(np.abs(b).max(initial=0.0)))) ** 2
        found[part.name] = 1.0 if nothing else float(before @ (before - after)) / size
    return found


def _constraint_forces(report: Report) -> Array:
    """Least-norm forces F of all strict rows with Σ Aᵀ F nearest to M (v̇ − v̇₀) in M⁻¹."""
    n_strict = report.problem.layout.soft_rows.start  # contact motion included
    if not n_strict:
        return np.zeros(0)
    rows = report.gauss_rows
    if not np.isfinite(rows.At).all():  # a task gave a NaN, and the tick has no solution
        return np.full(n_strict, np.nan)
    y = rows.C @ (report.vdot - report.problem.nominal)
    force: Array = np.asarray(np.linalg.lstsq(rows.At[:, :n_strict], y, rcond=1e-9)[0], dtype=np.float64)
    return force


def _motion_task(report: Report, part: Part, asked: Array, got: Array, forces: Array, level: int | None) -> TaskReport:
    where = slice(part.start, part.stop)
    force = np.zeros(part.stop - part.start) if level is None else forces[where].copy()
    bare = TaskReport(asked[where], got[where], asked[where] - got[where], force, (), 0.0)
    damping = 0.0
    if level is not None and report.solution is not None:
        split = report.split_of(level)
        first = report.problem.layout.levels[level][0].start
        mine = split.weak_rows[part.start - first : part.stop - first]
        damping = float((np.linalg.norm(mine, axis=0) * split.left_out).max(initial=0.0))
    because = causes_of_miss(report, part, level) if bare.is_missed else ()
    return TaskReport(bare.asked, bare.got, bare.missed, force, because, damping)


def _force_task(report: Report, part: Part) -> TaskReport:
    """A soft task on a wrench or on torques."""
    where, p, f = slice(part.start, part.stop), report.problem, report.contact_forces
    missed = -p.force_rows(f, p.torque(report.vdot, f))[where]
    asked = -p.b_force[where]
    bare = TaskReport(asked, asked - missed, missed, np.zeros_like(missed), (), 0.0)
    if not bare.is_missed or report.solution is None:
        return bare
    A = report.gauss_rows.force_matrix()[where]
    beyond = missed - A @ (np.linalg.pinv(A) @ missed) if A.size else missed
    shared = float(np.abs(missed - beyond).max(initial=0.0))
    because = [] if float(np.abs(beyond).max(initial=0.0)) <= MISSED else ["motion"]
    if shared > MISSED:
        limits = [limit_label(a.limit, a.element) for a in report.active if a.level == "forces"]
        because += limits or ["weight"]
    return replace(bare, because=tuple(because))
