"""Friction cones as linear rows ``A f ≤ 0`` in the axes (t₁, t₂, n) of the surface, inscribed in the real cone."""

from __future__ import annotations

import math

import numpy as np

from wbc.checks import Array


def point_cone(friction: float, facets: int) -> Array:
    """Rows (facets, 3) of a pyramid inside the Coulomb cone: ``A f ≤ 0`` implies ``|f_t| ≤ μ f_n``.

    Facet i with direction θ_i says ``cos θ_i f₁ + sin θ_i f₂ ≤ μ cos(π/k) f_n``; with k = 4 that is μ/√2 on each axis.
    """
    angles = 2.0 * math.pi * np.arange(facets) / facets
    slope = friction * math.cos(math.pi / facets)
    return np.column_stack([np.cos(angles), np.sin(angles), np.full(facets, -slope)])


def sole_cone(friction: float, x: float, y: float) -> Array:
    """Rows (16, 6) of the wrench cone of a rectangular sole, ``A w ≤ 0`` for w = (f, m) at its middle.

    With m the friction on each axis (μ/√2), half sizes X and Y:

        |f₁| ≤ m f_n,   |f₂| ≤ m f_n,   |m₁| ≤ Y f_n,   |m₂| ≤ X f_n,
        |Y f₁ − m m₁| + |X f₂ − m m₂| − m (X + Y) f_n ≤ m_n ≤ m (X + Y) f_n − |Y f₁ + m m₁| − |X f₂ + m m₂|

    Exactly the wrenches that forces in pyramids at the four corners can make.

    Source: Caron, Pham and Nakamura (2015), Stability of surface contacts for humanoid robots, eqs. 16-21.
    """
    m = friction / math.sqrt(2.0)
    rows = []
    for sign in (1.0, -1.0):
        rows.append((sign, 0.0, -m, 0.0, 0.0, 0.0))
        rows.append((0.0, sign, -m, 0.0, 0.0, 0.0))
        rows.append((0.0, 0.0, -y, sign, 0.0, 0.0))
        rows.append((0.0, 0.0, -x, 0.0, sign, 0.0))
    yaw = -m * (x + y)
    for s in (1.0, -1.0):
        for t in (1.0, -1.0):
            # upper side of m_n, then lower side
            rows.append((s * y, t * x, yaw, s * m, t * m, 1.0))
            rows.append((s * y, t * x, yaw, -s * m, -t * m, -1.0))
    return np.array(rows)
