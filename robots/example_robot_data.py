"""Descriptions from the wheel ``example-robot-data``: only its files are used, none of its code."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from wbc.errors import NotInstalledError, RobotError
from wbc.robot import Robot

WHEEL = "example-robot-data"
FOLDER = f"cmeel.prefix/share/{WHEEL}"  # where the wheel puts it; addresses are package://example-robot-data/robots/...


def folder() -> Path:
    """The folder of the wheel that holds ``robots/``; its parent is the package directory of the meshes.

    Raises:
        NotInstalledError: the wheel is not installed.
    """
    try:
        wheel = distribution(WHEEL)
    except PackageNotFoundError as error:
        raise NotInstalledError(
            f'the description is in the package {WHEEL!r}, which is not installed: pip install "wbc[robots]"'
        ) from error
    return Path(str(wheel.locate_file(FOLDER)))


def from_wheel(path: str, **arguments: Any) -> Robot:
    """A robot from ``path`` inside the wheel's folder ``robots/``; arguments as in :meth:`Robot.from_urdf`.

    Raises:
        NotInstalledError: the wheel is not installed.
        RobotError: the wheel does not hold this file.
    """
    share = folder()
    urdf = share / "robots" / path
    if not urdf.is_file():
        raise RobotError(
            f"the package {WHEEL!r} {distribution(WHEEL).version} holds no file robots/{path}; "
            'this library was written against 6.0.0: pip install "example-robot-data==6.0.0"'
        )
    return Robot.from_urdf(urdf, package_dirs=(share.parent,), **arguments)
