"""The centre of mass and the momentum about it at a tick, from the motion that pinocchio was last called with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from wbc.checks import Array


class ComTerms:
    """The centre of mass at this tick, in world axes.

    Attributes:
        position, velocity: (3,) [m, m/s].
        J: Jacobian (3, nv).
        Jdot_v: acceleration (3,) at v̇ = 0 [m/s²].
    """

    __slots__ = ("J", "Jdot_v", "position", "velocity")

    def __init__(self, model: Any, data: Any) -> None:
        pin.centerOfMass(model, data, pin.ACCELERATION)  # of the motion at v̇ = 0 that update left
        self.position: Array = data.com[0].copy()
        self.velocity: Array = data.vcom[0].copy()
        self.Jdot_v: Array = data.acom[0].copy()
        # copies also here: the next tick overwrites what the binding hands out
        self.J: Array = np.array(pin.jacobianCenterOfMass(model, data, False)).reshape(3, model.nv)


class MomentumTerms:
    """Momentum about the centre of mass at this tick, in world axes, linear before angular: ``ḣ = A v̇ + Ȧ v``.

    Attributes:
        momentum: (6,) [N s, N m s].
        A: centroidal momentum matrix (6, nv).
        Adot_v: rate of momentum (6,) at v̇ = 0 [N, N m].

    Source: Orin and Goswami (2008).
    """

    __slots__ = ("A", "Adot_v", "momentum")

    def __init__(self, model: Any, data: Any, q: Array) -> None:
        self.Adot_v: Array = pin.computeCentroidalMomentumTimeVariation(model, data).vector.copy()
        self.momentum: Array = data.hg.vector.copy()
        self.A: Array = np.array(pin.computeCentroidalMap(model, data, q)).reshape(6, model.nv)
