"""Assembly: the one place that writes rows into blocks; a stack at one tick becomes a Problem."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack

from wbc.checks import Array
from wbc.errors import InputError
from wbc.problem import ROTATION_LENGTH, Layout, Part, Problem
from wbc.robot import Robot
from wbc.rows import Rows
from wbc.stack import Stack
from wbc.terms import Terms


class Assembler:
    """Places the rows of a stack at fixed offsets; made once, run every tick.

    Args:
        robot: the robot.
        stack: its parts.
        trial: terms at any state of the robot, at which every part is run once to learn and check its size.

    Raises:
        InputError: a part's rows do not fit the robot; UnknownNameError: a frame does not exist.
    """

    def __init__(self, robot: Robot, stack: Stack, trial: Terms) -> None:
        self.stack = stack
        self._robot = robot
        for name in stack.names:
            check = getattr(stack[name], "check", None)
            if check is not None:
                check(trial)
        self.layout = self._lay_out(trial)
        self.problem = Problem(self.layout)
        self._tasks = [(task, _part(parts, task.name)) for task, parts in self._equality_parts()]
        limit_parts = {part.name: part for part in self.layout.limits}
        self._limits = [(limit, limit_parts[limit.name]) for limit in stack.limits]
        self._written: dict[str, Array | None] = {}
        self._unactuated = np.setdiff1d(np.arange(robot.nv), robot.actuated)

    def assemble(self, terms: Terms) -> Problem:
        """Write this tick's rows into the problem and return it; the next tick overwrites it.

        ``terms`` writes M and h into the problem by itself (:meth:`wbc.terms.Terms.write_to`).
        """
        p, layout = self.problem, self.layout
        if layout.hard:
            p.A[: layout.hard] = p.M[self._unactuated]
            p.b[: layout.hard] = p.h[self._unactuated]
        for task, part in self._tasks:
            self._place_equality(task.rows(terms), part)
        for limit, part in self._limits:
            rows = limit.rows(terms)
            where = slice(part.start, part.stop)
            if self._written.get(part.name) is not rows.A:  # a constant matrix is written once (0.6 us each)
                self._written[part.name] = None if rows.A.flags.writeable else rows.A
                if rows.on == "torque":
                    p.G_torque[part.start - layout.n_acc : part.stop - layout.n_acc] = rows.A
                else:
                    p.G[where, : layout.nv] = rows.A
            p.offset[where] = rows.b
            p.lower[where] = rows.lower
            p.upper[where] = rows.upper
        p.nominal[:] = 0.0
        for task in self.stack.nominal:
            p.nominal += self._nominal(task.rows(terms), terms)
        return p

    def _place_equality(self, rows: Rows, part: Part) -> None:
        p = self.problem
        where = slice(part.start, part.stop)
        if rows.on == "torque":  # A τ + b = A S (M v̇ + h) + b
            actuated = self._robot.actuated
            p.A[where] = rows.A @ p.M[actuated]
            p.b[where] = rows.A @ p.h[actuated] + rows.b
        else:
            p.A[where] = rows.A
            p.b[where] = rows.b
            if rows.drift is not None:
                p.drift[where] = rows.drift

    def _nominal(self, rows: Rows, terms: Terms) -> Array:
        """The acceleration that a nominal task defines: the M-least one that makes its rows zero."""
        if rows.A is terms.identity:
            return -rows.b
        p = self.problem
        if rows.on == "torque":  # M v̇₀ + h = Sᵀ τ₀
            force = -p.h
            force[self._robot.actuated] -= rows.b
            _, vdot, _ = lapack.dposv(p.M.T, force)
            result: Array = vdot
            return result
        C = np.linalg.cholesky(p.M).T
        y = np.linalg.lstsq(np.linalg.solve(C.T, rows.A.T).T, -rows.b, rcond=1e-9)[0]
        result = np.linalg.solve(C, y)
        return result

    def _equality_parts(self) -> list[tuple[Any, tuple[Part, ...]]]:
        strict = [
            (task, parts)
            for level, parts in zip(self.stack.strict, self.layout.levels, strict=True)
            for task, _ in level
        ]
        return strict + [(task, self.layout.soft) for task, _ in self.stack.soft]

    def _lay_out(self, trial: Terms) -> Layout:
        robot, stack = self._robot, self.stack
        hard = robot.nv - robot.nu
        lengths, weights = [1.0] * hard, [1.0] * hard

        def place(task: Any, weight: float) -> Part:
            rows = task.rows(trial)
            start, size = len(lengths), _checked(task, rows, robot)
            angular = np.broadcast_to(getattr(task, "angular_rows", False), (size,))
            lengths.extend(np.where(angular, ROTATION_LENGTH, 1.0))
            weights.extend([weight] * size)
            return Part(task.name, start, start + size, weight)

        levels = tuple(tuple(place(task, weight) for task, weight in level) for level in stack.strict)
        soft = tuple(place(task, weight) for task, weight in stack.soft)
        for task in stack.nominal:
            _checked(task, task.rows(trial), robot)
        rows_of = {limit.name: limit.rows(trial) for limit in stack.limits}
        ordered = sorted(stack.limits, key=lambda limit: rows_of[limit.name].on == "torque")
        limits, count = [], {"acceleration": 0, "torque": 0}
        for limit in ordered:
            rows = rows_of[limit.name]
            size = _checked(limit, rows, robot)
            elements = limit.elements(robot)
            if len(elements) != size:
                raise InputError(f"limit {limit.name!r} names {len(elements)} elements for {size} rows")
            start = sum(count.values())
            count[rows.on] += size
            limits.append(Part(limit.name, start, start + size, elements=elements))
        return Layout(
            nv=robot.nv,
            nu=robot.nu,
            nf=0,
            actuated=robot.actuated,
            hard=hard,
            levels=levels,
            soft=soft,
            limits=tuple(limits),
            n_eq=len(lengths),
            n_acc=count["acceleration"],
            n_tau=count["torque"],
            lengths=np.array(lengths),
            root_weights=np.sqrt(np.array(weights)),
        )


def _part(parts: tuple[Part, ...], name: str) -> Part:
    return next(part for part in parts if part.name == name)


def _checked(part: Any, rows: Rows, robot: Robot) -> int:
    """Number of rows of a part, refused where they do not fit the robot or each other."""
    if not isinstance(rows, Rows):
        raise InputError(f"{part.name!r}: rows(terms) returned {type(rows).__name__}, expected wbc.Rows")
    width = robot.nu if rows.on == "torque" else robot.nv
    if np.ndim(rows.A) != 2 or rows.A.shape[1] != width:
        raise InputError(f"{part.name!r}: A has shape {np.shape(rows.A)}, expected (k, {width})")
    size = len(rows.A)
    for label, value in (("b", rows.b), ("lower", rows.lower), ("upper", rows.upper)):
        if value is not None and np.shape(value) != (size,):
            raise InputError(f"{part.name!r}: {label} has shape {np.shape(value)}, expected ({size},)")
    return size
