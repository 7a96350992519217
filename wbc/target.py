"""Checked attributes of tasks and contacts: assignment runs a check and keeps a copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin

from wbc import checks
from wbc.attributes import label_of
from wbc.checks import Array
from wbc.errors import InputError


class Target:
    """A checked, copied attribute: assignment runs ``check(value, label)``; ``None`` until it is first set.

    Args:
        check: returns a checked copy, or raises.
        doc: what the value is.
        give: makes what is handed out of what is kept.
        size: ``"nq"``, ``"nv"`` or ``"nu"`` where the length is the robot's; it is known once the task is placed.
        required: whether ``None`` is refused.
        fixed: whether the value must stay once the task is placed.
        unlike: an attribute that must have another value.
        instead_of: an attribute of which either this one or that one is set.
    """

    def __init__(
        self,
        check: Callable[[Any, str], Any],
        doc: str,
        *,
        give: Callable[[Any], Any] | None = None,
        size: str = "",
        required: bool = False,
        fixed: bool = False,
        unlike: str = "",
        instead_of: str = "",
    ) -> None:
        self.check = check
        self.give = give
        self.size = size
        self.required = required
        self.fixed = fixed
        self.unlike = unlike
        self.instead_of = instead_of
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.slot = name, f"_{name}"

    def __get__(self, task: Any, owner: type | None = None) -> Any:
        if task is None:
            return self
        value = task.__dict__.get(self.slot)
        if value is None or self.give is None:
            return value.copy() if isinstance(value, np.ndarray) else value
        return self.give(value)

    def __set__(self, task: Any, value: Any) -> None:
        label = f"{label_of(task)}: {self.name}"
        if value is None and self.required:
            raise InputError(f"{label} is None, expected a {self.__doc__}")
        checked = None if value is None else self.check(value, label)
        sizes = task.__dict__.get("_sizes", {})
        self.fit(checked, label, sizes)
        if self.unlike and checked is not None and task.__dict__.get(f"_{self.unlike}") == checked:
            raise InputError(f"{label} and {self.unlike} are both {checked!r}, expected two different ones")
        if self.instead_of and (value is None) == (task.__dict__.get(f"_{self.instead_of}") is None):
            raise InputError(f"{label}: expected either {self.name} or {self.instead_of}, and not both")
        if self.fixed and sizes and checked != task.__dict__.get(self.slot):
            raise InputError(
                f"{label} stays {task.__dict__.get(self.slot)!r} once a controller uses it; make a new task"
            )
        task.__dict__[self.slot] = checked

    def fit(self, value: Any, label: str, sizes: dict[str, Any]) -> None:
        """Refuse a value of another length than the robot's, or a configuration that is none."""
        expected = sizes.get(self.size)
        if expected is None or value is None:
            return
        if len(value) != expected:
            raise InputError(f"{label} has length {len(value)}, expected {self.size}={expected}")
        if self.size == "nq" and not pin.isNormalized(sizes["model"], value, checks.UNIT_TOLERANCE):
            raise InputError(f"{label}: a quaternion (xyzw) or a (cos, sin) pair in it does not have unit norm")


def fit_targets(task: Any, robot: Any) -> dict[str, Any]:
    """Refuse targets that do not fit the robot; returns what the task keeps of it once it is placed."""
    sizes: dict[str, Any] = {"nq": robot.nq, "nv": robot.nv, "nu": robot.nu, "model": robot.model}
    if getattr(task, "dim", None) is not None:
        sizes["dim"] = task.dim
    for owner in type(task).__mro__:
        for attribute in vars(owner).values():
            if isinstance(attribute, Target):
                value = task.__dict__.get(attribute.slot)
                attribute.fit(value, f"{label_of(task)}: {attribute.name}", sizes)
    return sizes


def text(value: Any, label: str) -> str:
    """A name: a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise InputError(f"{label} must be a text that is not empty, got {value!r}")
    return value


def numbers(length: int) -> Callable[[Any, str], Array]:
    """A check for a vector of ``length`` finite numbers."""
    return lambda value, label: checks.vector(value, label, length)
