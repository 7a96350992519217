"""Which constraints are to blame: a smallest set of rows that clash with a request, and what would make room for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import null_space

from wbc.causes import limit_label
from wbc.checks import Array
from wbc.layout import CONTACT_MOTION, Part
from wbc.linear_program import Rows, least_miss, least_widening
from wbc.outcome import MISSED

if TYPE_CHECKING:
    from wbc.report import Report

CLASHES = 0.1 * MISSED  # relative to 1 + |asked|: a request that must miss more than this is not met
ABSENT = 1e-6  # relative: a task cannot be moved in directions with smaller singular values
ROOM = 1e-9  # relative: how far rows stand behind the command, which satisfies them to rounding
NO_MOTOR, SINGULAR = "no motor", "singular"


@dataclass(frozen=True, slots=True)
class Needed:
    """How much wider the bound of one limit row would have to be.

    Attributes:
        limit: the row, as causes name it.
        bound: where it stands, or where it was left when it gave way [N m, N, rad/s²].
        wider: where it would have to stand.
    """

    limit: str
    bound: float
    wider: float

    @property
    def by(self) -> float:
        """How much more is needed."""
        return abs(self.wider - self.bound)


@dataclass(frozen=True, slots=True)
class Blame:
    """A smallest set of rows that leave no room for a request.

    Attributes:
        request: what could not be had: ``"task: hand"``, ``"limit: joint panda_joint2"``, ``"contact: left_foot"``.
        rows: rows that clash with it, none of which can be left out: ``"limit: torque panda_joint2"``,
            ``"contact: left_foot"``, ``"task: com"``; ``"no motor"`` where the dynamics alone do, and ``"singular"``
            where the pose alone does. There may be other such sets beside it.
        least: what must be missing of the request's worst row even if everything below it were given up.
        alone: limits each of which would make room if it alone were wider.
        together: where there is none, the limits that would do it together with the least widening, relative to their
            bounds; empty where no limit would.
    """

    request: str
    rows: tuple[str, ...]
    least: float
    alone: tuple[Needed, ...]
    together: tuple[Needed, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What could not be had: rows ``lower ≤ A x ≤ upper`` on x = [v̇; f], and its place among all others.

    Attributes:
        label: as causes name it.
        A, lower, upper: (k, nv + nf), (k,), (k,).
        size: of what was asked.
        level: index of the strict level; −1 for limits and contact motion, which come before all tasks.
        rank: of the ladder; rows of later ranks give way to it. The number of ranks where it is above all tasks.
        own: index of the limit row itself, or −1.
        lost: whether a part of what was asked is in directions that the pose does not allow; the rows are without it.
    """

    label: str
    A: Array
    lower: Array
    upper: Array
    size: float
    level: int
    rank: int
    own: int = -1
    lost: bool = False


def blame(report: Report) -> tuple[Blame, ...]:
    """The rows to blame for every missed strict task and for everything that gave way; empty in a fallback.

    ``min t`` subject to the request within t and to all rows that must not give way to it, as a linear program; rows
    with a multiplier already clash, and those without which the others still do are deleted one by one
    (Chinneck and Dravnieks 1991, deletion filter).
    """
    if report.solution is None:
        return ()
    return tuple(_blame(report, request) for request in requests(report))


def requests(report: Report) -> list[Request]:
    """What could not be had, hard rows first."""
    layout = report.problem.layout
    G, offset, lower, upper = _limit_rows(report)
    found = []
    moved = {gave.name for gave in report.relaxed if gave.element == "motion"}
    for part in layout.contacts:
        if part.name in moved:
            found.append(_motion_request(report, part, f"contact: {part.name}", -1, _motion_rank(report)))
    for part in layout.limits:
        level = next((k for k, names in enumerate(layout.level_limits) if part.name in names), -1)
        rank = len(layout.ladder) if level >= 0 else _rank(report, part.name)
        for i, element in zip(range(part.start, part.stop), part.elements, strict=True):
            if _gave_way(report)[i] > 0.0:
                row, label = slice(i, i + 1), limit_label(part.name, element)
                size = float(np.abs((G @ _answer(report))[i]))
                low, high = lower[row] - offset[row], upper[row] - offset[row]
                found.append(Request(label, G[row], low, high, size, level, rank, i))
    for level, part in report.strict_parts():
        if report.tasks[part.name].is_missed:
            found.append(_motion_request(report, part, f"task: {part.name}", level, len(layout.ladder)))
    return found


def _motion_request(report: Report, part: Part, label: str, level: int, rank: int) -> Request:
    """``A v̇ + b = 0`` in the directions that the pose allows and damping leaves."""
    p = report.problem
    A, b = p.A[part.rows], p.b[part.rows]
    size = float(np.abs(report.tasks[part.name].asked).max(initial=0.0)) if level >= 0 else float(np.abs(b).max())
    if level >= 0:
        split = report.split_of(level)
        first = p.layout.levels[level][0].start
        weak = split.weak_rows[part.start - first : part.stop - first]
        if weak.size:
            keep = null_space(weak.T).T
            A, b = keep @ A, keep @ b
    U, sigma, _ = np.linalg.svd(A, full_matrices=False)
    U = U[:, sigma > ABSENT * sigma.max(initial=1e-300)]
    lost = len(A) < part.stop - part.start or np.abs(b - U @ (U.T @ b)).max(initial=0.0) > CLASHES * (1.0 + size)
    A, b = U.T @ A, U.T @ b
    return Request(label, np.hstack([A, np.zeros((len(A), p.layout.nf))]), -b, -b, size, level, rank, lost=bool(lost))


def _answer(report: Report) -> Array:
    """x = [v̇; f] of the command."""
    return np.concatenate([report.vdot, report.contact_forces])


def _gave_way(report: Report) -> Array:
    solution = report.solution
    if solution is None or solution.relaxed is None:
        return np.zeros(report.problem.layout.n_in)
    return solution.relaxed


def _limit_rows(report: Report) -> tuple[Array, Array, Array, Array]:
    """All inequality rows ``lower ≤ G x + offset ≤ upper`` on x = [v̇; f]."""
    p, layout = report.problem, report.problem.layout
    nv, nf, actuated = layout.nv, layout.nf, layout.actuated
    G = np.vstack(
        [
            np.hstack([p.G, np.zeros((layout.n_acc, nf))]),
            np.hstack([np.zeros((layout.n_cone, nv)), p.G_wrench]),
            p.G_torque @ np.hstack([p.M[actuated], -p.J[:, actuated].T]),
        ]
    )
    offset = p.offset.copy()
    offset[layout.n_in - layout.n_tau :] += p.G_torque @ p.h[actuated]
    return G, offset, p.lower, p.upper


def _motion_rank(report: Report) -> int:
    """Rank of contact motion in the ladder."""
    return next((k for k, names in enumerate(report.problem.layout.ladder) if CONTACT_MOTION in names), -1)


def _rank(report: Report, limit: str) -> int:
    """Rank of a limit in the ladder; −1 for one that never gives way."""
    return next((k for k, names in enumerate(report.problem.layout.ladder) if limit in names), -1)


def _blame(report: Report, request: Request) -> Blame:
    fixed, rows = _fixed(report), _candidates(report, request)
    tolerance = CLASHES * (1.0 + request.size)
    names = list(dict.fromkeys(rows.names))
    least, felt = least_miss(fixed, rows, names, request.A, request.lower, request.upper)
    kept = [name for name in names if name in felt]
    if least > tolerance:
        # the support of a vertex's multipliers clashes; solve again only where it has lost that to rounding
        if least_miss(fixed, rows, kept, request.A, request.lower, request.upper)[0] <= tolerance:
            kept = names
        for name in sorted(kept, key=lambda name: felt.get(name, 0.0)):
            rest = [other for other in kept if other != name]
            if least_miss(fixed, rows, rest, request.A, request.lower, request.upper)[0] > tolerance:
                kept = rest
    else:
        kept = []
    alone: list[Needed] = []
    together: list[Needed] = []
    if least > tolerance:
        limits = [name for name in kept if name.startswith("limit: ")]
        for name in limits:
            alone += _needed(fixed, rows, request, [name], tolerance)
        if limits and not alone:
            every = [name for name in names if name.startswith("limit: ")]
            together = _needed(fixed, rows, request, every, tolerance)
        if not kept:
            kept = [NO_MOTOR]  # alone, the rows of a request that are left can always be met
    if request.lost and SINGULAR not in kept:
        kept.append(SINGULAR)
    return Blame(request.label, tuple(kept), least, tuple(alone), tuple(together))


def _needed(fixed: Rows, rows: Rows, request: Request, names: Sequence[str], tolerance: float) -> list[Needed]:
    """The least widening of these limits with which the request can be met, all other rows kept; empty for none."""
    found = least_widening(fixed, rows, names, request.A, request.lower - tolerance, request.upper + tolerance)
    return [Needed(name, bound, wider) for name, bound, wider in found]


def _fixed(report: Report) -> Rows:
    """What never gives way: the rows without a motor, and forces of contacts that do not stand."""
    p, layout = report.problem, report.problem.layout
    base = layout.unactuated
    absent = np.flatnonzero(p.active == 0.0)
    A = np.vstack(
        [
            np.hstack([p.M[base], -p.J[:, base].T]),
            np.hstack([np.zeros((len(absent), layout.nv)), np.eye(layout.nf)[absent]]),
        ]
    )
    b = np.concatenate([-p.h[base], np.zeros(len(absent))])
    return Rows(A, b, b, [""] * len(b), np.zeros(len(b)))


def _candidates(report: Report, request: Request) -> Rows:
    """All rows that need not give way to the request: where they stand, or where the command left them."""
    p, layout, x = report.problem, report.problem.layout, _answer(report)
    G, offset, lower, upper = _limit_rows(report)
    value = G @ x + offset
    room = ROOM * (1.0 + np.abs(value))
    # the command satisfies its rows to rounding; what gave way may stay where it is
    lower = np.where(value < lower + room, np.minimum(lower, value) - room, lower)
    upper = np.where(value > upper - room, np.maximum(upper, value) + room, upper)
    above: list[tuple[Array, float, float, float, str]] = []
    for part in layout.limits:
        level = next((k for k, listed in enumerate(layout.level_limits) if part.name in listed), -1)
        if _rank(report, part.name) > request.rank or level > request.level:
            continue
        for i, element in zip(range(part.start, part.stop), part.elements, strict=True):
            if i != request.own and (np.isfinite(lower[i]) or np.isfinite(upper[i])):
                above.append((G[i], lower[i], upper[i], offset[i], limit_label(part.name, element)))
    parts = [(k, f"task: {part.name}", part) for k, part in report.strict_parts() if k <= request.level]
    if _motion_rank(report) <= request.rank:
        parts += [(-1, f"contact: {part.name}", part) for part in layout.contacts if p.on[part.start]]
    there = p.A @ report.vdot
    for level, label, part in parts:
        if label == request.label:
            continue
        for i in range(part.start, part.stop):
            low = high = there[i]
            if level == request.level and level >= 0:  # beside it, not above it: no worse than it is
                low, high = min(low, -p.b[i]), max(high, -p.b[i])
            slack = ROOM * (1.0 + abs(there[i]))
            above.append((np.concatenate([p.A[i], np.zeros(layout.nf)]), low - slack, high + slack, 0.0, label))
    if not above:
        return Rows.none(len(x))
    A, low, high, offsets, names = zip(*above, strict=True)
    shift = np.array(offsets)
    return Rows(np.array(A), np.array(low) - shift, np.array(high) - shift, list(names), shift)
