"""ANYmal lifts a leg: its weight goes over to three feet, the fourth goes up by 10 cm and back."""

from __future__ import annotations

import numpy as np

from wbc.robots import load
from wbc.scenarios import legged
from wbc.scenarios.scenario import Scenario
from wbc.scenarios.stepping import stepping

FOOT = "front_left_foot"
AWAY = np.array((-0.06, -0.05, 0.0))  # m, from the foot that is lifted into the triangle of the others
LIFT = 0.1  # m


def scenario() -> Scenario:
    """One run."""
    robot = load("anymal_c")
    steps = stepping(robot, {FOOT: legged.com(robot) + AWAY}, lift=LIFT, shift=0.8, swing=1.0)
    return legged.scenario(
        "anymal-lift-leg",
        "ANYmal C shifts its weight, lifts a foot by 10 cm and puts it back",
        robot,
        steps.move,
        steps.duration,
        (
            legged.max_mm("centre of mass", "com", 2.0),
            legged.max_mm("foot on its way", f"{FOOT} swing", 6.0),
            legged.torque_step(),
        ),
        tasks=steps.tasks,
    )
