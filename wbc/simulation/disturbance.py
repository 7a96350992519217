"""Disturbances: functions of time that push on frames, for :func:`wbc.simulate`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from wbc import checks
from wbc.checks import Array

TICK_TOLERANCE = 1e-9  # s: times of ticks are multiples of dt only to rounding


def push(
    frame: str, impulse: float, direction: Any, at: float, *, lasting: float = 0.1
) -> Callable[[float], Mapping[str, Array]]:
    """Push on a frame with a constant force for a while: ``impulse / lasting`` along ``direction``.

    Args:
        frame: frame that is pushed, at its origin.
        impulse: force times duration [N s].
        direction: (3,) in the world; normalised.
        at: when the push begins [s].
        lasting: how long it lasts [s]; a whole number of control periods, so that the impulse is what it should be.
    """
    begin = checks.scalar(at, "at", lower=0.0)
    duration = checks.scalar(lasting, "lasting", lower=0.0, strict=True)
    wrench = np.zeros(6)
    wrench[:3] = checks.scalar(impulse, "impulse") / duration * checks.direction(direction, "direction")

    def disturbance(t: float) -> Mapping[str, Array]:
        pushing = begin - TICK_TOLERANCE <= t < begin + duration - TICK_TOLERANCE
        return {frame: wrench.copy()} if pushing else {}

    return disturbance
