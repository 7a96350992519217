"""Reading links and joints out of a URDF or a robot, forgivingly: what cannot be read becomes a finding."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wbc.inspection_table import Finding, Joint, Link, Mesh, Table

# kind of joint -> (nq, nv), as pinocchio counts them
SIZES = {
    "fixed": (0, 0),
    "revolute": (1, 1),
    "prismatic": (1, 1),
    "continuous": (2, 1),
    "planar": (4, 3),
    "floating": (7, 6),
}
# what the parser behind pinocchio (urdfdom) takes for a number: neither inf, nor nan, nor blanks, nor a comma
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def read_table(element: ElementTree.Element, folder: Path | None, package_dirs: Sequence[str | Path]) -> Table:
    """Read the ``<robot>`` element of a URDF."""
    table = Table(element.get("name", ""), folder=folder)
    if any("xacro" in child.tag for child in element.iter()):
        fix = "expand it first: xacro FILE.urdf.xacro > robot.urdf"
        table.findings.append(Finding("error", "robot", "the file is a xacro template, not yet a URDF", fix))
    table.links = [_link(link, table.findings) for link in element.findall("link")]
    table.joints = [_joint(joint, table.findings) for joint in element.findall("joint")]
    table.frames = [link.name for link in table.links] + [joint.name for joint in table.joints]
    table.meshes = _meshes(element, folder, package_dirs)
    return table


def read_robot(robot: Any, package_dirs: Sequence[str | Path]) -> Table:
    """Read a robot that is already there: limits as it was told, links merged where a joint between them is locked."""
    model = robot.model
    table = Table(robot.name, settled=True)  # placeholders are inf by now, and other large numbers the user's own
    bodies = [f"(behind {name})" for name in model.names]
    for frame in reversed(list(model.frames)):  # the first link of each joint gives the group its name
        if frame.type.name == "BODY":
            bodies[frame.parentJoint] = frame.name
    effort = np.full(robot.nv, math.inf)
    effort[robot.actuated] = robot.torque_limits
    for i, joint in enumerate(model.joints):
        inertia = model.inertias[i]
        table.links.append(Link(bodies[i], float(inertia.mass), np.array(inertia.inertia)))
        if i:
            v, size = joint.idx_v, (joint.nq, joint.nv)
            shape = joint.shortname()
            kind = next((k for k, s in SIZES.items() if s == size), shape)
            kind = "prismatic" if shape.startswith("JointModelP") and size == (1, 1) else kind
            one = joint.nv == 1
            table.joints.append(
                Joint(
                    name=model.names[i],
                    kind=kind,
                    parent=bodies[model.parents[i]],
                    child=bodies[i],
                    nq=joint.nq,
                    nv=joint.nv,
                    lower=float(robot.position_limits[0, v]) if one else None,
                    upper=float(robot.position_limits[1, v]) if one else None,
                    velocity=float(robot.velocity_limits[v]) if one else None,
                    effort=float(effort[v]) if one else None,
                    armature=float(model.armature[v]) if one else 0.0,
                )
            )
    table.frames = [frame.name for frame in model.frames if frame.name != "universe"]
    if robot.description is not None:
        element = ElementTree.fromstring(robot.description.text.encode())
        dirs = (*package_dirs, *robot.description.package_dirs)
        table.folder = robot.description.folder
        table.meshes = _meshes(element, table.folder, dirs)
    return table


def _link(element: ElementTree.Element, findings: list[Finding]) -> Link:
    name = element.get("name", "")
    inertial = element.find("inertial")
    if inertial is None:
        return Link(name)
    where = f"link {name!r}"
    before = len(findings)
    mass = _numbers(inertial.find("mass"), ("value",), where, "<mass>", findings)
    entries = _numbers(inertial.find("inertia"), INERTIA, where, "<inertia>", findings)
    _check_origin(inertial, where, findings)
    if len(findings) > before:
        return Link(name)
    xx, xy, xz, yy, yz, zz = entries
    return Link(name, mass[0], np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def _joint(element: ElementTree.Element, findings: list[Finding]) -> Joint:
    name, kind = element.get("name", ""), element.get("type", "")
    where = f"joint {name!r}"
    parent, child, mimic = (element.find(tag) for tag in ("parent", "child", "mimic"))
    nq, nv = SIZES.get(kind, (0, 0))
    if kind not in SIZES:
        findings.append(Finding("error", where, f"its type is {kind!r}", f"use one of {', '.join(sorted(SIZES))}"))
    _check_origin(element, where, findings)
    axis = element.find("axis")
    if axis is not None and nv and kind != "floating":
        vector = _vector(axis.get("xyz", "1 0 0"), where, "<axis>", findings)
        if vector is not None and not any(vector):
            findings.append(Finding("error", where, "its axis is zero", "give the direction that it turns about"))
    limit = element.find("limit")
    if limit is None and kind in ("revolute", "prismatic"):
        fix = 'add <limit lower=".." upper=".." effort=".." velocity=".."/> (or type="continuous" for an endless joint)'
        findings.append(Finding("error", where, f"it is {kind} and has no <limit>, which the parser refuses", fix))
    limits: dict[str, Any] = {
        key: _number(limit.get(key), where, f"{key} limit", findings)
        if limit is not None and key in limit.attrib
        else None
        for key in ("lower", "upper", "velocity", "effort")
    }
    if limit is not None:
        for key in ("effort", "velocity"):
            if key not in limit.attrib:
                what = f"its <limit> has no {key}, which the parser refuses"
                findings.append(Finding("error", where, what, f'add {key}=".." to <limit>'))
    dynamics = element.find("dynamics")
    damping, friction = (
        (_number(dynamics.get(key, "0"), where, key, findings) or 0.0) if dynamics is not None else 0.0
        for key in ("damping", "friction")
    )
    return Joint(
        name=name,
        kind=kind,
        parent=parent.get("link", "") if parent is not None else "",
        child=child.get("link", "") if child is not None else "",
        nq=nq,
        nv=nv,
        damping=damping,
        friction=friction,
        mimics=mimic.get("joint", "") if mimic is not None else None,
        **limits,
    )


def _check_origin(element: ElementTree.Element, where: str, findings: list[Finding]) -> None:
    origin = element.find("origin")
    for key in ("xyz", "rpy"):
        if origin is not None and key in origin.attrib:
            _vector(origin.get(key, ""), where, f"<origin {key}>", findings)


def _number(text: str | None, where: str, what: str, findings: list[Finding]) -> float | None:
    if text is not None and NUMBER.fullmatch(text):
        return float(text)
    fix = "write a plain number; for no limit a large one such as 1e30" if "limit" in what else "write a plain number"
    findings.append(Finding("error", where, f"its {what} is {text!r}, not a number", fix))
    return None


def _vector(text: str, where: str, what: str, findings: list[Finding]) -> list[float] | None:
    parts = text.split()
    if len(parts) == 3 and all(NUMBER.fullmatch(part) for part in parts):
        return [float(part) for part in parts]
    findings.append(Finding("error", where, f"its {what} is {text!r}", "write three numbers with blanks between them"))
    return None


def _numbers(
    element: ElementTree.Element | None, keys: Sequence[str], where: str, what: str, findings: list[Finding]
) -> list[float]:
    missing = list(keys) if element is None else [key for key in keys if key not in element.attrib]
    if missing:
        what = f"its <inertial> has no {what}" if element is None else f"its {what} has no {', '.join(missing)}"
        fix = "complete it: the parser drops an incomplete <inertial> without a word to the program"
        findings.append(Finding("error", where, what, fix))
        return [0.0] * len(keys)
    assert element is not None  # for mypy: an absent element has every key missing
    return [_number(element.get(key), where, f"{what} {key}", findings) or 0.0 for key in keys]


def _meshes(element: ElementTree.Element, folder: Path | None, package_dirs: Sequence[str | Path]) -> list[Mesh]:
    addresses = dict.fromkeys(mesh.get("filename", "") for mesh in element.iter("mesh"))
    return [Mesh(address, _mesh_file(address, folder, package_dirs)) for address in addresses]


def _mesh_file(address: str, folder: Path | None, package_dirs: Sequence[str | Path]) -> Path | None:
    scheme, separator, rest = address.partition("://")
    if not separator:
        candidates = [(folder or Path()) / address] if folder or Path(address).is_absolute() else []
    elif scheme == "file":
        candidates = [Path(rest)]
    else:
        candidates = [Path(directory).expanduser() / rest for directory in package_dirs]
    return next((path for path in candidates if address and path.is_file()), None)
