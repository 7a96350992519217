"""The figure of the main job with 0.32 of the torque: the stack that knows its limits keeps them and stays on it."""

from __future__ import annotations

import numpy as np

from wbc.robots import load
from wbc.scenarios import measures, panda_figure
from wbc.scenarios.scenario import Bound, Choice, Run, Scenario
from wbc.state import State


def scenario() -> Scenario:
    """One run."""
    robot = load("panda")
    weak = robot.scaled(torque=panda_figure.WEAK)

    def plan(choice: Choice) -> tuple[Run, ...]:
        return (Run("stack", "the stack", lambda: panda_figure.controller(weak, choice, "auto")),)

    return Scenario(
        name="panda-limits",
        line="the figure at 0.8 m/s with 0.32 of the torque: no torque over its limit, no joint too fast",
        robot=robot,
        start=State(np.array(panda_figure.START), np.zeros(robot.nv)),
        move=panda_figure.make_move(robot),
        plan=plan,
        bounds=(
            Bound("ticks over the torque limit", 0, "", lambda r: r["stack"].over_limit.sum()),
            Bound("joint speed over its limit", 1.0, "", lambda r: measures.speed_ratio_max(r["stack"])),
            Bound("position error, RMS", 0.1, "mm", lambda r: measures.position_rms_mm(r["stack"])),
        ),
        frame=panda_figure.FRAME,
        duration=10.0,
    )
