"""What the robot does when no solver answer can be used: hold itself up and come to rest, inside its limits."""

from __future__ import annotations

import numpy as np

from wbc.checks import Array
from wbc.terms import Terms

BRAKING_RATE = 10.0  # 1/s; speeds decay with a time constant of 0.1 s


def gravity_compensation(terms: Terms) -> tuple[Array, Array]:
    """``τ = S (g − k M v)``, clipped to the robot's torque limits; returns the torque (nu,) and its v̇ (nv,)."""
    robot = terms.robot
    force = terms.gravity() - BRAKING_RATE * (terms.M @ terms.v)
    torque = np.clip(force[robot.actuated], -robot.torque_limits, robot.torque_limits)
    applied = np.zeros(robot.nv)
    applied[robot.actuated] = torque
    vdot = np.linalg.solve(terms.M, applied - terms.h).astype(np.float64, copy=False)
    return torque, vdot
