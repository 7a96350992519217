"""Talos squats: its centre of mass goes down by 12 cm and up again, twice, over feet that stay where they are."""

from __future__ import annotations

from typing import Any

from wbc.robot import Robot
from wbc.robots import load
from wbc.scenarios import legged
from wbc.scenarios.scenario import Scenario

TIME = 1.0  # s one way


def scenario() -> Scenario:
    """One run."""
    return squat("talos-squat", "Talos squats by 12 cm, twice", load("talos"), 0.12)


def squat(name: str, line: str, robot: Robot, depth: float) -> Scenario:
    """Down and up by ``depth`` [m], twice."""
    up = legged.com(robot)
    down = up - (0.0, 0.0, depth)
    at = legged.stations(up, *((0.2 + i * TIME, TIME, up if i % 2 else down) for i in range(4)))

    def move(t: float, stack: Any) -> None:
        legged.follow(stack["com"], at(t))

    return legged.scenario(
        name,
        line,
        robot,
        move,
        4.0 * TIME + 0.4,
        (legged.rms_mm("centre of mass", "com", 1.0), legged.torque_step()),
    )
