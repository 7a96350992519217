"""Viable acceleration bounds: the fastest approach to a limit from which a joint can still stop before it."""

from __future__ import annotations

import numpy as np

from wbc.checks import Array


class BrakingEnvelope:
    """How fast joints may move towards a limit at distance Δ, and the acceleration that keeps to it.

        φ(Δ) = r Δ                    for Δ ≤ b/r²
        φ(Δ) = √(2 b (Δ − b/(2 r²)))  beyond

    Its slope never asks for a deceleration above b. With w = v + dt a the next speed, the next distance is Δ − dt w for
    a plant that integrates semi-implicitly and Δ − dt (v + w)/2 for an exact one; w = φ(next distance) is solved in
    closed form for both and the smaller w taken.

    Args:
        v_max: velocity limit (n,), inf for none [rad/s, m/s].
        a_max: acceleration limit (n,), inf for none [rad/s², m/s²].
        braking: b (n,), deceleration that may be counted on, finite [rad/s², m/s²].
        rate: r [1/s].
        dt: control period [s].

    Source: Del Prete (2018), sections III and IV (position, velocity and viability inequalities in discrete time).
    """

    def __init__(self, v_max: Array, a_max: Array, braking: Array, rate: float, dt: float) -> None:
        self._v_max, self._a_max, self._b = v_max, a_max, braking
        self._dt = dt
        self._knee = braking / rate  # the speed at which the straight part of φ meets the parabola
        self._back = -np.minimum(self._knee, v_max)  # a joint outside returns no faster than it can brake
        # both plants at once: the semi-implicit one looks dt ahead, the exact one dt/2 from Δ − v dt/2
        ahead = np.array((dt, 0.5 * dt))[:, None, None]
        self._slope = rate / (1.0 + rate * ahead)
        self._step = braking * ahead
        self._square = self._step**2 - self._knee**2
        # beyond this distance φ(next distance) is above the velocity limit, so that only that limit counts
        fast = np.minimum(v_max, 1e9)  # finite, so that the distance to a missing position limit stays comparable
        self._far = fast**2 / (2.0 * braking) + braking / (2.0 * rate**2) + 2.0 * fast * dt + self._knee / rate
        self._accelerates_freely = bool(np.isinf(a_max).all())

    def acceleration(self, gap: Array, speed: Array) -> Array:
        """The largest acceleration towards the limit after which the joint is still on its envelope.

        A joint outside (Δ < 0) is led back at r |Δ|, at most b/r. Decelerations beyond b are asked for only where b is
        not enough any more, and then just v²/(2 Δ).

        Args:
            gap: Δ (2, n), distances to the upper and the lower limit [rad, m], negative outside.
            speed: v (2, n), speeds towards them [rad/s, m/s].

        Returns:
            The bounds (2, n), inf where nothing bounds the acceleration.
        """
        if (gap - self._far).min() > 0.0:  # nobody is near a position limit: 5 operations instead of 20
            a = self._v_max - speed
            a /= self._dt
            if a.min() >= 0.0 and self._accelerates_freely:
                return a
        gaps = np.empty((2, *gap.shape))
        gaps[0] = gap
        np.multiply(speed, -0.5 * self._dt, out=gaps[1])
        gaps[1] += gap
        straight = gaps * self._slope
        w = np.multiply(gaps, 2.0 * self._b, out=gaps)  # from here on: w of the parabola
        w += self._square
        np.maximum(w, 0.0, out=w)
        np.sqrt(w, out=w)
        w -= self._step
        np.copyto(w, straight, where=straight <= self._knee)
        a = np.minimum(w[0], w[1])
        np.maximum(a, self._back, out=a)
        np.minimum(a, self._v_max, out=a)
        a -= speed
        a /= self._dt
        if (a < -self._b).any():  # from outside, or too fast
            inside = (gap > 0.0) & (speed > 0.0)
            needed = np.where(inside, speed**2 / np.where(inside, 2.0 * gap, 1.0), 0.0)
            np.maximum(a, -np.maximum(self._b, needed), out=a)
        if not self._accelerates_freely:
            np.clip(a, -self._a_max, self._a_max, out=a)
        return a
