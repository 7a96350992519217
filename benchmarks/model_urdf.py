"""A URDF of a robot as it stands in memory, joints locked and limits as they are, for programs that read files only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from wbc.checks import Array
from wbc.errors import RobotError
from wbc.robot import Robot

ROOT = "root_link"
_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
NO_LIMIT = 1e6  # N m: a URDF has no infinity


def urdf_of(robot: Robot, frames: Sequence[str]) -> str:
    """The text of a URDF with the robot's joints by name and the frames that are asked for as links.

    A free-flyer is left out: its body is the root link.

    Raises:
        RobotError: a joint that a URDF cannot say.
    """
    model = robot.model
    free = model.njoints > 1 and model.joints[1].shortname() == "JointModelFreeFlyer"
    limits = np.full(model.nv, NO_LIMIT)
    limits[robot.actuated] = np.minimum(robot.torque_limits, NO_LIMIT)
    parts = [_link(ROOT, model.inertias[1] if free else None)]
    for index in range(2 if free else 1, model.njoints):
        joint, parent = model.joints[index], model.parents[index]
        kind, axis = _kind(joint, str(model.names[index]))
        parts.append(_link(f"body_{index}", model.inertias[index]))
        parts.append(
            f'<joint name="{model.names[index]}" type="{kind}"><parent link="{_body(parent, free)}"/>'
            f'<child link="body_{index}"/>{_origin(model.jointPlacements[index])}<axis xyz="{_numbers(axis)}"/>'
            f'<limit lower="-1000" upper="1000" effort="{float(limits[joint.idx_v])!r}" velocity="1000"/></joint>'
        )
    for name in dict.fromkeys(frames):
        frame = model.frames[robot.frame_id(name)]
        parts.append(_link(name, None))
        parts.append(
            f'<joint name="to_{name}" type="fixed"><parent link="{_body(frame.parentJoint, free)}"/>'
            f'<child link="{name}"/>{_origin(frame.placement)}</joint>'
        )
    return f'<robot name="{robot.name}">\n' + "\n".join(parts) + "\n</robot>\n"


def _body(joint: int, free: bool) -> str:
    return ROOT if joint == 0 or (free and joint == 1) else f"body_{joint}"


def _kind(joint: Any, name: str) -> tuple[str, Array]:
    """Type and axis of a joint."""
    short = joint.shortname()
    if short.startswith(("JointModelR", "JointModelP")) and short[-1] in _AXES and len(short) == 12:
        return "revolute" if short[10] == "R" else "prismatic", np.array(_AXES[short[-1]])
    if short in ("JointModelRevoluteUnaligned", "JointModelPrismaticUnaligned"):
        return "revolute" if "Revolute" in short else "prismatic", np.array(joint.extract().axis)
    raise RobotError(f"joint {name!r} is a {short}, which cannot be handed to a peer")


def _link(name: str, inertia: Any) -> str:
    if inertia is None:
        return f'<link name="{name}"/>'
    I = np.array(inertia.inertia)  # noqa: E741  (about the centre of mass, in the link's axes)
    entries = " ".join(f'{key}="{float(I[i, j])!r}"' for key, i, j in _ENTRIES)
    return (
        f'<link name="{name}"><inertial><origin xyz="{_numbers(inertia.lever)}" rpy="0 0 0"/>'
        f'<mass value="{float(inertia.mass)!r}"/><inertia {entries}/></inertial></link>'
    )


_ENTRIES = (("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2))


def _origin(place: Any) -> str:
    return f'<origin xyz="{_numbers(place.translation)}" rpy="{_numbers(pin.rpy.matrixToRpy(place.rotation))}"/>'


def _numbers(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)
