"""WrenchTask: the wrench of a contact near a given one."""

from __future__ import annotations

from typing import Any

import numpy as np

from wbc import checks
from wbc.attributes import Attributes
from wbc.checks import Array
from wbc.contact import Contact
from wbc.errors import InputError
from wbc.rows import Rows
from wbc.target import Target, text
from wbc.terms import Terms


class WrenchTask(Attributes):
    """Keep the wrench that the ground applies at a contact near a given one: rows ``f − f_target = 0``.

    It stands in ``soft`` and acts in the level that shares the load, after the motion is decided, which it never
    changes: ``min ½ ‖f − f₀‖²_R + Σ ½ w ‖A f + b‖²`` over the internal forces, under cones and torque limits. R is 1/m
    for forces and 100/m for moments (m the robot's mass in kg), so that a weight of 1 counts m times as much as f₀.

    Args:
        name: name in the stack and the report.
        contact: the contact, or its name in the stack.
        target: force (3,) for a point, force and moment (6,) for a surface [N, N m]: world axes, at the origin of the
            contact's frame, on the robot. To push a wall with 20 N, ask for 20 N away from it.
        mask: zeros and ones, as many as ``target``, for the world axes that count.

    Attributes:
        target: may be assigned at any time.
    """

    _target: Array
    target: Any = Target(checks.vector, "wrench (3,) or (6,) [N, N m]", size="wrench", required=True)

    def __init__(self, name: str, *, contact: str | Contact, target: Any, mask: Any = None) -> None:
        self._name = text(name, "a task's name")
        label = f"task {name!r}"
        self._contact = contact.name if isinstance(contact, Contact) else text(contact, f"{label}: contact")
        size = len(checks.vector(target, f"{label}: target"))
        if size not in (3, 6):
            raise InputError(f"{label}: target has length {size}, expected 3 (point contact) or 6 (surface contact)")
        self._keep = np.arange(size) if mask is None else checks.mask(mask, f"{label}: mask", size)
        self._A = np.eye(size)[self._keep]
        self._sizes = {"wrench": size}
        self.target = target

    @property
    def name(self) -> str:
        """The task's name."""
        return self._name

    @property
    def contact(self) -> str:
        """Name of the contact."""
        return self._contact

    def rows(self, terms: Terms) -> Rows:
        """``f − f_target = 0`` on the wrench of the contact, in world axes."""
        return Rows(self._A, -self._target[self._keep], on="wrench")
