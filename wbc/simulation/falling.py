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
        floating = [joint for joint in robot.model.joints if joint.shortname() == "JointModelFreeFlyer"]
        self._iq = floating[0].idx_q if floating and getattr(robot, "feet", ()) else None
        if self._iq is not None:
            self._height, rotation = self._base(start)
            self._up = rotation[2].copy()  # the vertical in the base's axes

    def reason(self, state: State) -> str:
        """Why the robot counts as fallen, or nothing while it stands."""
        if self._iq is None:
            return ""
        height, rotation = self._base(state)
        if self._height > 0.0 and height < LOWEST * self._height:
            return f"the base fell from {self._height:.2f} m to {height:.2f} m"
        tilt = math.acos(min(1.0, max(-1.0, float(rotation[2] @ self._up))))
        return f"the base fell over: it is tilted by {math.degrees(tilt):.0f}°" if tilt > STEEPEST else ""

    def _base(self, state: State) -> tuple[float, Array]:
        assert self._iq is not None
        pose = state.q[self._iq : self._iq + 7]
        return float(pose[2]), np.array(pin.Quaternion(np.array(pose[3:])).matrix())
