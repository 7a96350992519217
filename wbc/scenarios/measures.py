"""What bounds measure in recordings."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from wbc.checks import Array
from wbc.robot import Robot
from wbc.simulation import Recording

MM, MRAD = 1e3, 1e3


def norms(recording: Recording, task: str, rows: slice = slice(None)) -> Array:
    """(T,) norm of a task's error [m, rad]."""
    found: Array = np.linalg.norm(recording.error[task][:, rows], axis=1)
    return found


def rms(values: Array) -> float:
    """Root mean square; NaN of nothing."""
    return float(np.sqrt(np.mean(values**2)))


def position_rms_mm(recording: Recording, task: str = "hand") -> float:
    """Root mean square of the position error [mm]."""
    return MM * rms(norms(recording, task, slice(0, 3)))


def position_max_mm(recording: Recording, task: str = "hand") -> float:
    """Largest position error [mm]."""
    return MM * float(norms(recording, task, slice(0, 3)).max())


def orientation_rms_mrad(recording: Recording, task: str = "hand") -> float:
    """Root mean square of a pose task's orientation error [mrad]."""
    return MRAD * rms(norms(recording, task, slice(3, 6)))


def speed_ratio_max(recording: Recording) -> float:
    """Largest joint speed over its limit."""
    return float(recording.speed_ratio.max())


def largest_torque_step(recording: Recording) -> float:
    """Largest change of a torque from one tick to the next, as a part of its limit."""
    if len(recording.torque) < 2:
        return 0.0
    return float((np.abs(np.diff(recording.torque, axis=0)) / recording.torque_limits).max())


def path(robot: Robot, recording: Recording, frame: str, stride: int = 1) -> Array:
    """(T, 3) where a frame went [m]."""
    data, index = robot.model.createData(), robot.frame_id(frame)
    points = []
    for q in recording.q[::stride]:
        pin.framesForwardKinematics(robot.model, data, q)
        points.append(np.array(data.oMf[index].translation))
    return np.array(points)


def pose_at(robot: Robot, q: Array, frame: str) -> pin.SE3:
    """The pose of a frame at a configuration."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    return pin.SE3(data.oMf[robot.frame_id(frame)])
