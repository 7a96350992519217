"""UFACTORY xArm7: 7 joints, no tool. Hand frame: ``link_eef``, z out of the flange."""

from __future__ import annotations

from math import pi

from wbc.robot import Robot
from wbc.robots.example_robot_data import from_wheel

# Leaning back, elbow bent, flange down. The description's own home is the straight arm, which is singular. Here the
# flange Jacobian's smallest singular value in Gauss coordinates (rotation rows times 0.2 m) is 0.347, eleven times the
# damping threshold 0.031; joint 2 is off zero so that the axes of joints 1 and 3 do not coincide.
HOME = (0.0, -pi / 6, 0.0, pi / 3, 0.0, pi / 2, 0.0)


def robot() -> Robot:
    """The arm: nq = nv = nu = 7."""
    return from_wheel("xarm_description/urdf/xarm7.urdf", name="xarm7", home=HOME)
