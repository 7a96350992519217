"""Limits of a description, with placeholders recognised: what a robot can really do, or inf where nobody said."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from wbc import checks
from wbc.checks import Array
from wbc.errors import RobotError

ZeroLimits = Literal["unlimited", "zero", "error"]

HUGE = 1e18  # beyond this a number means "no limit": 1e20, 1e30 and 1.797e308 all occur
PLACEHOLDER_EFFORT = 1000.0  # N m; description authors write 1000, 50000 or 1e9 where they do not know
PLACEHOLDER_VELOCITY = 1000.0  # rad/s


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """Limits by velocity coordinate: torque (nv,), position (2, nv), velocity (nv,), and what was mended."""

    torque: Array
    position: Array
    velocity: Array
    warnings: tuple[str, ...]


def limits_of(
    model: Any,
    names: Sequence[str],
    actuated: Sequence[int],
    zero_limits: str,
    known_torque: Mapping[str, float],
    known_velocity: Mapping[str, float],
) -> Limits:
    """Read a model's limits; a zero, missing or huge one becomes inf, with a warning that names the joint.

    Joints in ``known_torque`` and ``known_velocity`` get their limit from the user, so that nothing is said of them.
    """
    checks.choice(zero_limits, ("unlimited", "zero", "error"), "zero_limits")
    nv = model.nv
    torque, velocity = np.full(nv, math.inf), np.full(nv, math.inf)
    position = np.tile(np.array([[-math.inf], [math.inf]]), nv)
    warnings: list[str] = []
    for name, joint in list(zip(model.names, model.joints, strict=True))[1:]:
        if joint.nv == joint.nq == 1:
            lower, upper = model.lowerPositionLimit[joint.idx_q], model.upperPositionLimit[joint.idx_q]
            if lower > upper:
                raise RobotError(f"joint {name!r}: lower position limit {lower:g} is above the upper one {upper:g}")
            if lower == upper == 0.0:
                warnings.append(f"joint {name!r}: both position limits are 0 (missing?), treated as unlimited")
            else:
                position[:, joint.idx_v] = _lower(lower), -_lower(-upper)
        if joint.shortname() in ("JointModelFreeFlyer", "JointModelPlanar"):
            continue  # a base has no limits in a description, only leftovers of the container
        for i in range(joint.idx_v, joint.idx_v + joint.nv):
            torque[i] = _bound(
                model.effortLimit[i],
                "effort",
                "torque_limits",
                names[i],
                PLACEHOLDER_EFFORT,
                zero_limits,
                names[i] in known_torque,
                warnings,
            )
            velocity[i] = _bound(
                model.velocityLimit[i],
                "velocity",
                "velocity_limits",
                names[i],
                PLACEHOLDER_VELOCITY,
                zero_limits,
                names[i] in known_velocity,
                warnings,
            )
    return Limits(torque, position, velocity, tuple(warnings))


def override(
    limits: Array, names: Sequence[str], given: Mapping[str, float] | None, argument: str, label: str
) -> Array:
    """A copy of ``limits`` with the user's own in their places (inf allowed: no limit)."""
    result = limits.copy()
    for name, value in checks.by_joint(given, argument).items():
        checks.choice(name, names, "joint", f"robot {label!r}")
        is_inf = isinstance(value, float) and value == math.inf
        result[list(names).index(name)] = (
            math.inf if is_inf else checks.scalar(value, f"{argument}[{name!r}]", lower=0.0)
        )
    result.flags.writeable = False
    return result


def _lower(value: float) -> float:
    return float(value) if abs(value) < HUGE else -math.inf


def _bound(
    value: float,
    what: str,
    argument: str,
    name: str,
    placeholder: float,
    zero_limits: str,
    known: bool,
    warnings: list[str],
) -> float:
    fix = f"; give the real one with {argument}={{{name!r}: ...}}"
    if value == 0.0:
        if zero_limits == "error" and not known:
            raise RobotError(f"joint {name!r}: {what} limit is 0{fix}")
        if zero_limits == "zero":
            return 0.0
        if not known:
            warnings.append(f"joint {name!r}: {what} limit is 0, taken for a placeholder: unlimited{fix}")
        return math.inf
    if not 0.0 < value < HUGE:
        return math.inf
    if value >= placeholder:
        if not known:
            warnings.append(f"joint {name!r}: {what} limit {value:g} looks like a placeholder: unlimited{fix}")
        return math.inf
    return float(value)
