"""Stack: what the robot shall do: nominal, contacts, limits, strict levels and soft tasks, each part by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wbc import checks
from wbc.contact import Contact
from wbc.errors import InputError, StackError, UnknownNameError
from wbc.task import Limit, MotionTask, Task


class Stack:
    """hard ≻ strict 1 ≻ strict 2 ≻ … ≻ Gauss + Σ ½ w ‖A v̇ + b‖²: a lexicographic problem, read from left to right.

    Args:
        nominal: the task, or list of tasks, that define v̇₀ (they add up); v̇₀ = 0 where left out.
        contacts: rigid contacts.
        limits: limits such as ``TorqueLimits()`` and ``JointLimits()``; one that is not listed does not act.
        strict: levels, the most important first; a level is a task or a list of tasks, or of (task, weight) pairs where
            tasks of one level must share what they cannot both have. A limit may stand in a level like a task: what the
            levels above leave of it is kept, and where it cannot be kept its violation is least.
        soft: (task, weight) pairs; ``weight`` multiplies ½ ‖A v̇ + b‖².

    Raises:
        StackError: a name or a task stands twice, or a part is of the wrong kind.
        InputError: a weight is negative or not finite.
    """

    def __init__(
        self,
        *,
        nominal: Any = (),
        contacts: Sequence[Any] = (),
        limits: Sequence[Any] = (),
        strict: Sequence[Any] = (),
        soft: Sequence[Any] = (),
    ) -> None:
        self.nominal = tuple(nominal) if isinstance(nominal, list | tuple) else (nominal,)
        self.contacts = _sequence(contacts, "contacts")
        self.limits = _sequence(limits, "limits")
        self.strict = tuple(
            tuple(_weighted(entry, "strict") for entry in (level if isinstance(level, list) else [level]))
            for level in _sequence(strict, "strict")
        )
        self.soft = tuple(_weighted(entry, "soft") for entry in _sequence(soft, "soft"))
        self._parts = self._by_name()
        self.wanted: dict[str, tuple[bool, float, int]] = {}  # part -> present, ramp [s], serial: read by controllers
        self.serial = 0

    @property
    def all_limits(self) -> tuple[Any, ...]:
        """Every limit, those that stand in strict levels after those that always hold."""
        return self.limits + tuple(part for level in self.strict for part, _ in level if isinstance(part, Limit))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all parts."""
        return tuple(self._parts)

    @property
    def motion_tasks(self) -> tuple[MotionTask, ...]:
        """Every motion task of the stack, nominal ones included."""
        return tuple(part for part in self._parts.values() if isinstance(part, MotionTask))

    def __getitem__(self, name: str) -> Any:
        if name not in self._parts:
            raise UnknownNameError(checks.unknown(str(name), list(self._parts), "part", "the stack"))
        return self._parts[name]

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def activate(self, name: str, *, over: float = 0.2) -> None:
        """Bring a part in, ramped over ``over`` seconds; a task without a target holds what it then sees.

        Raises:
            UnknownNameError: there is no such part.
        """
        self._want(name, True, over)

    def deactivate(self, name: str, *, over: float = 0.2) -> None:
        """Take a part out, ramped over ``over`` seconds; before the first tick it is out from the start."""
        self._want(name, False, over)

    def _want(self, name: str, present: bool, over: float) -> None:
        part = self[name]
        over = checks.scalar(over, f"over of {part.name!r}", lower=0.0)
        self.serial += 1
        self.wanted[name] = (present, over, self.serial)

    def _by_name(self) -> dict[str, Any]:
        places: list[tuple[str, Any]] = [("nominal", task) for task in self.nominal]
        places += [(f"strict level {k + 1}", task) for k, level in enumerate(self.strict) for task, _ in level]
        places += [("soft", task) for task, _ in self.soft]
        for place, task in places:
            if place.startswith("strict") and isinstance(task, Limit) and not isinstance(task, type):
                continue
            if not isinstance(task, Task) or isinstance(task, type | Limit):
                raise StackError(f"{place}: expected a task such as PositionTask(...), got {task!r}")
        for limit in self.limits:
            if not isinstance(limit, Limit) or isinstance(limit, type):
                raise StackError(f"limits: expected a limit such as TorqueLimits(), got {limit!r}")
        for contact in self.contacts:
            if not isinstance(contact, Contact):
                raise StackError(f"contacts: expected a contact such as PointContact(...), got {contact!r}")
        parts: dict[str, Any] = {}
        where: dict[str, str] = {}
        for place, part in [
            *places,
            *(("contacts", contact) for contact in self.contacts),
            *(("limits", limit) for limit in self.limits),
        ]:
            name: str = part.name
            if parts.get(name) is part:
                raise StackError(f"{name!r} stands in two places: {where[name]} and {place}; a part has one")
            if name in parts:
                raise StackError(f"the name {name!r} is given to two parts: in {where[name]} and in {place}")
            parts[name], where[name] = part, place
        return parts

    def __repr__(self) -> str:
        levels = " ≻ ".join("[" + ", ".join(task.name for task, _ in level) + "]" for level in self.strict)
        soft = ", ".join(f"{task.name}: {weight:g}" for task, weight in self.soft)
        limits = ", ".join(limit.name for limit in self.limits)
        nominal = ", ".join(task.name for task in self.nominal)
        return f"Stack(limits [{limits}] ≻ {levels or 'nothing strict'} ≻ nominal [{nominal}], soft {{{soft}}})"


def _sequence(value: Any, name: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise StackError(f"{name}: expected a list, got {value!r}; write {name}=[...]")
    return tuple(value)


def _weighted(entry: Any, place: str) -> tuple[Any, float]:
    if isinstance(entry, tuple):
        if len(entry) != 2:
            raise StackError(f"{place}: expected (task, weight), got {entry!r}")
        task, weight = entry
        strict = place == "strict"  # a task of weight zero asks for nothing, which a strict level cannot mean
        name = getattr(task, "name", task)
        return task, checks.scalar(weight, f"{place}: weight of {name!r}", lower=0.0, strict=strict)
    if place == "soft":
        raise InputError(f"soft: expected (task, weight) pairs, got {entry!r}; write ({entry!r}, 1.0)")
    return entry, 1.0
