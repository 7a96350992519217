"""The table of a stack's own parts: one compiled call writes what each part's Python code says, row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from wbc import Controller, Gains, MotionTask, Robot, Stack, State
from wbc.contact import Contact
from wbc.robots import load
from wbc.tasks import (
    ComTask,
    OrientationTask,
    PointContact,
    PoseTask,
    PositionTask,
    PostureTask,
    SurfaceContact,
)

SAME = 1e-11  # relative to the largest row: two ways through the same sums; the centre of mass is read off M
ROBOTS = {
    "panda": "panda_hand_tcp",
    "kinova": "j2s6s200_link_5",
    "tiago": "arm_tool_link",
    "talos": "gripper_left_base_link",
}
FEET = {"talos": ("left_sole_link", "right_sole_link")}


def motions(robot: Robot, frame: str) -> list[MotionTask]:
    """Each kind of task with its own gains, feed-forward and mask; some hold what they see."""
    position = PositionTask("position", frame=frame, mask=(1, 0, 1), gains=Gains((10.0, 20.0, 30.0), 5.0))
    position.target_velocity, position.target_acceleration = (0.1, 0.2, 0.3), (1.0, 2.0, 3.0)
    orientation = OrientationTask("orientation", frame=frame)
    orientation.target = pin.exp3(np.array([0.4, -0.7, 0.3]))
    pose = PoseTask("pose", frame=frame, mask=(0, 1, 1, 1, 0, 1))
    pose.target = pin.SE3(pin.exp3(np.array([1.0, 2.0, 0.3])), np.array([0.3, 0.2, 0.4]))
    held, com = PoseTask("held", frame=frame), ComTask("com", mask=(1, 1, 0))
    com.target_velocity = (0.3, 0.2, 0.1)
    posture = PostureTask("joints", mask=np.arange(robot.nv) % 3 > 0, gains=Gains(4.0, 0.5))
    posture.target_acceleration = np.arange(robot.nv) * 0.1
    return [position, orientation, pose, held, com, posture]


def stack_of(name: str, robot: Robot) -> Stack:
    nominal = [PostureTask("posture", target=robot.home), PostureTask("second", gains=Gains(1.0, 3.0))]
    nominal[1].target_velocity = 0.1 * np.ones(robot.nv)
    contacts: list[Contact] = []
    if name in FEET:
        left, right = FEET[name]
        contacts = [
            SurfaceContact("left", frame=left, half_size=(0.1, 0.05), normal=(0.1, 0.0, 1.0)),
            SurfaceContact("right", frame=right, half_size=(0.1, 0.05), forward=(1.0, 0.5, 0.0)),
            PointContact("point", frame=ROBOTS[name], normal=(1.0, 0.2, 0.0), gains=Gains(50.0, 3.0)),
        ]
    tasks = motions(robot, ROBOTS[name])
    return Stack(nominal=nominal, contacts=contacts, strict=[tasks[:2]], soft=[(task, 2.0) for task in tasks[2:]])


def state_of(robot: Robot, random: np.random.Generator) -> State:
    return State(pin.integrate(robot.model, robot.home, random.normal(size=robot.nv)), random.normal(size=robot.nv))


def nothing(controller: Controller, random: np.random.Generator) -> None:
    """Another tick of the same."""


def targets(controller: Controller, random: np.random.Generator) -> None:
    stack: Any = controller.stack
    stack["position"].target = random.normal(size=3)
    stack["held"].target = pin.SE3.Random()
    stack["joints"].target = controller.robot.home
    stack["position"].mask = (0, 1, 1)
    stack["joints"].mask = np.asarray(stack["joints"].mask)[::-1]
    stack["com"].gains = Gains(3.0, (1.0, 2.0, 3.0))
    if stack.contacts:
        stack["point"].normal, stack["left"].gains = (0.0, 1.0, 0.3), Gains(7.0, 8.0)


def holds(controller: Controller, random: np.random.Generator) -> None:
    controller.stack["held"].target = None


def going(controller: Controller, random: np.random.Generator) -> None:
    for name in ("held", "posture", *(contact.name for contact in controller.stack.contacts[:1])):
        controller.stack.deactivate(name, over=0.003)


def coming(controller: Controller, random: np.random.Generator) -> None:
    for name in ("held", "posture", *(contact.name for contact in controller.stack.contacts[:1])):
        controller.stack.activate(name, over=0.003)


def reset(controller: Controller, random: np.random.Generator) -> None:
    controller.reset()


LIFE: tuple[Callable[[Controller, np.random.Generator], None], ...] = (
    nothing, nothing, targets, nothing, going, nothing, nothing, nothing, nothing, coming, nothing, nothing, nothing,
    nothing, holds, nothing, reset, nothing,
)  # fmt: skip


def life(name: str) -> list[tuple[np.ndarray, dict[str, np.ndarray]]]:
    """The rows and the errors of every tick of a controller to which everything happens."""
    random = np.random.default_rng(3)
    robot = load(name)
    controller = Controller(robot, stack_of(name, robot))
    found = []
    for happens in LIFE:
        happens(controller, random)
        pin.seed(int(random.integers(1000)))
        controller.tick(state_of(robot, random))
        found.append((controller._assembler.problem.record.copy(), controller.errors()))
    return found


@pytest.mark.parametrize("name", ROBOTS)
def test_one_call_writes_what_each_part_says_by_itself(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = life(name)
    monkeypatch.setattr("wbc.row_table.in_numbers", lambda part, terms: None)
    one_by_one = life(name)
    for k, ((rows, errors), (expected, expected_errors)) in enumerate(zip(at_once, one_by_one, strict=True)):
        finite = np.isfinite(expected)
        assert np.array_equal(rows[~finite], expected[~finite])
        assert np.abs(rows[finite] - expected[finite]).max() < SAME * np.abs(expected[finite]).max(), k
        assert errors.keys() == expected_errors.keys()
        for task, error in expected_errors.items():
            assert np.abs(errors[task] - error).max() < SAME * (1.0 + np.abs(error).max()), (k, task)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_table_takes_every_part_that_it_knows(name: str) -> None:
    robot = load(name)
    stack = stack_of(name, robot)
    table = Controller(robot, stack)._assembler._table
    left_out = {part for part in stack.names if stack[part] not in table}
    if name == "tiago":  # a planar base has no single axis
        assert left_out == {"com", "posture", "second", "joints"}
    else:
        assert left_out == (set() if name == "talos" else {"com"})


def test_a_subclass_with_kinematics_of_its_own_is_asked_itself() -> None:
    class Twice(PositionTask):
        def kinematics(self, terms: Any) -> Any:
            found = super().kinematics(terms)
            found.error = 2.0 * found.error
            return found

    robot = load("panda")
    task = Twice("twice", frame="panda_hand_tcp")
    controller = Controller(robot, Stack(strict=[[task]]))
    task.target = (0.5, 0.1, 0.4)
    controller.tick(State(robot.home, np.zeros(robot.nv)))
    plain = PositionTask("plain", frame="panda_hand_tcp")
    other = Controller(robot, Stack(strict=[[plain]]))
    plain.target = (0.5, 0.1, 0.4)
    other.tick(State(robot.home, np.zeros(robot.nv)))
    assert np.abs(controller.errors()["twice"] - 2.0 * other.errors()["plain"]).max() < SAME
