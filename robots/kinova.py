"""Kinova Jaco 2: 6 joints, 3 of them continuous (nq = 9). Hand frame: ``j2s6s200_end_effector``, z along the hand."""

from __future__ import annotations

from math import pi

from wbc.robot import Robot
from wbc.robots.example_robot_data import from_wheel

# Elbow at a right angle, hand down and 30 degrees off vertical: at joint 5 = pi the axes of joints 4 and 6 coincide.
# The hand Jacobian's smallest singular value in Gauss coordinates (rotation rows times 0.2 m) is 0.484, ten times the
# damping threshold 0.048. By name, because joints 1, 4 and 6 are a (cos, sin) pair in a configuration.
HOME = {
    "j2s6s200_joint_1": 0.0,
    "j2s6s200_joint_2": pi,
    "j2s6s200_joint_3": pi / 2,
    "j2s6s200_joint_4": pi,
    "j2s6s200_joint_5": 5 * pi / 6,
    "j2s6s200_joint_6": 0.0,
}


def robot() -> Robot:
    """The arm; its fingers are fixed in the description: nq = 9, nv = nu = 6."""
    return from_wheel("kinova_description/robots/kinova.urdf", name="kinova", home=HOME)
