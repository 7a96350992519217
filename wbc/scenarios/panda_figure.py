"""The main job: Panda's hand on a figure in space at 0.8 m/s; five controllers, one reference.

Khatib's law, the same stack as a QP and resolved acceleration control with all of the torque; then, with 0.32 of it,
Khatib's law with clipped torques beside the stack that knows its limits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin

from wbc.controller import Controller
from wbc.osc import compensated_operational_space_control, resolved_acceleration_control
from wbc.reference import figure
from wbc.robot import Robot
from wbc.robots import load
from wbc.rows import Gains
from wbc.scenarios import measures
from wbc.scenarios.play import torques
from wbc.scenarios.scenario import Bound, Choice, Recordings, Run, Scenario
from wbc.scenarios.textbook import TextbookController
from wbc.stack import Stack
from wbc.state import State
from wbc.tasks import JointLimits, PoseTask, PostureTask, TorqueLimits

NAME = "panda-figure"
FRAME = "panda_hand_tcp"
START = (-0.648, -0.663, 0.388, -1.972, 0.241, 1.353, 0.501)  # rad
SIZE = (0.075, 0.06, 0.05)  # m
FREQUENCIES = (2, 3, 1)
POSTURE_KP = 100.0  # 1/s²
SPEED = 0.8  # m/s, the fastest point
RAMP = 1.0  # s, from rest to that pace
WEAK = 0.32  # of the torque limits
RESERVE = 0.98  # of the speed limits: a torque held for a millisecond lets a speed overshoot by some 0.1 %


def make_stack(robot: Robot, limits: bool) -> Stack:
    """Hand pose strict, posture nominal."""
    return Stack(
        nominal=PostureTask("posture", target=np.array(START), gains=Gains.critical(POSTURE_KP)),
        limits=[TorqueLimits(), JointLimits()] if limits else [],
        strict=[[PoseTask("hand", frame=FRAME, gains=Gains.critical(400.0))]],
    )


def make_move(robot: Robot) -> Callable[[float, Any], None]:
    """The figure, from rest at the hand's place at the start; the orientation stays."""
    home = measures.pose_at(robot, np.array(START), FRAME)
    at = figure(home.translation, size=SIZE, speed=SPEED, frequencies=FREQUENCIES, ramp=RAMP)

    def move(t: float, stack: Any) -> None:
        point, hand = at(t), stack["hand"]
        hand.target = pin.SE3(home.rotation, point.position)
        hand.target_velocity = np.concatenate((point.velocity, np.zeros(3)))
        hand.target_acceleration = np.concatenate((point.acceleration, np.zeros(3)))

    return move


def controller(robot: Robot, choice: Choice, method: str) -> Controller:
    """The stack that knows its limits; the closed form has no room for them."""
    method = choice.method or method
    stack = make_stack(robot, limits=method != "closed_form")
    return choice.controller(robot.scaled(velocity=RESERVE), stack, method=method)


def scenario() -> Scenario:
    """Five runs; one of the stack alone where a method or a metric is asked for."""
    robot = load("panda")
    weak = robot.scaled(torque=WEAK)
    move = make_move(robot)

    def textbook(robot: Robot, law: Any, clip: bool = False) -> TextbookController:
        return TextbookController(robot, make_stack(robot, limits=False), law, clip=clip)

    def osc(robot: Robot, clip: bool = False) -> Callable[[], TextbookController]:
        return lambda: textbook(robot, compensated_operational_space_control, clip)

    def plan(choice: Choice) -> tuple[Run, ...]:
        if choice.method or choice.metric:
            return (Run("stack", "the stack", lambda: controller(robot, choice, "auto")),)
        return (
            Run("osc", "OSC (Khatib)", osc(robot)),
            Run("qp", "the stack as a QP", lambda: controller(robot, choice, "qp")),
            Run("rac", "resolved acceleration", lambda: textbook(robot, resolved_acceleration_control)),
            Run("clipped", f"{WEAK} torque: OSC clipped", osc(weak, clip=True), law=osc(weak)),
            Run("limits", f"{WEAK} torque: the stack", lambda: controller(weak, choice, "auto")),
        )

    def agreement(recordings: Recordings) -> float:
        """Largest torque difference between the law and the QP at the states of the QP's run."""
        qp = recordings["qp"]
        return float(np.abs(torques(osc(robot)(), move, qp) - qp.torque).max())

    return Scenario(
        name=NAME,
        line="Panda follows a figure in space at 0.8 m/s: five controllers side by side",
        robot=robot,
        start=State(np.array(START), np.zeros(robot.nv)),
        move=move,
        plan=plan,
        bounds=(
            Bound("OSC: position error, RMS", 0.1, "mm", lambda r: measures.position_rms_mm(r["osc"]), ("osc",)),
            Bound("QP: position error, RMS", 0.1, "mm", lambda r: measures.position_rms_mm(r["qp"]), ("qp",)),
            Bound("closed form and QP: torque difference", 1e-9, "N m", agreement, ("qp",)),
            Bound("the stack: position error, RMS", 0.1, "mm", lambda r: measures.position_rms_mm(r["stack"])),
            Bound("limits: ticks over the torque limit", 0, "", lambda r: r["limits"].over_limit.sum(), ("limits",)),
            Bound("limits: joint speed over its limit", 1.0, "", _speed, ("limits",)),
            Bound("limits over clipped: position error, RMS", 1 / 3, "", _ratio(measures.position_rms_mm), _WEAK),
            Bound(
                "limits over clipped: orientation error, RMS", 1 / 3, "", _ratio(measures.orientation_rms_mrad), _WEAK
            ),
        ),
        frame=FRAME,
        duration=10.0,
        main="qp",
    )


_WEAK = ("clipped", "limits")


def _speed(recordings: Recordings) -> float:
    return measures.speed_ratio_max(recordings["limits"])


def _ratio(error: Callable[..., float]) -> Callable[[Recordings], float | None]:
    def of_both(recordings: Recordings) -> float | None:
        clipped, limits = recordings["clipped"], recordings["limits"]
        if not (np.abs(clipped.torque) >= clipped.torque_limits).any():
            return None  # nothing was clipped yet: the two are the same
        return error(limits) / error(clipped)

    return of_both
