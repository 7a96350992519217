"""The ground in MuJoCo: the plane z = 0, the feet that touch it, and what it pushes them with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from wbc.checks import Array
from wbc.foot import Foot
from wbc.robot import Robot
from wbc.simulation.coordinates import WXYZ_OF_XYZW

PLANE = "ground"
THICKNESS = 0.02  # m, of a sole; only its lower face ever touches
STIFFNESS = (0.005, 1.0)  # solref: 5 ms, critically damped; a robot sinks in by a few micrometres
FRICTION_TO_NORMAL = 10.0  # impratio: how much harder sliding is than sinking in; less, and feet creep


def add_ground(mujoco: Any, spec: Any, robot: Robot, bodies: Any, friction: float) -> None:
    """Lay the ground and put soles (boxes) and balls (spheres) under a robot's feet; nothing else touches anything.

    The pairs that may touch are listed one by one: MuJoCo then needs no broad phase, whose boxes would be those of the
    placeholder inertias that the bodies are compiled with.
    """
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = FRICTION_TO_NORMAL
    apart = {"contype": 0, "conaffinity": 0, "mass": 0.0}
    spec.worldbody.add_geom(name=PLANE, type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.1], **apart)
    for foot in robot.footing:
        frame = robot.model.frames[robot.frame_id(foot.frame)]
        if foot.half_size is None:
            kind, size, up = mujoco.mjtGeom.mjGEOM_SPHERE, [foot.radius, 0.0, 0.0], 0.0
        else:
            kind, size, up = mujoco.mjtGeom.mjGEOM_BOX, [*foot.half_size, THICKNESS / 2.0], THICKNESS / 2.0
        pose = frame.placement * pin.SE3(np.eye(3), np.array([0.0, 0.0, up]))  # the sole is the box's lower face
        quaternion, body = pin.SE3ToXYZQUAT(pose)[3:][WXYZ_OF_XYZW], bodies[frame.parentJoint]
        body.add_geom(name=foot.name, type=kind, size=size, pos=pose.translation, quat=quaternion, **apart)
        body.add_site(name=foot.name, pos=np.array(frame.placement.translation))
        spec.add_pair(
            geomname1=PLANE,
            geomname2=foot.name,
            condim=3,
            solref=STIFFNESS,
            friction=[friction, friction, 0.005, 1e-4, 1e-4],
        )


class Ground:
    """Collects MuJoCo's contact forces during the substeps of a tick.

    Args:
        feet: of the robot.
        mj_model: the model that :func:`add_ground` went into.
    """

    def __init__(self, feet: tuple[Foot, ...], mj_model: Any) -> None:
        self._size = {foot.name: 3 if foot.half_size is None else 6 for foot in feet}
        self._foot, self._site = np.full((2, mj_model.ngeom), -1)  # of a geom; the ground has none
        for i, name in enumerate(self._size):
            geom = mj_model.geom(name).id
            self._foot[geom], self._site[geom] = i, mj_model.site(name).id
        self.clear()

    def clear(self) -> None:
        """Forget what was collected."""
        self._steps = 0
        self._seen: list[tuple[Array, ...]] = []

    def add(self, data: Any) -> None:
        """One substep, after MuJoCo has solved for its forces and before it moves on."""
        self._steps += 1
        if data.ncon:
            contact = data.contact
            rows = contact.efc_address
            touching = rows >= 0  # feet at a distance of exactly zero are contacts without a force
            rows, geom = rows[touching], contact.geom[touching, 1]
            if len(rows):
                # copied now and added up when somebody asks: 10 us here instead of 40
                force = data.efc_force[rows[0] : rows[0] + 3 * len(rows)].reshape(-1, 3).copy()
                frame, point = contact.frame[touching], contact.pos[touching]
                self._seen.append((geom, frame, point, force, data.site_xpos.copy()))

    def wrenches(self) -> dict[str, Array]:
        """Foot -> mean force (3,) of a ball, or force and moment (6,) of a sole, on the robot; zero before a step."""
        total = np.zeros((len(self._size), 6))
        if self._seen:
            geom, frame, point, local, _ = (np.concatenate(part) for part in zip(*self._seen, strict=True))
            origin = np.concatenate([sites[self._site[geom]] for geom, *_, sites in self._seen])
            # with elliptic cones the rows of a contact are its force on the second geom, the foot, along its axes
            force = np.matmul(local[:, None, :], frame.reshape(-1, 3, 3))[:, 0]
            x, y, z = (point - origin).T
            fx, fy, fz = force.T
            # the moment by hand: np.cross costs 50 us
            wrench = np.column_stack((force, y * fz - z * fy, z * fx - x * fz, x * fy - y * fx))
            total = (self._foot[geom] == np.arange(len(self._size))[:, None]) @ wrench
        mean = total / max(self._steps, 1)
        return {name: mean[i, :size] for i, (name, size) in enumerate(self._size.items())}
