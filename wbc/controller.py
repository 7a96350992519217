"""Controller: one tick, from a state to a command."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from wbc import checks, hierarchy, kernels
from wbc.activation import Activation
from wbc.assembly import Assembler
from wbc.black_box import BlackBox
from wbc.checks import Array
from wbc.circumstances import Circumstances, Moment
from wbc.clock import ClockCheck
from wbc.errors import InputError, StackError
from wbc.fallback import gravity_compensation
from wbc.hierarchy.damping import threshold
from wbc.hierarchy.gauss_coordinates import METRICS
from wbc.problem import Problem
from wbc.report import Report
from wbc.robot import Robot
from wbc.solvers import make_solver
from wbc.stack import Stack
from wbc.state import State
from wbc.terms import Terms

METHODS = ("auto", "closed_form", "qp")
GRAVITY = ("included", "excluded")


@dataclass(frozen=True, slots=True, eq=False)
class Command:
    """What one tick decided.

    Attributes:
        torque: (nu,) [N m, N] in the order of ``robot.joint_names``.
        acceleration: (nv,) that the torque gives [rad/s², m/s²].
        report: what each task asked and got, which limits are active, and why something is missing.
    """

    torque: Array
    acceleration: Array
    report: Report

    @property
    def wrenches(self) -> dict[str, Array]:
        """Contact name -> force (3,), or force and moment (6,), that the ground applies: world axes, frame's origin."""
        return {name: wrench.copy() for name, wrench in self.report.wrenches.items()}


class Controller:
    """Turns a robot's state into joint torques that do what a stack asks.

    Args:
        robot: the robot.
        stack: what it shall do.
        dt: control period [s], the one place where it is said.
        method: ``"auto"`` (closed form, QP when a limit is active), ``"closed_form"`` (no limits allowed) or ``"qp"``
            (always through the solver, and its answer as it is).
        solver: ``"daqp"``, ``"proxqp"``, ``"osqp"``, or any name that qpsolvers knows.
        metric: ``"inertia"`` (Gauss, operational space control), ``"identity"`` (resolved acceleration),
            ``"inertia_squared"`` (least torque), or a positive definite matrix (nv, nv).
        gravity: ``"included"`` in the torque, or ``"excluded"`` where the robot's own firmware adds g(q). Torque limits
            are those of the motors, gravity included, in both cases.
        ladder: what gives way where hard rows clash, in ranks, the first of which yields last: names of limits,
            ``"contact motion"`` and ``"minimum force"``, alone or in tuples that share a rank. Contact motion, then
            minimum forces and limits where left out; what is not named yields after all that is. Cones and torque
            limits never yield.
        black_box: folder where the last 200 ticks are written when one of them ends in a fallback, to
            ``wbc explain``; see :mod:`wbc.black_box`.

    Raises:
        UnknownNameError: a frame, method, solver or metric that does not exist.
        NotInstalledError: the solver is not installed.
        StackError: ``"closed_form"`` with limits in the stack.
        InputError: an argument that cannot be meant, or a task whose rows do not fit the robot.
    """

    def __init__(
        self,
        robot: Robot,
        stack: Stack,
        *,
        dt: float = 0.001,
        method: hierarchy.Method = "auto",
        solver: str = "daqp",
        metric: Any = "inertia",
        gravity: str = "included",
        ladder: Any = None,
        black_box: str | Path | None = None,
    ) -> None:
        if not isinstance(robot, Robot):
            raise InputError(f"robot: expected a Robot, such as load('panda'), got {robot!r}")
        if not isinstance(stack, Stack):
            raise InputError(f"stack: expected a Stack, got {stack!r}")
        kernels.load()
        self.robot, self.stack = robot, stack
        self.dt = checks.scalar(dt, "dt", lower=0.0, strict=True)
        self.method: Any = checks.choice(method, METHODS, "method")
        self.gravity = checks.choice(gravity, GRAVITY, "gravity")
        self.metric = _metric(metric, robot.nv)
        self._solver = make_solver(solver)
        self._backup = make_solver("nnls" if self._solver.name == "daqp" else "daqp")
        trial = Terms(robot, self.dt)
        trial.update(State(robot.home, np.zeros(robot.nv)))
        self._assembler = Assembler(robot, stack, trial, ladder)
        limits = [limit.name for limit in stack.all_limits]
        if method == "closed_form" and self._assembler.layout.n_in:
            raise StackError(
                f"method 'closed_form' has no room for inequalities, and the stack has the limits {limits}; "
                "leave them out, or use method='auto'"
            )
        self._terms = Terms(robot, self.dt)
        self._terms.write_to(self._assembler.problem.M, self._assembler.problem.h)
        self._sigma0 = threshold(robot.mass)
        self._clock = ClockCheck(self.dt)
        nominal = tuple(task.name for task in stack.nominal)
        self._circumstances = Circumstances(
            robot.name,
            robot.joint_names,
            robot.velocity_names,
            nominal,
            self.dt,
            method,
            self.solver,
            self.metric,
            self._sigma0,
        )
        self._activation = Activation(stack, self._assembler.layout, self.dt, robot.weight)
        self.black_box = None if black_box is None else BlackBox(black_box)
        self._last: Command | None = None
        self._last_forces: Array | None = None

    @property
    def solver(self) -> str:
        """Name of the solver."""
        return self._solver.name

    def tick(self, state: State) -> Command:
        """One control tick.

        Args:
            state: measured configuration and velocity.

        Returns:
            A finite command, inside the torque limits where the stack has them; a hard problem never raises.

        Raises:
            InputError: the state does not fit the robot.
        """
        started = time.perf_counter_ns()
        terms = self._terms
        terms.update(state)
        self._clock.see(terms)
        self._activation.step(terms, self._last_forces)
        problem = self._assembler.assemble(terms, self._activation)
        solution, trouble, share = self._solve_present(problem)
        if solution is None:
            torque, vdot = gravity_compensation(terms)
        else:
            torque, vdot = solution.torque, solution.vdot
        moment = Moment(state.q.copy(), state.v.copy(), torque, vdot, share)
        report = Report(problem, solution, self._circumstances, moment, trouble, started)
        if self.black_box is not None:
            self.black_box.see(report)
        if self.gravity == "excluded":
            torque = torque - terms.gravity()[self.robot.actuated]
        self._last_forces = None if solution is None else solution.f
        # copies: what a user does to a command must not reach the report, which is computed when it is read
        self._last = Command(torque.copy(), vdot.copy(), report)
        return self._last

    def errors(self) -> dict[str, Array]:
        """Error (reference minus measured) of each motion task at the last tick, all rows [m, rad]."""
        return {name: error.copy() for name, error in self._terms.errors.items()}

    def as_qp(self) -> Any:
        """The last tick as one unreduced ``qpsolvers.Problem`` in x = [v̇; f]; see :func:`wbc.unreduced.as_qp`.

        Raises:
            InputError: there was no tick yet, or the last one had no solution.
        """
        from wbc.unreduced import as_qp

        if self._last is None or self._last.report.solution is None:
            raise InputError("as_qp: there is no solved tick yet; call tick(State(q, v)) first")
        return as_qp(self._last.report.problem, self._last.report.solution, self.metric)

    def reset(self) -> None:
        """Forget held targets and warm starts, as if the controller were new."""
        self._terms.release()
        self._solver.reset()
        self._backup.reset()
        self._clock = ClockCheck(self.dt)
        self._activation = Activation(self.stack, self._assembler.layout, self.dt, self.robot.weight)
        self._last = self._last_forces = None
        if self.black_box is not None:
            self.black_box.forget()

    def _solve_present(self, problem: Problem) -> tuple[hierarchy.Solution | None, str, float]:
        """Solve with and without every part that is fading, and mix.

        The report speaks of the one that counts most, whose rows stand in the problem afterwards and whose share is
        returned.
        """
        if self._activation.untouched:
            return *self._solve(problem), 1.0
        mixed, trouble, heaviest, rows = None, "", 0.0, problem.record
        vdot, f, torque = (np.zeros(size) for size in (self.robot.nv, self._assembler.layout.nf, self.robot.nu))
        for share in self._activation.variants(problem):
            solution, trouble = self._solve(problem)
            if solution is None or share == 1.0:
                return solution, trouble, 1.0
            vdot, f, torque = vdot + share * solution.vdot, f + share * solution.f, torque + share * solution.torque
            if share > heaviest:
                mixed, heaviest, rows = solution, share, problem.record.copy()
        if mixed is not None:
            problem.record[:] = rows
            mixed = replace(mixed, vdot=vdot, f=f, torque=torque)
        return mixed, trouble, heaviest

    def _solve(self, problem: Any) -> tuple[hierarchy.Solution | None, str]:
        """The solution, or the reason in words why there is none."""
        trouble = ""
        for solver in (self._solver, self._backup):
            try:
                solution = hierarchy.solve(problem, self.method, self.metric, self._sigma0, solver)
                if np.isfinite(solution.torque.sum()):
                    return solution, trouble
                trouble = f"{solver.name}: the torque is not finite"
            except (hierarchy.InfeasibleError, hierarchy.SolverFailedError, np.linalg.LinAlgError) as error:
                trouble = f"{solver.name}: {error or 'no point satisfies the limits'}"
            solver.reset()  # whatever it kept may be what failed
        return None, trouble


def _metric(metric: Any, nv: int) -> Any:
    if isinstance(metric, str):
        return checks.choice(metric, METRICS, "metric")
    return checks.positive_definite(metric, "metric", nv)
