"""Soft tasks on wrenches and torques: which tasks these are, and where they may stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from wbc.checks import unknown
from wbc.errors import InputError, StackError, UnknownNameError
from wbc.layout import Part
from wbc.rows import Rows
from wbc.stack import Stack
from wbc.terms import Terms


def acts_on_forces(rows: Any, nf: int) -> bool:
    """Whether rows speak of what is decided after the motion: wrenches, and torques where there are ``nf`` forces."""
    return isinstance(rows, Rows) and (rows.on == "wrench" or (rows.on == "torque" and nf > 0))


def refuse_out_of_place(stack: Stack, trial: Terms, nf: int) -> None:
    """Refuse tasks on forces where motion is decided; a nominal torque is the free acceleration that it gives.

    Raises:
        StackError: such a task is not in ``soft``.
    """
    strict = [("strict", task) for level in stack.strict for task, _ in level]
    for place, task in [*(("nominal", task) for task in stack.nominal), *strict]:
        rows = task.rows(trial)
        if acts_on_forces(rows, nf) and (rows.on == "wrench" or place == "strict"):
            what = "a wrench" if rows.on == "wrench" else "torques, which depend on contact forces"
            raise StackError(
                f"{place}: task {task.name!r} is about {what}, and forces are decided after the motion; put it in soft"
            )


def wrench_width(task: Any, rows: Rows, contacts: list[Part]) -> int:
    """Number of forces of the contact that a task on a wrench names.

    Raises:
        UnknownNameError: the stack has no such contact.
        InputError: the contact's wrench has another number of entries.
    """
    names = [part.name for part in contacts]
    if task.contact not in names:
        raise UnknownNameError(unknown(task.contact, names, f"task {task.name!r}: contact", "the stack"))
    part = contacts[names.index(task.contact)]
    width, given = part.stop - part.start, np.shape(rows.A)[-1]
    if given != width:
        raise InputError(f"task {task.name!r} has {given} entries, the wrench of contact {part.name!r} has {width}")
    return width
