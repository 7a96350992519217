"""Preparing a pinocchio model for control: locking joints, home, armature, and refusing one that has no inertia."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pinocchio as pin

from wbc import checks
from wbc.checks import Array
from wbc.errors import InputError, RobotError
from wbc.joints import joint_of_velocity, joint_position


def lock_joints(model: Any, locked: Mapping[str, float | None], home: Any, label: str) -> Any:
    """A reduced model without the ``locked`` joints, which stay where they are told or where home has them."""
    reference = pin.neutral(model)
    positions = dict(home) if isinstance(home, Mapping) else {}
    positions |= {joint: position for joint, position in locked.items() if position is not None}
    names = list(model.names)[1:]
    for joint, position in positions.items():
        checks.choice(joint, names, "joint", f"robot {label!r}")
        joint_position(model, reference, joint, position)
    ids = []
    for joint in locked:
        checks.choice(joint, names, "joint", f"robot {label!r}")
        ids.append(model.getJointId(joint))
    return pin.buildReducedModel(model, ids, reference)


def home_of(model: Any, home: Any, position_limits: Array, label: str) -> Array:
    """The configuration that the user names, or zero moved inside the limits."""
    if home is not None and not isinstance(home, Mapping):
        q = checks.vector(home, "home", model.nq)
    else:
        q = pin.neutral(model)
        for joint in list(model.joints)[1:]:
            if joint.nq == joint.nv == 1:
                lower, upper = position_limits[:, joint.idx_v]
                q[joint.idx_q] = min(max(0.0, lower), upper) if lower <= upper else 0.0
        for joint_name, position in (home or {}).items():
            checks.choice(joint_name, list(model.names)[1:], "joint", f"robot {label!r}")
            joint_position(model, q, joint_name, checks.scalar(position, f"home[{joint_name!r}]"))
    if not pin.isNormalized(model, q, checks.UNIT_TOLERANCE):
        raise InputError("home: a quaternion or a (cos, sin) pair in it does not have unit norm")
    q.flags.writeable = False
    return q


def set_armature(model: Any, armature: Mapping[str, float] | float | None, label: str) -> list[str]:
    """Write reflected rotor inertia (gear² times rotor inertia, then the user's) into the model; returns remarks."""
    reflected = np.asarray(model.rotorInertia) * np.asarray(model.rotorGearRatio) ** 2
    pairs = list(zip(model.names, model.joints, strict=True))[1:]  # the first, "universe", pretends to have one axis
    joints = [(name, joint) for name, joint in pairs if joint.nv == 1]
    notes = []
    values = np.array(model.armature, dtype=np.float64)
    for name, joint in joints:
        if reflected[joint.idx_v] > 0.0 and values[joint.idx_v] == 0.0:
            values[joint.idx_v] = reflected[joint.idx_v]
            notes.append(f"joint {name!r}: armature {values[joint.idx_v]:.4g} kg m² taken from rotor inertia and gear")
    if armature is not None:
        known = [name for name, _ in joints]
        given = armature if isinstance(armature, Mapping) else dict.fromkeys(known, armature)
        for joint_name, value in given.items():
            checks.choice(joint_name, known, "joint", f"robot {label!r}")
            value = checks.scalar(value, f"armature[{joint_name!r}]", lower=0.0)
            values[model.joints[model.getJointId(joint_name)].idx_v] = value
    model.armature = values
    return notes


def refuse_singular_mass_matrix(model: Any, q: Array, label: str) -> None:
    """Name the joint that moves a link without inertia, which no controller can divide by."""
    if model.nv == 0:
        raise RobotError(f"robot {label!r} has no joint that moves (every joint is fixed or locked)")
    for name, inertia in zip(model.names, model.inertias, strict=True):
        if not (np.isfinite(inertia.mass) and inertia.mass >= 0.0):
            raise RobotError(f"robot {label!r}: the link behind joint {name!r} has the mass {inertia.mass:g} kg")
    data = model.createData()
    M = np.array(pin.crba(model, data, np.array(q)))
    M = np.triu(M) + np.triu(M, 1).T
    eigenvalues, vectors = np.linalg.eigh(M)
    if eigenvalues[0] > 1e-9 * max(eigenvalues[-1], 1e-9):
        return
    joint = joint_of_velocity(model, int(np.abs(vectors[:, 0]).argmax()))
    links = [f.name for f in model.frames if f.parentJoint == joint and f.type == pin.FrameType.BODY]
    name = model.names[joint]
    others = f", lock the joint (lock=({name!r},)) or give it an armature (armature={{{name!r}: 0.01}})"
    raise RobotError(
        f"robot {label!r}: the mass matrix is singular, joint {name!r} moves link "
        f"{', '.join(map(repr, links)) or '(unnamed)'} and all behind it without inertia; give the link "
        f"an <inertial>{others if model.joints[joint].nv == 1 else ''}"
    )
