"""Activation: parts of a stack come and go while the robot runs, without a jump of torque."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from wbc.checks import Array
from wbc.joints import floats
from wbc.layout import Layout, Part
from wbc.load import share_load
from wbc.problem import Problem
from wbc.robot import Robot
from wbc.stack import Stack
from wbc.terms import Terms

MOST_FADES = 2  # k cross-fades at once cost 2^k solutions a tick; a third one waits
COMING_SHARE = 1.2  # a coming contact's cap ends at this many times its even share of the weight, then opens


@dataclass(slots=True)
class _Presence:
    """How present a part is: ``level`` goes from 0 (absent) to 1 (present) at ``rate`` a second."""

    level: float
    target: float
    rate: float
    serial: int
    load: float = 0.0  # normal force of a leaving contact when it was told to go


class Activation:
    """The presence of every part of a stack in one controller.

    A strict task or a limit is cross-faded: the tick is solved with and without it and the two commands are mixed,
    which keeps every convex limit and the dynamics. Weights inside a strict level cannot do that: w/(1 − w) jumps in
    the last step. A soft task ramps its weight, a nominal one its share of v̇₀.

    A unilateral contact leaves in two halves: its normal force is capped by a ramp from its present value to zero while
    its motion rows stay; then the rows are cross-faded out. It comes in the reverse order.
    """

    def __init__(self, stack: Stack, layout: Layout, dt: float, robot: Robot) -> None:
        self._stack, self._layout, self._dt, self._weight, self._mass = stack, layout, dt, robot.weight, robot.mass
        self._carried = robot.weight if floats(robot.model) else 0.0  # a fixed base carries itself
        self._strict = {part.name: part for level in layout.levels for part in level}
        self._soft = {part.name: part for part in layout.soft}
        self._contacts = {part.name: part for part in layout.contacts}
        self._limits = {part.name: part for part in layout.limits}
        self._presence: dict[str, _Presence] = {}
        self._seen = -1
        self.jumped: tuple[str, ...] = ()
        self.absent: frozenset[str] = frozenset()
        self.settled = True

    def step(self, terms: Terms, last_forces: Array | None) -> None:
        """Take up what the stack was told since the last tick, and move every ramp on by one tick."""
        self.jumped = ()
        if self._stack.serial != self._seen:
            self._take_up(terms, last_forces)
            self._seen = self._stack.serial
        elif self.settled:
            return
        fading = 0
        for name, presence in self._presence.items():
            gap = presence.target - presence.level
            if gap:
                waits = presence.level in (0.0, 1.0) and fading >= MOST_FADES and self._fades(name)
                if not waits:
                    step = presence.rate * self._dt
                    presence.level = presence.target if abs(gap) <= step else presence.level + np.copysign(step, gap)
            fading += 0.0 < self._share(name) < 1.0
        self.absent = frozenset(name for name, p in self._presence.items() if p.level == 0.0)
        self.settled = all(p.level == p.target for p in self._presence.values())

    @property
    def untouched(self) -> bool:
        """Whether no part was ever told to come or go, so that nobody but the assembler has written bounds."""
        return not self._presence

    def nominal_share(self, name: str) -> float:
        """How much of a nominal task counts."""
        presence = self._presence.get(name)
        return 1.0 if presence is None else presence.level

    def variants(self, problem: Problem) -> Iterator[float]:
        """Set the problem up with and without each fading part in turn, and yield the share of each variant."""
        if not self._presence:
            yield 1.0
            return
        layout = self._layout
        problem.on[:] = 1.0
        problem.active[:] = 1.0
        problem.soft_share[:] = 1.0
        for name, part in self._soft.items():
            if name in self._presence:
                problem.soft_share[part.start - layout.soft_rows.start : part.stop - layout.soft_rows.start] = (
                    self._presence[name].level
                )
        for name in self._contacts:
            self._cap(problem, name)
        fading = [name for name in self._presence if 0.0 < self._share(name) < 1.0 and self._fades(name)]
        for name in self._presence:
            if self._fades(name) and name not in fading:
                self._put(problem, name, self._share(name) > 0.0)
        bounds = problem.lower.copy(), problem.upper.copy()
        for choice in product((True, False), repeat=len(fading)):
            share = 1.0
            problem.lower[:], problem.upper[:] = bounds
            for name, present in zip(fading, choice, strict=True):
                self._put(problem, name, present)
                share *= self._share(name) if present else 1.0 - self._share(name)
            share_load(problem, self._stack.contacts, self._carried, self._mass)
            problem.everything_on = False
            yield share

    def _take_up(self, terms: Terms, last_forces: Array | None) -> None:
        first = self._seen < 0
        for name, (present, over, serial) in self._stack.wanted.items():
            presence = self._presence.setdefault(name, _Presence(1.0, 1.0, 0.0, -1))
            if presence.serial == serial:
                continue
            presence.serial, presence.target = serial, float(present)
            presence.rate = 1.0 / over if over else np.inf
            if first or not over:
                if not first and presence.level != presence.target:
                    self.jumped += (name,)
                presence.level = presence.target
            if present:
                terms.release(task=name)
            elif self._has_cone(name) and last_forces is not None:
                presence.load = float(last_forces[self._contacts[name].start + 2])

    def _fades(self, name: str) -> bool:
        return name in self._strict or name in self._limits or name in self._contacts

    def _share(self, name: str) -> float:
        """Share of the solutions that have the part; a contact with a cone is through in the first half of its ramp."""
        level = self._presence[name].level
        return min(1.0, 2.0 * level) if self._has_cone(name) else level

    def _has_cone(self, name: str) -> bool:
        return f"contact {name}" in self._limits and self._size(self._limits[f"contact {name}"]) > 0

    def _cap(self, problem: Problem, name: str) -> None:
        """The cap on a contact's normal force: its own limit, or what the ramp allows."""
        presence = self._presence.get(name)
        if presence is None or not self._has_cone(name):
            return
        row = self._limits[f"contact {name}"].stop - 1
        own = self._stack[name].max_force
        problem.lower[row] = self._stack[name].min_force if presence.level == 1.0 else 0.0
        if presence.level == 1.0:
            problem.upper[row] = own
        else:
            full = presence.load if presence.target == 0.0 else self._weight * COMING_SHARE / self._standing_feet()
            problem.upper[row] = min(own, max(0.0, full * (2.0 * presence.level - 1.0)))

    def _standing_feet(self) -> int:
        """How many contacts carry weight once every ramp has ended."""
        feet = [name for name, part in self._contacts.items() if self._size(part) >= 3]
        return max(1, sum(name not in self._presence or self._presence[name].target == 1.0 for name in feet))

    def _put(self, problem: Problem, name: str, present: bool) -> None:
        """Switch a part's rows on or off."""
        if name in self._contacts:
            part = self._contacts[name]
            problem.on[part.start : part.stop] = present
            pushes = present and (not self._has_cone(name) or self._presence[name].level > 0.5)
            problem.active[part.start : part.stop] = pushes
            cone = self._limits[f"contact {name}"]
            if not pushes:
                problem.lower[cone.start : cone.stop], problem.upper[cone.start : cone.stop] = -np.inf, np.inf
            elif self._has_cone(name):
                problem.lower[cone.start : cone.stop - 1] = -np.inf
                problem.upper[cone.start : cone.stop - 1] = 0.0
        elif name in self._strict:
            part = self._strict[name]
            problem.on[part.start : part.stop] = present
        elif not present:
            limit = self._limits[name]
            problem.lower[limit.start : limit.stop], problem.upper[limit.start : limit.stop] = -np.inf, np.inf

    @staticmethod
    def _size(part: Part) -> int:
        return part.stop - part.start
