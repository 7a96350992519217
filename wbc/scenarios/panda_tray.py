"""Panda carries a tray around itself: the hand's position first, the tray upright second, the posture last.

The hand goes 0.6 m on an arc about the robot's own axis and turns with it. Nobody asks for the turn: two rows hold the
tray upright, the turn about the vertical is free, and the posture carries it along.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wbc.controller import Controller
from wbc.reference import arc, smooth
from wbc.robots import load
from wbc.rows import Gains
from wbc.scenarios import measures
from wbc.scenarios.scenario import Bound, Choice, Run, Scenario
from wbc.stack import Stack
from wbc.state import State
from wbc.tasks import JointLimits, PositionTask, PostureTask, TorqueLimits, UprightTask

FRAME = "panda_hand_tcp"
WAY = 0.6  # m
TIME = 3.0  # s


def scenario() -> Scenario:
    """One run: there in three seconds, and one of rest."""
    robot = load("panda")
    begin = measures.pose_at(robot, robot.home, FRAME)
    radius = math.hypot(begin.translation[0], begin.translation[1])
    angle = WAY / radius
    centre = (0.0, 0.0, begin.translation[2])
    start = robot.home.copy()
    start[0] -= angle / 2.0  # half of the arc to either side
    at = arc(measures.pose_at(robot, start, FRAME).translation, centre, (0, 0, 1), angle, TIME)

    def move(t: float, stack: Any) -> None:
        point, hand, posture = at(t), stack["hand"], stack["posture"]
        hand.target = point.position
        hand.target_velocity, hand.target_acceleration = point.velocity, point.acceleration
        target, rate = start.copy(), np.zeros(robot.nv)
        s, ds, _ = smooth(t / TIME)
        target[0] += angle * s
        rate[0] = angle * ds / TIME
        posture.target, posture.target_velocity = target, rate

    def plan(choice: Choice) -> tuple[Run, ...]:
        def make() -> Controller:
            limits = [] if choice.method == "closed_form" else [TorqueLimits(), JointLimits()]
            stack = Stack(
                limits=limits,
                strict=[
                    [PositionTask("hand", frame=FRAME, gains=Gains.critical(400.0))],
                    [
                        UprightTask(
                            "tray", frame=FRAME, axis=(0, 0, 1), direction=(0, 0, -1), gains=Gains.critical(400.0)
                        )
                    ],
                ],
                soft=[(PostureTask("posture", target=start, gains=Gains.critical(25.0)), 1.0)],
            )
            return choice.controller(robot, stack)

        return (Run("stack", "the stack", make),)

    return Scenario(
        name="panda-tray",
        line="the hand moves 0.6 m and turns about the vertical, the tray stays level",
        robot=robot,
        start=State(start, np.zeros(robot.nv)),
        move=move,
        plan=plan,
        bounds=(
            Bound("tilt of the tray", 0.5, "mrad", lambda r: 1e3 * float(measures.norms(r["stack"], "tray").max())),
            Bound("position error of the hand", 0.1, "mm", lambda r: measures.position_max_mm(r["stack"])),
            Bound("ticks over the torque limit", 0, "", lambda r: r["stack"].over_limit.sum()),
        ),
        frame=FRAME,
        duration=TIME + 1.0,
    )
