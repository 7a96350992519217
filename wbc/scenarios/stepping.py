"""Stepping: the weight goes over to the other feet, a foot is unloaded, lifted and put back; then the next.

A foot's contact leaves while the task that carries it comes in, two ramps at once, and the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wbc.checks import Array
from wbc.robot import Robot
from wbc.rows import Gains
from wbc.scenarios import legged, measures
from wbc.tasks import PoseTask, PositionTask

OUT, IN = 0.2, 0.3  # s: ramps of a contact; coming in, its force may rise by the whole weight in half of that time


@dataclass(frozen=True, slots=True)
class Stepping:
    """Motion, further tasks and duration of :func:`stepping`."""

    move: Callable[[float, Any], None]
    tasks: Callable[[], dict[str, Any]]
    duration: float


def stepping(robot: Robot, over: Mapping[str, Array], *, lift: float, shift: float, swing: float) -> Stepping:
    """Lift one foot after the other, each as soon as the centre of mass has come to where the others carry it.

    Args:
        robot: a robot at home.
        over: foot to lift -> where the centre of mass (3,) goes before [m].
        lift: height [m].
        shift: how long the centre of mass takes [s].
        swing: how long a foot is on its way, up and down [s].
    """
    feet = {foot.name: foot for foot in robot.footing if foot.name in over}
    home = {name: measures.pose_at(robot, robot.home, foot.frame) for name, foot in feet.items()}
    step = shift + OUT + swing + IN
    begins = {name: i * step for i, name in enumerate(over)}
    middle = legged.com(robot)
    com = legged.stations(
        middle, *((begins[name], shift, point) for name, point in over.items()), (len(over) * step, shift, middle)
    )
    paths = {}
    for name, begin in begins.items():
        down, up = home[name].translation, home[name].translation + np.array((0.0, 0.0, lift))
        leave, half = begin + shift + OUT, 0.5 * swing
        paths[name] = legged.stations(down, (leave, half, up), (leave + half, half, down))

    def move(t: float, stack: Any) -> None:
        legged.follow(stack["com"], com(t))
        for name, begin in begins.items():
            swinging = stack[f"{name} swing"]
            if feet[name].half_size is None:
                legged.follow(swinging, paths[name](t))
            else:
                legged.follow_pose(swinging, home[name].rotation, paths[name](t))
            if legged.due(t, 0.0):
                stack.deactivate(swinging.name)
            if legged.due(t, begin + shift):
                stack.deactivate(name, over=OUT)
                stack.activate(swinging.name, over=OUT)
            if legged.due(t, begin + shift + OUT + swing):
                stack.activate(name, over=IN)
                stack.deactivate(swinging.name, over=IN)

    def tasks() -> dict[str, Any]:
        gains = Gains.critical(400.0)
        return {
            "strict": [
                [
                    (PositionTask if foot.half_size is None else PoseTask)(
                        f"{name} swing", frame=foot.frame, gains=gains
                    )
                    for name, foot in feet.items()
                ]
            ]
        }

    return Stepping(move, tasks, len(over) * step + shift + 0.2)
