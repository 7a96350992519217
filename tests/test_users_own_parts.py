"""Parts of a user's own, and parts that change between ticks: what they say counts, and mistakes are named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from wbc import Controller, Gains, Kinematics, MotionTask, Rows, Stack, State, Status
from wbc.errors import InputError
from wbc.robots import load
from wbc.tasks import JointLimits, PositionTask, PostureTask, TorqueLimits

SAME = 1e-12
ROBOT = load("panda")
HOME = State(ROBOT.home, np.zeros(ROBOT.nv))
TCP = "panda_hand_tcp"


class Bounded:
    """One row on the first joint, whose rows are one object that is written anew at every tick."""

    name = "mine"

    def __init__(self, on: Any = "acceleration") -> None:
        A = np.zeros((1, ROBOT.nv))
        A[0, 0] = 1.0
        self.made = Rows(A, np.zeros(1), lower=np.full(1, -5.0), upper=np.full(1, 5.0), on=on)

    def elements(self, robot: Any) -> tuple[str, ...]:
        return ("j1",)

    def rows(self, terms: Any) -> Rows:
        return self.made


def pushed(limit: Any, *limits: Any, **arguments: Any) -> Controller:
    """A controller whose posture asks for 500 rad/s² of every joint."""
    posture = PostureTask("posture", target=ROBOT.home + 0.5, gains=Gains.critical(1000.0))
    return Controller(ROBOT, Stack(nominal=posture, limits=[limit, *limits]), **arguments)


def test_rows_that_are_written_in_place_are_read_at_every_tick() -> None:
    limit = Bounded()
    controller = pushed(limit)
    assert abs(controller.tick(HOME).acceleration[0] - 5.0) < SAME
    limit.made.upper[0] = 0.1  # type: ignore[index]
    assert abs(controller.tick(HOME).acceleration[0] - 0.1) < SAME
    limit.made.A[0, 0] = 2.0
    assert abs(controller.tick(HOME).acceleration[0] - 0.05) < SAME


@pytest.mark.parametrize("method", ["auto", "qp"])
@pytest.mark.parametrize("on", ["acceleration", "torque"])
@pytest.mark.parametrize(
    ("label", "value"),
    [("A", np.nan), ("A", np.inf), ("b", np.nan), ("lower", np.nan), ("upper", np.nan), ("lower", np.inf)],
)
def test_a_limit_that_is_no_number_is_named_and_switches_no_other_limit_off(
    label: str, value: float, on: Any, method: Any
) -> None:
    limit = Bounded(on)
    controller = pushed(limit, JointLimits(acceleration=10.0), TorqueLimits(), method=method)
    good = controller.tick(HOME)
    assert np.abs(good.acceleration).max() < 10.0 + 1e-9
    getattr(limit.made, label).flat[0] = value
    bad = controller.tick(HOME)
    assert bad.report.status is Status.FALLBACK
    assert "limit 'mine'" in bad.report.trouble and "'j1'" in bad.report.trouble and label in bad.report.trouble
    assert np.isfinite(bad.torque).all() and (np.abs(bad.torque) <= ROBOT.torque_limits).all()
    getattr(limit.made, label).flat[0] = {"A": 1.0, "b": 0.0, "lower": -5.0, "upper": 5.0}[label]
    assert np.abs(controller.tick(HOME).torque - good.torque).max() < 1e-9


def test_a_joint_without_a_torque_limit_has_none_at_scale_zero() -> None:
    bounds = np.array(ROBOT.torque_limits)
    bounds[2] = np.inf
    robot = replace(ROBOT, torque_limits=bounds)
    rows = TorqueLimits(scale=0.0).rows(Controller(robot, Stack())._terms)
    assert rows.upper is not None and rows.lower is not None
    assert rows.upper[2] == np.inf and rows.lower[2] == -np.inf
    assert not np.delete(rows.upper, 2).any()


def test_a_nan_in_a_nominal_task_of_the_users_own_ends_in_a_fallback_with_its_name() -> None:
    class Height(MotionTask):
        dim = 1
        bad = False

        def kinematics(self, terms: Any) -> Kinematics:
            frame = terms.frame(TCP)
            J = frame.J[2:3].copy()
            J[0, 0] = np.nan if self.bad else J[0, 0]
            return Kinematics(np.array([0.1]), np.zeros(1), J, frame.Jdot_v[2:3])

    task = Height("height")
    controller = Controller(ROBOT, Stack(nominal=task))
    good = controller.tick(HOME)
    task.bad = True
    bad = controller.tick(HOME)
    assert bad.report.status is Status.FALLBACK and "height" in bad.report.trouble
    task.bad = False
    assert np.abs(controller.tick(HOME).torque - good.torque).max() < SAME


@pytest.mark.parametrize("mask_frame", ["world", "panda_link0"])
def test_a_target_that_is_taken_back_lets_the_task_hold_what_it_then_sees(mask_frame: str) -> None:
    task = PositionTask("hand", frame=TCP, mask_frame=mask_frame)
    controller = Controller(ROBOT, Stack(strict=[task]))
    controller.tick(HOME)
    task.target = (0.4, 0.0, 0.5)
    controller.tick(HOME)
    assert np.abs(controller.errors()["hand"]).max() > 1e-3
    task.target = None
    controller.tick(State(ROBOT.home + 0.3, np.zeros(ROBOT.nv)))
    assert np.abs(controller.errors()["hand"]).max() < SAME


def test_a_task_in_two_stacks_whose_target_fits_one_robot_is_refused_by_the_other_at_every_tick() -> None:
    other = load("ur5")
    posture = PostureTask("posture")
    first, second = Controller(ROBOT, Stack(nominal=posture)), Controller(other, Stack(nominal=posture))
    first.tick(HOME)
    posture.target = other.home
    second.tick(State(other.home, np.zeros(other.nv)))
    for _ in range(2):
        with pytest.raises(InputError, match=r"posture.*panda"):
            first.tick(HOME)


@pytest.mark.parametrize("method", ["velocity_gap", "held"])
def test_a_subclass_with_a_method_of_its_own_means_it(method: str) -> None:
    def velocity_gap(self: Any, velocity: Any) -> Any:
        return 0.0 * velocity

    def held(self: Any, terms: Any, seen: Any) -> Any:
        return seen + 0.1

    own = type("Own", (PositionTask,), {method: {"velocity_gap": velocity_gap, "held": held}[method]})
    moving = State(ROBOT.home, 0.5 * np.ones(ROBOT.nv))
    torques = []
    for kind in (own, PositionTask):
        torques.append(Controller(ROBOT, Stack(strict=[kind("hand", frame=TCP)])).tick(moving).torque)
    assert np.abs(torques[0] - torques[1]).max() > 1e-3


def test_while_a_part_fades_there_is_no_one_qp_of_the_command() -> None:
    stack = Stack(strict=[PositionTask("hand", frame=TCP)])
    controller = Controller(ROBOT, stack)
    controller.tick(HOME)
    stack.deactivate("hand", over=0.01)
    controller.tick(HOME)
    with pytest.raises(InputError, match="ramp"):
        controller.as_qp()
    for _ in range(12):
        controller.tick(HOME)
    controller.as_qp()
