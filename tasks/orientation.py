"""OrientationTask: a frame's axes along given ones."""

from __future__ import annotations

from typing import Any

import pinocchio as pin

from wbc import checks
from wbc.checks import Array
from wbc.errors import InputError
from wbc.frame_task import FrameTask, place
from wbc.target import Target, numbers


def rotation_target(value: Any, label: str) -> Array:
    """A rotation matrix from a matrix (3, 3), a pin.SE3 or a pin.Quaternion of unit norm."""
    if isinstance(value, pin.Quaternion):
        if abs(value.norm() - 1.0) > checks.UNIT_TOLERANCE:
            raise InputError(f"{label}: the quaternion has norm {value.norm():g}, expected 1; call .normalize() on it")
        value = value.toRotationMatrix()
    elif isinstance(value, pin.SE3):
        value = value.rotation
    return checks.rotation(value, label)


def kept_rotation(value: Any, label: str) -> Array:
    """The same, as frame tasks keep it."""
    return place(rotation=rotation_target(value, label))


class OrientationTask(FrameTask):
    """Turn a frame to an orientation, ``Δx = log3(R_target Rᵀ)``, in world axes: the shortest way round.

    Args:
        name: name in the stack and the report.
        frame: frame of the robot.
        gains: feedback gains [1/s², 1/s].
        mask: zeros and ones (3,) for rotations about the world axes x, y, z.
        mask_frame: frame in whose axes errors, gains and mask are counted; the world by default.
        weighting: ``"identity"`` or ``"inertia"``; see :class:`wbc.MotionTask`.

    Attributes:
        target: rotation matrix (3, 3), pin.SE3 or pin.Quaternion; holds what it sees at the first tick where never set.
        target_velocity: angular velocity (3,) [rad/s].
        target_acceleration: angular acceleration (3,) [rad/s²].

    Source: Siciliano et al. (2009), section 3.7.3, angle and axis error.
    """

    dim = 3
    first = 3
    angular = True
    target: Any = Target(kept_rotation, "rotation (3, 3)", give=lambda kept: kept[3:].reshape(3, 3).copy())
    target_velocity: Any = Target(numbers(3), "angular velocity (3,) [rad/s]")
    target_acceleration: Any = Target(numbers(3), "angular acceleration (3,) [rad/s²]")
