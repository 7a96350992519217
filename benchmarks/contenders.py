"""Who is measured: a controller's tick, and the unreduced QP through qpsolvers; and the truth that judges both."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import qpsolvers
from qpsolvers.exceptions import QPError
from scipy.sparse import csc_matrix

from wbc import Controller
from wbc.benchmarks.scene import DT, Moment, Setting
from wbc.checks import Array
from wbc.problem import Problem
from wbc.solvers.through_qpsolvers import SETTINGS

MET = 1e-6  # a strict residual below this, relative to what is asked, means that the task can be met


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """What is right at one moment.

    Attributes:
        torque: the closed form's where no limit is active, else that of the exact route, polished on its active set.
        strict: values (k,) of the strict rows ``A v̇`` that are right: −b, or what can be reached where that cannot.
        problem: the rows, limits included.
        qp: the unreduced QP; build_ns: the time that building it took.
        active, conflict: whether a limit is active, and whether a strict task has to give way.
    """

    torque: Array
    strict: Array
    problem: Problem
    qp: Any
    build_ns: int
    active: bool
    conflict: bool


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """One measured tick; ``torque`` is ``None`` where the contender's own solver gave no answer."""

    total_ns: int
    build_ns: int
    torque: Array | None
    x: Array  # v̇, and contact forces in the axes of their surfaces


class Contender(Protocol):
    """Somebody who finds torques."""

    method: str
    solver: str

    def run(self, moment: Moment, truth: Truth) -> Outcome:
        """Find the torques of one moment, and measure it."""


class Judge:
    """Finds the truth of each moment, unmeasured, by the closed form and by the exact route."""

    def __init__(self, setting: Setting, metric: str, case: str) -> None:
        robot, self._limited, self._alone = setting.robot, setting.scene(limited=True), setting.scene(limited=False)
        self._exact = Controller(robot, self._limited.stack, metric=metric, dt=DT)
        alone = self._alone.stack
        self._closed = Controller(robot, alone, method="closed_form", metric=metric, dt=DT) if case == "idle" else None

    def see(self, moment: Moment) -> Truth | None:
        """The truth of one moment; ``None`` where the exact route itself found no solution."""
        self._limited.take(moment)
        self._alone.take(moment)
        command = self._exact.tick(moment.state)
        report = command.report
        if report.solution is None:
            return None
        problem = report.problem
        started = time.perf_counter_ns()
        qp = self._exact.as_qp()
        build_ns = time.perf_counter_ns() - started
        strict = slice(0, problem.layout.soft_rows.start)
        asked, got = -problem.b[strict], problem.A[strict] @ command.acceleration
        met = np.abs(asked - got).max() <= MET * (1.0 + np.abs(asked).max())
        active = report.route != "closed form"
        torque = command.torque if active or self._closed is None else self._closed.tick(moment.state).torque
        return Truth(torque, asked if met else got, problem, qp, build_ns, active, not met)


class Tick:
    """A controller; what is measured is exactly ``controller.tick(state)``."""

    def __init__(self, setting: Setting, metric: str, method: str, solver: str) -> None:
        self.method, self.solver = method, solver
        self._scene = setting.scene(limited=method != "closed_form")
        named = "daqp" if solver == "none" else solver
        chosen: Any = method
        self._controller = Controller(
            setting.robot, self._scene.stack, method=chosen, solver=named, metric=metric, dt=DT
        )

    def run(self, moment: Moment, truth: Truth) -> Outcome:
        """One tick. An answer of the backup solver is nobody's merit: it counts as failed."""
        self._scene.take(moment)
        state, tick = moment.state, self._controller.tick
        started = time.perf_counter_ns()
        command = tick(state)
        total = time.perf_counter_ns() - started
        report = command.report
        lost = report.solution is None or bool(report.trouble) or (report.route == "cascade" and not truth.conflict)
        f = np.zeros(0) if report.solution is None else report.solution.f
        return Outcome(total, 0, None if lost else command.torque, np.concatenate([command.acceleration, f]))


class Unreduced:
    """``controller.as_qp()`` of a tick that is already solved, built and handed to qpsolvers.

    Measured: building (with the conversion to a sparse form for solvers that want one) and solving. Not in it:
    dynamics, task rows, and the strict values that the equalities need, which somebody must have found before.
    """

    method = "unreduced"

    def __init__(self, solver: str) -> None:
        self.solver = solver
        self._sparse = solver in qpsolvers.sparse_solvers and solver not in qpsolvers.dense_solvers
        self._settings = SETTINGS.get(solver, {})

    def run(self, moment: Moment, truth: Truth) -> Outcome:
        """Solve the QP of one moment."""
        started = time.perf_counter_ns()
        problem = _sparse(truth.qp) if self._sparse else truth.qp
        built = time.perf_counter_ns()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                solution = qpsolvers.solve_problem(problem, self.solver, **self._settings)
            x = solution.x if solution.found else None
        except (QPError, ValueError, ArithmeticError, AssertionError, RuntimeError):
            x = None
        total = time.perf_counter_ns() - started + truth.build_ns
        build = built - started + truth.build_ns
        if x is None or not np.isfinite(x).all():
            return Outcome(total, build, None, np.zeros(0))
        nv = truth.problem.layout.nv
        return Outcome(total, build, truth.problem.torque(x[:nv], x[nv:]), x)


def _sparse(problem: Any) -> Any:
    P, q, G, h, A, b, lower, upper = problem.unpack()
    return qpsolvers.Problem(
        csc_matrix(P), q, None if G is None else csc_matrix(G), h, None if A is None else csc_matrix(A), b, lower, upper
    )
