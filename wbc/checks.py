"""The door: everything a user hands in passes one of these once, and is trusted from then on."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wbc.errors import InputError, UnknownNameError

Array = NDArray[np.float64]

ROTATION_TOLERANCE = 1e-3  # how far from orthonormal a matrix may be and still mean a rotation (float32, drift)
UNIT_TOLERANCE = 1e-6  # how far from 1 the norm of a quaternion may be


def _numbers(value: Any) -> Array:
    """A float64 copy; texts and complex numbers, which numpy would parse and cut, raise a TypeError."""
    given = np.asarray(value)
    if given.dtype.kind in "cSUmM":
        raise TypeError
    return given.astype(np.float64)


def array(value: Any, name: str, shape: tuple[int, ...]) -> Array:
    """Copy ``value`` to a finite float64 array of exactly ``shape``."""
    try:
        result = _numbers(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: expected numbers of shape {shape}, got {value!r}") from error
    if result.shape != shape:
        got, expected = (f"length {s[0]}" if len(s) == 1 else f"shape {s}" for s in (result.shape, shape))
        raise InputError(f"{name} has {got}, expected {expected}")
    return finite(result, name)


def vector(value: Any, name: str, length: int | None = None) -> Array:
    """Copy ``value`` to a finite float64 vector, of ``length`` entries where that is given."""
    return finite(vector_of_any(value, name, length), name)


def vector_of_any(value: Any, name: str, length: int | None = None) -> Array:
    """Copy ``value`` to a float64 vector that may hold NaN and inf."""
    try:
        result = _numbers(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: expected a vector of numbers, got {value!r}") from error
    if result.ndim != 1:
        raise InputError(f"{name} has shape {result.shape}, expected a vector (one dimension)")
    if length is not None and result.shape[0] != length:
        raise InputError(f"{name} has length {result.shape[0]}, expected {length}")
    return result


def finite(value: Array, name: str) -> Array:
    """Refuse NaN and inf, naming the first bad entry."""
    # a NaN or an inf anywhere makes the sum of squares non-finite: 0.4 us against 2.6 of isfinite(...).all(), and no
    # warning where inf meets -inf, as in a plain sum
    if not math.isfinite(np.vdot(value, value)):
        bad = np.argwhere(~np.isfinite(value))
        if len(bad):
            where = ", ".join(str(int(i)) for i in bad[0])
            raise InputError(f"{name}[{where}] is {value[tuple(bad[0])]}, expected a finite number")
    return value


def scalar(value: Any, name: str, *, lower: float = -math.inf, upper: float = math.inf, strict: bool = False) -> float:
    """A finite number in [lower, upper], or in (lower, upper] where ``strict``."""
    try:
        if isinstance(value, bool | str | bytes):
            raise TypeError
        result = float(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: expected a number, got {value!r}") from error
    if not math.isfinite(result):
        raise InputError(f"{name} is {result}, expected a finite number")
    if result < lower or result > upper or (strict and result == lower):
        above = "above" if strict else "at least"
        limits = [f"{above} {lower:g}"] * (lower > -math.inf) + [f"at most {upper:g}"] * (upper < math.inf)
        raise InputError(f"{name} is {result:g}, expected {' and '.join(limits)}")
    return result


def count(value: Any, name: str) -> int:
    """A whole number, zero or more."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise InputError(f"{name}: expected a whole number, zero or more, got {value!r}")
    return int(value)


def flag(value: Any, name: str) -> bool:
    """A real bool: truthy objects that meant another argument are refused."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}: expected True or False, got {value!r}")
    return bool(value)


def by_joint(value: Any, name: str) -> dict[str, Any]:
    """A copy of a mapping from joint names to numbers; None is an empty one."""
    if value is not None and not isinstance(value, Mapping):
        raise InputError(f"{name}: expected joint names and numbers, such as {{'joint_1': 3.0}}, got {value!r}")
    return dict(value or {})


def direction(value: Any, name: str) -> Array:
    """A unit vector of three entries; any length but zero is accepted and normalised."""
    result = vector(value, name, 3)
    if float(largest := np.abs(result).max()) < 1e-12:
        raise InputError(f"{name} is zero, expected a vector that points somewhere")
    result /= largest  # the norm of numbers above 1e154 would overflow
    return result / np.linalg.norm(result)


def mask(value: Any, name: str, length: int) -> NDArray[np.intp]:
    """The indices of the ones in a vector of zeros and ones."""
    entries = vector(value, name, length)
    if not np.isin(entries, (0.0, 1.0)).all():
        raise InputError(f"{name} is {entries.tolist()}, expected zeros and ones")
    if not entries.any():
        raise InputError(f"{name} has no one in it, so that nothing would be left of the task")
    return np.flatnonzero(entries)


def rotation(value: Any, name: str) -> Array:
    """A 3x3 rotation matrix; one that is orthonormal to 1e-3 is projected onto the nearest rotation."""
    matrix = array(value, name, (3, 3))
    error = np.abs(matrix @ matrix.T - np.eye(3)).max()
    if error > ROTATION_TOLERANCE:
        raise InputError(f"{name} is not a rotation matrix: R Rᵀ differs from the identity by {error:.2g}")
    if np.linalg.det(matrix) < 0.0:
        raise InputError(f"{name} is a reflection (det R = -1), expected a rotation matrix")
    U, _, Vt = np.linalg.svd(matrix)
    nearest: Array = U @ Vt
    return nearest


def positive_definite(value: Any, name: str, size: int | None = None) -> Array:
    """A symmetric positive definite matrix, of ``size`` rows where that is given."""
    try:
        matrix = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: expected a matrix of numbers, got {value!r}") from error
    n = size if size is not None else (len(matrix) if matrix.ndim else 0)
    if matrix.shape != (n, n):
        raise InputError(
            f"{name} has shape {matrix.shape}, expected {(n, n) if size is not None else 'a square matrix'}"
        )
    finite(matrix, name)
    if np.abs(matrix - matrix.T).max(initial=0.0) > 1e-9 * np.abs(matrix).max(initial=0.0):
        raise InputError(f"{name} is not symmetric; mirror one triangle: np.triu(X) + np.triu(X, 1).T")
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError as error:
        raise InputError(f"{name} is not positive definite") from error
    return matrix


def choice(value: Any, options: Iterable[str], what: str, where: str = "") -> str:
    """One of ``options``; a mistyped one is refused with close matches."""
    known = list(options)
    if not isinstance(value, str):
        raise InputError(f"{what}: expected a name, got {value!r}")
    if value not in known:
        raise UnknownNameError(unknown(value, known, what, where))
    return value


def unknown(value: str, known: Sequence[str], what: str, where: str = "") -> str:
    """The sentence that says that a name does not exist, with the closest ones that do."""
    close = difflib.get_close_matches(value, known, n=3, cutoff=0.5)
    close += [name for name in known if value and value.lower() in name.lower() and name not in close][:3]
    place = f" in {where}" if where else ""
    if close:
        return f"{what} {value!r} does not exist{place}; did you mean {' or '.join(repr(name) for name in close)}?"
    listed = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
    return f"{what} {value!r} does not exist{place}; there are: {listed or 'none'}"
