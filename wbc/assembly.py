"""Assembly: the one place that writes rows into blocks; a stack at one tick becomes a Problem."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack

from wbc.activation import Activation
from wbc.checks import Array
from wbc.contact import ContactRows
from wbc.joints import floats
from wbc.laying_out import lay_out
from wbc.layout import Part
from wbc.load import share_load
from wbc.problem import Problem
from wbc.robot import Robot
from wbc.row_table import RowTable
from wbc.rows import Rows
from wbc.stack import Stack
from wbc.task import Limit
from wbc.terms import Terms


class Assembler:
    """Places the rows of a stack at fixed offsets; made once, run every tick.

    Args:
        robot: the robot.
        stack: its parts.
        trial: terms at any state of the robot, at which every part is run once to learn and check its size.
        ladder: what gives way where limits clash, in ranks, the first of which yields last.

    Raises:
        InputError: a part's rows do not fit the robot; UnknownNameError: a frame does not exist.
    """

    def __init__(self, robot: Robot, stack: Stack, trial: Terms, ladder: Any = None) -> None:
        self.stack = stack
        self._robot = robot
        for name in stack.names:
            check = getattr(stack[name], "check", None)
            if check is not None:
                check(trial)
        self.layout = lay_out(robot, stack, trial, ladder)
        self.problem = Problem(self.layout)
        self._tasks = [(task, _part(parts, task.name)) for task, parts in self._equality_parts()]
        names = [part.name for part in self.layout.contacts]
        self._force_tasks = [
            (task, part, names.index(task.contact) if task.rows(trial).on == "wrench" else -1)
            for task, part in ((stack[part.name], part) for part in self.layout.forces)
        ]
        limit_parts = {part.name: part for part in self.layout.limits}
        self._limits = [(limit, limit_parts[limit.name]) for limit in stack.all_limits]
        self._contacts = list(zip(stack.contacts, self.layout.contacts, strict=True))
        self._written: dict[str, Array | None] = {}
        self._constant: dict[str, Rows | None] = {}
        self._prepare_forces(robot)

    def attach(self, terms: Terms) -> None:
        """Whose ticks will be assembled: these terms write M and h into the problem, and hold what parts see."""
        self._terms = terms
        terms.write_to(self.problem.M, self.problem.h)
        contacts, tasks, nominal = list(enumerate(self._contacts)), self._tasks, self.stack.nominal
        self._table = table = RowTable(
            terms,
            self.problem,
            [(contact, part.start, i, False) for i, (contact, part) in contacts]
            + [(task, part.start, 0, False) for task, part in tasks]
            + [(task, 0, 0, True) for task in nominal],
        )
        self._own_contacts = [(i, contact, part) for i, (contact, part) in contacts if contact not in table]
        self._own_tasks = [(task, part) for task, part in tasks if task not in table]
        self._own_nominal = [task for task in nominal if task not in table]

    def assemble(self, presence: Activation) -> Problem:
        """Write this tick's rows into the problem and return it; the next tick overwrites it."""
        p, layout, terms, absent = self.problem, self.layout, self._terms, presence.absent
        if layout.weighted:  # constant rows are written once
            p.in_task_units(p.A, p.b)
        self._table.write(presence)  # v̇₀ is zero where it has no nominal task
        for i, contact, part in self._own_contacts:
            if part.name not in absent:
                self._place_contact(contact.rows(terms), part, i)
        for task, part in self._own_tasks:
            if part.name not in absent:
                self._place_equality(task.rows(terms), part)
        for task, part, contact in self._force_tasks:
            p.force_share[part.start : part.stop] = presence.nominal_share(part.name)
            if part.name not in absent:
                self._place_force(task.rows(terms), part, contact)
        for limit, part in self._limits:
            if part.name in absent:
                continue
            rows = limit.rows(terms)
            if rows is self._constant.get(part.name) and presence.untouched:
                continue  # the very rows that stand there already (4 us)
            self._constant[part.name] = rows if _is_constant(rows) else None
            where = slice(part.start, part.stop)
            if self._written.get(part.name) is not rows.A:  # a constant matrix is written once (0.6 us each)
                self._written[part.name] = None if rows.A.flags.writeable else rows.A
                if rows.on == "torque":
                    first = layout.n_in - layout.n_tau
                    p.G_torque[part.start - first : part.stop - first] = rows.A
                else:
                    p.G[where, : layout.nv] = rows.A
            p.offset[where] = rows.b
            p.lower[where] = rows.lower
            p.upper[where] = rows.upper
        for task in self._own_nominal:
            if task.name not in absent:
                p.nominal += presence.nominal_share(task.name) * self._nominal(task.rows(terms), terms)
        if layout.weighted:
            p.keep_task_units()
        return p

    def _prepare_forces(self, robot: Robot) -> None:
        """Cones are constant in the surface's axes; a floating robot's weight is shared."""
        p, layout = self.problem, self.layout
        p.active[:] = 1.0
        row = layout.n_acc
        for contact, part in self._contacts:
            where = slice(part.start, part.stop)
            cone, lower, upper = contact.bounded_cone()
            rows = slice(row, row + len(cone))
            p.G_wrench[row - layout.n_acc : row - layout.n_acc + len(cone), where] = cone
            p.lower[rows], p.upper[rows] = lower, upper
            row += len(cone)
        # a fixed base needs no contact to carry its weight
        share_load(p, self.stack.contacts, robot.weight if floats(robot.model) else 0.0, robot.mass)

    def _place_contact(self, rows: ContactRows, part: Part, index: int) -> None:
        p = self.problem
        where = slice(part.start, part.stop)
        p.J[where] = rows.J
        p.A[where] = rows.J
        p.b[where] = rows.b
        p.axes[index] = rows.axes

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

    def _place_force(self, rows: Rows, part: Part, index: int) -> None:
        """Rows on torques as they are; rows on a wrench in world axes turned into the axes of its surface."""
        p = self.problem
        where = slice(part.start, part.stop)
        p.b_force[where] = rows.b
        if rows.on == "torque":
            p.A_torque[where] = rows.A
            return
        contact = self.layout.contacts[index]
        blocks = rows.A.reshape(len(rows.A), -1, 3) @ p.axes[index]
        p.A_wrench[where, contact.start : contact.stop] = blocks.reshape(rows.A.shape)

    def _nominal(self, rows: Rows, terms: Terms) -> Array:
        """The acceleration that a nominal task defines: the M-least one that makes its rows zero."""
        if rows.A is terms.joint_identity or rows.A is terms.identity:
            return -rows.b
        p = self.problem
        if not np.isfinite(rows.A).all():  # found again, by name, before anyone solves
            return np.full(p.layout.nv, np.nan)
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
            if not isinstance(task, Limit)
        ]
        placed = {part.name for part in self.layout.soft}
        return strict + [(task, self.layout.soft) for task, _ in self.stack.soft if task.name in placed]


def _is_constant(rows: Rows) -> bool:
    """Whether nobody can have written into the rows since."""
    return not any(value is None or value.flags.writeable for value in (rows.A, rows.b, rows.lower, rows.upper))


def _part(parts: tuple[Part, ...], name: str) -> Part:
    return next(part for part in parts if part.name == name)
