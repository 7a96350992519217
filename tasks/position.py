"""PositionTask: a frame's origin at a point."""

from __future__ import annotations

from typing import Any

from wbc import checks
from wbc.checks import Array
from wbc.frame_task import FrameTask, place
from wbc.target import Target, numbers


def position_target(value: Any, label: str) -> Array:
    """A checked position (3,), as frame tasks keep it."""
    return place(checks.vector(value, label, 3))


class PositionTask(FrameTask):
    """Bring the origin of a frame to a point, ``Δx = p_target − p``, in world axes.

    Args:
        name: name in the stack and the report.
        frame: frame of the robot.
        gains: feedback gains [1/s², 1/s].
        mask: zeros and ones (3,) for the world axes x, y, z.
        mask_frame: frame in whose axes errors, gains and mask are counted; the world by default.
        weighting: ``"identity"`` or ``"inertia"``; see :class:`wbc.MotionTask`.

    Attributes:
        target: (3,) [m]; holds what it sees at the first tick where it was never set.
        target_velocity: (3,) [m/s].
        target_acceleration: (3,) [m/s²].

    Source: Khatib (1987), eq. 19, the decoupled end-effector motion.
    """

    dim = 3
    first = 0
    target: Any = Target(position_target, "position (3,) [m]", give=lambda kept: kept[:3].copy())
    target_velocity: Any = Target(numbers(3), "velocity (3,) [m/s]")
    target_acceleration: Any = Target(numbers(3), "acceleration (3,) [m/s²]")
