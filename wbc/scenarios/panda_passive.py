"""Panda's hand follows a flat eight while the nominal torque is zero: what the task does not need falls and swings.

The elbow is the only thing that is free. It falls to the side until the limit of a joint catches it, and rests there;
the hand does not notice. A larger eight leads to where three joints are at their limits, and no arm could follow it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from wbc.controller import Controller
from wbc.reference import figure
from wbc.robots import load
from wbc.rows import Gains
from wbc.scenarios import measures
from wbc.scenarios.scenario import Bound, Choice, Run, Scenario
from wbc.stack import Stack
from wbc.state import State
from wbc.tasks import JointLimits, PoseTask, TorqueLimits, TorqueTask

FRAME = "panda_hand_tcp"


def scenario() -> Scenario:
    """One run."""
    robot = load("panda")
    home = measures.pose_at(robot, robot.home, FRAME)
    at = figure(home.translation, size=(0.06, 0.03, 0.0), speed=0.2, frequencies=(1, 2, 1), ramp=1.0)

    def move(t: float, stack: Any) -> None:
        point, hand = at(t), stack["hand"]
        hand.target = pin.SE3(home.rotation, point.position)
        hand.target_velocity = np.concatenate((point.velocity, np.zeros(3)))
        hand.target_acceleration = np.concatenate((point.acceleration, np.zeros(3)))

    def plan(choice: Choice) -> tuple[Run, ...]:
        def make() -> Controller:
            stack = Stack(
                nominal=TorqueTask("passive"),
                limits=[] if choice.method == "closed_form" else [TorqueLimits(), JointLimits()],
                strict=[[PoseTask("hand", frame=FRAME, gains=Gains.critical(400.0))]],
            )
            return choice.controller(robot, stack)

        return (Run("stack", "the stack", make),)

    return Scenario(
        name="panda-passive",
        line="the hand follows an eight, the nominal torque is zero: the elbow falls until a joint limit catches it",
        robot=robot,
        start=State(robot.home, np.zeros(robot.nv)),
        move=move,
        plan=plan,
        bounds=(
            Bound("position error, RMS", 0.1, "mm", lambda r: measures.position_rms_mm(r["stack"])),
            Bound("orientation error, RMS", 0.5, "mrad", lambda r: measures.orientation_rms_mrad(r["stack"])),
            Bound("ticks over the torque limit", 0, "", lambda r: r["stack"].over_limit.sum()),
        ),
        frame=FRAME,
        duration=6.0,
    )
