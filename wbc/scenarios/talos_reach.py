"""Talos reaches: both hands go to targets and back, the eyes follow one of them, the balance is kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from wbc.robots import load
from wbc.rows import Gains
from wbc.scenarios import legged, measures
from wbc.scenarios.scenario import Bound, Scenario
from wbc.tasks import GazeTask, PositionTask

HANDS = {"left hand": "gripper_left_base_link", "right hand": "gripper_right_base_link"}
TARGETS = {"left hand": (0.55, 0.30, 1.20), "right hand": (0.50, -0.20, 0.85)}  # m
LOOK_AT = "left hand"
TIME = 1.5  # s one way


def scenario() -> Scenario:
    """One run: out, half a second there, and back."""
    robot = load("talos")
    paths = {}
    for name, frame in HANDS.items():
        here = measures.pose_at(robot, robot.home, frame).translation
        paths[name] = legged.stations(here, (0.2, TIME, TARGETS[name]), (2.2, TIME, here))
    # the eyes look straight ahead first and last: the head cannot look down at a hand that hangs
    ahead = measures.pose_at(robot, robot.home, "rgbd_link").translation + np.array((1.0, 0.0, 0.0))
    turn = legged.stations(np.zeros(1), (0.2, TIME, np.ones(1)), (2.2, TIME, np.zeros(1)))

    def move(t: float, stack: Any) -> None:
        for name in HANDS:
            legged.follow(stack[name], paths[name](t))
        hand, share, gaze = paths[LOOK_AT](t), turn(t), stack["gaze"]
        s, ds, dds = float(share.position[0]), float(share.velocity[0]), float(share.acceleration[0])
        gaze.target = ahead + s * (hand.position - ahead)
        gaze.point_velocity = s * hand.velocity + ds * (hand.position - ahead)
        gaze.point_acceleration = s * hand.acceleration + 2.0 * ds * hand.velocity + dds * (hand.position - ahead)

    def tasks() -> dict[str, Any]:
        gains = Gains.critical(200.0)
        hands = [PositionTask(name, frame=frame, gains=gains) for name, frame in HANDS.items()]
        return {"strict": [hands, [GazeTask("gaze", frame="rgbd_link", axis=(1.0, 0.0, 0.0), gains=gains)]]}

    return legged.scenario(
        "talos-reach",
        "both hands of Talos reach out and come back, its eyes follow the left one",
        robot,
        move,
        2.0 * TIME + 1.0,
        (
            legged.max_mm("left hand", "left hand", 2.0),
            legged.max_mm("right hand", "right hand", 2.0),
            legged.max_mm("centre of mass", "com", 2.0),
            Bound("gaze: largest error", 5.0, "mrad", lambda r: 1e3 * float(measures.norms(r["stack"], "gaze").max())),
            legged.torque_step(),
        ),
        tasks=tasks,
        hand="left hand",
        frame=HANDS["left hand"],
    )
