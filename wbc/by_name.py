"""ByName: a dict whose missing names are refused in a sentence, with close matches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

from wbc.checks import unknown
from wbc.errors import UnknownNameError

Value = TypeVar("Value")


class ByName(dict[str, Value]):
    """What belongs to each name; a dict in everything but the error of ``[name]``.

    Args:
        values: the values by name.
        what: what a name is the name of, such as ``"task"``.
        where: what is looked into, such as ``"the recording"``.

    Raises:
        UnknownNameError: ``[name]`` of a name that is not in it.
    """

    def __init__(self, values: Mapping[str, Value], what: str, where: str) -> None:
        super().__init__(values)
        self._what, self._where = what, where

    def __missing__(self, name: Any) -> NoReturn:
        raise UnknownNameError(unknown(str(name), list(self), self._what, self._where))
