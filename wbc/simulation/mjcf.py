"""A MuJoCo model built from the pinocchio model, body by body: the same numbers, never a second reading of a URDF."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from wbc.checks import Array
from wbc.errors import RobotError
from wbc.simulation.axles import add_axles
from wbc.simulation.coordinates import WXYZ_OF_XYZW, mujoco_joints
from wbc.simulation.ground import add_ground
from wbc.simulation.optional import optional

LEAST_INERTIA = 1e-14  # kg, kg m²: MuJoCo divides by these, so that a massless link needs one (its own least is 1e-15)


def mujoco_model(
    robot: Any, *, losses: bool, joint_limits: bool, ground: bool = False, friction: float = 1.0
) -> tuple[Any, Any]:
    """(MjModel, MjData) of a robot's rigid bodies: gravity and armature as in the pinocchio model, no shapes but feet.

    Args:
        robot: the :class:`wbc.Robot`.
        losses: let joint damping and dry friction of the description act.
        joint_limits: let joints meet stiff stops at the robot's position limits.
        ground: lay a ground under the robot's feet.
        friction: Coulomb μ between feet and ground.

    Raises:
        RobotError: a joint of a kind that MuJoCo does not have.
        NotInstalledError: MuJoCo is not installed.
    """
    mujoco = optional("mujoco", "sim")
    model = robot.model
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.gravity = np.array(model.gravity.linear)
    bodies = [spec.worldbody]
    for i in range(1, model.njoints):
        placement = model.jointPlacements[i]
        body = bodies[model.parents[i]].add_body(name=model.names[i])
        if model.joints[i].shortname() != "JointModelFreeFlyer":  # its pose is in the world, whatever its body says
            body.pos, body.quat = np.array(placement.translation), _wxyz(placement.rotation)
        # a placeholder, off centre and turned, so that the compiler finds nothing to simplify; _set_inertias follows
        body.mass, body.inertia, body.ipos = 1.0, np.array([1.0, 1.1, 1.2]), np.array([0.1, 0.2, 0.3])
        body.iquat, body.explicitinertial = np.array([0.8, 0.0, 0.6, 0.0]), True
        _add_joints(mujoco, body, robot, i, losses=losses, joint_limits=joint_limits)
        bodies.append(body)
    if ground:
        add_ground(mujoco, spec, robot, bodies, friction)
    add_axles(mujoco, spec, robot)
    mj_model = spec.compile()
    mj_data = mujoco.MjData(mj_model)
    _set_inertias(mj_model, model)
    mujoco.mj_setConst(mj_model, mj_data)
    return mj_model, mj_data


def _set_inertias(mj_model: Any, model: Any) -> None:
    """Write masses and principal inertias past MuJoCo's compiler.

    It refuses massless links and inertias that no solid body has (Ixx + Iyy < Izz), both common in descriptions; the
    equations of motion, and pinocchio, do not mind.
    """
    for i in range(1, model.njoints):
        body, inertia = mj_model.body(model.names[i]).id, model.inertias[i]
        moments, axes = np.linalg.eigh(np.array(inertia.inertia))
        axes[:, 0] *= np.sign(np.linalg.det(axes))
        massless = inertia.mass < LEAST_INERTIA
        mj_model.body_mass[body] = max(inertia.mass, LEAST_INERTIA)
        mj_model.body_ipos[body] = 0.0 if massless else inertia.lever
        mj_model.body_inertia[body] = np.where(np.abs(moments) < LEAST_INERTIA, LEAST_INERTIA, moments)
        mj_model.body_iquat[body] = _wxyz(axes)


def _add_joints(mujoco: Any, body: Any, robot: Any, i: int, *, losses: bool, joint_limits: bool) -> None:
    model, joint, name = robot.model, robot.model.joints[i], robot.model.names[i]
    kind = joint.shortname()
    Type = mujoco.mjtJoint
    if kind == "JointModelFreeFlyer":
        if model.parents[i] != 0:
            raise RobotError(f"joint {name!r}: a free-flyer must hang on the world, MuJoCo has none elsewhere")
        made = [body.add_joint(name=name, type=Type.mjJNT_FREE)]
    elif kind == "JointModelPlanar":
        types, axes = (Type.mjJNT_SLIDE, Type.mjJNT_SLIDE, Type.mjJNT_HINGE), np.eye(3)
        made = [
            body.add_joint(name=part, type=type_, axis=axis)
            for part, type_, axis in zip(mujoco_joints(name, joint), types, axes, strict=True)
        ]
    elif kind == "JointModelSpherical":
        made = [body.add_joint(name=name, type=Type.mjJNT_BALL)]
    else:
        slides, axis = _axis(model, joint, name)
        made = [body.add_joint(name=name, type=Type.mjJNT_SLIDE if slides else Type.mjJNT_HINGE, axis=axis)]
    armatures = model.armature[joint.idx_v : joint.idx_v + joint.nv]
    if len(set(armatures)) > len(made):
        raise RobotError(f"joint {name!r}: MuJoCo has one armature for all its axes, not {armatures.tolist()}")
    for k, part in enumerate(made):
        index = joint.idx_v + k
        part.armature = model.armature[index]
        if losses and joint.nv == len(made):
            _set(part, "damping", model.damping[index])
            part.frictionloss = model.friction[index]
        limits = robot.position_limits[:, index]
        if joint_limits and joint.nv == 1 and np.isfinite(limits).all():
            part.limited, part.range = 1, limits


def _set(part: Any, attribute: str, value: float) -> None:
    """Set a coefficient that MuJoCo keeps as a number or, in later versions, as the first of a polynomial's."""
    if np.ndim(getattr(part, attribute)):
        getattr(part, attribute)[0] = value
    else:
        setattr(part, attribute, value)


def _axis(model: Any, joint: Any, name: str) -> tuple[bool, Array]:
    """(whether it slides, axis) of a joint with one axis, read from its motion: some kinds do not tell their axis."""
    data = joint.createData()
    if joint.nv == 1:
        joint.calc(data, pin.neutral(model))
        linear, angular = np.split(np.array(data.S).ravel(), 2)
        if linear.any() != angular.any():
            return bool(linear.any()), linear + angular
    raise RobotError(f"joint {name!r}: MuJoCo has no joint of the kind {joint.shortname().removeprefix('JointModel')}")


def _wxyz(rotation: Array) -> Array:
    quaternion: Array = np.array(pin.Quaternion(np.array(rotation)).coeffs())[WXYZ_OF_XYZW]
    return quaternion
