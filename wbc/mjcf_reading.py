"""Reading MJCF: MuJoCo compiles it, and its numbers become a pinocchio model, body by body.

Pinocchio has a parser of its own, but (4.1) it drops the pose of a first body without joint (field report F06), makes
one composite joint of several on a body, and knows no motor. What MuJoCo compiled has defaults, units, included files
and the inertia of shapes resolved, and is what the simulation runs on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from wbc import checks
from wbc.checks import Array
from wbc.errors import InputError, RobotError
from wbc.joints import joint_names_of, joint_position
from wbc.loading import lock_joints
from wbc.simulation.optional import optional

XYZW = [1, 2, 3, 0]  # of MuJoCo's wxyz


@dataclass(slots=True, eq=False)
class Mjcf:
    """What an MJCF file says.

    Attributes:
        name: of the model.
        model: the pinocchio model; ``q`` is MuJoCo's ``qpos`` but for the order of quaternions.
        home: configuration (nq,): the keyframe ``home`` if there is one, else MuJoCo's ``qpos0``.
        torque: coordinate -> torque limit [N m, N] of its motors, inf where they have none; those without are left out.
        notes: what is not carried over, one sentence each.
    """

    name: str
    model: Any
    home: Array
    torque: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def place(self, positions: Mapping[str, float]) -> None:
        """Move joints of home."""
        for joint, position in positions.items():
            checks.choice(joint, list(self.model.names)[1:], "joint", f"robot {self.name!r}")
            joint_position(self.model, self.home, joint, checks.scalar(position, f"home[{joint!r}]"))

    def lock(self, locked: Mapping[str, float | None]) -> None:
        """Take joints away, fixed at their position in home or at one that is given."""
        model = lock_joints(self.model, locked, dict(self.positions()), self.name)
        home = pin.neutral(model)
        for name, joint in list(zip(model.names, model.joints, strict=True))[1:]:
            old = self.model.joints[self.model.getJointId(name)]
            home[joint.idx_q : joint.idx_q + joint.nq] = self.home[old.idx_q : old.idx_q + old.nq]
        self.model, self.home = model, home
        self.torque = {name: limit for name, limit in self.torque.items() if name not in locked}

    def positions(self) -> list[tuple[str, float]]:
        """(joint, position) at home of every joint with one axis."""
        pairs = list(zip(self.model.names, self.model.joints, strict=True))[1:]
        return [(name, float(self.home[joint.idx_q])) for name, joint in pairs if joint.nq == joint.nv == 1]


def read_mjcf(path_or_text: str | Path) -> Mjcf:
    """Read an MJCF file, or the text of one.

    Raises:
        NotInstalledError: MuJoCo is not installed.
        RobotError: MuJoCo refuses it, it closes a loop, or it bends (flex).
    """
    mujoco = optional("mujoco", "sim")
    mj = _compiled(mujoco, path_or_text)
    name = mj.names.split(b"\0", 1)[0].decode()
    notes: list[str] = []
    _refuse_loops(mujoco, mj, name, notes)
    model = pin.Model()
    model.name = name
    model.gravity.linear = np.array(mj.opt.gravity)
    if mj.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY):
        model.gravity.linear = np.zeros(3)
    _add_bodies(mujoco, mj, model)
    _set_coordinates(mj, model, notes)
    torque = _motors(mujoco, mj, model, notes)
    _note_forces(mj, model, notes)
    return Mjcf(name, model, _home(mujoco, mj, model), torque, notes)


def _compiled(mujoco: Any, path_or_text: str | Path) -> Any:
    if not isinstance(path_or_text, str | Path):
        raise InputError(f"expected the path or the text of an MJCF file, got {path_or_text!r}")
    is_text = isinstance(path_or_text, str) and "<" in path_or_text
    path, given = Path() if is_text else Path(path_or_text).expanduser(), "the text"
    if not is_text:
        given = repr(str(path))
        if not path.is_file():
            raise RobotError(f"there is no file {given}")
    first = re.search(r"<(robot|mujoco)\b", str(path_or_text) if is_text else path.read_text(errors="replace"))
    if first is not None and first[1] == "robot":  # MuJoCo would read it, and drop what it does not know
        raise RobotError(f"{given} is a URDF: read it with Robot.from_urdf")
    try:
        return mujoco.MjModel.from_xml_string(path_or_text) if is_text else mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        raise RobotError(f"MuJoCo cannot read {given}: {' '.join(str(error).split())}") from error


def _refuse_loops(mujoco: Any, mj: Any, name: str, notes: list[str]) -> None:
    """A robot is a tree; what only couples two coordinates is named and left out."""
    if mj.nflex:
        raise RobotError(f"robot {name!r}: it has parts that bend (flex), and a robot is made of rigid bodies")
    for i in range(mj.neq):
        if not mj.eq_active0[i]:
            continue
        kind = mujoco.mjtEq(int(mj.eq_type[i])).name.removeprefix("mjEQ_").lower()
        label = mj.equality(i).name or f"number {i}"
        if kind in ("connect", "weld"):
            raise RobotError(
                f"robot {name!r}: its equality {label!r} ({kind}) closes a loop, and a robot is a tree; "
                "take it out of the file and close the loop by a contact or a task"
            )
        notes.append(
            f"equality {label!r} ({kind}): not carried over; what it couples moves by itself, lock it if need be"
        )


def _add_bodies(mujoco: Any, mj: Any, model: Any) -> None:
    """One pinocchio joint for each of MuJoCo's, in its order, so that coordinates come in the same order too."""
    carriers = [(0, pin.SE3.Identity())]  # of each body: the joint that moves it, and its pose there
    labels = _labels(mujoco, mj)
    for b in range(1, mj.nbody):
        joint, pose = carriers[mj.body_parentid[b]]
        pose = pose * pin.SE3(_rotation(mj.body_quat[b]), np.array(mj.body_pos[b]))
        first = int(mj.body_jntadr[b])
        for j in range(first, first + int(mj.body_jntnum[b])):
            kind, anchor = int(mj.jnt_type[j]), pin.SE3(np.eye(3), np.array(mj.jnt_pos[j]))
            if kind == int(mujoco.mjtJoint.mjJNT_FREE):  # its pose is in the world, whatever its body says
                joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), labels[j])
                pose = pin.SE3.Identity()
            else:
                placement, motion = _joint(mujoco, mj, j, kind)
                joint = model.addJoint(joint, motion, pose * anchor * placement, labels[j])
                pose = anchor.inverse()
            model.addJointFrame(joint)
        inertia = pin.Inertia(float(mj.body_mass[b]), np.zeros(3), np.diag(mj.body_inertia[b]))
        centre = pin.SE3(_rotation(mj.body_iquat[b]), np.array(mj.body_ipos[b]))
        model.appendBodyToJoint(joint, inertia, pose * centre)
        carriers.append((joint, pose))
        model.addFrame(pin.Frame(mj.body(b).name or f"body{b}", joint, 0, pose, pin.FrameType.BODY), False)
    for s in range(mj.nsite):
        joint, pose = carriers[mj.site_bodyid[s]]
        place = pose * pin.SE3(_rotation(mj.site_quat[s]), np.array(mj.site_pos[s]))
        name = mj.site(s).name or f"site{s}"
        if name in {frame.name for frame in model.frames}:
            name += "_site"  # MuJoCo keeps names of bodies, joints and sites apart, a task does not
        model.addFrame(pin.Frame(name, joint, 0, place, pin.FrameType.OP_FRAME), False)


def _joint(mujoco: Any, mj: Any, j: int, kind: int) -> tuple[Any, Any]:
    """(what stands before the joint so that q is qpos and not qpos − ref, the joint)."""
    if kind == int(mujoco.mjtJoint.mjJNT_BALL):
        return pin.SE3.Identity(), pin.JointModelSpherical()
    axis, ref = np.array(mj.jnt_axis[j]), float(mj.qpos0[mj.jnt_qposadr[j]])
    if kind == int(mujoco.mjtJoint.mjJNT_SLIDE):
        plain, unaligned = (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ), pin.JointModelPrismaticUnaligned
        before = pin.SE3(np.eye(3), -ref * axis)
    else:
        plain, unaligned = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ), pin.JointModelRevoluteUnaligned
        before = pin.SE3(pin.exp3(-ref * axis), np.zeros(3))
    along = np.flatnonzero(axis == 1.0)  # pinocchio's own axes are a little faster
    return before, plain[along[0]]() if len(along) else unaligned(axis)


def _labels(mujoco: Any, mj: Any) -> list[str]:
    """A name for every joint; a free one without a name is called as everywhere else."""
    labels = []
    for j in range(mj.njnt):
        free = int(mj.jnt_type[j]) == int(mujoco.mjtJoint.mjJNT_FREE)
        body = mj.body(int(mj.jnt_bodyid[j])).name or f"body{int(mj.jnt_bodyid[j])}"
        number = j - int(mj.body_jntadr[mj.jnt_bodyid[j]])
        label = mj.joint(j).name or ("root_joint" if free else f"{body}_joint{number or ''}")
        labels.append(label if label not in labels else f"{label}_{j}")
    return labels


def _set_coordinates(mj: Any, model: Any, notes: list[str]) -> None:
    """Armature, losses and position limits; velocities and efforts are unlimited until somebody says more."""
    model.armature = np.array(mj.dof_armature)
    model.damping, model.friction = np.array(mj.dof_damping), np.array(mj.dof_frictionloss)
    model.effortLimit, model.velocityLimit = np.full(mj.nv, math.inf), np.full(mj.nv, math.inf)
    lower, upper = np.full(mj.nq, -math.inf), np.full(mj.nq, math.inf)
    for j in range(mj.njnt):
        joint = model.joints[j + 1]
        if not mj.jnt_limited[j]:
            continue
        if joint.nq == 1:
            lower[joint.idx_q], upper[joint.idx_q] = mj.jnt_range[j]
        else:
            notes.append(f"joint {model.names[j + 1]!r}: the range of a ball joint is not carried over")
    model.lowerPositionLimit, model.upperPositionLimit = lower, upper


def _motors(mujoco: Any, mj: Any, model: Any, notes: list[str]) -> dict[str, float]:
    """Coordinate -> torque limit: gear times the range of force or of control, motors of one joint added up."""
    velocity_names, _ = joint_names_of(model)
    torque: dict[str, float] = {}
    gears, armature, damping = np.ones(mj.nv), np.array(model.armature), np.array(model.damping)
    for a in range(mj.nu):
        label = mj.actuator(a).name or f"number {a}"
        j = int(mj.actuator_trnid[a, 0])
        on_joint = int(mj.actuator_trntype[a]) in (
            int(mujoco.mjtTrn.mjTRN_JOINT),
            int(mujoco.mjtTrn.mjTRN_JOINTINPARENT),
        )
        if not on_joint or model.joints[j + 1].nv != 1:
            where = f"joint {model.names[j + 1]!r} of several axes" if on_joint else "something else than a joint"
            notes.append(f"actuator {label!r}: it drives {where}, and is not carried over")
            continue
        v = model.joints[j + 1].idx_v
        gears[v] = mj.actuator_gear[a, 0]
        # of the motor's own shaft, in later versions of MuJoCo
        armature[v] += gears[v] ** 2 * float(np.ravel(getattr(mj, "actuator_armature", np.zeros(mj.nu))[a])[0])
        damping[v] += gears[v] ** 2 * float(np.ravel(getattr(mj, "actuator_damping", np.zeros(mj.nu))[a])[0])
        low, high, servo = _range(mujoco, mj, a)
        if servo:
            notes.append(
                f"actuator {label!r}: a servo or a motor with dynamics, no plain torque motor; the robot is torque "
                "controlled, its limit is the actuator's forcerange"
            )
        if low > 0.0 or high < 0.0 or not math.isclose(-low, high):
            notes.append(f"actuator {label!r}: its range {low:g} to {high:g} N m is not even; the smaller side counts")
        name = velocity_names[v]
        torque[name] = torque.get(name, 0.0) + max(0.0, min(-low, high))
    for j in range(mj.njnt):
        name = velocity_names[model.joints[j + 1].idx_v] if model.joints[j + 1].nv == 1 else ""
        if name in torque and mj.jnt_actfrclimited[j]:
            torque[name] = min(torque[name], float(np.abs(mj.jnt_actfrcrange[j]).min()))
    model.rotorGearRatio, model.armature, model.damping = gears, armature, damping
    return torque


def _range(mujoco: Any, mj: Any, a: int) -> tuple[float, float, bool]:
    """(lowest, highest torque at the joint, whether the control is something else than a torque)."""
    gear, gain = float(mj.actuator_gear[a, 0]), float(mj.actuator_gainprm[a, 0])
    plain = (
        int(mj.actuator_dyntype[a]) == int(mujoco.mjtDyn.mjDYN_NONE)
        and int(mj.actuator_gaintype[a]) == int(mujoco.mjtGain.mjGAIN_FIXED)
        and int(mj.actuator_biastype[a]) == int(mujoco.mjtBias.mjBIAS_NONE)
    )
    force = np.array([-math.inf, math.inf])
    if plain and mj.actuator_ctrllimited[a]:
        force = np.sort(gain * np.array(mj.actuator_ctrlrange[a]))
    if mj.actuator_forcelimited[a]:
        force = np.array([max(force[0], mj.actuator_forcerange[a, 0]), min(force[1], mj.actuator_forcerange[a, 1])])
    low, high = sorted(float(gear * f) for f in force) if gear else (0.0, 0.0)
    return low, high, not plain


def _note_forces(mj: Any, model: Any, notes: list[str]) -> None:
    """Forces of MuJoCo's that are not in h(q, v)."""
    springs = [model.names[j + 1] for j in range(mj.njnt) if mj.jnt_stiffness[j]]
    if springs:
        notes.append(f"springs of {', '.join(springs)}: not carried over, h(q, v) knows no springs")
    if np.any(mj.body_gravcomp):
        notes.append("gravcomp: not carried over, every body has its weight")
    if mj.ntendon:
        notes.append("tendons: not carried over, neither their springs nor their inertia")
    if mj.opt.density or mj.opt.viscosity:
        notes.append("density and viscosity of the air: not carried over")


def _home(mujoco: Any, mj: Any, model: Any) -> Array:
    qpos = np.array(mj.qpos0)
    for k in range(mj.nkey):
        if mj.key(k).name == "home":
            qpos = np.array(mj.key_qpos[k])
    q = qpos.copy()
    for joint in list(model.joints)[1:]:
        if joint.nq >= 4:
            where = slice(joint.idx_q + joint.nq - 4, joint.idx_q + joint.nq)
            q[where] = qpos[where][XYZW] / np.linalg.norm(qpos[where])
    return q


def _rotation(wxyz: Any) -> Array:
    w, x, y, z = np.asarray(wxyz) / np.linalg.norm(wxyz)
    matrix: Array = pin.Quaternion(w, x, y, z).matrix()
    return matrix
