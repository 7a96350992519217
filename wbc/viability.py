"""Viable acceleration bounds: the fastest approach to a limit from which a joint can still stop before it."""

from __future__ import annotations

import numpy as np

from wbc.checks import Array


def acceleration_towards(
    gap: Array, speed: Array, v_max: Array, a_max: Array, braking: Array, rate: float, dt: float
) -> Array:
    """The largest acceleration towards a limit after which the joint is still on its braking envelope.

    The speed at distance Δ from the limit stays below

        φ(Δ) = r Δ                    for Δ ≤ b/r²
        φ(Δ) = √(2 b (Δ − b/(2 r²)))  beyond

    whose slope never asks for a deceleration above b. With w = v + dt a the next speed, the next distance is
    Δ − dt w for a plant that integrates semi-implicitly and Δ − dt (v + w)/2 for an exact one; w = φ(next distance) is
    solved in closed form for both and the smaller w taken. A joint outside (Δ < 0) is led back at r |Δ|, at most b/r.
    Decelerations beyond b are asked for only where b is not enough any more, and then just v²/(2 Δ).

    Args:
        gap: Δ (..., n), distance to the limit [rad, m], negative outside.
        speed: v (..., n), speed towards the limit [rad/s, m/s].
        v_max: velocity limit (n,), inf for none.
        a_max: acceleration limit (n,), inf for none.
        braking: b (n,), deceleration that may be counted on, finite.
        rate: r [1/s].
        dt: control period [s].

    Returns:
        The bound (..., n) on the acceleration towards the limit, inf where nothing bounds it.

    Source: Del Prete (2018), sections III and IV (position, velocity and viability inequalities in discrete time).
    """
    b_dt = braking * dt
    knee = braking / rate  # the speed at which the straight part of the envelope meets the parabola
    exact_gap = gap - (0.5 * dt) * speed
    w = _next_speed(gap, braking, b_dt, knee, rate, dt)
    w = np.minimum(w, _next_speed(exact_gap, braking, 0.5 * b_dt, knee, rate, 0.5 * dt))
    np.maximum(w, -np.minimum(knee, v_max), out=w)
    np.minimum(w, v_max, out=w)
    a = (w - speed) / dt
    if (a < -braking).any():
        inside = (gap > 0.0) & (speed > 0.0)
        needed = np.where(inside, speed**2 / np.where(inside, 2.0 * gap, 1.0), 0.0)
        a = np.maximum(a, -np.maximum(braking, needed))
    np.maximum(a, -a_max, out=a)
    return np.minimum(a, a_max, out=a)


def _next_speed(gap: Array, b: Array, b_dt: Array, knee: Array, rate: float, dt: float) -> Array:
    """Solve w = φ(Δ − dt w) for w, with ``b_dt`` the matching braking step."""
    straight = gap * (rate / (1.0 + rate * dt))
    curved = (2.0 * b) * gap
    curved += b_dt * b_dt - knee * knee
    np.maximum(curved, 0.0, out=curved)
    np.sqrt(curved, out=curved)
    curved -= b_dt
    np.copyto(curved, straight, where=straight <= knee)
    return curved
