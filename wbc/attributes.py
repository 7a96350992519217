"""Attributes of tasks, contacts and limits: mistyped ones are refused, and what rows were made of stays."""

from __future__ import annotations

from abc import ABC
from functools import wraps
from typing import Any, ClassVar

import numpy as np

from wbc.checks import unknown
from wbc.errors import InputError, UnknownNameError


class Attributes(ABC):  # noqa: B024  (its subclasses are abstract, or are not)
    """An object that takes the public attributes that it knows: those of its class and those that ``__init__`` set.

    A subclass adds its own by setting them in ``__init__`` or declaring them in the class; names that begin with an
    underscore are free.

    Raises:
        UnknownNameError: an attribute that does not exist is assigned; the message has close matches.
        InputError: an attribute is assigned that can only be read.
    """

    _part: ClassVar[str] = "task"
    _made = False
    _version = 0  # counts assignments, so that a controller sees that something changed

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        construct: Any = cls.__dict__.get("__init__")
        if construct is None:
            return

        # not in a metaclass, whose __call__ would hide the signature, and which no Protocol could stand beside
        @wraps(construct)
        def through(self: Any, *args: Any, **kwargs: Any) -> None:
            construct(self, *args, **kwargs)
            if type(self).__init__ is through:  # the constructors of all classes are through
                self._made = True

        cls.__init__ = through  # type: ignore[method-assign]

    def __setattr__(self, name: str, value: Any) -> None:
        if self._made and not name.startswith("_") and name not in self.__dict__:
            defined = getattr(type(self), name, None)
            if isinstance(defined, property) and defined.fset is None:
                raise InputError(f"{label_of(self)}: {name} can only be read; make a new {self._part}")
            if not hasattr(type(self), name) and name not in (known := _values(type(self), self.__dict__)):
                hint = f"; an attribute of your own is set in __init__ or declared in {type(self).__name__}"
                raise UnknownNameError(unknown(name, known, "attribute", label_of(self)) + hint)
        object.__setattr__(self, name, value)
        self.__dict__["_version"] = self._version + 1


class Constant:
    """An attribute that ``__init__`` sets and that stays, since controllers have made their rows of it.

    Args:
        doc: what the value is.
    """

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.slot = name, f"_{name}"

    def __get__(self, part: Any, owner: type | None = None) -> Any:
        if part is None:
            return self
        value = part.__dict__.get(self.slot)
        return value.copy() if isinstance(value, np.ndarray) else value

    def __set__(self, part: Any, value: Any) -> None:
        if part._made:
            kept = part.__dict__[self.slot]
            raise InputError(f"{label_of(part)}: {self.name} stays {kept!r}, got {value!r}; make a new {part._part}")
        part.__dict__[self.slot] = value


def label_of(part: Any) -> str:
    """A task, a contact or a limit in the words of an error."""
    return f"{part._part} {getattr(part, 'name', type(part).__name__)!r}"


def _values(owner: type, own: dict[str, Any]) -> list[str]:
    """Public names of values: set by ``__init__``, declared, or with a descriptor that takes a value."""
    names = [name for name in own if not name.startswith("_")]
    for base in owner.__mro__:
        names += [name for name in vars(base).get("__annotations__", {}) if not name.startswith("_")]
        for name, entry in vars(base).items():
            takes = entry.fset is not None if isinstance(entry, property) else hasattr(type(entry), "__set__")
            if takes and not name.startswith("_"):
                names.append(name)
    return list(dict.fromkeys(names))
