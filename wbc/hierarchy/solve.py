"""The order of events: closed form, exact shortcut, one QP in the free space, and the cascade of level QPs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from wbc.checks import Array
from wbc.hierarchy import closed_form
from wbc.hierarchy.closed_form import ClosedForm, soft_cost
from wbc.hierarchy.gauss_coordinates import GaussRows, threshold_in
from wbc.hierarchy.level_qp import Cascade, InfeasibleError, SolverFailedError
from wbc.hierarchy.whole_qp import whole_qp
from wbc.problem import Problem
from wbc.solvers import Solver

Method = Literal["auto", "closed_form", "qp"]

INSIDE = 5e-10  # a limit is kept when it is exceeded by no more than this


@dataclass(slots=True, eq=False)
class Solution:
    """What the hierarchy found, in arrays of its own.

    Attributes:
        vdot: accelerations (nv,).
        f: contact forces (nf,), in the axes of their surfaces.
        torque: (nu,).
        closed: the solution of the equalities alone, with what each level decided.
        vdot_alone: accelerations (nv,) of the equalities alone.
        route: ``"closed form"``, ``"qp"`` (one QP) or ``"cascade"`` (level after level).
        solver: name of the solver that was asked, empty where none was.
        price, price_level, levels: prices of the inequality rows and the level that each one holds back first.
        relaxed: by how much inequality rows gave way.
        iterations: of all solver calls.
        clipped: by how much the solver's answer left the torque limits before it was clipped.
    """

    vdot: Array
    f: Array
    torque: Array
    closed: ClosedForm
    vdot_alone: Array
    route: str = "closed form"
    solver: str = ""
    price: Array | None = None
    price_level: NDArray[np.intp] | None = None
    levels: list[str] = field(default_factory=list)
    relaxed: Array | None = None
    iterations: int = 0
    clipped: float = 0.0


def solve(problem: Problem, method: Method, metric: Any, sigma0: float, solver: Solver) -> Solution:
    """Solve one tick's problem.

    Rank and damping are decided once, in the closed form. If its solution satisfies every inequality it is the
    constrained optimum: optimal on a larger set, and feasible. Otherwise one QP in the directions that the strict
    levels leave free; where that has no solution some strict level cannot be met, and the levels are solved one after
    the other.

    Raises:
        SolverFailedError: no level QP could be solved.
    """
    rows = GaussRows(problem, metric)
    closed = closed_form.solve(rows, threshold_in(problem, metric, sigma0))
    if method != "qp":
        vdot = rows.acceleration(closed.y)
        f = rows.shared_forces(vdot)
        torque = problem.torque(vdot, f)
        if method == "closed_form" or _inside(problem, vdot, f, torque):
            return Solution(vdot, f, torque, closed, vdot)
    G, offset = rows.inequalities()
    lower, upper = problem.lower - offset, problem.upper - offset
    n_internal = G.shape[1] - rows.n
    if method == "qp" and not n_internal:
        answer, multipliers = whole_qp(rows, closed, G, lower, upper, solver)
        if answer.solved:
            solution = _solution(problem, rows, closed, answer.x, "qp", solver)
            solution.price = np.abs(multipliers)
            solution.price_level = np.where(solution.price > 0.0, 0, -1)
            solution.levels, solution.iterations = ["gauss"], answer.iterations
            return solution
    else:
        free = block_diag(closed.free, np.eye(n_internal))
        z = np.concatenate([closed.rest, np.zeros(n_internal)])
        reduced = Cascade(z, free, G, lower.copy(), upper.copy(), solver)
        try:
            reduced.gauss("gauss", *soft_cost(rows, closed.rest, closed.free))
            _forces_last(reduced, rows)
            return _from_cascade(problem, rows, closed, reduced, "qp")
        except (InfeasibleError, SolverFailedError):
            pass  # some strict level cannot be met under the limits, or the solver will be asked something easier
    n = rows.n + n_internal
    cascade = _cascade(problem, rows, closed, Cascade(np.zeros(n), np.eye(n), G, lower, upper, solver), n_internal)
    return _from_cascade(problem, rows, closed, cascade, "cascade")


def _cascade(problem: Problem, rows: GaussRows, closed: ClosedForm, cascade: Cascade, n_internal: int) -> Cascade:
    """Level after level under the limits; limits on accelerations give way where they clash with the others."""
    n_acc = problem.layout.n_acc
    for level, split in zip(rows.levels, closed.splits, strict=True):
        A, b = level.weighted()
        A = np.vstack([A.T, split.tikhonov])
        A = np.hstack([A, np.zeros((len(A), n_internal))])
        b = np.concatenate([b, np.zeros(len(split.tikhonov))])
        _with_limits_that_give_way(cascade, n_acc, partial(cascade.least_squares, level.label, A, b))
    A, b = np.eye(rows.n), np.zeros(rows.n)
    if rows.soft is not None:
        A_soft, b_soft = rows.soft.weighted()
        A, b = np.vstack([A, A_soft.T]), np.concatenate([b, b_soft])
    A = np.hstack([A, np.zeros((len(A), n_internal))])
    _with_limits_that_give_way(cascade, n_acc, partial(cascade.least_squares, "gauss", A, b))
    _forces_last(cascade, rows)
    return cascade


def _forces_last(cascade: Cascade, rows: GaussRows) -> None:
    """Share the load as f₀, R and the soft tasks on forces ask, under cones and torque limits, the motion untouched."""
    n_internal = len(cascade.z) - rows.n
    if n_internal:
        A, b = rows.force_rows(rows.acceleration(cascade.z[: rows.n]))
        cascade.least_squares("forces", np.hstack([np.zeros((len(A), rows.n)), A]), b)


def _with_limits_that_give_way(cascade: Cascade, n_acc: int, level: Callable[[], None]) -> None:
    try:
        level()
    except InfeasibleError:
        if cascade.feasible:
            raise SolverFailedError("a level found no room beside a point that satisfies all limits") from None
        cascade.levels.pop()
        try:
            cascade.least_violation("limits", np.arange(len(cascade.G)) < n_acc)
            level()
        except InfeasibleError:
            raise SolverFailedError("the limits have no common point even where those on motion give way") from None


def _from_cascade(problem: Problem, rows: GaussRows, closed: ClosedForm, cascade: Cascade, route: str) -> Solution:
    solution = _solution(problem, rows, closed, cascade.z, route, cascade.solver)
    solution.price, solution.price_level, solution.levels = cascade.price, cascade.price_level, cascade.levels
    solution.relaxed, solution.iterations = cascade.relaxed, cascade.iterations
    return solution


def _solution(problem: Problem, rows: GaussRows, closed: ClosedForm, z: Array, route: str, solver: Solver) -> Solution:
    """Torques of a QP's answer, put inside the torque limits where rounding or a loose solver left them outside."""
    vdot = rows.acceleration(z[: rows.n])
    f = rows.contact_forces(vdot, z[rows.n :])
    torque = problem.torque(vdot, f)
    clipped = _clip(problem, torque)
    return Solution(vdot, f, torque, closed, rows.acceleration(closed.y), route, solver.name, clipped=clipped)


def _clip(problem: Problem, torque: Array) -> float:
    """Put torques inside their limits where a row speaks of one torque alone; returns the largest change."""
    first = problem.layout.n_in - problem.layout.n_tau
    single = np.flatnonzero((problem.G_torque != 0.0).sum(axis=1) == 1)
    if not len(single):
        return 0.0
    joint = np.abs(problem.G_torque[single]).argmax(axis=1)
    factor = problem.G_torque[single, joint]
    ends = np.stack(
        [bound[first + single] - problem.offset[first + single] for bound in (problem.lower, problem.upper)]
    )
    ends = np.sort(ends / factor, axis=0)
    inside = torque.copy()
    np.maximum.at(inside, joint, ends[0])
    np.minimum.at(inside, joint, ends[1])
    clipped = float(np.abs(torque - inside).max())
    torque[:] = inside
    return clipped


def _inside(problem: Problem, vdot: Array, f: Array, torque: Array) -> bool:
    """Whether a solution satisfies every inequality; a NaN anywhere does not."""
    if not problem.layout.n_in:
        return True
    values = problem.limit_values(vdot, f, torque)
    room = np.minimum(values - problem.lower, problem.upper - values)
    return bool(room.min() >= -INSIDE)
