"""Values of this package as JSON text and plain arrays, and back: no pickle, so that a stranger's file runs no code."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from wbc.layout import Part

Arrays = dict[str, Any]


def encode(value: Any, place: str, arrays: Arrays) -> Any:
    """What JSON can hold; arrays go to ``arrays`` under their place, and leave a reference.

    Args:
        value: numbers, text, ``None``, arrays, parts of a layout, and tuples, lists and dicts of them.
        place: name of the value, from which the names of its arrays are made.
        arrays: where arrays are put.
    """
    if isinstance(value, np.ndarray):
        arrays[place] = value
        return {"array": place}
    if isinstance(value, Part):
        return {"part": [encode(item, f"{place}/{name}", arrays) for name, item in fields_of(value).items()]}
    if isinstance(value, tuple):
        return {"tuple": [encode(item, f"{place}/{i}", arrays) for i, item in enumerate(value)]}
    if isinstance(value, list):
        return [encode(item, f"{place}/{i}", arrays) for i, item in enumerate(value)]
    if isinstance(value, dict):
        return {"dict": {name: encode(item, f"{place}/{name}", arrays) for name, item in value.items()}}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"{place}: a {type(value).__name__} cannot be saved")


def decode(value: Any, arrays: Mapping[str, Any]) -> Any:
    """What :func:`encode` was given.

    Raises:
        ValueError, KeyError, TypeError: the value was not written by :func:`encode`, or an array is missing.
    """
    if isinstance(value, list):
        return [decode(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "array":
        return arrays[content]
    if kind == "part":
        return Part(*(decode(item, arrays) for item in content))
    if kind == "tuple":
        return tuple(decode(item, arrays) for item in content)
    if kind == "dict":
        return {name: decode(item, arrays) for name, item in content.items()}
    raise ValueError(f"{kind!r} is no kind of value that is saved here")


def fields_of(value: Any) -> dict[str, Any]:
    """The fields that a dataclass is made from."""
    return {item.name: getattr(value, item.name) for item in dataclasses.fields(value) if item.init}
