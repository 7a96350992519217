"""Controller: one tick, from a state to a command."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from wbc import checks, hierarchy, kernels
from wbc.activation import Activation
from wbc.assembly import Assembler
from wbc.black_box import BlackBox
from wbc.by_name import ByName
from wbc.checks import Array
from wbc.circumstances import Circumstances, Moment
from wbc.clock import ClockCheck
from wbc.errors import InputError, StackError
from wbc.fallback import STOP, Fallback, bad_entry, bad_row
from wbc.hierarchy.damping import threshold
from wbc.hierarchy.gauss_coordinates import METRICS
from wbc.problem import Problem
from wbc.report import Report
from wbc.robot import Robot
from wbc.solvers import Solver
from wbc.solvers.in_turn import InTurn
from wbc.stack import Stack
from wbc.state import State
from wbc.terms import Terms

METHODS = ("auto", "closed_form", "qp")
GRAVITY = ("included", "excluded")
ON_BAD_STATE = ("raise", "fallback")


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
        copies = {name: wrench.copy() for name, wrench in self.report.wrenches.items()}
        return ByName(copies, "contact", "the command")


class Controller:
    """Turns a robot's state into joint torques that do what a stack asks.

    On a robot, tick inside ``with wbc.realtime():``, which turns on what keeps a loop on time; see :mod:`wbc.realtime`.
    After its first ticks a controller leaves no garbage and allocates no further memory.

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
        deadline: time a tick may take [s]. A later command is still used, and flagged ``report.deadline_missed``; a
            solver whose own calls took longer is left out for the next 100 ticks, and gets no further call after ten
            deadlines. No bound on time where left out.
        most_stale: for how many ticks the last good command is held when no solver answers, before gravity compensation
            with damping takes over; 0 to brake at once. See :mod:`wbc.fallback`.
        on_bad_state: what a NaN, an inf or a quaternion without unit norm in the state does: ``"raise"`` an error that
            names the entry, or ``"fallback"``: the last good command is held, then gravity compensation at the last
            good state (at home, where there was none). Make such states with :meth:`State.unchecked`.
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
        deadline: float | None = None,
        most_stale: int = 10,
        on_bad_state: str = "raise",
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
        self.deadline = None if deadline is None else checks.scalar(deadline, "deadline", lower=0.0, strict=True)
        self.on_bad_state = checks.choice(on_bad_state, ON_BAD_STATE, "on_bad_state")
        self._fallback = Fallback(checks.count(most_stale, "most_stale"))
        self._solvers = InTurn(solver, self.deadline)
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
        self._assembler.attach(self._terms)
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
        self._activation = self._fresh_activation()
        self.black_box = None if black_box is None else BlackBox(black_box)
        self._last: Command | None = None
        self._last_forces: Array | None = None

    @property
    def solver(self) -> str:
        """Name of the solver."""
        return self._solvers.first.name

    @property
    def failures(self) -> int:
        """Consecutive ticks without a usable solution, up to the last one; the first good tick sets it to zero."""
        return self._fallback.failures

    @property
    def most_stale(self) -> int:
        """For how many ticks the last good command is held."""
        return self._fallback.most_stale

    def tick(self, state: State) -> Command:
        """One control tick.

        Args:
            state: measured configuration and velocity.

        Returns:
            A finite command, inside the torque limits where the stack has them; a hard problem never raises. Whatever
            goes wrong in a solver is answered in this order: the second solver, the last good command held for
            ``most_stale`` ticks, gravity compensation with damping.

        Raises:
            InputError: the state does not fit the robot, or is not finite (see ``on_bad_state``).
            Exception: what a task of the user's own raises: that is a mistake in a program, and is not hidden.
        """
        started = time.perf_counter_ns()
        self._solvers.next_tick()
        terms = self._terms
        try:
            terms.update(state)
        except InputError as error:
            return self._without_state(state, error, started)
        self._clock.see(terms)
        self._activation.step(terms, self._last_forces)
        problem = self._assembler.assemble(self._activation)
        solution, trouble, share = self._solve_present(problem)
        if solution is None:
            return self._rescued(trouble, started)
        torque, vdot = solution.torque, solution.vdot
        self._fallback.good(torque, solution.f)
        moment = Moment(state.q.copy(), state.v.copy(), torque, vdot, share, self._activation.jumped)
        report = Report(problem, solution, self._circumstances, moment, trouble, started)
        self._last_forces = solution.f
        return self._sent(report)

    def _sent(self, report: Report) -> Command:
        """The command of a report; what a tick ends with."""
        if self.deadline is not None and report.time_us > 1e6 * self.deadline:
            report.deadline_missed = True
        if self.black_box is not None:
            self.black_box.see(report)
        torque = report.moment.torque
        if self.gravity == "excluded":
            torque = torque - self._terms.gravity()[self.robot.actuated]
        # copies: what a user does to a command must not reach the report, which is computed when it is read
        self._last = Command(torque.copy(), report.vdot.copy(), report)
        return self._last

    def _rescued(self, trouble: str, started: int, *, moving: bool = True) -> Command:
        """The command of a tick without a solution, at the last good state."""
        terms, problem = self._terms, self._assembler.problem
        rescue = self._fallback.rescue(terms, problem, moving=moving)
        self._last_forces = None
        moment = Moment(terms.q.copy(), terms.v.copy(), rescue.torque, rescue.vdot)
        report = Report(problem, None, self._circumstances, moment, trouble, started)
        report.stale_ticks, report.failures, report.forces = rescue.stale_ticks, self.failures, rescue.f
        if not rescue.stale_ticks and self.failures > self.most_stale > 0:
            report.trouble += f"; {self.failures} ticks in a row without a solution: {STOP}"
        return self._sent(report)

    def _without_state(self, state: State, error: InputError, started: int) -> Command:
        """What a refused state leads to: an error that names the entry and its joint, or a command without it."""
        fits = isinstance(state, State) and len(state.q) == self.robot.nq and len(state.v) == self.robot.nv
        words = (bad_entry(self.robot, state) if fits else "") or str(error)
        if not fits or self.on_bad_state == "raise":
            raise InputError(words) from None
        if not self._terms.has_state:
            self._terms.update(State(self.robot.home, np.zeros(self.robot.nv)))
            # contacts and torque limits must stand in the problem, or nothing carries the weight; no target is held yet
            self._assembler.assemble(self._activation)
            self._terms.release()
        self._solvers.forget()
        return self._rescued(f"state: {words}", started, moving=False)

    def errors(self) -> dict[str, Array]:
        """Error (reference minus measured) of each motion task at the last tick, all rows [m, rad]."""
        return {name: error.copy() for name, error in self._terms.errors.items()}

    def as_qp(self) -> Any:
        """The last tick as one unreduced ``qpsolvers.Problem`` in x = [v̇; f]; see :func:`wbc.unreduced.as_qp`.

        Raises:
            InputError: there was no tick yet, the last one had no solution, or it mixed several while a part came or
                went, so that no one problem has its command.
        """
        from wbc.unreduced import as_qp

        if self._last is None or self._last.report.solution is None:
            raise InputError("as_qp: there is no solved tick yet; call tick(State(q, v)) first")
        if self._last.report.moment.share < 1.0:
            raise InputError(
                "as_qp: the last tick mixed solutions with and without a part that comes or goes; ask after the ramp"
            )
        return as_qp(self._last.report.problem, self._last.report.solution, self.metric)

    def reset(self) -> None:
        """Forget held targets and warm starts, as if the controller were new."""
        self._terms.release()
        self._solvers.reset()
        self._assembler.problem.workspace = None
        self._clock = ClockCheck(self.dt)
        self._activation = self._fresh_activation()
        self._last = self._last_forces = None
        self._fallback = Fallback(self.most_stale)
        if self.black_box is not None:
            self.black_box.forget()

    def _fresh_activation(self) -> Activation:
        return Activation(self.stack, self._assembler.layout, self.dt, self.robot)

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

    def _solve(self, problem: Problem) -> tuple[hierarchy.Solution | None, str]:
        """The solution, or the reason in words why there is none."""

        try:
            begun = hierarchy.begin(problem, self.method, self.metric, self._sigma0)
        except Exception as error:  # no task's own code runs here: whatever it is, the robot needs a torque
            return None, bad_row(problem, self._circumstances.nominal) or _words("closed form", error)
        solution = begun.solution
        if solution is not None and math.isfinite(solution.torque.dot(solution.torque)):
            return solution, ""
        if bad := bad_row(problem, self._circumstances.nominal):  # no solver is asked with a NaN
            return None, bad

        def attempt(solver: Solver) -> tuple[hierarchy.Solution | None, str]:
            try:
                solution = hierarchy.solve(problem, self.method, self.metric, self._sigma0, solver, begun)
            except Exception as error:
                return None, _words(solver.name, error)
            if math.isfinite(solution.torque.dot(solution.torque)):
                return solution, ""
            return None, f"{solver.name}: the torque is not finite"

        return self._solvers.ask(attempt)


def _words(name: str, error: Exception) -> str:
    if isinstance(error, hierarchy.InfeasibleError | hierarchy.SolverFailedError | np.linalg.LinAlgError):
        text = str(error) or "no point satisfies the limits"
    else:
        text = f"{type(error).__name__}: {error}"
    return text if text.startswith(f"{name}: ") else f"{name}: {text}"


def _metric(metric: Any, nv: int) -> Any:
    if isinstance(metric, str):
        return checks.choice(metric, METRICS, "metric")
    return np.array(checks.positive_definite(metric, "metric", nv), order="C")
