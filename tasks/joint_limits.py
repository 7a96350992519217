"""JointLimits: positions, velocities and accelerations of joints, as one viable acceleration interval a joint."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wbc import checks
from wbc.attributes import Attributes, Constant
from wbc.checks import Array
from wbc.errors import InputError
from wbc.rows import Rows
from wbc.target import text
from wbc.terms import Terms
from wbc.viability import BrakingEnvelope

STOPPING_TIME = 0.2  # s from full speed to rest: the braking deceleration that is counted on where none is given
DEFAULT_BRAKING = 10.0  # rad/s², where a joint has no velocity limit either
TOWARDS = np.array([[1.0], [-1.0]])  # signs that turn q and v into motion towards the upper and the lower end


class JointLimits(Attributes):
    """Keep joints inside their position, velocity and acceleration limits by bounds on v̇ that can be kept for ever.

    Each joint has one interval ``lower ≤ v̇ ≤ upper`` (see :mod:`wbc.viability`): from inside it never leads outside, a
    joint that is outside or too fast is brought back monotonically, and the two ends never cross. Joints without a
    limit, continuous joints and a floating base have an infinite interval.

    Args:
        acceleration: limit on |v̇| [rad/s², m/s²], a number or one per coordinate (nv,); inf for none.
        braking: deceleration that may be counted on [rad/s²], a number or (nv,); ``None`` for the velocity limit over
            0.2 s. Never above ``acceleration``.
        rate: how fast a joint settles at its limit [1/s].
        position: whether position limits act.
        velocity: whether velocity limits act.
        name: name in the stack and the report.

    All of it stays, since the envelope is made once; to change it, make new limits.

    Source: Del Prete (2018), Joint position and velocity bounds in discrete-time acceleration/torque control of
    robot manipulators. The straight end of the envelope is an addition: a noisy position measured at the limit is not
    answered by jumps of torque.
    """

    _part = "limit"
    name: Any = Constant("name in the stack and the report")
    acceleration: Any = Constant("limit on |v̇| [rad/s², m/s²]")
    braking: Any = Constant("deceleration that is counted on [rad/s²], or None")
    rate: Any = Constant("how fast a joint settles at its limit [1/s]")
    position: Any = Constant("whether position limits act")
    velocity: Any = Constant("whether velocity limits act")

    def __init__(
        self,
        *,
        acceleration: Any = math.inf,
        braking: Any = None,
        rate: float = 20.0,
        position: bool = True,
        velocity: bool = True,
        name: str = "joint",
    ) -> None:
        self.name = text(name, "JointLimits: name")
        self.acceleration = _positive(acceleration, "JointLimits: acceleration")
        self.braking = None if braking is None else _positive(braking, "JointLimits: braking")
        self.rate = checks.scalar(rate, "JointLimits: rate", lower=0.0, strict=True)
        self.position = checks.flag(position, "JointLimits: position")
        self.velocity = checks.flag(velocity, "JointLimits: velocity")
        self._placed: tuple[Any, float] | None = None  # the robot and the period that the constants are for
        self._ends: Array  # (2, nv): upper, and −lower, so that both are limits that a motion goes towards
        self._envelope: BrakingEnvelope

    def elements(self, robot: Any) -> tuple[str, ...]:
        """All coordinates of v."""
        names: tuple[str, ...] = robot.velocity_names
        return names

    def rows(self, terms: Terms) -> Rows:
        """``lower ≤ v̇ ≤ upper``."""
        if self._placed is None or self._placed[0] is not terms.robot or self._placed[1] != terms.dt:
            self._placed = (terms.robot, terms.dt)
            self._prepare(terms.robot, terms.dt)
        gap = self._ends - TOWARDS * terms.joint_positions()
        a = self._envelope.acceleration(gap, TOWARDS * terms.v)
        upper, lower = a[0], -a[1]
        crossed = lower > upper
        if crossed.any():  # a range too narrow for this speed and period: one value, between the two
            lower[crossed] = upper[crossed] = 0.5 * (lower + upper)[crossed]
        return Rows(terms.identity, terms.zero_velocity, lower=lower, upper=upper)

    def _prepare(self, robot: Any, dt: float) -> None:
        """Constants of one robot: limits that act, and the braking that is counted on."""
        nv, unlimited = robot.nv, np.full(robot.nv, math.inf)
        lower, upper = robot.position_limits if self.position else (-unlimited, unlimited)
        self._ends = np.stack([upper, -lower])
        v_max = robot.velocity_limits if self.velocity else unlimited
        a_max = _per_joint(self.acceleration, nv, "acceleration")
        if self.braking is None:
            fastest = robot.velocity_limits
            braking = np.where(np.isfinite(fastest) & (fastest > 0.0), fastest / STOPPING_TIME, DEFAULT_BRAKING)
        else:
            braking = _per_joint(self.braking, nv, "braking")
        self._envelope = BrakingEnvelope(v_max, a_max, np.minimum(braking, a_max), self.rate, dt)


def _positive(value: Any, name: str) -> float | Array:
    if np.ndim(value) == 0:
        return math.inf if value == math.inf else checks.scalar(value, name, lower=0.0, strict=True)
    try:
        values = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: expected positive numbers, got {value!r}") from error
    if values.ndim != 1 or not (values > 0.0).all():
        raise InputError(f"{name} is {values.tolist()}, expected positive numbers")
    return values


def _per_joint(value: float | Array, nv: int, name: str) -> Array:
    if np.ndim(value) and np.shape(value) != (nv,):
        raise InputError(f"JointLimits: {name} has length {len(np.atleast_1d(value))}, expected nv={nv}")
    return np.broadcast_to(np.asarray(value, dtype=np.float64), (nv,))
