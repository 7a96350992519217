"""PoseTask: a frame at a place with an orientation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from wbc import checks
from wbc.checks import Array
from wbc.errors import InputError
from wbc.frame_task import FrameTask, place
from wbc.target import Target, numbers


def pose_target(value: Any, label: str) -> tuple[Array, Array]:
    """Position (3,) and rotation (3, 3) of a pin.SE3 or of a homogeneous matrix (4, 4)."""
    if isinstance(value, pin.SE3):
        value = value.homogeneous
    matrix = checks.array(value, label, (4, 4))
    if not np.array_equal(matrix[3], (0.0, 0.0, 0.0, 1.0)):
        raise InputError(f"{label}: the last row is {matrix[3].tolist()}, expected [0, 0, 0, 1]")
    return matrix[:3, 3].copy(), checks.rotation(matrix[:3, :3], f"{label}[:3, :3]")


def se3(pose: tuple[Array, Array]) -> Any:
    """A pin.SE3 of a position and a rotation."""
    return pin.SE3(pose[1], pose[0])


def kept_pose(value: Any, label: str) -> Array:
    """The same, as frame tasks keep it."""
    return place(*pose_target(value, label))


class PoseTask(FrameTask):
    """Bring a frame to a pose, ``Δx = (p_target − p; log3(R_target Rᵀ))``, in world axes.

    Position and orientation errors are taken apart (never log6), so that turning does not move the hand.

    Args:
        name: name in the stack and the report.
        frame: frame of the robot.
        gains: feedback gains [1/s², 1/s].
        mask: zeros and ones (6,): world x, y, z, then rotations about them.
        mask_frame: frame in whose axes errors, gains and mask are counted; the world by default.
        weighting: ``"identity"`` or ``"inertia"``; see :class:`wbc.MotionTask`.

    Attributes:
        target: pin.SE3 or matrix (4, 4); holds what it sees at the first tick where it was never set.
        target_velocity: (6,) linear then angular [m/s, rad/s].
        target_acceleration: (6,) [m/s², rad/s²].

    Source: Khatib (1987), section V; Siciliano et al. (2009), section 3.7.3.
    """

    dim = 6
    first = 0
    angular = (False, False, False, True, True, True)
    target: Any = Target(kept_pose, "pose, pin.SE3", give=lambda kept: se3((kept[:3], kept[3:].reshape(3, 3))))
    target_velocity: Any = Target(numbers(6), "twist (6,) [m/s, rad/s]")
    target_acceleration: Any = Target(numbers(6), "acceleration (6,) [m/s², rad/s²]")
