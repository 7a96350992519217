"""Talos steps in place: it shifts its weight, lifts one foot by 5 cm and puts it back; then the other."""

from __future__ import annotations

import numpy as np

from wbc.robots import load
from wbc.scenarios import legged, measures
from wbc.scenarios.scenario import Scenario
from wbc.scenarios.stepping import stepping

ACROSS = (
    0.75  # of the way from the middle to the standing foot: inside its sole, with room to push off for the way back
)
FEET = ("left_foot", "right_foot")  # in the order in which they are lifted
LIFT = 0.05  # m


def scenario() -> Scenario:
    """One run."""
    robot = load("talos")
    frames = {foot.name: foot.frame for foot in robot.footing}
    over = {}
    for lifted, standing in zip(FEET, FEET[::-1], strict=True):
        across = measures.pose_at(robot, robot.home, frames[standing]).translation[1]
        over[lifted] = legged.com(robot) + np.array((0.0, ACROSS * across, 0.0))
    steps = stepping(robot, over, lift=LIFT, shift=1.1, swing=0.6)
    return legged.scenario(
        "talos-step-in-place",
        "Talos shifts its weight, lifts a foot by 5 cm and puts it back, then the other",
        robot,
        steps.move,
        steps.duration,
        (
            legged.max_mm("centre of mass", "com", 2.0),
            legged.max_mm("left foot on its way", "left_foot swing", 3.0),
            legged.max_mm("right foot on its way", "right_foot swing", 3.0),
            legged.torque_step(),
        ),
        tasks=steps.tasks,
    )
