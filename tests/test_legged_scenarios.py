"""Legged scenarios on real contact: upright, inside what they promise, without jumps of torque; and standing still."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

import numpy as np
import pytest

from wbc import Controller, State
from wbc.robots import load
from wbc.rows import Gains
from wbc.scenarios import legged, measures, play
from wbc.scenarios import load as load_scenario
from wbc.simulation import simulate
from wbc.tasks import PositionTask

pytest.importorskip("mujoco")
try:
    distribution("example-robot-data")
except PackageNotFoundError:
    pytest.skip('needs pip install "wbc[robots]"', allow_module_level=True)

STEP = 0.02  # of a joint's limit: the largest change of a torque between two ticks of 1 ms
WEIGHT = 1e-6  # relative: vertical forces of the solution against the weight
MEASURED = 0.005  # relative: MuJoCo's vertical forces against the weight
STILL = 1e-3  # m: where a standing robot's centre of mass may be

# seconds of a shortened run: long enough for the first half of a motion, or for one push
SHORT = {
    "talos-squat": 1.0,
    "talos-reach": 1.0,
    "talos-step-in-place": 0.8,
    "talos-push": 0.9,
    "g1-squat": 1.0,
    "g1-push": 0.9,
    "anymal-sway": 1.0,
    "anymal-lift-leg": 0.8,
    "go2-push": 1.0,
    "solo-sway": 1.0,
}
STANDING = ("talos", "g1", "anymal_c", "go2", "solo12")


@pytest.mark.parametrize("name", SHORT)
def test_a_scenario_stays_upright_and_keeps_its_bounds(name: str) -> None:
    outcome = play(load_scenario(name), duration=SHORT[name], progress=False)
    assert not outcome.failures
    assert outcome.main.finished
    assert not outcome.main.over_limit.any()
    spoken_of = [bound.what for bound, value in outcome.measured if value is not None]
    assert len(spoken_of) >= 5  # the four that all of them keep, and one of its own


@pytest.mark.parametrize(("name", "seconds"), [("talos-step-in-place", 2.3), ("anymal-lift-leg", 3.0)])
def test_torque_does_not_jump_when_a_foot_is_unloaded_lifted_and_put_back(name: str, seconds: float) -> None:
    """A contact goes while the task that carries the foot comes, and back: two ramps at once, in MuJoCo."""
    outcome = play(load_scenario(name), duration=seconds, progress=False)
    rec = outcome.main
    foot = next(foot for foot in ("left_foot", "front_left_foot") if foot in rec.measured_wrenches)
    load_on_foot = rec.measured_wrenches[foot][:, 2]
    lifted = load_on_foot == 0.0
    assert lifted.sum() > 500  # ticks in the air
    assert load_on_foot[-1] > 0.02 * load(rec.robot).weight
    assert measures.largest_torque_step(rec) < STEP
    assert not outcome.failures


def test_torque_does_not_jump_when_strict_tasks_come_and_go_at_once() -> None:
    """Two hands with targets a hand's breadth away: their ramps overlap, coming and going."""
    robot = load("talos")
    hands = {"left": "gripper_left_base_link", "right": "gripper_right_base_link"}
    tasks: list[list[Any]] = []
    for name, frame in hands.items():
        task = PositionTask(name, frame=frame, gains=Gains.critical(25.0))
        task.target = measures.pose_at(robot, robot.home, frame).translation + np.array((0.05, 0.02, 0.05))
        tasks.append([task])
    stack = legged.stand(robot, strict=tasks)
    for name in hands:
        stack.deactivate(name)

    def switch(t: float, stack: Any) -> None:
        for when, told in ((0.05, stack.activate), (0.4, stack.deactivate)):
            for name, delay in (("left", 0.0), ("right", 0.1)):
                if legged.due(t, when + delay):
                    told(name, over=0.2)

    rec = simulate(Controller(robot, stack), 0.8, reference=switch, progress=False)
    assert rec.finished
    assert (rec.status != "FALLBACK").all()
    spread = np.ptp(rec.torque / rec.torque_limits, axis=0).max()
    assert spread > 2.0 * STEP  # or nothing was asked for
    assert measures.largest_torque_step(rec) < STEP


@pytest.mark.parametrize("name", STANDING)
def test_standing_still_the_feet_carry_the_weight_and_the_com_stays(name: str) -> None:
    robot = load(name)
    controller = Controller(robot, legged.stand(robot))
    wrenches = controller.tick(State(robot.home, np.zeros(robot.nv))).wrenches
    assert sum(w[2] for w in wrenches.values()) == pytest.approx(robot.weight, rel=WEIGHT)
    rec = simulate(controller, 0.6, progress=False)
    assert rec.finished
    assert (rec.status == "OPTIMAL").all()
    carried = np.sum([w[-100:, 2] for w in rec.measured_wrenches.values()], axis=0)
    assert np.abs(carried / robot.weight - 1.0).max() < MEASURED
    assert np.linalg.norm(rec.error["com"], axis=1).max() < STILL
