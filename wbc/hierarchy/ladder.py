"""The ladder: what must hold, what gives way and in which order, then the strict levels, Gauss and the forces."""

from __future__ import annotations

import numpy as np

from wbc.checks import Array
from wbc.hierarchy.closed_form import ClosedForm
from wbc.hierarchy.gauss_coordinates import GaussRows
from wbc.hierarchy.level_qp import InfeasibleError, SolverFailedError
from wbc.hierarchy.lexicographic import Cascade, Indices, Level
from wbc.layout import CONTACT_MOTION, MINIMUM_FORCE
from wbc.solvers import Solver


def in_ranks(rows: GaussRows, closed: ClosedForm, solver: Solver) -> Cascade:
    """Solve level after level under the limits.

    Dynamics, cones and motors always have a common point: contacts without force. First everything that the ladder
    ranks is asked for at once, which one feasibility problem answers; where it clashes, rank after rank, each with
    least violation before the next is looked at.

    Args:
        rows, closed: the problem in Gauss coordinates, and what the closed form decided (rank and damping).
        solver: who solves the QPs.

    Raises:
        SolverFailedError: a level could not be solved.
    """
    layout = rows.problem.layout
    G, offset = rows.inequalities()
    lower, upper = rows.problem.lower - offset, rows.problem.upper - offset
    of_limit = {part.name: np.arange(part.start, part.stop) for part in layout.limits}
    asked = [_rows_of(names, of_limit) for names in layout.level_limits]
    levels = _levels(rows, closed, G.shape[1] - rows.n, asked, of_limit)
    free, z = np.eye(G.shape[1]), np.zeros(G.shape[1])

    enforced = np.ones(len(G), dtype=bool)
    for indices in asked:
        enforced[indices] = False
    cascade = Cascade(z, free, G, lower.copy(), upper.copy(), solver, enforced)
    try:
        hard = [level for level in levels if level.label in ("dynamics", "contacts")]
        if all(cascade.meet(level) for level in hard):
            return _the_rest(rows, cascade, levels[len(hard) :])
    except (InfeasibleError, SolverFailedError):
        pass

    cones = [of_limit[f"contact {part.name}"] for part in layout.contacts]
    normal_forces = np.array([cone[-1] for cone in cones if len(cone)], dtype=np.intp)
    minima = normal_forces[rows.problem.lower[normal_forces] > 0.0]
    ranks = [_rank(names, of_limit, len(G), minima) for names in layout.ladder]
    enforced = np.ones(len(G) + len(minima), dtype=bool)
    for indices in (*asked, *ranks):
        enforced[indices] = False
    lower = np.concatenate([lower, lower[minima]])
    upper = np.concatenate([upper, np.full(len(minima), np.inf)])
    lower[minima] -= rows.problem.lower[minima]  # the cone's own bound is zero; what is above it was asked for
    cascade = Cascade(z, free, np.vstack([G, G[minima]]), lower, upper, solver, enforced)
    by_label = {level.label: level for level in levels}
    try:
        if "dynamics" in by_label:
            cascade.solve(by_label["dynamics"])
        for k, (names, indices) in enumerate(zip(layout.ladder, ranks, strict=True)):
            motion = by_label.get("contacts") if CONTACT_MOTION in names else None
            label = "contacts" if motion else "limits" if k == len(ranks) - 1 else f"limits {k + 1}"
            A, b = (motion.A, motion.b) if motion else (np.zeros((0, len(z))), np.zeros(0))
            if motion or len(indices):
                cascade.solve(Level(label, A, b, indices))
        _the_rest(rows, cascade, [level for level in levels if level.label not in ("dynamics", "contacts")])
    except InfeasibleError:
        raise SolverFailedError("a level found no room beside a point that satisfies all hard rows") from None
    return _folded(cascade, len(G), minima)


def forces_last(rows: GaussRows, z: Array) -> Level:
    """Share the load as f₀, R and the soft tasks on forces ask, under cones and torque limits, the motion untouched."""
    A, b = rows.force_rows(rows.acceleration(z[: rows.n]))
    return Level("forces", np.hstack([np.zeros((len(A), rows.n)), A]), b)


def _the_rest(rows: GaussRows, cascade: Cascade, levels: list[Level]) -> Cascade:
    for level in levels:
        cascade.solve(level)
    if len(cascade.z) > rows.n:
        cascade.solve(forces_last(rows, cascade.z))
    return cascade


def _levels(
    rows: GaussRows, closed: ClosedForm, n_internal: int, asked: list[Indices], of_limit: dict[str, Indices]
) -> list[Level]:
    """Dynamics, contact motion, strict levels with their damping and limits, and Gauss with the soft tasks, on z."""
    layout = rows.problem.layout
    weights = np.ones(layout.n_in)
    for part in layout.limits:
        weights[part.rows] = part.weight
    levels = []
    for one, split in zip(rows.levels, closed.splits, strict=True):
        At, b = one.weighted()
        A = np.vstack([At.T, split.tikhonov])
        levels.append(Level(one.label, A, np.concatenate([b, np.zeros(len(split.tikhonov))])))
    for level, indices in zip(levels[len(levels) - len(asked) :], asked, strict=True):
        level.asked, level.root_weights = indices, np.sqrt(weights[indices])
    A, b = np.eye(rows.n), np.zeros(rows.n)
    if rows.soft is not None:
        A_soft, b_soft = rows.soft.weighted()
        A, b = np.vstack([A, A_soft.T]), np.concatenate([b, b_soft])
    levels.append(Level("gauss", A, b))
    for level in levels:
        level.A = np.hstack([level.A, np.zeros((len(level.A), n_internal))])
    return levels


def _rows_of(names: tuple[str, ...], of_limit: dict[str, Indices]) -> Indices:
    return np.concatenate([np.zeros(0, dtype=np.intp), *(of_limit[name] for name in names)])


def _rank(names: tuple[str, ...], of_limit: dict[str, Indices], first: int, minima: Indices) -> Indices:
    """The inequality rows of a rank; rows of minimum forces stand behind all others."""
    limits = _rows_of(tuple(name for name in names if name not in (CONTACT_MOTION, MINIMUM_FORCE)), of_limit)
    return np.concatenate([limits, np.arange(first, first + len(minima))]) if MINIMUM_FORCE in names else limits


def _folded(cascade: Cascade, m: int, minima: Indices) -> Cascade:
    """What was found for the rows of minimum forces, noted at the cones' own rows."""
    for extra, row in enumerate(minima, start=m):
        if cascade.price_level[extra] >= 0 and cascade.price_level[row] < 0:
            cascade.price[row], cascade.price_level[row] = cascade.price[extra], cascade.price_level[extra]
        cascade.relaxed[row] = max(cascade.relaxed[row], cascade.relaxed[extra])
    cascade.price, cascade.relaxed = cascade.price[:m], cascade.relaxed[:m]
    cascade.price_level = cascade.price_level[:m]
    cascade.held_by = {label: held[held < m] for label, held in cascade.held_by.items()}
    return cascade
