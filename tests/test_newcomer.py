"""What a newcomer with hostile input found."""

from __future__ import annotations

import numpy as np
import pytest

import wbc
from wbc import checks
from wbc.robots import load
from wbc.tasks import PositionTask, PostureTask, UprightTask


@pytest.fixture
def pendulum() -> wbc.Robot:
    return load("double_pendulum")


@pytest.mark.parametrize("solver", ["daqp", "proxqp", "osqp"])
def test_a_qp_without_any_row_is_solved_tick_after_tick(pendulum: wbc.Robot, solver: str) -> None:
    """daqp's update raised an IndexError at the second tick of a stack without strict tasks and limits."""
    frame = pendulum.model.frames[-1].name
    for soft in ([], [(PositionTask("tip", frame=frame), 2.0)]):
        stack = wbc.Stack(soft=soft)
        qp = wbc.Controller(pendulum, stack, method="qp", solver=solver)
        closed = wbc.Controller(pendulum, stack, method="closed_form")
        for k in range(3):
            state = wbc.State(pendulum.home + 0.3 + 0.1 * k, [0.2, -0.4])
            np.testing.assert_allclose(qp.tick(state).torque, closed.tick(state).torque, atol=1e-6)


def test_a_nan_written_into_a_state_is_refused_at_the_tick(pendulum: wbc.Robot) -> None:
    for part in ("q", "v"):
        state = wbc.State(pendulum.home, [0.0, 0.0])
        getattr(state, part)[1] = np.nan
        with pytest.raises(wbc.WbcError, match=rf"{part}\[1\] \(.*\) is nan"):
            wbc.Controller(pendulum, wbc.Stack()).tick(state)


@pytest.mark.parametrize("q", [np.array([1 + 2j, 0]), ["1", "2"], np.array(["1", "2"])])
def test_complex_numbers_and_texts_are_no_configuration(q: object) -> None:
    with pytest.raises(wbc.WbcError, match="expected a vector of numbers"):
        wbc.State(q, [0.0, 0.0])  # type: ignore[arg-type]


def test_a_very_long_direction_still_points_somewhere() -> None:
    np.testing.assert_allclose(checks.direction((3e200, 0.0, 4e200), "direction"), (0.6, 0.0, 0.8))
    assert UprightTask("tray", frame="hand", direction=(0, 0, 1e200)).direction[2] == 1.0


def test_torque_limits_that_are_no_mapping_are_named(pendulum: wbc.Robot) -> None:
    with pytest.raises(wbc.WbcError, match="torque_limits: expected joint names"):
        wbc.Robot.from_pinocchio(pendulum.model, torque_limits=[3.0, 3.0])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"start": np.zeros(2)}, "start: expected State"),
        ({"reference": 3}, "reference: expected a function"),
        ({"disturbance": {}}, "disturbance: expected a function"),
        ({"disturbance": lambda t: None}, "disturbance.0. is None"),
    ],
)
def test_simulate_says_what_it_expects(pendulum: wbc.Robot, arguments: dict[str, object], message: str) -> None:
    controller = wbc.Controller(pendulum, wbc.Stack())
    with pytest.raises(wbc.WbcError, match=message):
        wbc.simulate(controller, 0.01, physics="pinocchio", progress=False, **arguments)  # type: ignore[arg-type]
    with pytest.raises(wbc.WbcError, match="controller: expected a Controller"):
        wbc.simulate(None, 0.01)  # type: ignore[arg-type]


def test_a_posture_whose_continuous_joint_is_no_point_of_the_circle_is_refused_when_placed_and_when_assigned():
    robot = wbc.Robot.from_urdf(
        '<robot name="wheel"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>'
    )
    posture = PostureTask("posture", target=[1.1, 0.0])
    with pytest.raises(wbc.WbcError, match=r"posture.*unit norm"):
        wbc.Controller(robot, wbc.Stack(nominal=posture))
    posture.target = [0.0, 1.0]
    wbc.Controller(robot, wbc.Stack(nominal=posture))
    with pytest.raises(wbc.WbcError, match=r"posture.*unit norm"):
        posture.target = [0.5, 0.5]
    np.testing.assert_array_equal(posture.target, [0.0, 1.0])
