"""The active rows of the last tick: most ticks begin and end with them, and never with another command."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from wbc import Controller, Gains, Robot, Stack, State
from wbc.robots import load
from wbc.tasks import ComTask, JointLimits, OrientationTask, PoseTask, PositionTask, PostureTask, TorqueLimits

SAME = 1e-8  # relative to the largest torque: two active sets, one solution
TICKS = 150
MOSTLY = 0.7  # of the ticks with an active limit, in a smooth motion


def arm() -> tuple[Robot, Stack, float]:
    robot = load("panda")
    stack = Stack(
        nominal=PostureTask("posture", target=robot.home, gains=Gains.critical(25.0)),
        limits=[TorqueLimits(scale=0.25), JointLimits()],
        soft=[(PositionTask("hand", frame="panda_hand_tcp"), 100.0)],
    )
    return robot, stack, 3.0


def humanoid() -> tuple[Robot, Stack, float]:
    robot = load("talos")
    stack = Stack(
        nominal=PostureTask("posture", target=robot.home, gains=Gains.critical(25.0)),
        contacts=[robot.contact(foot) for foot in robot.feet],
        limits=[TorqueLimits(scale=0.4)],
        soft=[
            (ComTask("com"), 100.0),
            (OrientationTask("torso", frame="torso_2_link"), 50.0),
            (PoseTask("hand", frame="gripper_left_base_link"), 50.0),
        ],
    )
    return robot, stack, 0.3


def quadruped() -> tuple[Robot, Stack, float]:
    robot = load("anymal_c")
    stack = Stack(
        nominal=PostureTask("posture", target=robot.home, gains=Gains.critical(25.0)),
        contacts=[robot.contact(foot) for foot in robot.feet],
        limits=[TorqueLimits(scale=0.35), JointLimits()],
        soft=[(PoseTask("base", frame="base"), 100.0)],
    )
    return robot, stack, 0.3


def smooth(robot: Robot, k: int, speed: float) -> State:
    """A point of a motion that shakes every joint; a base only turns a little."""
    phase = 0.02 * k + np.arange(robot.nv)
    step, v = 0.1 * speed * np.sin(phase), speed * np.cos(phase)
    step[: 6 if robot.nq > robot.nv else 0] *= 0.1
    return State(pin.integrate(robot.model, robot.home, step), v)


@pytest.mark.filterwarnings("ignore::wbc.errors.ControlWarning")
@pytest.mark.parametrize("make", [arm, humanoid, quadruped])
def test_a_tick_that_begins_with_the_last_active_rows_gives_the_command_of_a_new_controller(make: Any) -> None:
    robot, stack, speed = make()
    warm, cold = Controller(robot, stack), Controller(robot, stack)
    random = np.random.default_rng(5)
    solvers: Counter[str] = Counter()
    for k in range(TICKS):
        jump = 0 if k < 100 else int(random.integers(1000))  # in the end another state at every tick
        state = smooth(robot, k + jump, speed)
        if cold._assembler.problem.workspace is not None:
            cold._assembler.problem.workspace.active = None
        command, expected = warm.tick(state), cold.tick(state)
        assert expected.report.solver != "last active set"
        solvers[command.report.solver] += 1 if k < 100 else 0
        largest = np.abs(expected.torque).max()
        assert np.abs(command.torque - expected.torque).max() < SAME * largest, (k, command.report.solver)
        assert command.report.status is expected.report.status
    known = solvers["last active set"]
    assert known + solvers["daqp"] > 50  # limits do act
    assert known > MOSTLY * (known + solvers["daqp"])


@pytest.mark.filterwarnings("ignore::wbc.errors.ControlWarning")
def test_reset_and_a_failed_tick_forget_the_active_rows() -> None:
    robot, stack, speed = quadruped()
    controller = Controller(robot, stack)

    def solver(k: int) -> str:
        return controller.tick(smooth(robot, k, speed)).report.solver

    assert [solver(k) for k in range(4)][-1] == "last active set"
    controller.reset()
    assert solver(4) == "daqp"
    assert solver(5) == "last active set"
    too_fast = smooth(robot, 6, 100.0 * speed)  # no torque brings the joints back to their speed limits
    assert controller.tick(too_fast).report.route == "cascade"
    assert solver(7) == "daqp"
