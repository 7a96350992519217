"""Smooth references for the tick benchmark: every task sways on sines of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from wbc.checks import Array
from wbc.robot import Robot

RAMP = 0.3  # s from rest to the full sway


@dataclass(frozen=True, slots=True)
class Sway:
    """Amplitudes of points and of the centre of mass [m] and of joints [rad], and the frequency [Hz]."""

    point: float
    com: float
    joint: float
    pace: float


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """What one task is to follow: a point (3,) or a configuration (nq,) with its rates, and a rotation that stays."""

    position: Array
    velocity: Array
    acceleration: Array
    rotation: Array


Reference = Mapping[str, Goal]
Motion = Callable[[float], Reference]


def sway(robot: Robot, tasks: Sequence[tuple[str, str, str]], much: Sway) -> Motion:
    """Sines about where tasks (name, kind, frame) are at home, axes and joints with their own pace and phase."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.home)
    pin.centerOfMass(robot.model, data, robot.home)
    rng, nothing = np.random.default_rng(11), np.zeros(3)
    joints = np.zeros(robot.nv)
    joints[robot.actuated] = 1.0
    made: dict[str, Callable[[float], Goal]] = {}
    for name, kind, frame in tasks:
        place = data.oMf[robot.frame_id(frame)] if frame else pin.SE3.Identity()
        turned = np.array(place.rotation)
        if kind == "posture":
            made[name] = _posture(robot, _sines(rng, much.joint * joints, much.pace))
        elif kind == "orientation":
            made[name] = lambda t, turned=turned: Goal(nothing, nothing, nothing, turned)  # type: ignore[misc]
        else:
            centre, size = (data.com[0], much.com) if kind == "com" else (place.translation, much.point)
            made[name] = _point(np.array(centre), turned, _sines(rng, np.full(3, size), much.pace))
    return lambda t: {name: at(t) for name, at in made.items()}


_Sines = Callable[[float], tuple[Array, Array, Array]]


def _sines(rng: np.random.Generator, amplitude: Array, pace: float) -> _Sines:
    """Offset, rate and second rate; the sway comes in over ``RAMP`` by a share s(t) that is smooth twice."""
    omega = 2.0 * np.pi * pace * rng.uniform(0.7, 1.3, len(amplitude))
    phase = rng.uniform(0.0, 2.0 * np.pi, len(amplitude))

    def at(t: float) -> tuple[Array, Array, Array]:
        u = min(t / RAMP, 1.0)
        s, ds = u**3 * (10 - 15 * u + 6 * u**2), 30 * u**2 * (1 - u) ** 2 / RAMP
        dds = 60 * u * (1 - u) * (1 - 2 * u) / RAMP**2
        x, dx = np.sin(omega * t + phase), omega * np.cos(omega * t + phase)
        ddx = -(omega**2) * x
        return amplitude * s * x, amplitude * (s * dx + ds * x), amplitude * (s * ddx + 2 * ds * dx + dds * x)

    return at


def _point(centre: Array, rotation: Array, sines: _Sines) -> Callable[[float], Goal]:
    def at(t: float) -> Goal:
        away, rate, second = sines(t)
        return Goal(centre + away, rate, second, rotation)

    return at


def _posture(robot: Robot, sines: _Sines) -> Callable[[float], Goal]:
    """Without feed-forward of accelerations, which not every peer has for joints."""
    nothing, turned = np.zeros(robot.nv), np.eye(3)

    def at(t: float) -> Goal:
        away, rate, _ = sines(t)
        return Goal(pin.integrate(robot.model, robot.home, away), rate, nothing, turned)

    return at
