"""Reference motions: pure functions of time with exact derivatives.

Each maker checks its arguments once and returns a function ``t -> value``. Before zero a motion stands at its start,
after its duration at its end. Positions in m, rotations as matrices, world axes everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from wbc import checks
from wbc.checks import Array
from wbc.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """A point (n,), usually of a hand, with its velocity [1/s] and acceleration [1/s²]."""

    position: Array
    velocity: Array
    acceleration: Array


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """A rotation matrix (3, 3) with its angular velocity [rad/s] and angular acceleration [rad/s²], world axes."""

    rotation: Array
    angular_velocity: Array
    angular_acceleration: Array


Path = Callable[[float], Motion]
Turning = Callable[[float], Turn]


def smooth(x: float) -> tuple[float, float, float]:
    """The minimum-jerk step from 0 to 1 and its first two derivatives: ``10 x³ − 15 x⁴ + 6 x⁵``.

    Velocity and acceleration vanish at both ends (Flash and Hogan, 1985).
    """
    if x <= 0.0:
        return 0.0, 0.0, 0.0
    if x >= 1.0:
        return 1.0, 0.0, 0.0
    return (
        x**3 * (10.0 + x * (-15.0 + 6.0 * x)),
        30.0 * x**2 * (1.0 - x) ** 2,
        60.0 * x * (1.0 - x) * (1.0 - 2.0 * x),
    )


def hold(position: Any) -> Path:
    """Stay at a point (n,)."""
    there = checks.vector(position, "position")
    return lambda t: Motion(there.copy(), np.zeros_like(there), np.zeros_like(there))


def minimum_jerk(start: Any, goal: Any, duration: float) -> Path:
    """Move on a straight line from one point (n,) to another, smoothly, in ``duration`` seconds."""
    begin = checks.vector(start, "start")
    way = checks.vector(goal, "goal", len(begin)) - begin
    T = checks.scalar(duration, "duration", lower=0.0, strict=True)

    def at(t: float) -> Motion:
        s, ds, dds = smooth(t / T)
        return Motion(begin + s * way, (ds / T) * way, (dds / T**2) * way)

    return at


def arc(start: Any, centre: Any, axis: Any, angle: float, duration: float) -> Path:
    """Move a point (3,) on a circle: turn it about an axis through ``centre`` by ``angle`` rad, smoothly."""
    middle = checks.vector(centre, "centre", 3)
    radius = checks.vector(start, "start", 3) - middle
    turning = turn(np.eye(3), axis, angle, duration)

    def at(t: float) -> Motion:
        now = turning(t)
        r = now.rotation @ radius
        omega, alpha = now.angular_velocity, now.angular_acceleration
        velocity = np.cross(omega, r)
        return Motion(middle + r, velocity, np.cross(alpha, r) + np.cross(omega, velocity))

    return at


def turn(start: Any, axis: Any, angle: float, duration: float) -> Turning:
    """Turn a rotation (3, 3) about a world axis by ``angle`` rad, smoothly: ``R(t) = exp(θ(t) axis) R₀``."""
    T = checks.scalar(duration, "duration", lower=0.0, strict=True)
    full = checks.scalar(angle, "angle")

    def theta(t: float) -> tuple[float, float, float]:
        s, ds, dds = smooth(t / T)
        return full * s, full * ds / T, full * dds / T**2

    return _turning(start, axis, theta)


def swing(start: Any, axis: Any, amplitude: float, period: float, *, ramp: float = 1.0) -> Turning:
    """Turn a rotation (3, 3) to and fro about a world axis: ``θ(t) = amplitude sin φ(t)``, started smoothly."""
    size = checks.scalar(amplitude, "amplitude")
    phase = _phase(2.0 * math.pi / checks.scalar(period, "period", lower=0.0, strict=True), ramp)

    def theta(t: float) -> tuple[float, float, float]:
        phi, dphi, ddphi = phase(t)
        sin, cos = math.sin(phi), math.cos(phi)
        return size * sin, size * cos * dphi, size * (cos * ddphi - sin * dphi**2)

    return _turning(start, axis, theta)


def figure(
    centre: Any,
    *,
    size: Any = (0.1, 0.2, 0.1),
    speed: float = 0.8,
    frequencies: Any = (2, 1, 3),
    ramp: float = 1.0,
) -> Path:
    """Follow a closed figure in space: ``p = centre + size sin(frequencies φ(t))``, from rest at its centre.

    ``size`` (3,) are the half widths [m] and ``frequencies`` (3,) whole numbers; (2, 1, ·) is an eight. The phase
    speeds up by a minimum-jerk step in ``ramp`` seconds; then the fastest point is passed at ``speed`` [m/s].
    """
    middle, half = checks.vector(centre, "centre", 3), checks.vector(size, "size", 3)
    wave = checks.vector(frequencies, "frequencies", 3)
    if (wave != np.round(wave)).any() or not (half * wave).any():
        raise InputError(f"frequencies are {wave.tolist()}, expected whole numbers that move some axis of size")
    phi = np.linspace(0.0, 2.0 * math.pi, 20001)[:, None]
    fastest = float(np.linalg.norm(half * wave * np.cos(wave * phi), axis=1).max())  # m per unit of phase; to 1e-6
    phase = _phase(checks.scalar(speed, "speed", lower=0.0, strict=True) / fastest, ramp)

    def at(t: float) -> Motion:
        phi, dphi, ddphi = phase(t)
        sin, cos = np.sin(wave * phi), np.cos(wave * phi)
        slope, bend = half * wave * cos, -half * wave**2 * sin
        return Motion(middle + half * sin, slope * dphi, slope * ddphi + bend * dphi**2)

    return at


def integrate_twist(pose: Any, twist: Any, dt: float) -> Any:
    """Move a pose (pin.SE3) for ``dt`` seconds with a constant twist (6,): linear then angular, world axes.

    Position and rotation are integrated side by side, ``p + v Δt`` and ``exp(ω Δt) R``. The exponential of the whole
    twist would turn the position about the world's origin, so that a pure rotation swings the hand sideways.
    """
    xi, period = checks.vector(twist, "twist", 6), checks.scalar(dt, "dt")
    return pin.SE3(pin.exp3(period * xi[3:]) @ pose.rotation, pose.translation + period * xi[:3])


def _turning(start: Any, axis: Any, theta: Callable[[float], tuple[float, float, float]]) -> Turning:
    begin, about = checks.rotation(start, "start"), checks.direction(axis, "axis")

    def at(t: float) -> Turn:
        angle, rate, acceleration = theta(t)
        return Turn(pin.exp3(angle * about) @ begin, rate * about, acceleration * about)

    return at


def _phase(rate: float, ramp: float) -> Callable[[float], tuple[float, float, float]]:
    """φ with φ̇ rising from 0 to ``rate`` by a minimum-jerk step in ``ramp`` seconds: its integral, in closed form."""
    T = checks.scalar(ramp, "ramp", lower=0.0, strict=True)

    def at(t: float) -> tuple[float, float, float]:
        x = t / T
        s, ds, _ = smooth(x)
        area = 0.0 if x <= 0.0 else x**4 * (2.5 + x * (-3.0 + x)) if x < 1.0 else x - 0.5
        return rate * T * area, rate * s, rate * ds / T

    return at
