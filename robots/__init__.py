"""Robots by name: each file here says where one description is, which joints stay locked, and where home is.

To add a robot, write a file with a function ``robot() -> Robot`` and put its name into the table below.
"""

from __future__ import annotations

import re
from importlib import import_module

from wbc import checks
from wbc.robot import Robot

# name -> module, imported only when the robot is loaded
_ROBOTS = {
    "anymal_c": "wbc.robots.anymal_c",
    "double_pendulum": "wbc.robots.double_pendulum",
    "g1": "wbc.robots.g1",
    "go2": "wbc.robots.go2",
    "jvrc1": "wbc.robots.jvrc1",
    "kinova": "wbc.robots.kinova",
    "panda": "wbc.robots.panda",
    "solo12": "wbc.robots.solo12",
    "talos": "wbc.robots.talos",
    "tiago": "wbc.robots.tiago",
    "tiago_pro": "wbc.robots.tiago_pro",
    "ur5": "wbc.robots.ur5",
    "xarm7": "wbc.robots.xarm7",
    "z1": "wbc.robots.z1",
}
_CHAIN = re.compile(r"chain([1-9]\d*)")


def names() -> tuple[str, ...]:
    """Names of the robots that :func:`load` knows; ``chainN``, a generated chain of N joints, is one more."""
    return tuple(sorted(_ROBOTS))


def load(name: str) -> Robot:
    """Load a robot by name, such as ``load("panda")`` or, a generated chain of 14 joints, ``load("chain14")``.

    Raises:
        UnknownNameError: there is no such robot; the message has close matches.
        NotInstalledError: its description comes in a package that is not installed.
    """
    if isinstance(name, str) and (match := _CHAIN.fullmatch(name)):
        from wbc.robots.chain import chain

        return chain(int(match.group(1)))
    checks.choice(name, _ROBOTS, "robot")
    robot: Robot = import_module(_ROBOTS[name]).robot()
    return robot
