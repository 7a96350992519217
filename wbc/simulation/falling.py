"""Falling: when a legged robot is past saving, so that its run may end."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from wbc.checks import Array
from wbc.robot import Robot
from wbc.state import State

LOWEST = 0.5  # of the base's height at the start
STEEPEST = math.radians(60.0)  # of the base, from where it stood at the start


class Falling:
    """Watches the base of a robot with feet, from its state at the start of a run; silent for every other robot."""

    def __init__(self, robot: Robot, start: State) -> None:
        floating = [joint.idx_q for joint in robot.model.joints if joint.shortname() == "JointModelFreeFlyer"]
        self._bases = floating if robot.feet else []
        poses = [_pose(start, iq) for iq in self._bases]
        self._heights = [height for height, _ in poses]
        self._up = [rotation[2].copy() for _, rotation in poses]  # the vertical in a base's axes

    def reason(self, state: State) -> str:
        """Why the robot counts as fallen, or nothing while it stands."""
        for iq, before, up in zip(self._bases, self._heights, self._up, strict=True):
            height, rotation = _pose(state, iq)
            if height < LOWEST * before:
                return f"the base fell from {before:.2f} m to {height:.2f} m"
            tilt = math.acos(min(1.0, max(-1.0, float(rotation[2] @ up))))
            if tilt > STEEPEST:
                return f"the base fell over and is tilted by {math.degrees(tilt):.0f}°"
        return ""


def _pose(state: State, iq: int) -> tuple[float, Array]:
    """Height and rotation of a base."""
    pose = state.q[iq : iq + 7]
    return float(pose[2]), np.array(pin.Quaternion(np.array(pose[3:])).matrix())
