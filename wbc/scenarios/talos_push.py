"""Talos is pushed sideways and from behind, its feet stay where they are.

Its centre of mass is a soft task: a strict one spends what the ankles have on the centre of mass alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wbc.robot import Robot
from wbc.robots import load
from wbc.scenarios import legged, measures
from wbc.scenarios.scenario import Bound, Recordings, Scenario
from wbc.simulation import push

FIRST, SECOND = 0.3, 2.8  # s: when the pushes begin
LASTING = 0.1  # s


def scenario() -> Scenario:
    """One run: 40 N s sideways, then 28 N s forward."""
    return pushed(
        "talos-push", "Talos takes a push of 40 N s sideways and one of 28 N s from behind", load("talos"), 40.0, 28.0
    )


def pushed(name: str, line: str, robot: Robot, lateral: float, sagittal: float) -> Scenario:
    """Two pushes on the body that floats [N s], each of 0.1 s, with time to come back after each."""
    frame = legged.trunk(robot)
    sideways = push(frame, lateral, (0.0, 1.0, 0.0), FIRST, lasting=LASTING)
    forward = push(frame, sagittal, (1.0, 0.0, 0.0), SECOND, lasting=LASTING)
    start = legged.com(robot)

    def move(t: float, stack: Any) -> None:
        stack["com"].target = start

    def slipped(recordings: Recordings) -> float:
        """How far a foot went from its place [mm]."""
        rec = recordings["stack"]
        paths = [measures.path(robot, rec, foot.frame, stride=20) for foot in robot.footing]
        return 1e3 * max(float(np.linalg.norm(path - path[0], axis=1).max()) for path in paths)

    return legged.scenario(
        name,
        line,
        robot,
        move,
        5.0,
        (
            legged.end_mm("centre of mass", "com", 10.0, after=SECOND + 2.0),
            Bound("largest way of a foot from its place", 20.0, "mm", slipped),
        ),
        force=0.25,  # the controller does not know of the push
        beyond=1.0,  # on the edge; feet give way by micrometres, so that their corners are not quite where they were
        disturbance=lambda t: {**sideways(t), **forward(t)},
    )
