"""TIAGo's hand goes to a point two metres away: base, lift and arm move together, and nobody plans the base's way.

The hand's path is strict and far too long for the arm. A soft posture stretches the arm and raises the lift on the way,
and the base does the rest: pulled by the hand three quarters of a metre ahead of its wheels, and not able to slide, it
turns into the direction of the hand and follows as a trailer follows a car.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from wbc.controller import Controller
from wbc.reference import minimum_jerk, smooth
from wbc.robots import load
from wbc.rows import Gains
from wbc.scenarios import measures
from wbc.scenarios.scenario import Bound, Choice, Recordings, Run, Scenario
from wbc.stack import Stack
from wbc.state import State
from wbc.tasks import JointLimits, PositionTask, PostureTask, TorqueLimits, UprightTask

FRAME = "hand_grasping_frame"
AXLE = "wheels"
WAY = 2.0  # m
TOWARDS = (0.80, 0.592, 0.10)  # ahead, left and up
TIME = 5.0  # s on the way, then one of rest
STRETCH = {"torso_lift_joint": 0.08, "arm_2_joint": 0.5, "arm_4_joint": -1.0}  # m, rad: of the soft posture, on the way
ARM, BASE = 300.0, 3.0  # weights: the base's rest yields to the arm's posture
ARRIVED = 0.8  # s after the end of the path, when the end is judged


def scenario() -> Scenario:
    """One run: there in five seconds, and one of rest."""
    robot = load("tiago")
    home = measures.pose_at(robot, robot.home, FRAME)
    way = WAY * np.array(TOWARDS) / np.linalg.norm(TOWARDS)
    at = minimum_jerk(home.translation, home.translation + way, TIME)
    names = robot.velocity_names
    base = [name in ("root_joint_x", "root_joint_yaw") for name in names]
    arm = [not name.startswith("root_joint") for name in names]
    stretch = np.array([STRETCH.get(name, 0.0) for name in names])

    def move(t: float, stack: Any) -> None:
        point, hand, posture = at(t), stack["hand"], stack["arm"]
        hand.target = point.position
        hand.target_velocity, hand.target_acceleration = point.velocity, point.acceleration
        s, ds, _ = smooth(t / TIME)
        posture.target = pin.integrate(robot.model, robot.home, s * stretch)
        posture.target_velocity = ds / TIME * stretch

    def plan(choice: Choice) -> tuple[Run, ...]:
        def make() -> Controller:
            up = UprightTask("level", frame=FRAME, axis=home.rotation[2], direction=(0, 0, 1))
            stack = Stack(
                contacts=[robot.contact(AXLE)],
                limits=[] if choice.method == "closed_form" else [TorqueLimits(), JointLimits()],
                strict=[[PositionTask("hand", frame=FRAME, gains=Gains.critical(400.0))], [up]],
                soft=[
                    (PostureTask("arm", target=robot.home, mask=arm, gains=Gains.critical(25.0)), ARM),
                    (PostureTask("base", mask=base, gains=Gains(0.0, 4.0)), BASE),  # no place, only rest
                ],
            )
            return choice.controller(robot, stack)

        return (Run("stack", "the stack", make),)

    def end_mm(recordings: Recordings) -> float | None:
        rec = recordings["stack"]
        return 1e3 * float(measures.norms(rec, "hand")[-1]) if rec.time[-1] > TIME + ARRIVED else None

    def slip_mm(recordings: Recordings) -> float:
        rec = recordings["stack"]
        return 1e3 * rec.dt * float(np.abs(rec.v[:, names.index("root_joint_y")]).sum())

    def base_speed(recordings: Recordings) -> float:
        rec = recordings["stack"]
        return float((np.abs(rec.v[:, base]) / robot.velocity_limits[base]).max())

    return Scenario(
        name="tiago-reach-far",
        line="the hand goes to a point two metres away, base, lift and arm together, on wheels that do not slide",
        robot=robot,
        start=State(robot.home, np.zeros(robot.nv)),
        move=move,
        plan=plan,
        bounds=(
            Bound("position error of the hand on the way", 20.0, "mm", lambda r: measures.position_max_mm(r["stack"])),
            Bound("position error of the hand at the end", 5.0, "mm", end_mm),
            Bound("way that the wheels slid", 0.1, "mm", slip_mm),
            Bound("speed of the base over its limits", 1.0, "", base_speed),
            Bound("ticks over the torque limit", 0, "", lambda r: r["stack"].over_limit.sum()),
        ),
        frame=FRAME,
        duration=TIME + 1.0,
    )
