"""Judging what a description says: one function a subject, from structure to inertia."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

import numpy as np

from wbc.inspection_table import Finding, Joint, Link, Table
from wbc.limits import HUGE, PLACEHOLDER_EFFORT, PLACEHOLDER_VELOCITY

TURNS = 8 * math.pi  # rad; a position limit beyond four turns was meant in degrees
TRIANGLE = 1e-3  # relative; by how much rounding may break I1 + I2 >= I3
GYRATION = (1e-3, 2.0)  # m; radius of gyration below which a link is a point, above which its inertia is a placeholder


def check(table: Table) -> list[Finding]:
    """Everything that can be seen without a dynamics library."""
    found = [*table.findings, *check_structure(table)]
    for joint in table.joints:
        if joint.nv == 1:
            found += [*check_position(joint), *check_bounds(joint, table.settled)]
        if joint.mimics is not None and joint.nv:
            what = f"it mimics {joint.mimics!r}, which is ignored: it moves by itself"
            if joint.mimics not in {other.name for other in table.joints}:
                what = f"it mimics {joint.mimics!r}, which does not exist; it moves by itself"
            found.append(Finding("warning", f"joint {joint.name!r}", what, f"lock it: lock=({joint.name!r},)"))
    for link in table.links:
        found += check_inertia(link)
    return [*found, *check_massless(table)]


def check_structure(table: Table) -> list[Finding]:
    """Names that are missing, twice or unknown, and links that do not form one tree."""
    found: list[Finding] = []
    if not table.name:
        found.append(Finding("error", "robot", "it has no name", 'write <robot name="...">'))
    if not table.links:
        found.append(
            Finding("error", "robot", "it has no <link>", "this is an empty description: is it the right file?")
        )
        return found
    links, joints = [link.name for link in table.links], [joint.name for joint in table.joints]
    for what, names in (("link", links), ("joint", joints)):
        twice = [name for name, count in Counter(names).items() if count > 1]
        found += [Finding("error", f"{what} {name!r}", "there are several of this name", "rename") for name in twice]
        if "" in names:
            found.append(Finding("error", what, f"a {what} has no name", "give it one"))
    for joint in table.joints:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in links:
                what = f"its {role} link {name!r} does not exist" if name else f"it has no {role} link"
                found.append(Finding("error", f"joint {joint.name!r}", what, f"name a link as <{role} link=.../>"))
    for child, count in Counter(joint.child for joint in table.joints).items():
        if count > 1 and child in links:
            carriers = _listed(repr(joint.name) for joint in table.joints if joint.child == child)
            what = f"it is the child of {count} joints ({carriers}), a closed loop"
            fix = "a URDF is a tree: keep one joint and close the loop by a constraint elsewhere"
            found.append(Finding("error", f"link {child!r}", what, fix))
    roots = table.roots()
    if len(roots) != 1:
        what = f"links {_listed(map(repr, roots))} hang on nothing" if roots else "every link hangs on another one"
        found.append(Finding("error", "robot", f"{what}: not one tree", "exactly one link must be no joint's child"))
    elif not any(joint.nv for joint in table.joints):
        found.append(
            Finding(
                "error", "robot", "it has no joint that moves", 'nothing to control; root="free" for a body that flies'
            )
        )
    return found


def check_position(joint: Joint) -> list[Finding]:
    """Position limits: missing, crossed, equal, in degrees, or beyond any meaning."""
    where, lower, upper = f"joint {joint.name!r}", joint.lower, joint.upper
    if joint.kind == "continuous":
        return []
    if not lower and not upper:  # the parser writes 0 where nothing is said
        what = "no position limits (or both are 0): taken for unlimited"
        return [Finding("warning", where, what, "write lower and upper into <limit>; lock the joint if it is stuck")]
    lower, upper = lower or 0.0, upper or 0.0
    found = []
    if joint.lower is None or joint.upper is None:
        missing = "lower" if joint.lower is None else "upper"
        found.append(
            Finding("warning", where, f"no {missing} limit: the parser takes 0", f"write {missing} into <limit>")
        )
    if lower > upper:
        what = f"lower position limit {lower:g} is above the upper one {upper:g}"
        found.append(Finding("error", where, what, "exchange them"))
    elif lower == upper:
        fix = f"lock it: lock={{{joint.name!r}: {lower:g}}}"
        found.append(Finding("warning", where, f"both position limits are {lower:g}: it cannot move", fix))
    if max(-lower, upper) >= HUGE:
        found.append(Finding("note", where, f"position limits {lower:g} to {upper:g}: unlimited on that side"))
    elif joint.kind == "revolute" and max(-lower, upper) > TURNS:
        what = f"position limits {lower:g} to {upper:g} rad are more than four turns"
        found.append(Finding("warning", where, what, "write radians; are these degrees?"))
    return found


def check_bounds(joint: Joint, settled: bool = False) -> list[Finding]:
    """Effort and velocity limits: missing, negative, zero or placeholders (unless they are ``settled``)."""
    found = []
    unit = ("N", "m/s") if joint.kind == "prismatic" else ("N m", "rad/s")
    for what, value, placeholder, argument, units in (
        ("effort", joint.effort, PLACEHOLDER_EFFORT, "torque_limits", unit[0]),
        ("velocity", joint.velocity, PLACEHOLDER_VELOCITY, "velocity_limits", unit[1]),
    ):
        where, fix = f"joint {joint.name!r}", f"give the real one: {argument}={{{joint.name!r}: ...}} [{units}]"
        if value is None:
            found.append(Finding("warning", where, f"no {what} limit: unlimited", fix))
        elif value < 0.0:
            found.append(Finding("error", where, f"{what} limit {value:g} is negative", "write a positive number"))
        elif value == 0.0:
            fix += ', or zero_limits="zero" where the joint may really not push'
            found.append(Finding("warning", where, f"{what} limit is 0, taken for a placeholder: unlimited", fix))
        elif value >= HUGE:
            found.append(Finding("note", where, f"{what} limit {value:g}: unlimited", fix))
        elif value >= placeholder and not settled:
            what = f"{what} limit {value:g} {units} looks like a placeholder: unlimited"
            found.append(Finding("warning", where, what, fix))
    return found


def check_inertia(link: Link) -> list[Finding]:
    """Mass and inertia that no real body can have."""
    where = f"link {link.name!r}"
    if link.mass < 0.0:
        return [Finding("error", where, f"its mass {link.mass:g} kg is negative", "write the real mass")]
    if link.inertia is None:
        return []
    moments = np.linalg.eigvalsh(link.inertia)
    shown = ", ".join(f"{moment:.3g}" for moment in moments)
    if link.mass == 0.0:
        if not link.inertia.any():
            return []
        return [Finding("warning", where, f"no mass, but moments of inertia {shown} kg m²", "write both or neither")]
    if not link.inertia.any():
        fix = "write the inertia of a box of its size, m/12 (a² + b²)"
        return [Finding("warning", where, f"{link.mass:g} kg without rotational inertia: a point", fix)]
    if moments[0] <= 0.0:
        what = f"its inertia is not positive definite (principal moments {shown} kg m²)"
        return [Finding("warning", where, what, "compute it again from the shape; are signs or axes exchanged?")]
    found = []
    if moments[0] + moments[1] < moments[2] * (1.0 - TRIANGLE):
        what = f"its principal moments {shown} kg m² break the triangle inequality: no mass distribution has them"
        found.append(
            Finding("warning", where, what, "compute the inertia again from the shape, about the centre of mass")
        )
    radius = math.sqrt(moments[2] / link.mass)
    if not GYRATION[0] <= radius <= GYRATION[1]:
        what = f"inertia {moments[2]:.3g} kg m² with {link.mass:g} kg means a radius of gyration of {radius:.2g} m"
        found.append(Finding("warning", where, what, "a placeholder? compute it from the shape, in kg m²"))
    return found


def check_massless(table: Table) -> list[Finding]:
    """Joints that move links without mass: fatal where nothing behind them has any."""
    mass = {link.name: link.mass for link in table.links}
    found = []
    for joint in table.joints:
        if (
            not joint.nv
            or joint.child not in mass
            or any(mass.get(link) for link in table.behind(joint.child, rigidly=True))
        ):
            continue
        where = f"link {joint.child!r}"
        if any(mass.get(link) for link in table.behind(joint.child)):
            found.append(
                Finding("note", where, f"moved by joint {joint.name!r} without mass of its own; what it carries has")
            )
        elif joint.armature == 0.0:
            what = f"joint {joint.name!r} moves it and all behind it without mass: the mass matrix is singular"
            fix = (
                f"give the link an <inertial>, lock the joint (lock=({joint.name!r},)), "
                f"or give it an armature (armature={{{joint.name!r}: 0.01}})"
            )
            found.append(Finding("error", where, what, fix))
    return found


def notes(table: Table) -> list[Finding]:
    """What is no fault, but good to know before the first torque."""
    found = []
    moving = [joint for joint in table.joints if joint.nv]
    turning = [joint.name for joint in moving if joint.kind == "continuous"]
    if turning:
        what = f"{_listed(turning)}: endless, (cos, sin) in q and one number in v, no position limit"
        found.append(Finding("note", "continuous joints", what, "place them by name: home={joint: angle}"))
    rubbing = [joint.name for joint in moving if joint.damping or joint.friction]
    if rubbing:
        what = f"{_listed(rubbing)}: damping or friction stands in the description, but not in h(q, v)"
        found.append(Finding("note", "friction", what, "the controller does not make up for it"))
    if moving and not any(joint.armature for joint in moving):
        what = "no rotor inertia (a URDF has no place for it): M is too small for geared motors"
        found.append(Finding("note", "armature", what, "armature={joint: gear² × rotor inertia} [kg m²]"))
    roots = table.roots()
    base = sum(link.mass for link in table.links if link.name in table.behind(roots[0], rigidly=True)) if roots else 0.0
    if base > 0.0 and moving and not any(joint.kind == "floating" for joint in moving):
        what = f"{base:.3g} kg do not move, since the base is bolted to the world"
        found.append(Finding("note", f"base {roots[0]!r}", what, 'root="free" for a robot that walks or flies'))
    missing = [mesh.address for mesh in table.meshes if mesh.path is None]
    if missing:
        what = f"{len(missing)} of {len(table.meshes)} not found, such as {missing[0]}; a controller needs none"
        found.append(Finding("note", "meshes", what, _mesh_fix(missing, table)))
    return found


def _mesh_fix(missing: list[str], table: Table) -> str:
    packages = list(
        dict.fromkeys(a.partition("://")[2].partition("/")[0] for a in missing if "://" in a and "file:" not in a)
    )
    if not packages:
        return "for pictures, put them where the description says"
    parents = [table.folder, *table.folder.parents] if table.folder else []
    holder = next((str(folder.parent) for folder in parents if folder.name == packages[0]), "folder")
    return f"for pictures: package_dirs=({holder!r},), the folder that holds {_listed(map(repr, packages))}"


def _listed(names: Iterable[str], most: int = 6) -> str:
    names = list(names)
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
