"""PositionTask: a frame's origin at a point."""

from __future__ import annotations

from typing import Any

from wbc.rows import Gains, Kinematics
from wbc.target import Target, numbers, text
from wbc.task import MotionTask
from wbc.terms import Terms


class PositionTask(MotionTask):
    """Bring the origin of a frame to a point, ``Δx = p_target − p``, in world axes.

    Args:
        name: name in the stack and the report.
        frame: frame of the robot.
        gains: feedback gains [1/s², 1/s].
        mask: zeros and ones (3,) for the world axes x, y, z.
        mask_frame: frame in whose axes errors, gains and mask are counted; the world by default.

    Attributes:
        target: (3,) [m]; holds what it sees at the first tick where it was never set.
        target_velocity: (3,) [m/s].
        target_acceleration: (3,) [m/s²].

    Source: Khatib (1987), eq. 19, the decoupled end-effector motion.
    """

    dim = 3
    in_world_axes = True
    _frame: str
    frame: Any = Target(text, "name of a frame", required=True, fixed=True)
    target: Any = Target(numbers(3), "position (3,) [m]")
    target_velocity: Any = Target(numbers(3), "velocity (3,) [m/s]")
    target_acceleration: Any = Target(numbers(3), "acceleration (3,) [m/s²]")

    def __init__(
        self, name: str, *, frame: str, gains: Gains | None = None, mask: Any = None, mask_frame: str = "world"
    ) -> None:
        super().__init__(name, gains=gains, mask=mask, mask_frame=mask_frame)
        self.frame = frame

    def kinematics(self, terms: Terms) -> Kinematics:
        """``ξ`` is the linear velocity of the frame's origin."""
        frame = terms.frame(self._frame)
        target = self.held(terms, frame.position)
        return Kinematics(target - frame.position, self.velocity_gap(frame.velocity[:3]), frame.J[:3], frame.Jdot_v[:3])
