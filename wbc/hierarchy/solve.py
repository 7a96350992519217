"""The order of events: closed form, exact shortcut, one QP in the free space, and the cascade of level QPs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wbc.checks import Array
from wbc.hierarchy import closed_form
from wbc.hierarchy.closed_form import ClosedForm, soft_cost
from wbc.hierarchy.gauss_coordinates import GaussRows, threshold_in
from wbc.hierarchy.ladder import forces_last, in_ranks
from wbc.hierarchy.level_qp import InfeasibleError, SolverFailedError
from wbc.hierarchy.lexicographic import FELT, Cascade
from wbc.hierarchy.one_qp import Moved, one_qp
from wbc.hierarchy.shortcut import BROKEN, INSIDE, INSIDE_TOLERANCE, OUTSIDE, WEAK, Shortcut
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
    found, shortcut = WEAK, None
    if method != "qp" and not problem.layout.n_force:
        shortcut = problem.workspace = problem.workspace or Shortcut(problem)
        found = shortcut.solve(problem, metric, threshold_in(problem, metric, sigma0))
        if found == INSIDE or (found == OUTSIDE and method == "closed_form"):
            closed = shortcut.closed(opened=False)
            return Solution(shortcut.vdot, shortcut.f, shortcut.torque, closed, shortcut.vdot)
        if found == BROKEN:
            raise np.linalg.LinAlgError("the metric is not positive definite")
    if shortcut is not None and found == OUTSIDE:
        moved = one_qp(problem, shortcut, solver)
        if moved is not None:
            return _from_one_qp(problem, shortcut, moved, solver)
        rows, closed = shortcut.rows(problem, metric), shortcut.closed(opened=True)
    else:
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
        n, r = closed.free.shape
        # not block_diag, which leaves 80 bytes behind at every call
        free = np.zeros((n + n_internal, r + n_internal))
        free[:n, :r] = closed.free
        free[n:, r:] = np.eye(n_internal)
        z = np.concatenate([closed.rest, np.zeros(n_internal)])
        everything = np.ones(len(G), dtype=bool)
        reduced = Cascade(z, free, G, lower.copy(), upper.copy(), solver, everything)
        try:
            reduced.gauss("gauss", *soft_cost(rows, closed.rest, closed.free))
            if n_internal:
                reduced.solve(forces_last(rows, reduced.z))
            return _from_cascade(problem, rows, closed, reduced, "qp")
        except (InfeasibleError, SolverFailedError):
            pass  # some strict level cannot be met under the limits, or the solver will be asked something easier
    return _from_cascade(problem, rows, closed, in_ranks(rows, closed, G, lower, upper, solver), "cascade")


def _from_one_qp(problem: Problem, shortcut: Shortcut, moved: Moved, solver: Solver) -> Solution:
    torque = problem.torque(moved.vdot, moved.f)
    clipped = _clip(problem, torque)
    held = moved.gauss > FELT * moved.gauss.max(initial=0.0), moved.forces > FELT * moved.forces.max(initial=0.0)
    level = np.where(held[0], 0, np.where(held[1], 1, -1))
    price = np.where(level == 0, moved.gauss, np.where(level == 1, moved.forces, 0.0))
    return Solution(
        moved.vdot, moved.f, torque, shortcut.closed(opened=False), shortcut.vdot, "qp", solver.name, price, level,
        ["gauss", "forces"], np.zeros(len(price)), iterations=moved.iterations, clipped=clipped,
    )  # fmt: skip


def _from_cascade(problem: Problem, rows: GaussRows, closed: ClosedForm, cascade: Cascade, route: str) -> Solution:
    solution = _solution(problem, rows, closed, cascade.z, route, cascade.solver)
    solution.price, solution.price_level, solution.levels = cascade.price, cascade.price_level, cascade.levels
    solution.relaxed, solution.iterations, solution.held_by = cascade.relaxed, cascade.iterations, cascade.held_by
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
