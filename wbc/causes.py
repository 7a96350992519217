"""Why a task is missed: a limit, another task, a singular pose or a weight, found from one tick's rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wbc.checks import Array
from wbc.layout import Part

if TYPE_CHECKING:
    from wbc.report import Report

NOTICEABLE = 1e-6  # relative; a share of a miss below this is rounding


def limit_label(limit: str, element: str) -> str:
    """How a cause names a limit."""
    return f"limit: {limit} {element}"


def causes_of_miss(report: Report, part: Part, level: int | None) -> tuple[str, ...]:
    """The names of what keeps a task from what it asks, the cause that was there without limits first."""
    solution = report.solution
    if solution is None:
        return ("fallback",)
    rows = report.gauss_rows
    where = slice(part.start, part.stop)
    # what the equalities alone leave of it, in accelerations: v̇ = v̇₀ + (their own coordinates)
    alone = _residual_without_limits(report)[where]
    final = (report.problem.A @ report._vdot + report.problem.b)[where]
    tolerance = NOTICEABLE * (1.0 + float(np.abs(report.problem.b[where]).max(initial=0.0)))
    causes: list[str] = []
    if level is None:
        causes.append("weight")
    elif np.abs(alone).max(initial=0.0) > tolerance:
        causes += _conflicts(report, part, level, alone, rows.At)
    if solution.route != "closed form" and np.abs(final - alone).max(initial=0.0) > tolerance:
        upto = level_index(report, level)
        causes += [
            limit_label(a.limit, a.element) for a in report.active if solution.levels.index(a.level) <= upto
        ]  # fmt: skip
    return tuple(causes)


def level_index(report: Report, level: int | None) -> int:
    """Where a strict level stands among the levels that were solved; soft tasks come last."""
    assert report.solution is not None
    levels = report.solution.levels
    label = f"strict {level + 1}" if level is not None else ""
    return levels.index(label) if label in levels else len(levels) - 1


def _residual_without_limits(report: Report) -> Array:
    solution, p = report.solution, report.problem
    assert solution is not None
    residual: Array = p.A @ solution.vdot_alone + p.b
    return residual


def _conflicts(report: Report, part: Part, level: int, residual: Array, At: Array) -> list[str]:
    """Which tasks, or whether the pose itself, leave a residual where there are no limits."""
    layout, solution = report._layout, report.solution
    assert solution is not None
    where = slice(part.start, part.stop)
    split = report.split_of(level)
    first = layout.levels[level][0].start
    weak = split.weak_rows[part.start - first : part.stop - first]
    causes = []
    left = residual
    if weak.shape[1]:
        along = weak @ (np.linalg.pinv(weak) @ residual)
        if np.linalg.norm(along) > NOTICEABLE * np.linalg.norm(residual):
            causes.append("singular")
            left = residual - along
    if np.linalg.norm(left) <= NOTICEABLE * max(1.0, float(np.linalg.norm(residual))):
        return causes
    wanted = At[:, where] @ left  # the direction of y that would mend it
    if np.linalg.norm(wanted) <= 1e-9 * np.linalg.norm(left) * max(1.0, float(np.linalg.norm(At[:, where]))):
        return causes or ["singular"]
    others = [other for tasks in layout.levels[: level + 1] for other in tasks if other.name != part.name]
    others = [*layout.contacts, *others]
    dynamics = [level.At for level in report.gauss_rows.levels if level.exact]
    columns = [i for other in others for i in range(other.start, other.stop)]
    found = np.linalg.lstsq(np.hstack([At[:, columns], *dynamics]), wanted, rcond=1e-9)[0]
    share = np.zeros(layout.n_eq)
    share[columns] = found[: len(columns)]
    size = np.linalg.norm(wanted)
    if dynamics and np.linalg.norm(dynamics[0] @ found[len(columns) :]) > NOTICEABLE * size:
        causes.append("no motor")
    for other in layout.contacts:
        rows = slice(other.start, other.stop)
        if np.linalg.norm(At[:, rows] @ share[rows]) > NOTICEABLE * size:
            causes.append(f"contact: {other.name}")
    for other in others[len(layout.contacts) :]:
        rows = slice(other.start, other.stop)
        if np.linalg.norm(At[:, rows] @ share[rows]) > NOTICEABLE * size:
            causes.append(f"task: {other.name}")
    return causes or ["singular"]
