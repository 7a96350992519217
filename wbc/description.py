"""Reading a robot description: URDF text in, pinocchio model and remarks out; no mesh is ever opened here."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pinocchio as pin

from wbc.errors import InputError, RobotError


@dataclass(frozen=True, slots=True)
class Description:
    """Where a model came from: the text, and the folders in which its meshes may be found.

    Attributes:
        text: the URDF.
        folder: folder of the file, for relative mesh addresses; ``None`` for a text.
        package_dirs: folders for ``package://`` addresses.
    """

    text: str
    folder: Path | None
    package_dirs: tuple[Path, ...]


def read_urdf(
    path_or_text: str | Path, *, root: str, package_dirs: Sequence[str | Path]
) -> tuple[Any, Description, list[str]]:
    """Parse a URDF for dynamics only; returns the model, its description and remarks for the user."""
    text, folder, element = parse_urdf(path_or_text)
    joint = {"free": pin.JointModelFreeFlyer, "planar": pin.JointModelPlanar}.get(root)
    try:
        model = pin.buildModelFromXML(text) if joint is None else pin.buildModelFromXML(text, joint())
    except (ValueError, RuntimeError) as error:
        reasons = _reasons(element) or str(error)
        raise RobotError(f"the URDF {_short(path_or_text)} cannot be read: {reasons}") from error
    notes = [
        f"joint {name!r} mimics {leader!r}, which is ignored: it moves by itself; lock it (lock=({name!r},))"
        for name, leader in mimic_joints(element)
    ]
    return model, Description(text, folder, tuple(Path(d) for d in package_dirs)), notes


def parse_urdf(path_or_text: str | Path) -> tuple[str, Path | None, ElementTree.Element]:
    """The text, the folder of its file (``None`` for a text) and the ``<robot>`` element of a URDF."""
    text, folder = _text_of(path_or_text)
    return text, folder, _parse(text, path_or_text)


def mimic_joints(element: ElementTree.Element) -> list[tuple[str, str]]:
    """(joint, leader) of every joint in a URDF that moves and has a ``<mimic>``."""
    return [
        (joint.get("name", ""), mimic.get("joint", ""))
        for joint in element.iter("joint")
        if joint.get("type") != "fixed"
        for mimic in joint.iter("mimic")
    ]


def _text_of(path_or_text: str | Path) -> tuple[str, Path | None]:
    if isinstance(path_or_text, str) and "<" in path_or_text:
        return path_or_text, None
    if not isinstance(path_or_text, str | Path):
        raise InputError(f"expected the path or the text of a URDF, got {path_or_text!r}")
    path = Path(path_or_text).expanduser()
    if not path.is_file():
        raise RobotError(f"there is no file {str(path)!r}")
    try:
        return path.read_text(encoding="utf-8"), path.resolve().parent
    except (OSError, UnicodeDecodeError) as error:
        raise RobotError(f"the file {str(path)!r} cannot be read as text: {error}") from error


def _parse(text: str, given: str | Path) -> ElementTree.Element:
    try:
        element = ElementTree.fromstring(text.encode())
    except ElementTree.ParseError as error:
        raise RobotError(f"{_short(given)} is not XML: {error}") from error
    if element.tag != "robot":
        raise RobotError(f"{_short(given)} is not a URDF: its outermost element is <{element.tag}>, expected <robot>")
    return element


def _reasons(element: ElementTree.Element, most: int = 3) -> str:
    """What is wrong in words: pinocchio's parser says it on the terminal only, and never in its exception."""
    from wbc.inspection_checks import check  # only where something went wrong
    from wbc.inspection_reading import read_table

    errors = [f for f in check(read_table(element, None, ())) if f.severity == "error"]
    more = f" (and {len(errors) - most} more; see wbc check)" if len(errors) > most else ""
    return "; ".join(f"{f.where}: {f.what} ({f.fix})" for f in errors[:most]) + more


def _short(given: str | Path) -> str:
    return "text" if "<" in str(given) else repr(str(given))
