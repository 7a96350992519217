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
    A, b = report.problem.task_rows()
    final = A[where] @ report.vdot + b[where]
    tolerance = NOTICEABLE * (1.0 + float(np.abs(b[where]).max(initial=0.0)))
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
    if report.moment.share < 1.0:
        causes.append("ramp")  # the command mixes this solution with others, in which a part is absent
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
    A, b = p.task_rows()
    residual: Array = A @ solution.vdot_alone + b
    return residual


def _conflicts(report: Report, part: Part, level: int, residual: Array, At: Array) -> list[str]:
    """Which tasks, or whether the pose itself, leave a residual where there are no limits."""
    layout, solution = report.problem.layout, report.solution
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


def clash_of_row(report: Report, row: int) -> tuple[str, ...]:
    """What keeps an inequality row from its bound: limits, contacts and tasks whose rows it is a combination of."""
    G = report.gauss_limits
    level = _level_of(report, row)
    return _clash(report, G, G[row : row + 1], row, level) or _clash(
        report, G, _given_way(report, G, level), row, level
    )


def clash_of_motion(report: Report, part: Part) -> tuple[str, ...]:
    """What keeps a contact from standing still."""
    G = report.gauss_limits
    wanted = np.zeros((part.stop - part.start, G.shape[1]))
    At, n = report.gauss_rows.At, report.gauss_rows.n
    wanted[:, :n] = At[:, part.start : part.stop].T
    # a contact that yields so that another one yields less clashes with nothing by itself; all of them together do
    p, nf = report.problem, report.problem.layout.nf
    together = np.zeros((1, G.shape[1]))
    together[0, :n] = At[:, :nf] @ (p.on[:nf] * (p.A[:nf] @ report.vdot + p.b[:nf]))
    return _clash(report, G, wanted, -1, "contacts") or _clash(report, G, together, -1, "contacts")


def _given_way(report: Report, G: Array, level: str) -> Array:
    """Σ s G of the rows that gave way together by s: only this sum need be a combination of the rows that hold.

    A joint that yields so that another one has to yield less clashes with nothing by itself.
    """
    solution, p, values = report.solution, report.problem, report.limit_values
    assert solution is not None and solution.relaxed is not None
    rows = [i for i in solution.held_by.get(level, ()) if solution.relaxed[i] > 0.0]
    side = np.where(values[rows] > p.upper[rows], 1.0, -1.0)
    total: Array = ((side * solution.relaxed[rows]) @ G[rows])[None, :]
    return total


def _level_of(report: Report, row: int) -> str:
    """The level at which a row gave way."""
    assert report.solution is not None
    return next((label for label, held in report.solution.held_by.items() if row in held), "")


def _clash(report: Report, G: Array, wanted: Array, row: int, level: str) -> tuple[str, ...]:
    """At the optimum of ½ s² the row is a combination of rows that hold: those of earlier levels, and active limits."""
    layout, solution = report.problem.layout, report.solution
    assert solution is not None and solution.relaxed is not None
    upto = solution.levels.index(level) if level in solution.levels else len(solution.levels)
    limits = [(part.name, element) for part in layout.limits for element in part.elements]
    names: list[str] = []
    columns: list[Array] = []
    for label, held in solution.held_by.items():
        if solution.levels.index(label) <= upto:
            for i in held:
                if i != row and solution.relaxed[i] == 0.0:
                    names.append(limit_label(*limits[i]))
                    columns.append(G[i : i + 1])
    above = [part for part in layout.contacts if level != "contacts"] if "contacts" in solution.levels[:upto] else []
    labels = [f"contact: {part.name}" for part in above]
    for k, parts in enumerate(layout.levels):
        if f"strict {k + 1}" in solution.levels[:upto]:
            above += parts
            labels += [f"task: {part.name}" for part in parts]
    for part, label in zip(above, labels, strict=True):
        rows = np.zeros((part.stop - part.start, G.shape[1]))
        rows[:, : report.gauss_rows.n] = report.gauss_rows.At[:, part.start : part.stop].T
        names += [label] * len(rows)
        columns.append(rows)
    if not names:
        return ()
    A = np.vstack(columns).T
    lengths = np.maximum(np.sqrt((A**2).sum(axis=0)), 1e-300)
    shares = np.abs(np.linalg.lstsq(A / lengths, wanted.T, rcond=1e-9)[0]).max(axis=1)
    size = float(np.linalg.norm(wanted))
    return tuple(dict.fromkeys(name for name, share in zip(names, shares, strict=True) if share > 1e-6 * size))
