"""What is measured on an arm: one stack and a smooth motion."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from wbc import Gains, Robot, Stack, State
from wbc.benchmarks.scene import DT, Moment, Scene
from wbc.tasks import JointLimits, PositionTask, PostureTask, TorqueLimits, UprightTask

SPAN = 10.0  # s, from the first to the last block of the motion
AMPLITUDE = 0.15  # rad of each of 7 joints; less with more joints, so that the hand moves as far
_FRAMES = {"panda": ("panda_hand_tcp", "panda_link4"), "ur5": ("tool0", "forearm_link")}


def scene(robot: Robot, limited: bool) -> Scene:
    """Hand position, then hand upright as strict levels; elbow height soft; posture as the nominal; limits."""
    hand_frame, elbow_frame = _FRAMES.get(robot.name, ("tip", f"link{max(1, robot.nv // 2)}"))
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.home)
    there = data.oMf[robot.frame_id(hand_frame)]
    gains = Gains.critical(25.0)
    hand = PositionTask("hand", frame=hand_frame, gains=gains)
    hand.target = there.translation
    upright = UprightTask("upright", frame=hand_frame, direction=there.rotation[:, 2], gains=gains)
    elbow = PositionTask("elbow", frame=elbow_frame, mask=(0, 0, 1), gains=gains)
    elbow.target = data.oMf[robot.frame_id(elbow_frame)].translation
    posture = PostureTask("posture", target=robot.home, gains=Gains.critical(100.0))
    limits = TorqueLimits() if limited else None
    stack = Stack(
        nominal=posture,
        limits=[limits, JointLimits()] if limits else [],
        strict=[[hand], [upright]],
        soft=[(elbow, 10.0)],
    )
    return Scene(stack, limits)


def motion(robot: Robot, blocks: int, length: int) -> list[list[Moment]]:
    """Blocks of consecutive moments, ``DT`` apart, spread over ``SPAN`` seconds of sines around home.

    Every joint has its own frequency (0.3 to 0.7 Hz) and phase from a seeded generator; v is the derivative of q.
    """
    rng = np.random.default_rng(7)
    amplitude = AMPLITUDE * min(1.0, 7.0 / robot.nv)
    omega = 2.0 * np.pi * rng.uniform(0.3, 0.7, robot.nv)
    phase = rng.uniform(0.0, 2.0 * np.pi, robot.nv)

    def at(t: float) -> Moment:
        away = amplitude * np.sin(omega * t + phase)
        v = amplitude * omega * np.cos(omega * t + phase)
        return Moment(State(pin.integrate(robot.model, robot.home, away), v))

    return [[at(start + k * DT) for k in range(length)] for start in np.linspace(0.0, SPAN, blocks, endpoint=False)]
