"""The order of events: closed form, exact shortcut, one QP in the free space, and the cascade of level QPs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wbc.checks import Array
from wbc.hierarchy import closed_form
from wbc.hierarchy.closed_form import ClosedForm
from wbc.hierarchy.gauss_coordinates import GaussRows, threshold_in
from wbc.hierarchy.ladder import in_ranks
from wbc.hierarchy.lexicographic import FELT
from wbc.hierarchy.one_qp import Moved, Point, one_qp
from wbc.hierarchy.shortcut import BROKEN, INSIDE, INSIDE_TOLERANCE, WEAK, Shortcut
from wbc.hierarchy.whole_qp import whole_qp
from wbc.kernels import limits
from wbc.problem import Problem
from wbc.solvers import Solver

Method = Literal["auto", "closed_form", "qp"]


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
        held_by: the inequality rows that held each level back, by its label.
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
    held_by: dict[str, NDArray[np.intp]] = field(default_factory=dict)
    iterations: int = 0
    clipped: float = 0.0


def solve(problem: Problem, method: Method, metric: Any, sigma0: float, solver: Solver) -> Solution:
    """Solve one tick's problem.

    Rank and damping are decided once, in the closed form. If its solution satisfies every inequality it is the
    constrained optimum: optimal on a larger set, and feasible. Otherwise one QP in the directions that the strict
    levels leave free; where that has no solution some strict level or hard row cannot be met, and the levels are
    solved one after the other (:mod:`wbc.hierarchy.ladder`).

    Raises:
        SolverFailedError: no level QP could be solved.
    """
    threshold = threshold_in(problem, metric, sigma0)
    found, shortcut = WEAK, None
    if method != "qp" and not problem.layout.n_force:
        shortcut = problem.workspace = problem.workspace or Shortcut(problem)
        found = shortcut.solve(problem, metric, threshold)
        if found == BROKEN:
            raise np.linalg.LinAlgError("the metric is not positive definite")
    if shortcut is not None and found != WEAK:
        closed, at = shortcut.closed, Point(shortcut.vdot, shortcut.f, shortcut.torque)
        if found == INSIDE or method == "closed_form":
            return Solution(at.vdot, at.f, at.torque, closed, at.vdot)
        rows, free = shortcut.rows(problem, metric), shortcut.free
    else:
        rows = GaussRows(problem, metric)
        closed = closed_form.solve(rows, threshold)
        vdot = rows.acceleration(closed.y)
        f = rows.shared_forces(vdot)
        at, free = Point(vdot, f, problem.torque(vdot, f)), closed.free
        if method == "closed_form" or (method == "auto" and _inside(problem, vdot, f, at.torque)):
            return Solution(at.vdot, at.f, at.torque, closed, at.vdot)
    if method == "qp" and (rows.forces is None or not rows.forces.internal.shape[1]):
        answer, multipliers = whole_qp(rows, closed, solver)
        if answer.solved:
            price = np.abs(multipliers)
            vdot = rows.acceleration(answer.x)
            return _solution(
                problem, closed, at, vdot, rows.contact_forces(vdot), "qp", solver, price=price,
                price_level=np.where(price > 0.0, 0, -1), levels=["gauss"], iterations=answer.iterations,
            )  # fmt: skip
    else:
        moved = one_qp(rows, at, rows.free_motion(free), solver)
        if moved is not None:
            return _from_one_qp(problem, closed, at, moved, solver)
    # some strict level or hard row cannot be met under the limits, or the solver will be asked something easier
    cascade = in_ranks(rows, closed, solver)
    vdot = rows.acceleration(cascade.z[: rows.n])
    return _solution(
        problem, closed, at, vdot, rows.contact_forces(vdot, cascade.z[rows.n :]), "cascade", solver,
        price=cascade.price, price_level=cascade.price_level, levels=cascade.levels, relaxed=cascade.relaxed,
        held_by=cascade.held_by, iterations=cascade.iterations,
    )  # fmt: skip


def _from_one_qp(problem: Problem, closed: ClosedForm, at: Point, moved: Moved, solver: Solver) -> Solution:
    """A row's price is that of the first level that it holds back."""
    held = moved.gauss > FELT * moved.gauss.max(initial=0.0), moved.forces > FELT * moved.forces.max(initial=0.0)
    level = np.where(held[0], 0, np.where(held[1], 1, -1))
    price = np.where(level == 0, moved.gauss, np.where(level == 1, moved.forces, 0.0))
    return _solution(
        problem, closed, at, moved.vdot, moved.f, "qp", solver, price=price, price_level=level,
        levels=["gauss", "forces"], relaxed=np.zeros(len(price)), iterations=moved.iterations,
    )  # fmt: skip


def _solution(
    problem: Problem, closed: ClosedForm, at: Point, vdot: Array, f: Array, route: str, solver: Solver, **found: Any
) -> Solution:
    """A solver's answer, its torques put inside their limits where rounding or a loose solver left them outside."""
    torque = problem.torque(vdot, f)
    clipped = _clip(problem, torque)
    return Solution(vdot, f, torque, closed, at.vdot, route, solver.name, clipped=clipped, **found)


def _clip(problem: Problem, torque: Array) -> float:
    """Put torques inside their limits where a row speaks of one torque alone; returns the largest change."""
    tau = slice(problem.layout.n_in - problem.layout.n_tau, problem.layout.n_in)
    clipped: float = limits.clip_torques(
        problem.G_torque, problem.offset[tau], problem.lower[tau], problem.upper[tau], torque
    )
    return clipped


def _inside(problem: Problem, vdot: Array, f: Array, torque: Array) -> bool:
    """Whether a solution satisfies every inequality; a NaN anywhere does not."""
    if not problem.layout.n_in:
        return True
    values = problem.limit_values(vdot, f, torque)
    room = np.minimum(values - problem.lower, problem.upper - values)
    return bool(room.min() >= -INSIDE_TOLERANCE)
