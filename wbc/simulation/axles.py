"""Wheels that do not slide in MuJoCo: dry friction along the axle of a planar base, as much as the tyres hold.

MuJoCo's equalities are conditions on positions, and rolling is one on velocities. A tendon over the base's three joints
gets longer by ``n_x ẋ + n_y ẏ + (…) θ̇``, the speed along the axle when its coefficients are turned with the base before
every step, and its dry friction is a constraint on that speed in MuJoCo's own solver: the force along the axle is
whatever holds the base, up to ``hold``, beyond which it slides. Nothing of the controller's enters.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wbc.checks import Array
from wbc.simulation.coordinates import mujoco_joints

IMPEDANCE = 0.9999  # of the constraint, MuJoCo's own most: the base creeps at 1e-4 F dt / m, well below 1 um/s
PLACEHOLDER = 1.0  # a coefficient, before the first step


def add_axles(mujoco: Any, spec: Any, robot: Any) -> None:
    """A tendon with dry friction for each of the robot's axles."""
    for axle in robot.axles:
        joint = robot.model.frames[robot.frame_id(axle.frame)].parentJoint
        tendon = spec.add_tendon(name=axle.name, frictionloss=axle.hold)
        tendon.solimp_friction = [IMPEDANCE, IMPEDANCE, 0.001, 0.5, 2.0]
        for part in mujoco_joints(robot.model.names[joint], robot.model.joints[joint]):
            tendon.wrap_joint(part, PLACEHOLDER)


class Axles:
    """Turns the tendons of :func:`add_axles` with the base, and collects what the tyres pushed with.

    Args:
        robot: whose axles these are.
        mj_model: the model that the tendons went into.
    """

    def __init__(self, robot: Any, mj_model: Any) -> None:
        self._names = [axle.name for axle in robot.axles]
        self._mj_model = mj_model
        self._rows: list[tuple[int, int, int, int, Array]] = []  # tendon, first wrap, yaw in qpos and qvel, row
        for axle in robot.axles:
            index = robot.frame_id(axle.frame)
            _, row = axle.row(robot.model, index)
            joint = robot.model.frames[index].parentJoint
            yaw = mj_model.joint(mujoco_joints(robot.model.names[joint], robot.model.joints[joint])[2])
            tendon = mj_model.tendon(axle.name).id
            first = int(mj_model.tendon_adr[tendon])
            self._rows.append((tendon, first, int(yaw.qposadr[0]), int(yaw.dofadr[0]), row))
        self.clear()

    def clear(self) -> None:
        """Forget what was collected."""
        self._steps = 0
        self._force = np.zeros((len(self._rows), 3))

    def turn(self, data: Any) -> None:
        """Before a step: coefficients for the yaw at its end, since the speed there is what shall not be sideways."""
        dt = self._mj_model.opt.timestep
        for tendon, first, yaw, rate, row in self._rows:
            angle = float(data.qpos[yaw] + dt * data.qvel[rate])
            c, s = math.cos(angle), math.sin(angle)
            self._mj_model.wrap_prm[first : first + 3] = c * row[0] - s * row[1], s * row[0] + c * row[1], row[2]
            # the speed is gone within one step; a reference below zero is (−stiffness, −damping) themselves
            self._mj_model.tendon_solref_fri[tendon] = -1.0, -IMPEDANCE / dt

    def add(self, mujoco: Any, data: Any) -> None:
        """One substep, after MuJoCo has solved for its forces and before it moves on."""
        if not self._rows:
            return
        self._steps += 1
        friction = data.efc_type == mujoco.mjtConstraint.mjCNSTR_FRICTION_TENDON
        forces = dict(zip(data.efc_id[friction].tolist(), data.efc_force[friction].tolist(), strict=True))
        for i, (tendon, first, *_) in enumerate(self._rows):
            self._force[i, :2] += forces.get(tendon, 0.0) * self._mj_model.wrap_prm[first : first + 2]

    def wrenches(self) -> dict[str, Array]:
        """Axle -> mean force (3,) on the robot over the last step, world axes; zero before the first."""
        return {name: self._force[i] / max(self._steps, 1) for i, name in enumerate(self._names)}
