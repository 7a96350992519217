"""Unitree Z1: 6 joints, gripper locked. Hand frame: ``gripperStator``, x along the gripper."""

from __future__ import annotations

from wbc.robot import Robot
from wbc.robots.example_robot_data import from_wheel

# Gripper level and forward. The description's own home (all zero) lies folded on the limits of joints 2 and 3. Here the
# gripper Jacobian's smallest singular value in Gauss coordinates (rotation rows times 0.2 m) is 0.558, twelve times the
# damping threshold 0.046; the wrist singularities are a right angle of joint 5 away, outside its limits.
HOME = (0.0, 1.4, -1.2, -0.2, 0.0, 0.0)


def robot() -> Robot:
    """The arm with its gripper closed and locked: nq = nv = nu = 6."""
    return from_wheel("z1_description/urdf/z1.urdf", name="z1", lock={"jointGripper": 0.0}, home=HOME)
