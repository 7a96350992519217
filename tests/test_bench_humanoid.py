"""The benchmark on feet: its rows, its accuracy, its motion, its files. Times are measured and never asserted."""

from __future__ import annotations

import io
import json

import numpy as np
import pinocchio as pin
import pytest
from rich.console import Console
from typer.testing import CliRunner

from wbc import Controller
from wbc.benchmarks import humanoid
from wbc.benchmarks.legged_scene import motion, scene
from wbc.benchmarks.scene import DT, NEVER, Moment, Setting, least_factor
from wbc.benchmarks.statistics import Row
from wbc.cli import app
from wbc.errors import NotInstalledError
from wbc.robots import load

pytest.importorskip("mujoco")
try:
    load("solo12")
except NotInstalledError:
    pytest.skip('needs pip install "wbc[robots]"', allow_module_level=True)

EXACT = 1e-9  # N m; promised for the torques while every cone is inactive
BASE = 1e-9  # of the weight, of the base rows; promised
CONE = 1e-7  # of the weight; promised
SOLVERS = ("daqp", "proxqp")
NAMES = ("talos", "solo12")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    readme = folder / "README.md"
    readme.write_text("# Title\n\n<!-- bench humanoid -->\nold\n<!-- end bench humanoid -->\n", encoding="utf-8")
    rows = humanoid.run(
        quick=True,
        json=folder / "humanoid.json",
        readme=readme,
        robots=NAMES,
        solvers=SOLVERS,
        console=Console(file=io.StringIO()),
        progress=False,
    )
    return rows, folder


def test_every_contender_stands_in_every_scene_once(results):
    rows, _ = results
    places = [(row["robot"], row["case"], row["method"], row["solver"]) for row in rows]
    assert len(set(places)) == len(places)
    for name in NAMES:
        assert (name, "idle", "closed_form", "none") in places
        assert (name, "idle", "auto", "none") in places
        for solver in SOLVERS:
            wanted = [(case, method) for case in ("idle", "active") for method in ("qp", "unreduced")]
            for case, method in (*wanted, ("active", "auto"), ("conflict", "auto")):
                assert (name, case, method, solver) in places


def test_torques_are_the_closed_forms_while_no_cone_acts_and_dynamics_and_cones_are_kept(results):
    rows, _ = results
    for row in rows:
        if row["method"] == "unreduced":
            continue  # bends its torques by its weight on forces
        assert row["base_residual"] <= BASE and row["cone_violation"] <= CONE, row
        if row["case"] != "conflict":
            assert row["torque_difference"] <= EXACT, row
            assert row["failed"] == 0, row


def test_idle_has_no_active_limit_active_has_and_only_a_conflict_misses_strict_tasks(results):
    rows, _ = results
    for row in rows:
        expected = {"idle": (0.0, 0.0), "active": (1.0, 0.0), "conflict": (1.0, 1.0)}[row["case"]]
        assert (row["active_share"], row["conflict_share"]) == expected, row


def test_the_file_holds_machine_versions_and_rows_and_the_readme_its_section(results):
    rows, folder = results
    found = json.loads((folder / "humanoid.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert found["rows"] == rows and {"machine", "versions"} <= set(found)
    assert all(set(row) == set(Row.__annotations__) for row in rows)
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert "old" not in text.splitlines() and "| base rows | cones |" in text
    assert "talos, 30 joints" in text and "solo12, 12 joints" in text


@pytest.mark.parametrize("name", NAMES)
def test_the_recorded_motion_moves_follows_its_targets_and_keeps_the_feet(name):
    robot = load(name)
    data = robot.model.createData()
    blocks = motion(robot, blocks=3, length=2)
    feet = []
    for first, second in blocks:
        step = pin.difference(robot.model, first.state.q, second.state.q) / DT
        assert np.abs(step - second.state.v).max() < 0.05  # rad/s: v is the derivative of q, but for one tick
        targets = {target[0]: target for target in first.targets}
        pin.framesForwardKinematics(robot.model, data, first.state.q)
        feet.append([data.oMf[robot.frame_id(foot.frame)].translation.copy() for foot in robot.footing])
        com = pin.centerOfMass(robot.model, data, first.state.q)
        assert np.abs(com - targets["com"][1]).max() < 0.002  # m
    assert np.abs(blocks[-1][0].state.v).max() > 0.01
    assert np.abs(np.array(feet) - feet[0]).max() < 0.002  # m
    targets = [{target[0]: target[1:] for target in moment.targets} for moment in blocks[-1]]
    for task in targets[0]:
        if task != "trunk":  # feed-forward is the derivative of the target
            moved = (targets[1][task][0] - targets[0][task][0]) / DT
            assert np.abs(moved - targets[0][task][1]).max() < 0.01


def test_the_least_factor_is_what_strict_tasks_feet_and_base_rows_need():
    robot = load("solo12")
    moment = motion(robot, blocks=1, length=1)[0][0]
    limited = Setting(robot, scene).scene(limited=True)
    controller = Controller(robot, limited.stack)
    limited.take(Moment(moment.state, NEVER, moment.targets))
    need = least_factor(controller.tick(moment.state).report.problem, robot.torque_limits)
    for factor, missed in ((1.01 * need, False), (0.9 * need, True)):
        limited.take(Moment(moment.state, factor, moment.targets))
        tasks = controller.tick(moment.state).report.tasks
        assert any(tasks[name].is_missed for name in ("com", "trunk")) == missed


def test_the_command_measures_the_robots_it_is_told_and_knows_their_names(tmp_path):
    file = tmp_path / "rows.json"
    runner = CliRunner()
    result = runner.invoke(app, ["bench", "humanoid", "--quick", "--robot", "solo12", "--json", str(file)])
    assert result.exit_code == 0, result.output
    assert {row["robot"] for row in json.loads(file.read_text(encoding="utf-8"))["rows"]} == {"solo12"}
    wrong = runner.invoke(app, ["bench", "humanoid", "--robot", "solo21"])
    assert wrong.exit_code == 2 and "solo12" in wrong.output
