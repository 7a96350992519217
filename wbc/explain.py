"""A report in plain sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from wbc.blame import Blame, Needed
    from wbc.report import Report

LATE = ("gauss", "forces")  # levels below all tasks that a user calls strict


def sentences(report: Report) -> list[str]:
    """What happened in a tick, one sentence a fact, the most important first."""
    blamed = {blame.request: blame for blame in report.blame()}
    return [
        _status(report),
        *_jumped(report),
        *_relaxed(report, blamed),
        *_tasks(report, blamed),
        *_soft(report),
        *_active(report),
        *_singular(report),
    ]


def _status(report: Report) -> str:
    if report.solution is None:
        what = (
            "the state could not be used" if report.trouble.startswith("state: ") else "no solver answer could be used"
        )
        if report.stale_ticks:
            done = f"the last good command, {report.stale_ticks} ticks old, is held"
        else:
            done = "the robot brakes and holds itself up"
        return f"FALLBACK: {what} ({report.trouble}); {done}."
    how = {
        "closed form": "in closed form, no limit is active",
        "qp": f"as one QP by {report.solver}",
        "cascade": f"level after level by {report.solver}, since some strict task or limit cannot be met",
    }[report.route]
    trouble = f" after {report.trouble}" if report.trouble else ""
    if report.moment.share < 1.0:
        trouble += f", mixed with other solutions while a part comes or goes ({report.moment.share:.0%} of it)"
    late = ", later than its deadline" if report.deadline_missed else ""
    return f"{report.status.name}: solved {how}{trouble} in {report.time_us:.0f} us{late}."


def _jumped(report: Report) -> list[str]:
    return [
        f"Part '{name}' came or went at once at this tick, without a ramp (over=0): the torque may have jumped."
        for name in report.moment.jumped
    ]


def _relaxed(report: Report, blamed: dict[str, Blame]) -> list[str]:
    return [
        f"Limit '{r.name}' of {r.element} gave way by {r.by:.4g}"
        + (f", because it clashes with {_listed(r.because)}." if r.because else ".")
        + _wider(blamed.get(f"limit: {r.name} {r.element}") or blamed.get(f"contact: {r.name}"))
        for r in report.relaxed
    ]


def _tasks(report: Report, blamed: dict[str, Blame]) -> list[str]:
    lines = []
    for _, part in report.strict_parts():
        task = report.tasks[part.name]
        if not task.is_missed:
            continue
        asked, missed = np.linalg.norm(task.asked), np.linalg.norm(task.missed)
        lines.append(
            f"Task '{part.name}' asked for {asked:.4g} and misses {missed:.4g} of it, because of "
            f"{_listed(task.because)}." + _wider(blamed.get(f"task: {part.name}"))
        )
    return lines


def _soft(report: Report) -> list[str]:
    """How much soft tasks get."""
    lines = []
    for part in report.problem.layout.soft:
        task = report.tasks.get(part.name)
        if task is None or task.closed is None or not task.is_missed:
            continue
        others = [cause for cause in task.because if cause != "weight"]
        held = f", with {_listed(tuple(others))} in its way" if others else ""
        how = "gets" if task.closed >= 0.0 else "is driven away by"
        lines.append(
            f"Soft task '{part.name}', weight {part.weight:g}, {how} {abs(100.0 * task.closed):.3g} % of what it asks"
            f"{held}."
        )
    return lines


def _wider(blame: Blame | None) -> str:
    """How much more of which limit would be needed."""
    if blame is None or not any(row.startswith("limit: ") for row in blame.rows):
        return ""
    if blame.alone:
        return f" It could be had with {' or with '.join(_more(needed) for needed in blame.alone)}."
    if blame.together:
        return f" No limit alone is enough; together it would take {', '.join(map(_more, blame.together))}."
    return " No wider limit is enough."


def _more(needed: Needed) -> str:
    name = needed.limit.removeprefix("limit: ")
    return f"{needed.by:.4g} more of {name} ({needed.wider:.4g} instead of {needed.bound:.4g})"


def _active(report: Report) -> list[str]:
    lines = []
    for a in report.active:
        if a.level not in LATE:
            by = "by at most" if a.one_sided else "by"  # other active rows may leave no room for more
            lines.append(
                f"Limit '{a.limit}' of {a.element} is at its bound {a.bound:.4g}; a bound wider by one unit would "
                f"lower the cost of level '{a.level}' {by} {a.price:.4g}, to first order."
            )
    for level in LATE:
        held = [
            f"'{a.limit}' of {a.element} at {a.bound:.4g} ({a.price:.4g})" for a in report.active if a.level == level
        ]
        if held:
            lines.append(
                f"What the tasks leave, level '{level}', is held by limits, with their prices: {', '.join(held)}."
            )
    return lines


def _singular(report: Report) -> list[str]:
    if not report.near_singular:
        return []
    damped = {name: task.damping for name, task in report.tasks.items() if task.damping > 0.0}
    where = "; ".join(
        f"'{name}' leaves out {100 * share:.3g} % in its weakest direction" for name, share in damped.items()
    )
    return [f"The pose is near a singularity{': ' + where if where else ''}."]


def _listed(causes: tuple[str, ...]) -> str:
    return ", ".join(causes) if causes else "nothing that could be found"
