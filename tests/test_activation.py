"""Parts of a stack come and go: without a jump of torque, and with nothing left behind."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from wbc import Controller, Gains, Robot, Stack, State
from wbc.errors import UnknownNameError
from wbc.robots import load
from wbc.tasks import JointLimits, PositionTask, PostureTask, SurfaceContact, TorqueLimits

SAME = 1e-9  # N m: a switched controller against one that was built for what is present
LARGEST_STEP = 0.02  # of a joint's limit, from one millisecond to the next
H34 = pin.buildSampleModelHumanoid()


def arm_parts(robot):
    return {
        "tip": PositionTask("tip", frame="tip", mask=(1, 0, 1), gains=Gains.critical(100.0)),
        "height": PositionTask("height", frame="tip", mask=(0, 0, 1), gains=Gains.critical(50.0)),
        "posture": PostureTask("posture", target=robot.home, gains=Gains.critical(25.0)),
        "torque": TorqueLimits(),
        "joint": JointLimits(),
    }


def stack_of(parts, present):
    have = {name: part for name, part in parts.items() if name in present}
    return Stack(
        nominal=[have["posture"]] if "posture" in have else [],
        limits=[have[name] for name in ("torque", "joint") if name in have],
        strict=[[have[name]] for name in ("height", "tip") if name in have],
    )


def test_500_random_switches_equal_a_freshly_built_controller():
    robot = load("chain7")
    rng = np.random.default_rng(0)
    parts = arm_parts(robot)
    parts["tip"].target = parts["height"].target = (0.4, 0.0, 0.5)
    stack = stack_of(parts, parts)
    controller = Controller(robot, stack)
    present = set(parts)
    for _ in range(500):
        name = rng.choice(list(parts))
        if rng.random() < 0.5:
            stack.activate(name, over=0.0)
            present.add(name)
        else:
            stack.deactivate(name, over=0.0)
            present.discard(name)
        state = State(robot.home + 0.2 * rng.standard_normal(7), 0.3 * rng.standard_normal(7))
        fresh = Controller(robot, stack_of(parts, present))
        np.testing.assert_allclose(controller.tick(state).torque, fresh.tick(state).torque, rtol=0, atol=SAME)


def test_a_strict_task_comes_and_goes_without_a_torque_step_two_ramps_at_once_included():
    robot = load("chain7")
    parts = arm_parts(robot)
    stack = stack_of(parts, parts)
    controller = Controller(robot, stack)
    data, q, v, last = robot.model.createData(), np.array(robot.home), np.zeros(7), None
    told = {100: ("height", False), 150: ("tip", False), 500: ("tip", True), 550: ("height", True)}
    steps = []
    for k in range(900):
        if k in told:
            name, come = told[k]
            (stack.activate if come else stack.deactivate)(name, over=0.2)
        torque = controller.tick(State(q, v)).torque
        if last is not None:
            steps.append(np.abs(torque - last).max() / robot.torque_limits.min())
        last = torque
        v = v + 1e-3 * pin.aba(robot.model, data, q, v, torque)
        q = pin.integrate(robot.model, q, 1e-3 * v)
    assert max(steps) < LARGEST_STEP


def test_a_foot_is_unloaded_and_loaded_again_without_a_torque_step_and_pushes_nothing_while_it_is_gone():
    robot = Robot.from_pinocchio(H34, name="h34", torque_limits=dict.fromkeys(list(H34.names)[2:], 60.0))
    feet = [
        SurfaceContact(side, frame=f"{side[0]}leg_effector_body", half_size=(0.15, 0.3), forward=(0, 0, 1))
        for side in ("right", "left")
    ]
    stack = Stack(contacts=feet, limits=[TorqueLimits()], nominal=PostureTask("posture", target=robot.home))
    controller = Controller(robot, stack)
    state, last, steps, loads = State(robot.home, np.zeros(robot.nv)), None, [], []
    for k in range(900):
        if k == 100:
            stack.deactivate("left", over=0.2)
        if k == 500:
            stack.activate("left", over=0.2)
        command = controller.tick(state)
        if last is not None:
            steps.append((np.abs(command.torque - last) / robot.torque_limits).max())
        last = command.torque
        loads.append(command.wrenches["left"][2])
        assert np.isfinite(command.torque).all()
    assert max(steps) < LARGEST_STEP
    assert loads[0] > 10.0
    assert max(np.abs(loads[320:480])) < 1e-9
    assert loads[-1] == pytest.approx(loads[0], rel=1e-6)


def test_a_part_may_start_absent_and_captures_what_it_sees_when_it_comes():
    robot = load("double_pendulum")
    tip = PositionTask("tip", frame="tip", mask=(1, 0, 1))
    stack = Stack(strict=[tip])
    stack.deactivate("tip")
    controller = Controller(robot, stack)
    assert "tip" not in controller.tick(State(robot.home, np.zeros(2))).report.tasks
    stack.activate("tip", over=0.0)
    report = controller.tick(State(robot.home + 0.3, np.zeros(2))).report
    np.testing.assert_allclose(report.tasks["tip"].asked, 0.0, atol=1e-12)  # it holds where it came in


def test_telling_a_part_that_does_not_exist_names_close_ones():
    stack = Stack(strict=[PositionTask("tip", frame="tip")])
    with pytest.raises(UnknownNameError, match="'tip'"):
        stack.activate("tipp")
