"""TIAGo Pro carries a box with both hands: the hands keep their relative pose, and the base goes along sideways.

First of all the left hand stays where the right one sees it, then the right hand follows its path, which is longer than
the arms; a soft posture keeps arms and lift, so that the base is what is left to move. The box is two halves here, each
a part of the hand that holds it: as long as the hands keep their relative pose that is one box, and when they do not,
the error says so. Nothing squeezes it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin

from wbc.controller import Controller
from wbc.reference import minimum_jerk, smooth
from wbc.robot import Robot
from wbc.robots import load
from wbc.rows import Gains
from wbc.scenarios import measures
from wbc.scenarios.scenario import Bound, Choice, Recordings, Run, Scenario
from wbc.stack import Stack
from wbc.state import State
from wbc.tasks import JointLimits, PoseTask, PostureTask, RelativePoseTask, TorqueLimits

LEFT, RIGHT = "arm_left_tool_link", "arm_right_tool_link"
MASS, LENGTH, HEIGHT = 2.0, 0.30, 0.20  # kg, and m along x and z of the box; its width is what is between the hands
WAY = (0.1, 1.0, 0.10)  # m: hardly ahead, one metre to the left, a little up
TIME = 4.0  # s on the way, then one of rest
RISE = 0.5  # of the hands' rise is the lift's
ARMS, BASE = 300.0, 3.0  # weights: the base's rest yields to the arms' posture


def loaded(robot: Robot) -> Robot:
    """The robot with one half of the box in each hand."""
    model = pin.Model(robot.model)
    left, right = (measures.pose_at(robot, robot.home, frame) for frame in (LEFT, RIGHT))
    width = float(np.linalg.norm(left.translation - right.translation)) / 2.0
    half = pin.Inertia.FromBox(MASS / 2.0, LENGTH, width, HEIGHT)
    middle = (left.translation + right.translation) / 2.0
    for frame, hand in ((LEFT, left), (RIGHT, right)):
        link = robot.model.frames[robot.frame_id(frame)]
        at = pin.SE3(np.eye(3), (hand.translation + middle) / 2.0)
        model.appendBodyToJoint(link.parentJoint, half, link.placement * hand.actInv(at))
    return replace(robot, model=model)


def scenario() -> Scenario:
    """One run: there in four seconds, and one of rest."""
    robot = loaded(load("tiago_pro"))
    home = measures.pose_at(robot, robot.home, RIGHT)
    at = minimum_jerk(home.translation, home.translation + np.array(WAY), TIME)
    names = robot.velocity_names
    base = [name.startswith("root_joint") for name in names]
    rest = [not moves for moves in base]
    rise = np.array([RISE * WAY[2] if name == "torso_lift_joint" else 0.0 for name in names])

    def move(t: float, stack: Any) -> None:
        point, hand, posture = at(t), stack["hand"], stack["arms"]
        hand.target = pin.SE3(home.rotation, point.position)
        hand.target_velocity = np.concatenate((point.velocity, np.zeros(3)))
        hand.target_acceleration = np.concatenate((point.acceleration, np.zeros(3)))
        s, ds, _ = smooth(t / TIME)
        posture.target = pin.integrate(robot.model, robot.home, s * rise)
        posture.target_velocity = ds / TIME * rise

    def plan(choice: Choice) -> tuple[Run, ...]:
        def make() -> Controller:
            stack = Stack(
                limits=[] if choice.method == "closed_form" else [TorqueLimits(), JointLimits()],
                strict=[
                    [RelativePoseTask("box", frame=LEFT, reference=RIGHT, gains=Gains.critical(400.0))],
                    [PoseTask("hand", frame=RIGHT, gains=Gains.critical(400.0))],
                ],
                soft=[
                    (PostureTask("arms", target=robot.home, mask=rest, gains=Gains.critical(25.0)), ARMS),
                    (PostureTask("base", mask=base, gains=Gains(0.0, 4.0)), BASE),  # no place, only rest
                ],
            )
            return choice.controller(robot, stack)

        return (Run("stack", "the stack", make),)

    def apart_mm(recordings: Recordings) -> float:
        return measures.position_max_mm(recordings["stack"], "box")

    def turned_mrad(recordings: Recordings) -> float:
        return 1e3 * float(measures.norms(recordings["stack"], "box", slice(3, 6)).max())

    def base_speed(recordings: Recordings) -> float:
        rec = recordings["stack"]
        return float((np.abs(rec.v[:, base]) / robot.velocity_limits[base]).max())

    return Scenario(
        name="tiago-pro-dual",
        line="two hands carry a box of 2 kg one metre aside, the base goes along on wheels that roll every way",
        robot=robot,
        start=State(robot.home, np.zeros(robot.nv)),
        move=move,
        plan=plan,
        bounds=(
            Bound("hands that leave their relative position", 0.5, "mm", apart_mm),
            Bound("hands that turn against each other", 1.0, "mrad", turned_mrad),
            Bound("position error of the right hand", 2.0, "mm", lambda r: measures.position_max_mm(r["stack"])),
            Bound("speed of the base over its limits", 1.0, "", base_speed),
            Bound("ticks over the torque limit", 0, "", lambda r: r["stack"].over_limit.sum()),
        ),
        frame=RIGHT,
        duration=TIME + 1.0,
    )
