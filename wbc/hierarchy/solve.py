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
from wbc.hierarchy.one_qp import Moved, one_qp
from wbc.hierarchy.shortcut import BROKEN, INSIDE, INSIDE_TOLERANCE, WEAK, Shortcut
from wbc.hierarchy.weighting import weigh
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


@dataclass(slots=True, eq=False)
class Begun:
    """What the closed form decided of a tick, before a solver is asked.

    Attributes:
        solution: the whole solution, where no limit is active.
        threshold: of damping, in the coordinates of the metric.
        shortcut: its compiled workspace, where that decided; ``None`` where a level or the contacts need more care.
    """

    solution: Solution | None
    threshold: float
    shortcut: Shortcut | None


def begin(problem: Problem, method: Method, metric: Any, sigma0: float) -> Begun:
    """The compiled closed form, which is the solution of most ticks.

    Raises:
        LinAlgError: the metric is not positive definite.
    """
    threshold = threshold_in(problem, metric, sigma0)
    if problem.layout.weighted:
        weigh(problem, metric, threshold)
    if method == "qp" or problem.layout.n_force:
        return Begun(None, threshold, None)
    shortcut = problem.workspace = problem.workspace or Shortcut(problem)
    found = shortcut.solve(problem, metric, threshold)
    if found == BROKEN:
        raise np.linalg.LinAlgError("the metric is not positive definite")
    if found == WEAK:
        return Begun(None, threshold, None)
    if found == INSIDE or method == "closed_form":
        return Begun(_alone(problem, shortcut.at, shortcut.closed), threshold, shortcut)
    return Begun(None, threshold, shortcut)


def solve(
    problem: Problem, method: Method, metric: Any, sigma0: float, solver: Solver, begun: Begun | None = None
) -> Solution:
    """Solve one tick's problem.

    Rank and damping are decided once, in the closed form. If its solution satisfies every inequality it is the
    constrained optimum: optimal on a larger set, and feasible. Otherwise one QP in the directions that the strict
    levels leave free; where that has no solution some strict level or hard row cannot be met, and the levels are
    solved one after the other (:mod:`wbc.hierarchy.ladder`).

    Args:
        problem, method, metric, sigma0: this tick's rows and how they are to be solved.
        solver: who is asked where a limit is active.
        begun: what :func:`begin` found, where it was called before.

    Raises:
        SolverFailedError: no level QP could be solved.
    """
    begun = begin(problem, method, metric, sigma0) if begun is None else begun
    if begun.solution is not None:
        return begun.solution
    workspace, shortcut, rows, free = problem.workspace, begun.shortcut, None, None
    guess = None if workspace is None or method != "auto" else workspace.active
    if workspace is not None:
        workspace.active = None  # until this tick is solved
    if shortcut is not None:
        closed, at = shortcut.closed, shortcut.at
        free = shortcut.free(problem)
    if free is None:
        rows = GaussRows(problem, metric)
        closed = closed_form.solve(rows, begun.threshold)
        vdot = rows.acceleration(closed.y)
        f = rows.shared_forces(vdot)
        at = np.concatenate([vdot, f, problem.torque(vdot, f)])
        if method == "closed_form" or (method == "auto" and _inside(problem, at)):
            return _alone(problem, at, closed)
    alone = at[: problem.layout.nv]
    if method == "qp" and rows is not None and (rows.forces is None or not rows.forces.internal.shape[1]):
        answer, multipliers = whole_qp(rows, closed, solver)
        if answer.solved:
            price = np.abs(multipliers)
            vdot = rows.acceleration(answer.x)
            return _solution(
                problem, closed, alone, vdot, rows.contact_forces(vdot), "qp", solver, price=price,
                price_level=np.where(price > 0.0, 0, -1), levels=["gauss"], iterations=answer.iterations,
            )  # fmt: skip
    else:
        if free is None:
            assert rows is not None
            free = rows.free(rows.free_motion(closed.free))
        moved = one_qp(problem, at, free, solver, guess)
        if moved is not None:
            if workspace is not None:
                workspace.active = moved.side
            return _moved(problem, closed, alone, moved)
    # some strict level or hard row cannot be met under the limits, or the solver will be asked something easier
    if rows is None:
        assert shortcut is not None
        rows = shortcut.rows(problem, metric)
    cascade = in_ranks(rows, closed, solver)
    vdot = rows.acceleration(cascade.z[: rows.n])
    return _solution(
        problem, closed, alone, vdot, rows.contact_forces(vdot, cascade.z[rows.n :]), "cascade", solver,
        price=cascade.price, price_level=cascade.price_level, levels=cascade.levels, relaxed=cascade.relaxed,
        held_by=cascade.held_by, iterations=cascade.iterations,
    )  # fmt: skip


def _alone(problem: Problem, at: Array, closed: ClosedForm) -> Solution:
    """The closed form as it is."""
    vdot, f, torque = _parts(problem, at)
    return Solution(vdot, f, torque, closed, vdot)


def _moved(problem: Problem, closed: ClosedForm, alone: Array, moved: Moved) -> Solution:
    """The closed form, moved as far as the limits ask."""
    vdot, f, torque = _parts(problem, moved.out)
    return Solution(
        vdot, f, torque, closed, alone, "qp", moved.solver, moved.price, moved.level, ["gauss", "forces"],
        np.zeros(len(moved.price)), {}, moved.iterations, moved.clipped,
    )  # fmt: skip


def _parts(problem: Problem, at: Array) -> tuple[Array, Array, Array]:
    """v̇ (nv,), f (nf,) and torque (nu,), one behind the other."""
    nv, nf = problem.layout.nv, problem.layout.nf
    return at[:nv], at[nv : nv + nf], at[nv + nf :]


def _solution(
    problem: Problem, closed: ClosedForm, alone: Array, vdot: Array, f: Array, route: str, solver: Solver, **found: Any
) -> Solution:
    """A solver's answer, its torques put inside their limits where rounding or a loose solver left them outside."""
    torque = problem.torque(vdot, f)
    clipped = _clip(problem, torque)
    return Solution(vdot, f, torque, closed, alone, route, solver.name, clipped=clipped, **found)


def _clip(problem: Problem, torque: Array) -> float:
    """Put torques inside their limits where a row speaks of one torque alone; returns the largest change."""
    tau = slice(problem.layout.n_in - problem.layout.n_tau, problem.layout.n_in)
    clipped: float = limits.clip_torques(
        problem.G_torque, problem.offset[tau], problem.lower[tau], problem.upper[tau], torque
    )
    return clipped


def _inside(problem: Problem, at: Array) -> bool:
    """Whether a solution satisfies every inequality; a NaN anywhere does not."""
    if not problem.layout.n_in:
        return True
    values = problem.limit_values(*_parts(problem, at))
    room = np.minimum(values - problem.lower, problem.upper - values)
    return bool(room.min() >= -INSIDE_TOLERANCE)
