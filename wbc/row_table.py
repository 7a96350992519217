"""The table of a stack's parts whose rows one compiled call writes: what each of them asks, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wbc.activation import Activation
from wbc.attributes import label_of
from wbc.checks import Array
from wbc.errors import InputError
from wbc.joints import single_axes
from wbc.kernels import CONTACT, NOMINAL, POSTURE
from wbc.kernels import rows as kernel
from wbc.problem import Problem
from wbc.rows import InNumbers
from wbc.terms import Terms

COLUMNS = 11


class RowTable:
    """Writes the rows of all parts that can be asked for in numbers, by one call a tick.

    A line of the table holds: kind; place of the frame; first of the frame's six rows (of a contact: 1 where its
    forward direction turns with the frame, 2 where it was also given); number of rows; first row in the problem; where
    its numbers start; how many of them are the target; where its error starts (of a contact: which one it is); whether
    the target is known or has to be taken from what is seen; from where to where ``keep`` has the rows of the mask.

    The numbers of a task are its target, then kp, kd, target velocity and acceleration, row by row; those of a contact
    its place (12), normal, forward direction, kp and kd.

    Args:
        terms: whose state the rows are of.
        problem: where they are written.
        parts: (part, first row in the problem, number of the contact, whether it is nominal).
    """

    def __init__(self, terms: Terms, problem: Problem, parts: Sequence[tuple[Any, int, int, bool]]) -> None:
        self._terms, self._problem = terms, problem
        model, layout = terms.robot.model, problem.layout
        axes = single_axes(model)
        found: list[tuple[Any, int]] = []
        lines, sizes, errors = [], 0, 0
        keep: list[int] = []
        for part, row, index, is_nominal in parts:
            asked = in_numbers(part, terms)
            if asked is None or (asked.kind == POSTURE and axes is None):
                continue
            if asked.kind == CONTACT:
                dim, at, kind = part.size, index, CONTACT
                size = count = 20
            else:
                dim, at = terms.robot.nv if part.dim is None else part.dim, errors
                if is_nominal and (asked.kind != POSTURE or part._rows is not None):
                    continue
                kind = NOMINAL if is_nominal else asked.kind
                size, count = asked.size, asked.size + 4 * dim
                errors += dim
            rows = range(dim) if kind == CONTACT or part._rows is None else part._rows
            place = terms.frames.add(terms.robot.frame_id(asked.frame)) if asked.frame else 0
            lines.append((kind, place, asked.first, dim, row, sizes, size, at, 0, len(keep), len(keep) + len(rows)))
            keep += list(rows)
            sizes += count
            found.append((part, size))
        self._table = np.array(lines, dtype=np.int64).reshape(len(lines), COLUMNS)
        self._keep = np.array(keep, dtype=np.int64)
        self._numbers, self._errors = np.zeros(sizes), np.zeros(errors)
        self._share = np.ones(len(lines))
        self._entries = [
            _Entry(part, self._table[k], self._numbers[self._table[k, 5] :], size)
            for k, (part, size) in enumerate(found)
        ]
        places, base = (np.zeros(layout.nv, dtype=np.int64), 0) if axes is None else axes
        starts = layout.starts()
        self._arguments = (
            self._table, self._keep, self._share, self._numbers, self._errors, places, base, terms.robot.mass,
            problem.record, np.array([starts[name] for name in kernel.BLOCKS]),
            np.array([layout.nv, layout.n_eq, layout.nf, len(layout.contacts)]),
        )  # fmt: skip
        self._absent: frozenset[str] | None = None
        self._settled = False
        terms.on_release(self._release)

    def __contains__(self, part: object) -> bool:
        return any(part is entry.part for entry in self._entries)

    def write(self, presence: Activation) -> None:
        """Write the rows of every part that is present."""
        if not (self._settled and presence.settled and presence.absent is self._absent):
            self._see(presence)
        for entry in self._entries:
            if entry.part._version != entry.version:
                self._take(entry)
        terms = self._terms
        kernel.table_rows(*self._arguments, terms.q, terms.v, *terms.frames.arguments(terms.q, terms.v))
        terms.frames.is_filled = True

    def _see(self, presence: Activation) -> None:
        """Who is present, and how much of it."""
        self._absent, self._settled = presence.absent, presence.settled
        for k, entry in enumerate(self._entries):
            name, kind = entry.part.name, entry.line[0]
            is_absent = name in presence.absent
            self._share[k] = 0.0 if is_absent else presence.nominal_share(name) if kind == NOMINAL else 1.0
            if not is_absent and kind != CONTACT:
                at, dim = entry.line[7], entry.line[3]
                self._terms.errors[name] = self._errors[at : at + dim]

    def _take(self, entry: _Entry) -> None:
        """Read what a part asks, after something was assigned to it."""
        part = entry.part
        try:
            self._read(entry)
        except ValueError:  # the task was checked against another robot, where it was placed last
            raise InputError(
                f"{label_of(part)}: a target or gain does not fit robot {self._terms.robot.name!r}, for which this "
                "controller was made; give each robot a task of its own"
            ) from None
        entry.version = part._version

    def _read(self, entry: _Entry) -> None:
        part, line = entry.part, entry.line
        target = part.in_numbers(self._terms).target
        if line[0] == CONTACT:
            entry.target[12:15] = part._normal
            if target is not None:
                entry.target[15:18] = target
            entry.target[18], entry.target[19] = part._gains.kp, part._gains.kd
            return
        if target is not None:
            entry.target[:] = target
            line[8] = 1
        elif entry.is_given:  # from now on it holds what it sees
            line[8] = 0
        entry.is_given = target is not None
        kp, kd, velocity, acceleration = entry.gains
        velocity[:] = 0.0 if part._target_velocity is None else part._target_velocity
        acceleration[:] = 0.0 if part._target_acceleration is None else part._target_acceleration
        if part._gains is entry.seen_gains and part._rows is entry.seen_rows:
            return
        entry.seen_gains, entry.seen_rows = part._gains, part._rows
        kp[:], kd[:] = part._gains.kp, part._gains.kd
        rows = self._keep[line[9] : line[10]]
        if part._rows is not None:
            rows[:] = part._rows
        if line[0] == POSTURE:
            self._problem.A[line[4] : line[4] + len(rows)] = self._terms.joint_identity[rows]

    def _release(self, name: str | None) -> None:
        """What was seen is taken anew at the next tick."""
        for entry in self._entries:
            if (name is None or entry.part.name == name) and (entry.line[0] == CONTACT or not entry.is_given):
                entry.line[8] = 0


class _Entry:
    """A part with its line of the table and its numbers; ``version`` and what was ``seen`` tell what was read of it."""

    __slots__ = ("gains", "is_given", "line", "part", "seen_gains", "seen_rows", "target", "version")

    def __init__(self, part: Any, line: Any, numbers: Array, size: int) -> None:
        dim = int(line[3])
        self.part, self.line, self.version, self.is_given = part, line, -1, True
        self.target = numbers[:size]
        self.gains = tuple(numbers[size + i * dim : size + (i + 1) * dim] for i in range(4))
        self.seen_gains: Any = None
        self.seen_rows: Any = None


def in_numbers(part: Any, terms: Terms) -> InNumbers | None:
    """What a part asks, in numbers; ``None`` where only its own Python code knows.

    What a subclass or an object says in methods of its own counts.
    """
    if getattr(part, "in_numbers", None) is None or getattr(part, "mask_frame", "world") != "world":
        return None
    order = type(part).__mro__
    first = next(owner for owner in order if "in_numbers" in vars(owner))
    if "kinematics" in vars(part) or "rows" in vars(part):
        return None
    for method in ("kinematics", "rows", "held", "velocity_gap"):
        owner = next((one for one in order if method in vars(one)), object)
        if not issubclass(first, owner):
            return None
    found: InNumbers | None = part.in_numbers(terms)
    return found
