"""Rows on accelerations, wrenches and torques; gains; and the one place where b = J̇v − ξ̇_r is written."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np

from wbc import checks
from wbc.checks import Array
from wbc.errors import InputError
from wbc.kernels import motion

On = Literal["acceleration", "torque", "wrench"]


@dataclass(slots=True)
class Rows:
    """Linear rows ``lower ≤ A · + b ≤ upper`` on accelerations v̇, torques τ or a contact's wrench f.

    Args:
        A: matrix (k, nv) on accelerations, (k, nu) on torques, (k, 3) or (k, 6) on a wrench in world axes at its frame.
        b: offset (k,).
        lower: lower bounds (k,), ``None`` for an equality ``A · + b = 0``.
        upper: upper bounds (k,), ``None`` for an equality.
        on: what the rows multiply.
        drift: the J̇v (k,) that b contains, so that a report can speak of whole task accelerations.
    """

    A: Array
    b: Array
    _: KW_ONLY
    lower: Array | None = None
    upper: Array | None = None
    on: On = "acceleration"
    drift: Array | None = None


@dataclass(slots=True)
class Kinematics:
    """What a motion task knows of itself: ``ξ = J v`` and ``ξ̇ = J v̇ + J̇v``, errors as reference minus measured.

    Args:
        error: (k,) position-level error Δx [m, rad].
        velocity_error: (k,) velocity-level error Δξ [m/s, rad/s].
        J: task Jacobian (k, nv).
        Jdot_v: (k,) task acceleration at v̇ = 0 (classical, not spatial) [m/s², rad/s²].
    """

    error: Array
    velocity_error: Array
    J: Array
    Jdot_v: Array


@dataclass(slots=True)
class InNumbers:
    """What a part of a stack asks where compiled code knows the meaning of its kind (:mod:`wbc.kernels.rows`).

    Args:
        kind: one of the kinds in :mod:`wbc.kernels`.
        size: length of the target.
        target: (size,), ``None`` where the part holds what it sees.
        frame: name of its frame, empty where it has none.
        first: the first of the frame's six rows.
    """

    kind: int
    size: int
    target: Array | None
    frame: str = ""
    first: int = 0


class Gains:
    """Feedback gains of a task: ``ξ̇_r = kp Δx + kd Δξ + ξ̇_d``.

    Args:
        kp: stiffness [1/s²], a number or one per row, not negative.
        kd: damping [1/s], a number or one per row, not negative.

    Raises:
        InputError: a gain is negative, NaN or inf.
    """

    __slots__ = ("kd", "kp")
    kp: float | Array
    kd: float | Array

    def __init__(self, kp: Any, kd: Any) -> None:
        object.__setattr__(self, "kp", _gain(kp, "kp"))
        object.__setattr__(self, "kd", _gain(kd, "kd"))

    @classmethod
    def critical(cls, kp: Any) -> Gains:
        """Critical damping: kd = 2 √kp."""
        kp = _gain(kp, "kp")
        return cls(kp, 2.0 * np.sqrt(kp))

    def each(self, size: int) -> tuple[Array, Array]:
        """kp and kd, one per row."""
        return np.full(size, self.kp), np.full(size, self.kd)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("Gains do not change; give the task new ones: task.gains = Gains(kp, kd)")

    def __reduce__(self) -> tuple[type[Gains], tuple[Any, Any]]:
        return Gains, (self.kp, self.kd)  # copies and pickles are made anew, since attributes cannot be set

    def __repr__(self) -> str:
        return f"Gains(kp={self.kp}, kd={self.kd})"


def motion_rows(kinematics: Kinematics, gains: Gains, acceleration: Array | None) -> tuple[Array, Array]:
    """The rows of a motion task: ``A = J``, ``b = J̇v − ξ̇_r``, ``ξ̇_r = kp Δx + kd Δξ + ξ̇_d``."""
    k, b = kinematics, np.empty(len(kinematics.error))
    kp, kd = gains.each(len(b))
    wanted = np.zeros(len(b)) if acceleration is None else acceleration
    drift, error, gap = np.array(k.Jdot_v), np.array(k.error), np.array(k.velocity_error)
    motion.motion_offset(drift, kp, error, kd, gap, wanted, b)
    return k.J, b


def _gain(value: Any, name: str) -> float | Array:
    if np.ndim(value) == 0:
        return checks.scalar(value, name, lower=0.0)
    gains = checks.vector(value, name)
    if (gains < 0.0).any():
        raise InputError(f"{name} is {gains.tolist()}, expected no negative entry")
    gains.flags.writeable = False
    return gains
