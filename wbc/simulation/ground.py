"""The ground in MuJoCo: the plane z = 0, the feet that touch it, and what it pushes them with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from wbc.checks import Array
from wbc.robot import Robot

UP = np.array([0.0, 0.0, 1.0])
PLANE = "ground"
THICKNESS = 0.02  # m, of a sole; only its lower face ever touches
STIFFNESS = (0.005, 1.0)  # solref: 5 ms, critically damped; a robot sinks in by a few micrometres
FRICTION_TO_NORMAL = 10.0  # impratio: how much harder sliding is than sinking in; less, and feet creep


def feet_of(robot: Any) -> tuple[Any, ...]:
    """The feet (:class:`wbc.foot.Foot`) of a robot."""
    return tuple(robot.foot(name) for name in getattr(robot, "feet", ()))


def add_ground(mujoco: Any, spec: Any, robot: Robot, feet: tuple[Any, ...], bodies: Any, friction: float) -> None:
    """Lay the ground and put soles (boxes) and balls (spheres) under a robot's feet; nothing else touches anything.

    The pairs that may touch are listed one by one: MuJoCo then needs no broad phase, whose boxes would be those of the
    placeholder inertias that the bodies are compiled with.
    """
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = FRICTION_TO_NORMAL
    apart = {"contype": 0, "conaffinity": 0, "mass": 0.0}
    spec.worldbody.add_geom(name=PLANE, type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.1], **apart)
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.home)
    for foot in feet:
        index = robot.frame_id(foot.frame)
        frame = robot.model.frames[index]
        axes = _axes(np.array(data.oMf[index].rotation))
        if foot.half_size is None:
            kind, size, centre = mujoco.mjtGeom.mjGEOM_SPHERE, [foot.radius, 0.0, 0.0], np.zeros(3)
        else:
            kind, size = mujoco.mjtGeom.mjGEOM_BOX, [*foot.half_size, THICKNESS / 2.0]
            centre = axes[:, 2] * THICKNESS / 2.0  # the sole is the lower face
        pose = frame.placement * pin.SE3(axes, centre)
        x, y, z, w = pin.SE3ToXYZQUAT(pose)[3:]
        bodies[frame.parentJoint].add_geom(
            name=foot.name, type=kind, size=size, pos=pose.translation, quat=[w, x, y, z], **apart
        )
        spec.add_pair(
            geomname1=PLANE,
            geomname2=foot.name,
            condim=3,
            solref=STIFFNESS,
            friction=[friction, friction, 0.005, 1e-4, 1e-4],
        )


def _axes(rotation: Array) -> Array:
    """A sole's (forward, left, up) as columns, in its frame: those of the frame's own axes that point there at home.

    Never "z is up" by assumption: on some humanoids the local x is. Forward is what :class:`wbc.tasks.SurfaceContact`
    takes for it as well.
    """
    up = rotation.T @ UP
    k = int(np.argmax(np.abs(up)))
    axes = np.zeros((3, 3))
    axes[k, 2] = np.sign(up[k])
    axes[int(np.argmax(np.arange(3) != k)), 0] = 1.0
    axes[:, 1] = np.cross(axes[:, 2], axes[:, 0])
    return axes


class Ground:
    """Collects MuJoCo's contact forces during the substeps of a tick.

    Args:
        robot, feet: whose feet.
        mj_model: the model that :func:`add_ground` went into.
    """

    def __init__(self, robot: Robot, feet: tuple[Any, ...], mj_model: Any) -> None:
        self._feet = feet
        self._size = [3 if foot.half_size is None else 6 for foot in feet]
        frames = [robot.model.frames[robot.frame_id(foot.frame)] for foot in feet]
        self._bodies = [int(mj_model.body(robot.model.names[frame.parentJoint]).id) for frame in frames]
        self._offset = np.array([frame.placement.translation for frame in frames]).reshape(-1, 3)
        self._foot = np.full(mj_model.ngeom, -1)  # of each geom
        for i, foot in enumerate(feet):
            self._foot[mj_model.geom(foot.name).id] = i
        self.clear()

    def clear(self) -> None:
        """Forget what was collected."""
        self._sum = np.zeros((len(self._feet), 6))
        self._steps = 0

    def add(self, data: Any) -> None:
        """One substep, after MuJoCo has solved for its forces and before it moves on."""
        self._steps += 1
        if not data.ncon:
            return
        contact = data.contact
        # with elliptic cones the rows of a contact are its force: normal, then the two tangents
        rows = contact.efc_address
        local = data.efc_force[rows[:, None] + np.arange(3)]
        force = np.matmul(local[:, None, :], contact.frame.reshape(-1, 3, 3))[:, 0]  # on the second geom, the foot
        foot = self._foot[contact.geom[:, 1]]
        rotation = data.xmat[self._bodies].reshape(-1, 3, 3)
        origin = data.xpos[self._bodies] + np.matmul(rotation, self._offset[:, :, None])[:, :, 0]
        arm = contact.pos - origin[foot]
        wrench = np.empty((len(foot), 6))
        wrench[:, :3] = force
        # arm × force by hand: np.cross costs 50 us
        wrench[:, 3] = arm[:, 1] * force[:, 2] - arm[:, 2] * force[:, 1]
        wrench[:, 4] = arm[:, 2] * force[:, 0] - arm[:, 0] * force[:, 2]
        wrench[:, 5] = arm[:, 0] * force[:, 1] - arm[:, 1] * force[:, 0]
        np.add.at(self._sum, foot, wrench)

    def wrenches(self) -> dict[str, Array]:
        """Foot -> mean force (3,) of a ball, or force and moment (6,) of a sole, on the robot; zero before a step."""
        mean = self._sum / max(self._steps, 1)
        return {foot.name: mean[i, :size] for i, (foot, size) in enumerate(zip(self._feet, self._size, strict=True))}
