"""Universal Robots UR5: 6 joints, no tool. Hand frame: ``tool0``, z out of the flange."""

from __future__ import annotations

from math import pi

from wbc.robot import Robot
from wbc.robots.example_robot_data import from_wheel

# Elbow at a right angle, flange down. Away from all three singularities of this arm: straight elbow (joint 3 = 0),
# wrist (joint 5 = 0) and shoulder (wrist centre above joint 1). Smallest singular value of the flange Jacobian in
# Gauss coordinates (rotation rows times 0.2 m): 0.274, eleven times the damping threshold 0.024.
HOME = (0.0, -pi / 2, pi / 2, -pi / 2, -pi / 2, 0.0)


def robot() -> Robot:
    """The arm with its real joint ranges (two turns a joint, one for the elbow): nq = nv = nu = 6."""
    return from_wheel("ur_description/urdf/ur5_robot.urdf", name="ur5", home=HOME)
