"""The plain physics: pinocchio's forward dynamics and semi-implicit Euler steps; no ground, no friction, no stops.

Wheels roll on rails here: after each step the speed along a robot's axles is zero, whatever force that takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pinocchio as pin

from wbc.checks import Array
from wbc.robot import Robot
from wbc.simulation.physics import NO_WRENCHES, Pushes, checked_state, checked_substeps, generalised_force
from wbc.state import State


class Integrator:
    """``v ← v + Δt v̇(q, v, τ)``, then ``q ← q ⊕ Δt v``, with the articulated body algorithm for v̇.

    Args:
        robot: what moves.
        substeps: steps in one call of :meth:`step`.
    """

    def __init__(self, robot: Robot, *, substeps: int = 4) -> None:
        self.robot = robot
        self.substeps = checked_substeps(substeps)
        self._data = robot.model.createData()
        self._pushes = Pushes(robot)
        self._axles = np.zeros((len(robot.axles), robot.nv))  # constant, since base and axle turn together
        for row, axle in zip(self._axles, robot.axles, strict=True):
            where, values = axle.row(robot.model, robot.frame_id(axle.frame))
            row[where] = values
        self.reset(State(robot.home, np.zeros(robot.nv)))

    @property
    def state(self) -> State:
        """Where the robot is now."""
        return State(self._q, self._v)

    def reset(self, state: State) -> None:
        """Put the robot somewhere."""
        checked_state(self.robot, state)
        self._q, self._v = state.q.copy(), state.v.copy()

    def step(self, torque: Array, dt: float, wrenches: Mapping[str, Array] = NO_WRENCHES) -> None:
        """Hold a torque (nu,) for ``dt`` seconds, while wrenches push on frames."""
        model, pushes = self.robot.model, self._pushes(wrenches)
        tau, period = generalised_force(self.robot, torque), dt / self.substeps
        for _ in range(self.substeps):
            vdot = self._acceleration(tau, pushes)
            self._v = self._rolling(self._v + period * vdot)
            self._q = pin.integrate(model, self._q, period * self._v)

    def measured_wrenches(self) -> dict[str, Array]:
        """Nothing: there is no ground."""
        return {}

    def _rolling(self, v: Array) -> Array:
        """The velocity that an impulse along the axles leaves: the one nearest in M that has no speed along them."""
        A = self._axles
        if not len(A):
            return v
        M = np.triu(pin.crba(self.robot.model, self._data, self._q))
        weighted = np.linalg.solve(M + np.triu(M, 1).T, A.T)
        rolling: Array = v - weighted @ np.linalg.lstsq(A @ weighted, A @ v, rcond=1e-9)[0]
        return rolling

    def _acceleration(self, tau: Array, pushes: list[tuple[Any, Array]]) -> Array:
        model, data = self.robot.model, self._data
        if not pushes:
            return np.array(pin.aba(model, data, self._q, self._v, tau))
        pin.forwardKinematics(model, data, self._q)
        forces = pin.StdVec_Force()
        forces.extend([pin.Force.Zero() for _ in range(model.njoints)])
        for frame, wrench in pushes:
            joint = data.oMi[frame.parentJoint]
            at_frame = pin.SE3(joint.rotation.T, np.array(frame.placement.translation))  # world axes, frame's origin
            forces[frame.parentJoint] += at_frame.act(pin.Force(wrench))
        return np.array(pin.aba(model, data, self._q, self._v, tau, forces))
