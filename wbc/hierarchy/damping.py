"""Damping near singularities: one smooth rule for the closed form and for the level QPs."""

from __future__ import annotations

import math

import numpy as np

from wbc.checks import Array

HEAVIEST = 100.0  # robot masses that a task may feel before its demand is damped


def threshold(mass: float) -> float:
    """``σ₀ = 1/√(100 m)`` [1/√kg]: exact above, damped below."""
    return 1.0 / math.sqrt(HEAVIEST * max(mass, 1e-9))


def damped(sigma: Array, sigma0: Array) -> tuple[Array, Array]:
    """The damped inverse of singular values, and the Tikhonov terms μ² that give the same in a least-squares problem.

    With u = σ/σ₀ < 1: ``1/σ → (u/σ₀)(2 − u²)``, ``μ² = σ₀²/(2 − u²) − σ²``; both join 1/σ and 0 smoothly at u = 1, and
    ``σ/(σ² + μ²)`` is the damped inverse, at most 1.09/σ₀.

    Args:
        sigma: singular values (r,), positive.
        sigma0: threshold (r,) of each direction.

    Returns:
        inverse (r,) and μ² (r,).
    """
    weak = sigma < sigma0
    ceiling = np.where(weak, sigma0, 1.0)  # an exact level has thresholds of zero
    u2 = (sigma / ceiling) ** 2
    inverse = np.where(weak, sigma / ceiling**2 * (2.0 - u2), 1.0 / np.where(weak, 1.0, sigma))
    mu2 = np.where(weak, ceiling**2 / (2.0 - np.minimum(u2, 1.0)) - sigma**2, 0.0)
    return inverse, mu2
