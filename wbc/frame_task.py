"""What the tasks on a frame's position and orientation share: which of its six rows they take."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from wbc.checks import Array
from wbc.kernels import FRAME, motion
from wbc.rows import Gains, InNumbers, Kinematics
from wbc.target import Target, text
from wbc.task import MotionTask
from wbc.terms import Terms


def place(position: Any = 0.0, rotation: Any = 0.0) -> Array:
    """What is kept of a target: position (3,), then rotation (3, 3) row by row; zeros for what is not asked."""
    numbers = np.empty(12)
    numbers[:3] = position
    numbers[3:].reshape(3, 3)[:] = rotation
    return numbers


class FrameTask(MotionTask):
    """A task on a frame: ``Δx = (p_target − p; log3(R_target Rᵀ))``, ξ its twist in world axes at its origin.

    A subclass says which of these six rows are its own, and declares its targets, kept as :func:`place` has them.

    Attributes:
        first: the first of its rows; ``dim`` says how many follow.
    """

    dim: int
    first: ClassVar[int]
    in_world_axes = True
    _frame: str
    frame: Any = Target(text, "name of a frame", required=True, fixed=True)

    def __init__(
        self,
        name: str,
        *,
        frame: str,
        gains: Gains | None = None,
        mask: Any = None,
        mask_frame: str = "world",
        weighting: str = "identity",
    ) -> None:
        super().__init__(name, gains=gains, mask=mask, mask_frame=mask_frame, weighting=weighting)
        self.frame = frame

    def in_numbers(self, terms: Terms) -> InNumbers:
        """Rows of a frame."""
        return InNumbers(FRAME, 12, self._target, self._frame, self.first)

    def kinematics(self, terms: Terms) -> Kinematics:
        """``ξ`` is the twist of the frame in world axes at its origin, or its linear or angular half."""
        frame = terms.frame(self._frame)
        target = self.held(terms, place(frame.position, frame.rotation))
        rows = slice(self.first, self.first + self.dim)
        error = np.empty(self.dim)
        motion.frame_error(frame.rotation, frame.position, target, self.first, error)
        return Kinematics(error, self.velocity_gap(frame.velocity[rows]), frame.J[rows], frame.Jdot_v[rows])
