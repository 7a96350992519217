"""Joints by name: which coordinate is whose, positions by name, and translation to another joint order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wbc import checks
from wbc.checks import Array
from wbc.errors import InputError

PLANAR_AXES = ("x", "y", "yaw")


def joint_names_of(model: Any) -> tuple[tuple[str, ...], list[int]]:
    """Names of all velocity coordinates and the indices of the actuated ones (a free-flyer has no motors)."""
    names: list[str] = []
    actuated: list[int] = []
    for name, joint in list(zip(model.names, model.joints, strict=True))[1:]:
        axes = PLANAR_AXES if joint.shortname() == "JointModelPlanar" else tuple(range(joint.nv))
        names += [name] if joint.nv == 1 else [f"{name}_{axis}" for axis in axes]
        if joint.shortname() != "JointModelFreeFlyer":
            actuated += range(joint.idx_v, joint.idx_v + joint.nv)
    return tuple(names), actuated


def floats(model: Any) -> bool:
    """Whether the robot's base is free in space, so that contacts carry its weight."""
    return len(model.joints) > 1 and bool(model.joints[1].shortname() == "JointModelFreeFlyer")


def single_axes(model: Any) -> tuple[NDArray[np.int64], int] | None:
    """Where the position of each coordinate of v stands in q, and how many coordinates a floating base has.

    ``−1 − place`` for the (cos, sin) of a continuous joint; ``None`` where a joint has several axes.
    """
    places = np.zeros(model.nv, dtype=np.int64)
    base = model.joints[1].nv if floats(model) else 0
    for joint in list(model.joints)[2 if base else 1 :]:
        if joint.nv != 1:
            return None
        places[joint.idx_v] = joint.idx_q if joint.nq == 1 else -1 - joint.idx_q
    return places, base


def by_axis(model: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers by coordinate, where a base's joint may be named as a whole with a pair (linear, angular).

    Raises:
        InputError: a base's joint with anything but a pair.
    """
    result: dict[str, Any] = {}
    bases = {"JointModelFreeFlyer": (range(3), range(3, 6)), "JointModelPlanar": (PLANAR_AXES[:2], PLANAR_AXES[2:])}
    kinds = {name: joint.shortname() for name, joint in zip(model.names, model.joints, strict=True)}
    for name, value in given.items():
        if kinds.get(name) not in bases:
            result[name] = value
            continue
        if not isinstance(value, tuple | list) or len(value) != 2:
            raise InputError(
                f"{name!r} is the joint of a base: expected a pair (linear [m/s], angular [rad/s]), got {value!r}"
            )
        for axes, one in zip(bases[kinds[name]], value, strict=True):
            result |= {f"{name}_{axis}": one for axis in axes}
    return result


def without_motors(
    with_motors: Sequence[int], names: Sequence[str], passive: Iterable[str], label: str
) -> tuple[list[int], dict[str, float]]:
    """The actuated coordinates without the ``passive`` ones, and these with the torque 0 that they have.

    Raises:
        InputError: a text instead of a list of names.
        UnknownNameError: a coordinate that does not exist; the message has close matches.
    """
    if isinstance(passive, str):
        raise InputError(f"passive: expected a list of names, got the text {passive!r}; write passive=({passive!r},)")
    motorless = {checks.choice(name, names, "joint", f"robot {label!r}"): 0.0 for name in passive}
    return [i for i in with_motors if names[i] not in motorless], motorless


def joint_of_velocity(model: Any, index: int) -> int:
    """The joint to which a velocity coordinate belongs."""
    return next(i for i, joint in enumerate(model.joints) if i and joint.idx_v <= index < joint.idx_v + joint.nv)


def joint_position(model: Any, q: Array, joint_name: str, position: float) -> None:
    """Write the position of a one-axis joint [rad, m] into ``q``; a continuous joint becomes (cos, sin)."""
    joint = model.joints[model.getJointId(joint_name)]
    if joint.nv != 1:
        raise InputError(f"joint {joint_name!r} has {joint.nv} axes, so that one number does not place it")
    if joint.nq == 2:
        q[joint.idx_q : joint.idx_q + 2] = math.cos(position), math.sin(position)
    else:
        q[joint.idx_q] = position


@dataclass(frozen=True, slots=True, eq=False)
class JointOrder:
    """Translation between a robot's joint order and another one, by name.

    Attributes:
        names: the other order.
        to: ``x_other = x_robot[to]``.
        back: ``x_robot = x_other[back]``.
    """

    names: tuple[str, ...]
    to: NDArray[np.intp]
    back: NDArray[np.intp]

    @classmethod
    def between(cls, robot_names: Sequence[str], names: Sequence[str]) -> JointOrder:
        """Match two lists of names that must hold the same names, each once."""
        given, known = list(names), list(robot_names)
        twice = sorted({name for name in given if given.count(name) > 1})
        missing = [name for name in known if name not in given]
        extra = [name for name in given if name not in known]
        problems = [
            f"{what}: {', '.join(which)}"
            for what, which in (("given twice", twice), ("missing", missing), ("unknown", extra))
            if which
        ]
        if problems:
            raise InputError(f"the joint order does not match the robot's ({'; '.join(problems)})")
        return cls(
            names=tuple(given),
            to=np.array([known.index(name) for name in given], dtype=np.intp),
            back=np.array([given.index(name) for name in known], dtype=np.intp),
        )

    def from_robot(self, values: Any) -> Array:
        """Reorder values (nu,) of the robot, such as ``command.torque``, for the other side."""
        return checks.vector(values, "values", len(self.names))[self.to]

    def to_robot(self, values: Any) -> Array:
        """Reorder values (nu,) of the other side, such as measured joint positions, for the robot."""
        return checks.vector(values, "values", len(self.names))[self.back]
