"""A report in plain sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from wbc.report import Report


def sentences(report: Report) -> list[str]:
    """What happened in a tick, one sentence a fact, the most important first."""
    return [_status(report), *_relaxed(report), *_tasks(report), *_active(report), *_singular(report)]


def _status(report: Report) -> str:
    if report.solution is None:
        return f"FALLBACK: no solver answer could be used ({report.trouble}); the robot brakes and holds itself up."
    how = {
        "closed form": "in closed form, no limit is active",
        "qp": f"as one QP by {report.solver}",
        "cascade": f"level after level by {report.solver}, since some strict task or limit cannot be met",
    }[report.route]
    trouble = f" after {report.trouble}" if report.trouble else ""
    return f"{report.status.name}: solved {how}{trouble} in {report.time_us:.0f} us."


def _relaxed(report: Report) -> list[str]:
    return [
        f"Limit '{r.name}' of {r.element} gave way by {r.by:.4g}"
        + (f", because it clashes with {_listed(r.because)}." if r.because else ".")
        for r in report.relaxed
    ]


def _tasks(report: Report) -> list[str]:
    lines = []
    strict = {part.name for level in report.problem.layout.levels for part in level}
    for name, task in report.tasks.items():
        if name not in strict or not task.is_missed:
            continue
        asked, missed = np.linalg.norm(task.asked), np.linalg.norm(task.missed)
        lines.append(
            f"Task '{name}' asked for {asked:.4g} and misses {missed:.4g} of it, because of {_listed(task.because)}."
        )
    return lines


def _active(report: Report) -> list[str]:
    lines = []
    for a in report.active:
        lines.append(
            f"Limit '{a.limit}' of {a.element} is at its bound {a.bound:.4g}; a bound wider by one unit would "
            f"lower the cost of level '{a.level}' by {a.price:.4g}, to first order."
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
