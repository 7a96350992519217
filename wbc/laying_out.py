"""Laying out: every part of a stack is run once at a trial state, checked, and given its place in the problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from wbc.checks import unknown
from wbc.errors import InputError, StackError, UnknownNameError
from wbc.force_tasks import acts_on_forces, refuse_out_of_place, wrench_width
from wbc.layout import CONTACT_MOTION, MINIMUM_FORCE, ROTATION_LENGTH, Layout, Part
from wbc.robot import Robot
from wbc.rows import Rows
from wbc.stack import Stack
from wbc.task import Limit
from wbc.terms import Terms


def lay_out(robot: Robot, stack: Stack, trial: Terms, ladder: Any = None) -> Layout:
    """Run every part once, check that its rows fit the robot, and give each its place and rank."""
    lengths: list[float] = []
    weights: list[float] = []
    contacts = []
    for contact in stack.contacts:
        contact.rows(trial)
        start = len(lengths)
        lengths += [1.0] * min(contact.size, 3) + [ROTATION_LENGTH] * (contact.size - 3)  # an axle has one force
        contacts.append(Part(contact.name, start, start + contact.size))
    nf = len(lengths)
    weights += [1.0] * nf

    refuse_out_of_place(stack, trial, nf)
    forces: list[Part] = []
    root_weights_force: list[float] = []
    soft_tasks = []
    for task, weight in stack.soft:
        rows = task.rows(trial)
        if not acts_on_forces(rows, nf):
            soft_tasks.append((task, weight))
            continue
        width = wrench_width(task, rows, contacts) if rows.on == "wrench" else robot.nu
        size, start = _checked(task, rows, robot, width), len(root_weights_force)
        forces.append(Part(task.name, start, start + size, weight))
        root_weights_force += [weight**0.5] * size

    def place(task: Any, weight: float) -> Part:
        rows = task.rows(trial)
        start, size = len(lengths), _checked(task, rows, robot)
        angular = np.broadcast_to(getattr(task, "angular_rows", False), (size,))
        lengths.extend(np.where(angular, ROTATION_LENGTH, 1.0))
        weights.extend([weight] * size)
        return Part(task.name, start, start + size, weight, weighting=getattr(task, "weighting", "identity"))

    levels = tuple(
        tuple(place(task, weight) for task, weight in level if not isinstance(task, Limit)) for level in stack.strict
    )
    level_limits = tuple(tuple(part.name for part, _ in level if isinstance(part, Limit)) for level in stack.strict)
    limit_weights = {part.name: weight for level in stack.strict for part, weight in level if isinstance(part, Limit)}
    soft = tuple(place(task, weight) for task, weight in soft_tasks)
    for task in stack.nominal:
        _checked(task, task.rows(trial), robot)
    rows_of = {limit.name: limit.rows(trial) for limit in stack.all_limits}
    ordered = sorted(stack.all_limits, key=lambda limit: rows_of[limit.name].on == "torque")
    limits, count = [], {"acceleration": 0, "wrench": 0, "torque": 0}
    cones_placed = False

    def place_cones() -> None:
        for contact in stack.contacts:
            elements = contact.elements()
            start = sum(count.values())
            count["wrench"] += len(elements)
            limits.append(Part(f"contact {contact.name}", start, start + len(elements), elements=elements))

    for limit in ordered:
        if rows_of[limit.name].on == "torque" and not cones_placed:
            cones_placed = True
            place_cones()
        rows = rows_of[limit.name]
        size = _checked(limit, rows, robot)
        elements = limit.elements(robot)
        if len(elements) != size:
            raise InputError(f"limit {limit.name!r} names {len(elements)} elements for {size} rows")
        start = sum(count.values())
        count[rows.on] += size
        limits.append(Part(limit.name, start, start + size, limit_weights.get(limit.name, 1.0), elements))
    if not cones_placed:
        place_cones()
    return Layout(
        nv=robot.nv,
        nu=robot.nu,
        nf=nf,
        actuated=robot.actuated,
        unactuated=np.setdiff1d(np.arange(robot.nv), robot.actuated),
        contacts=tuple(contacts),
        levels=levels,
        soft=soft,
        forces=tuple(forces),
        limits=tuple(limits),
        level_limits=level_limits,
        ladder=_ladder(stack, rows_of, ladder),
        n_eq=len(lengths),
        n_acc=count["acceleration"],
        n_cone=count["wrench"],
        n_tau=count["torque"],
        lengths=np.array(lengths),
        root_weights=np.sqrt(np.array(weights)),
        root_weights_force=np.array(root_weights_force),
    )


def _ladder(stack: Stack, rows_of: dict[str, Rows], ladder: Any) -> tuple[tuple[str, ...], ...]:
    """The ranks in which hard rows give way, the last first: contact motion, then minimum forces and limits by default.

    Limits that the caller does not name stand in the last rank of the default, above what is named after them.
    """
    yielding = [limit.name for limit in stack.limits if getattr(limit, "yields", True)]
    known = [CONTACT_MOTION, MINIMUM_FORCE, *yielding]
    if ladder is None:
        return ((CONTACT_MOTION,), (MINIMUM_FORCE, *yielding))
    if not isinstance(ladder, list | tuple):
        raise InputError(f"ladder: expected a tuple of names or of tuples of names, got {ladder!r}")
    ranks = [tuple(rank) if isinstance(rank, list | tuple) else (rank,) for rank in ladder]
    named = [name for rank in ranks for name in rank]
    for name in named:
        if any(limit.name == name for limit in stack.limits) and name not in yielding:
            raise StackError(f"ladder: {name!r} never gives way, since motors cannot give more; leave it out")
        if name not in known:
            raise UnknownNameError(unknown(str(name), known, "part that can give way", "the ladder"))
        if named.count(name) > 1:
            raise InputError(f"ladder: {name!r} stands in it twice")
    left = tuple(name for name in known if name not in named)
    return (*((left,) if left else ()), *ranks)


def _checked(part: Any, rows: Rows, robot: Robot, width: int | None = None) -> int:
    """Number of rows of a part, refused where they do not fit the robot or each other."""
    if not isinstance(rows, Rows):
        raise InputError(f"{part.name!r}: rows(terms) returned {type(rows).__name__}, expected wbc.Rows")
    if width is None:
        if rows.on == "wrench":
            raise StackError(
                f"{part.name!r} has rows on a wrench: only tasks in soft may, and contacts have their cones"
            )
        width = robot.nu if rows.on == "torque" else robot.nv
    if np.ndim(rows.A) != 2 or rows.A.shape[1] != width:
        raise InputError(f"{part.name!r}: A has shape {np.shape(rows.A)}, expected (k, {width})")
    size = len(rows.A)
    for label, value in (("b", rows.b), ("lower", rows.lower), ("upper", rows.upper)):
        if value is not None and np.shape(value) != (size,):
            raise InputError(f"{part.name!r}: {label} has shape {np.shape(value)}, expected ({size},)")
    return size
