"""RelativePoseTask: the pose of one frame as another one sees it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from wbc.rows import Gains, Kinematics
from wbc.target import Target, numbers, text
from wbc.task import MotionTask
from wbc.tasks.pose import pose_target, se3
from wbc.terms import Terms


class RelativePoseTask(MotionTask):
    """Bring a frame to a pose in another frame, ``Δx = (p_target − p; log3(R_target Rᵀ))``, in the reference's axes.

    With d = p_F − p_R in the world, u = v_F − v_R and ω the reference's angular velocity,

        p = R_Rᵀ d,   ṗ = R_Rᵀ (u − ω × d),   p̈ = R_Rᵀ (a_F − a_R − α × d − 2 ω × u + ω × (ω × d)),

    and the relative angular velocity R_Rᵀ (ω_F − ω) changes with R_Rᵀ (α_F − α − ω × ω_F).

    Args:
        name: name in the stack and the report.
        frame: frame of the robot.
        reference: another frame of the robot, from which it is seen.
        gains: feedback gains [1/s², 1/s].
        mask: zeros and ones (6,): x, y, z of the reference frame, then rotations about them.
        weighting: ``"identity"`` or ``"inertia"``; see :class:`wbc.MotionTask`.

    Attributes:
        target: pose of ``frame`` in ``reference``, pin.SE3 or matrix (4, 4); holds what it sees at the first tick where
            it was never set.
        target_velocity: (6,) as seen from the reference frame, linear then angular [m/s, rad/s].
        target_acceleration: (6,) likewise [m/s², rad/s²].

    Raises:
        InputError: both frames are the same one.

    Source: Featherstone (2008), section 2.10, acceleration in moving axes.
    """

    dim = 6
    angular = (False, False, False, True, True, True)
    _frame: str
    _reference: str
    frame: Any = Target(text, "name of a frame", required=True, fixed=True, unlike="reference")
    reference: Any = Target(text, "name of a frame", required=True, fixed=True, unlike="frame")
    target: Any = Target(pose_target, "pose, pin.SE3", give=se3)
    target_velocity: Any = Target(numbers(6), "twist (6,) [m/s, rad/s]")
    target_acceleration: Any = Target(numbers(6), "acceleration (6,) [m/s², rad/s²]")

    def __init__(
        self,
        name: str,
        *,
        frame: str,
        reference: str,
        gains: Gains | None = None,
        mask: Any = None,
        weighting: str = "identity",
    ) -> None:
        super().__init__(name, gains=gains, mask=mask, weighting=weighting)
        self.frame = frame
        self.reference = reference

    def kinematics(self, terms: Terms) -> Kinematics:
        """``ξ`` is the rate of the relative position and the relative angular velocity, in the reference's axes."""
        frame, base = terms.frame(self._frame), terms.frame(self._reference)
        Rt = base.rotation.T
        d = frame.position - base.position
        u = frame.velocity - base.velocity
        omega = base.velocity[3:]
        J = frame.J - base.J
        J[:3] += pin.skew(d).dot(base.J[3:])
        twist = u.copy()
        twist[:3] -= pin.skew(omega).dot(d)
        drift = frame.Jdot_v - base.Jdot_v
        # −2 ω × u + ω × (ω × d) = −ω × (u + (u − ω × d)): once for the lever, once for the axes that turn
        drift[:3] += pin.skew(d).dot(base.Jdot_v[3:]) - pin.skew(omega).dot(u[:3] + twist[:3])
        drift[3:] -= pin.skew(omega).dot(frame.velocity[3:])
        position, rotation = Rt.dot(d), Rt.dot(frame.rotation)
        target = self._target
        if target is None:
            target = (
                terms.held(self.name, position, what="position"),
                terms.held(self.name, rotation, what="rotation"),
            )
        error = np.concatenate([target[0] - position, pin.log3(target[1].dot(rotation.T))])
        twist, J, drift = (np.concatenate([Rt.dot(rows[:3]), Rt.dot(rows[3:])]) for rows in (twist, J, drift))
        return Kinematics(error, self.velocity_gap(twist), J, drift)
