"""Franka Emika Panda: 7 joints, hand with locked fingers. Hand frame: ``panda_hand_tcp``, between the fingertips."""

from __future__ import annotations

from math import pi

from wbc.robot import Robot
from wbc.robots.example_robot_data import from_wheel

# The maker's ready pose, hand down in front of the arm. In Gauss coordinates (rotation rows times 0.2 m) the hand
# Jacobian's smallest singular value is 0.207, nine times the damping threshold 0.024; every joint is 0.7 rad or more
# inside its limits, and gravity takes a quarter of the torque at most.
HOME = (0.0, -pi / 4, 0.0, -3 * pi / 4, 0.0, pi / 2, pi / 4)


def robot() -> Robot:
    """The arm with its fingers closed and locked: nq = nv = nu = 7."""
    return from_wheel(
        "panda_description/urdf/panda.urdf",
        name="panda",
        lock={"panda_finger_joint1": 0.0, "panda_finger_joint2": 0.0},  # the second mimics the first
        home=HOME,
    )
