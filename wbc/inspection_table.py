"""What inspection reads and finds: links, joints and meshes of a description, and findings about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from wbc.checks import Array

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a person should know.

    Attributes:
        severity: ``"error"`` (no controller can work with it), ``"warning"`` (worth mending) or ``"note"``.
        where: the link, the joint or the part concerned.
        what: what is the matter.
        fix: what to do; empty where nothing needs to be done.
    """

    severity: Severity
    where: str
    what: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint as the description has it [rad, m, N m, N]; ``None`` for a number that is not there."""

    name: str
    kind: str
    parent: str
    child: str
    nq: int = 1
    nv: int = 1
    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    mimics: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A link: mass [kg] and inertia (3, 3) about its centre of mass [kg m²]; ``None`` where nothing is said."""

    name: str
    mass: float = 0.0
    inertia: Array | None = None


@dataclass(frozen=True, slots=True)
class Mesh:
    """Address of a mesh as written, and the file that it was found in."""

    address: str
    path: Path | None


@dataclass(slots=True)
class Table:
    """Everything that was read, before it is judged; ``settled`` where limits are no longer a description's."""

    name: str
    links: list[Link] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    frames: list[str] = field(default_factory=list)
    meshes: list[Mesh] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    folder: Path | None = None
    settled: bool = False

    def behind(self, link: str, *, rigidly: bool = False) -> list[str]:
        """``link`` and all links that it carries, or only those that are fixed to it."""
        found: dict[str, None] = {}
        waiting = [link]
        while waiting:
            here = waiting.pop()
            if here not in found:
                found[here] = None
                waiting += [j.child for j in self.joints if j.parent == here and not (rigidly and j.nv)]
        return list(found)

    def moving(self) -> set[str]:
        """Names of the links that some joint moves."""
        return {name for joint in self.joints if joint.nv for name in self.behind(joint.child)}

    def roots(self) -> list[str]:
        """Names of the links that no joint carries."""
        children = {joint.child for joint in self.joints}
        return [link.name for link in self.links if link.name not in children]
