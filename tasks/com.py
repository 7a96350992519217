"""ComTask: the centre of mass at a point."""

from __future__ import annotations

from typing import Any

from wbc.joints import floats
from wbc.kernels import COM
from wbc.rows import InNumbers, Kinematics
from wbc.target import Target, numbers
from wbc.task import MotionTask
from wbc.terms import Terms


class ComTask(MotionTask):
    """Bring the centre of mass to a point, ``Δx = c_target − c``, in world axes.

    Args:
        name: name in the stack and the report.
        gains: feedback gains [1/s², 1/s].
        mask: zeros and ones (3,) for the world axes x, y, z.
        mask_frame: frame in whose axes errors, gains and mask are counted; the world by default.
        weighting: ``"identity"`` or ``"inertia"``; see :class:`wbc.MotionTask`.

    Attributes:
        target: (3,) [m]; holds what it sees at the first tick where it was never set.
        target_velocity: (3,) [m/s].
        target_acceleration: (3,) [m/s²].

    Source: Orin and Goswami (2008), the linear part of the centroidal momentum over the mass.
    """

    dim = 3
    in_world_axes = True
    target: Any = Target(numbers(3), "position (3,) [m]")
    target_velocity: Any = Target(numbers(3), "velocity (3,) [m/s]")
    target_acceleration: Any = Target(numbers(3), "acceleration (3,) [m/s²]")

    def in_numbers(self, terms: Terms) -> InNumbers | None:
        """Rows of the centre of mass, where it can be read off the mass matrix of a free-flyer."""
        model = terms.robot.model
        if not floats(model) or not model.existFrame(model.names[1]):
            return None
        return InNumbers(COM, 3, self._target, model.names[1])

    def kinematics(self, terms: Terms) -> Kinematics:
        """``ξ`` is the velocity of the centre of mass."""
        com = terms.com
        target = self.held(terms, com.position)
        return Kinematics(target - com.position, self.velocity_gap(com.velocity), com.J, com.Jdot_v)
