"""What a report says of limits: which ones hold the solution back, at what price, and which ones gave way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wbc.causes import clash_of_motion, clash_of_row
from wbc.checks import Array
from wbc.outcome import MISSED, ActiveLimit, Relaxed

if TYPE_CHECKING:
    from wbc.report import Report

PRICED = 1e-9  # a multiplier below this is a solver's rounding


def active(report: Report) -> tuple[ActiveLimit, ...]:
    """The limits that hold the solution back, the dearest first."""
    solution = report.solution
    if solution is None or solution.price is None or solution.price_level is None:
        return ()
    p, values = report.problem, report.limit_values
    found = []
    for part in p.layout.limits:
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


def relaxed(report: Report) -> tuple[Relaxed, ...]:
    """The hard rows and limits that gave way: limits by element, contact motion by contact."""
    solution = report.solution
    if solution is None or solution.relaxed is None:
        return ()
    gave, layout, p = solution.relaxed, report.problem.layout, report.problem
    found = []
    motion = _contact_motion(report)
    for part in layout.contacts:
        moved = float(np.abs(motion[part.rows]).max(initial=0.0))
        if "contacts" in solution.held_by and moved > MISSED * (1.0 + np.abs(p.b[part.rows]).max(initial=0.0)):
            because = clash_of_motion(report, part) or (("ramp",) if report.moment.share < 1.0 else ())
            found.append(Relaxed(part.name, "motion", moved, because))
    for part in layout.limits:
        for i in range(part.start, part.stop):
            if gave[i] > 0.0:
                element = part.elements[i - part.start]
                found.append(Relaxed(part.name, element, float(gave[i]), clash_of_row(report, i)))
    return tuple(found)


def _contact_motion(report: Report) -> Array:
    """By how much the motion of contacts (nf,) differs from what it would be without limits, m/s² or rad/s²."""
    p, solution = report.problem, report.solution
    n = p.layout.nf
    moved: Array = p.on[:n] * (p.A[:n] @ (report.vdot - solution.vdot_alone)) if solution else np.zeros(n)
    return moved
