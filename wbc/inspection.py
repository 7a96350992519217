"""What a controller needs to know about a robot description: facts, and findings with the fix for each."""

from __future__ import annotations

import warnings as python_warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wbc.description import parse_urdf
from wbc.environment import environment
from wbc.errors import RobotError, RobotWarning
from wbc.inspection_checks import check, notes
from wbc.inspection_reading import read_robot, read_table
from wbc.inspection_table import Finding, Joint, Link, Mesh, Table
from wbc.robot import Robot

__all__ = ["Finding", "Findings", "Joint", "Link", "Mesh", "environment", "inspect"]

SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Findings:
    """What :func:`inspect` found: facts first, then what to mend.

    Attributes:
        name: the robot's own name.
        source: the path, or what else it was read from.
        nq: length of a configuration, with the base as given (a URDF's is fixed; a free one adds 7).
        nv: length of a velocity, likewise (a free base adds 6).
        mass: mass of all links [kg].
        moving_mass: mass of the links that some joint moves [kg].
        joints: the joints that move, with their limits as written; ``None`` where one is missing.
        links: the links, each with mass and inertia.
        frames: names that a task may use.
        meshes: addresses of meshes, and the file that each was found in, ``None`` for a missing one.
        findings: what was found, the worst first.
    """

    name: str
    source: str
    nq: int
    nv: int
    mass: float
    moving_mass: float
    joints: tuple[Joint, ...]
    links: tuple[Link, ...]
    frames: tuple[str, ...]
    meshes: tuple[Mesh, ...]
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings with which no controller can work."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Findings that are worth mending."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")

    @property
    def missing_meshes(self) -> tuple[str, ...]:
        """Addresses of meshes that were not found; a controller does not need them, a picture does."""
        return tuple(mesh.address for mesh in self.meshes if mesh.path is None)

    @property
    def usable(self) -> bool:
        """Whether a controller can work with it as it is: no error was found."""
        return not self.errors


def inspect(path_or_text_or_robot: str | Path | Robot, *, package_dirs: Sequence[str | Path] = ()) -> Findings:
    """Look at a robot as a controller sees it, even at one that :meth:`wbc.Robot.from_urdf` refuses.

    Args:
        path_or_text_or_robot: path of a URDF, its text, or a robot that is already there (with the limits and locked
            joints that it was given).
        package_dirs: folders in which ``package://`` addresses of meshes are looked up.

    Raises:
        RobotError: there is nothing to inspect: no such file, not XML, or not a URDF.
        InputError: the argument is none of the three.
    """
    given = path_or_text_or_robot
    if isinstance(given, Robot):
        table = read_robot(given, package_dirs)
        table.findings += [_mended(warning) for warning in given.warnings]
        return _findings(table, f"robot {given.name!r}", check(table))
    text, folder, element = parse_urdf(given)
    table = read_table(element, folder, package_dirs)
    found = check(table)
    if not any(finding.severity == "error" for finding in found):
        found += _refusal(text)
    return _findings(table, "text" if folder is None else str(given), found)


def _findings(table: Table, source: str, found: Sequence[Finding]) -> Findings:
    moving = table.moving()
    return Findings(
        name=table.name,
        source=source,
        nq=sum(joint.nq for joint in table.joints),
        nv=sum(joint.nv for joint in table.joints),
        mass=sum(link.mass for link in table.links),
        moving_mass=sum(link.mass for link in table.links if link.name in moving),
        joints=tuple(joint for joint in table.joints if joint.nv),
        links=tuple(table.links),
        frames=tuple(table.frames),
        meshes=tuple(table.meshes),
        findings=tuple(sorted([*found, *notes(table)], key=lambda finding: SEVERITIES.index(finding.severity))),
    )


def _refusal(text: str) -> list[Finding]:
    """What only the numbers show, such as a point mass on a joint's axis."""
    with python_warnings.catch_warnings():
        python_warnings.simplefilter("ignore", RobotWarning)
        try:
            Robot.from_urdf(text)
        except RobotError as error:
            what, _, fix = str(error).partition("; ")
            return [Finding("error", "robot", what, fix)]
    return []


def _mended(warning: str) -> Finding:
    where, _, rest = warning.partition(": ")
    what, _, fix = rest.partition("; ")
    return Finding("warning", where, what, fix)
