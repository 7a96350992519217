"""What a report says of limits: which ones hold the solution back, at what price, and which ones gave way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wbc.causes import clash_of_motion, clash_of_row
from wbc.checks import Array
from wbc.outcome import MISSED, ActiveLimit, Relaxed

if TYPE_CHECKING:
    from wbc.report import Report

PRICED = 1e-9  # a multiplier below this is a solver's rounding
AT_BOUND = 1e-8  # relative
DEPENDENT = 1e-7  # of rows of unit norm


def active(report: Report) -> tuple[ActiveLimit, ...]:
    """The limits that hold the solution back, the dearest first."""
    solution = report.solution
    if solution is None or solution.price is None or solution.price_level is None:
        return ()
    p, values = report.problem, report.limit_values
    found = []
    degenerate = _degenerate(report)
    for part in p.layout.limits:
        for i in range(part.start, part.stop):
            price = float(solution.price[i])
            if price <= PRICED:
                continue
            upper = abs(values[i] - p.upper[i]) <= abs(values[i] - p.lower[i])
            bound = float(p.upper[i] if upper else p.lower[i])
            level = solution.levels[int(solution.price_level[i])]
            element = part.elements[i - part.start]
            found.append(ActiveLimit(part.name, element, bound, float(values[i]), price, level, bool(degenerate[i])))
    return tuple(sorted(found, key=lambda limit: -limit.price))


def _degenerate(report: Report) -> NDArray[np.bool_]:
    """Which rows have a price that is one-sided (n_in,): those that are combinations of other rows which their level
    has to keep, or all, where a row stands at its bound without a price.
    """
    p, values, solution = report.problem, report.limit_values, report.solution
    assert solution is not None and solution.price is not None and solution.price_level is not None
    layout, price, level = p.layout, solution.price, solution.price_level
    gap = np.minimum(np.abs(values - p.lower), np.abs(values - p.upper))
    touches = (gap <= AT_BOUND * (1.0 + np.abs(values))) & (price <= PRICED)
    degenerate = np.full(layout.n_in, bool(touches.any()))
    torque = np.hstack([p.M, -p.J.T])
    rows = np.zeros((layout.n_in, layout.nv + layout.nf))
    first, last = layout.n_acc, layout.n_in - layout.n_tau
    rows[:first, : layout.nv], rows[first:last, layout.nv :] = p.G, p.G_wrench
    rows[last:] = p.G_torque @ torque[layout.actuated]
    for k in np.unique(level[price > PRICED]):
        above = _rows_above(report, solution.levels[k])
        fixed = np.vstack([torque[layout.unactuated], np.hstack([p.A[above], np.zeros((len(above), layout.nf))])])
        kept = np.flatnonzero((price > PRICED) & (level <= k))
        whole = np.vstack([fixed, rows[kept]])
        whole /= np.maximum(np.linalg.norm(whole, axis=1), 1e-300)[:, None]
        # a row in the span of all others has a part in the left null space
        U, sigma, _ = np.linalg.svd(whole)
        rank = int((sigma > DEPENDENT * sigma[0]).sum())
        part = np.abs(U[len(fixed) :, rank:]).max(axis=1, initial=0.0)
        degenerate[kept[(part > DEPENDENT) & (level[kept] == k)]] = True
    return degenerate


def _rows_above(report: Report, label: str) -> NDArray[np.intp]:
    """The equality rows that a level finds fixed: contact motion and the strict levels above it."""
    p = report.problem
    labels, slices = list(p.layout.labels), p.layout.slices
    count = labels.index(label) if label in labels else len(labels)
    found = [np.arange(where.start, where.stop) for where in slices[:count]]
    rows = np.concatenate([np.zeros(0, dtype=np.intp), *found])
    return rows[p.on[rows] > 0.0]


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
