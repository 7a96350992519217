"""What is measured on legged robots: one stack on all feet, and a motion recorded from a simulation of it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from wbc import Controller, Gains, Robot, Stack, State
from wbc.benchmarks.scene import DT, Moment, Scene, Setting
from wbc.checks import Array
from wbc.reference import Motion, swing
from wbc.scenarios import legged
from wbc.simulation import simulate
from wbc.tasks import ComTask, JointLimits, OrientationTask, PositionTask, PostureTask, TorqueLimits

HANDS = {"talos": "gripper_left_base_link", "g1": "left_rubber_hand", "jvrc1": "l_wrist"}
SWAY, PERIODS = (0.015, 0.02, -0.03), (1.9, 1.3, 1.0)  # of the height of the centre of mass, to one side; s
REACH = (0.04, -0.02, 0.04)  # of the same height
TURN_AXIS, TURN, TURN_PERIOD = (0.3, 0.5, 0.8), 0.05, 1.5  # of the trunk; rad, s
RAMP = 0.2  # s
TICKS_A_BLOCK = 100  # of the motion, from the start of one block to the start of the next


def scene(robot: Robot, limited: bool) -> Scene:
    """Centre of mass, trunk and one hand as strict levels over the feet; posture as the nominal.

    With limits: friction cones, torque and joint limits. Without: contacts that can pull, and nothing else.
    """
    gains = Gains.critical(100.0)
    strict: list[object] = [
        ComTask("com", gains=gains),
        OrientationTask("trunk", frame=legged.trunk(robot), gains=gains),
    ]
    if robot.name in HANDS:
        strict.append(PositionTask("hand", frame=HANDS[robot.name], gains=gains))
    limits = TorqueLimits() if limited else None
    stack = Stack(
        nominal=PostureTask("posture", target=robot.home, gains=gains),
        contacts=[legged.contact(robot, foot, legged.FRICTION if limited else None) for foot in robot.footing],
        limits=[limits, JointLimits()] if limits else [],
        strict=strict,
    )
    return Scene(stack, limits)


def motion(robot: Robot, blocks: int, length: int) -> list[list[Moment]]:
    """Blocks of consecutive moments, ``DT`` apart, of a run in MuJoCo with all limits known.

    The centre of mass goes round on a curve of its own, the trunk turns to and fro, the hand reaches out and back.
    """
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.home)
    com, height = legged.com(robot), float(legged.com(robot)[2])
    trunk = data.oMf[robot.frame_id(legged.trunk(robot))].rotation
    turn = swing(trunk, TURN_AXIS, TURN, TURN_PERIOD, ramp=RAMP)
    points = [("com", com, height * np.array(SWAY))]
    if robot.name in HANDS:
        points.append(("hand", data.oMf[robot.frame_id(HANDS[robot.name])].translation, height * np.array(REACH)))

    def targets(t: float) -> tuple[tuple[str, Array, Array, Array], ...]:
        turned = turn(t)
        found = [("trunk", turned.rotation, turned.angular_velocity, turned.angular_acceleration)]
        for name, start, away in points:
            move = _there_and_back(start, away, t)
            found.append((name, move.position, move.velocity, move.acceleration))
        return tuple(found)

    recorded = Setting(robot, scene).scene(limited=True)
    controller = Controller(robot, recorded.stack, dt=DT)
    ticks = (blocks - 1) * TICKS_A_BLOCK + length
    start = State(robot.home, np.zeros(robot.nv))

    def move(t: float, stack: object) -> None:
        recorded.take(Moment(start, targets=targets(t)))

    run = simulate(controller, ticks * DT, reference=move, progress=False)

    def at(k: int) -> Moment:
        return Moment(State(run.q[k], run.v[k]), targets=targets(float(run.time[k])))

    return [[at(first + k) for k in range(length)] for first in range(0, blocks * TICKS_A_BLOCK, TICKS_A_BLOCK)]


def _there_and_back(start: Array, away: Array, t: float) -> Motion:
    """``start + ½ away (1 − cos ω t)``, every axis at its own pace."""
    omega = 2.0 * np.pi / np.array(PERIODS)
    c, s = np.cos(omega * t), np.sin(omega * t)
    return Motion(start + 0.5 * away * (1.0 - c), 0.5 * away * omega * s, 0.5 * away * omega**2 * c)
