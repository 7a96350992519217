"""MujocoWorld: a robot in MuJoCo, built from its pinocchio model, spoken to in pinocchio's order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wbc import checks
from wbc.checks import Array
from wbc.robot import Robot
from wbc.simulation.axles import Axles
from wbc.simulation.coordinates import Coordinates
from wbc.simulation.ground import Ground
from wbc.simulation.mjcf import mujoco_model
from wbc.simulation.optional import optional
from wbc.simulation.physics import NO_WRENCHES, Pushes, checked_state, checked_substeps, generalised_force
from wbc.state import State


class MujocoWorld:
    """Independent rigid-body physics for a robot: MuJoCo with the masses, axes and armature of the pinocchio model.

    Motors are plain torques (gear 1) and are not clipped. A robot with feet has the ground z = 0 under them, which
    nothing else touches; joints have neither stops nor friction unless they are asked for. Wheels that are no joints
    hold a base along their axle with dry friction (:mod:`wbc.simulation.axles`).

    Args:
        robot: what moves.
        substeps: MuJoCo steps in one call of :meth:`step`.
        losses: let joint damping and dry friction of the description act.
        joint_limits: let joints meet stops at the robot's position limits.
        ground: lay a ground under the robot's feet, if it has any.
        friction: Coulomb μ between feet and ground.

    Attributes:
        model, data: MuJoCo's own, for people who want to look at them.
        coordinates: translation between both orders.

    Raises:
        NotInstalledError: MuJoCo is not installed.
        RobotError: the robot has a joint that MuJoCo does not know.
    """

    def __init__(
        self,
        robot: Robot,
        *,
        substeps: int = 4,
        losses: bool = False,
        joint_limits: bool = False,
        ground: bool = True,
        friction: float = 1.0,
    ) -> None:
        self._mujoco = optional("mujoco", "sim")
        self.robot = robot
        self.substeps = checked_substeps(substeps)
        checks.flag(losses, "losses"), checks.flag(joint_limits, "joint_limits")
        feet = robot.footing if checks.flag(ground, "ground") else ()
        checks.scalar(friction, "friction", lower=0.0)
        self.model, self.data = mujoco_model(
            robot, losses=losses, joint_limits=joint_limits, ground=bool(feet), friction=friction
        )
        self.coordinates = Coordinates(robot.model, self.model)
        self._ground = Ground(feet, self.model)
        self._axles = Axles(robot, self.model)
        self._pushes = Pushes(robot)
        self.reset(State(robot.home, np.zeros(robot.nv)))

    @property
    def state(self) -> State:
        """Where the robot is now, in pinocchio's order."""
        return State(*self.coordinates.from_mujoco(self.data.qpos, self.data.qvel))

    def reset(self, state: State) -> None:
        """Put the robot somewhere; MuJoCo's clock and warm start begin anew."""
        self._ground.clear()
        self._axles.clear()
        self._mujoco.mj_resetData(self.model, self.data)
        self._place(state)

    def step(self, torque: Array, dt: float, wrenches: Mapping[str, Array] = NO_WRENCHES) -> None:
        """Hold a torque (nu,) for ``dt`` seconds, while wrenches push on frames."""
        mujoco, model, data = self._mujoco, self.model, self.data
        tau, pushes = generalised_force(self.robot, torque), self._pushes(wrenches)
        model.opt.timestep = dt / self.substeps
        self._ground.clear()
        self._axles.clear()
        force = self._generalised(tau)
        for substep in range(self.substeps):
            # mj_step in its parts, without its checks: those start over from the zero pose when a state blows up, and
            # write a log file into the user's folder; here a blown-up state stays one, for the run to see
            self._axles.turn(data)
            mujoco.mj_fwdPosition(model, data)
            if substep and self.coordinates.turns_motors:
                force = self._generalised(tau)
            data.qfrc_applied[:] = force
            for frame, wrench in pushes:
                self._push(frame, wrench)
            mujoco.mj_fwdVelocity(model, data)
            mujoco.mj_fwdActuation(model, data)
            mujoco.mj_fwdAcceleration(model, data)
            mujoco.mj_fwdConstraint(model, data)
            self._ground.add(data)
            self._axles.add(mujoco, data)
            mujoco.mj_Euler(model, data)

    def measured_wrenches(self) -> dict[str, Array]:
        """Foot -> what MuJoCo's ground pushed it with, the mean over the last :meth:`step`; zero before the first.

        Force (3,) of a ball or an axle, force and moment (6,) of a sole: world axes, at the origin of the foot's frame.
        """
        return self._ground.wrenches() | self._axles.wrenches()

    def dynamics(self, state: State) -> tuple[Array, Array]:
        """M (nv, nv) and h (nv,) as MuJoCo has them at a state, in pinocchio's order; moves the robot there."""
        q = state.q
        self._evaluate(state, np.zeros(self.robot.nv))
        drift = self.coordinates.drift(q, state.v)
        h = self.coordinates.rate_from_mujoco(q, self.data.qfrc_bias + self._times_M(drift))
        columns = [self._times_M(self.coordinates.rate_to_mujoco(q, column)) for column in np.eye(self.robot.nv)]
        M = np.column_stack([self.coordinates.rate_from_mujoco(q, column) for column in columns])
        return M, h

    def acceleration(self, state: State, force: Array) -> Array:
        """v̇ (nv,) under a generalised force (nv,) in pinocchio's order, axles held; moves the robot there."""
        self._evaluate(state, force)
        drift = self.coordinates.drift(state.q, state.v)
        return self.coordinates.rate_from_mujoco(state.q, self.data.qacc - drift)

    @property
    def mass(self) -> float:
        """Mass of everything that moves [kg]."""
        return float(self.model.body_mass[1:].sum())

    def _generalised(self, tau: Array) -> Array:
        """A generalised force (nv,) in MuJoCo's order, where the robot is now."""
        q, _ = self.coordinates.from_mujoco(self.data.qpos, self.data.qvel)
        return self.coordinates.rate_to_mujoco(q, tau)

    def _evaluate(self, state: State, force: Array) -> None:
        self._place(state)
        self.data.qfrc_applied[:] = self.coordinates.rate_to_mujoco(state.q, force)
        self._axles.turn(self.data)
        self._mujoco.mj_forward(self.model, self.data)

    def _place(self, state: State) -> None:
        checked_state(self.robot, state)
        self.data.qpos[:], self.data.qvel[:] = self.coordinates.to_mujoco(state.q, state.v)

    def _times_M(self, vector: Array) -> Array:
        result = np.empty_like(vector)
        self._mujoco.mj_mulM(self.model, self.data, result, np.ascontiguousarray(vector))
        return result

    def _push(self, frame: Any, wrench: Array) -> None:
        data, body = self.data, self.model.body(self.robot.model.names[frame.parentJoint]).id
        point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ frame.placement.translation
        self._mujoco.mj_applyFT(self.model, data, wrench[:3], wrench[3:], point, body, data.qfrc_applied)
