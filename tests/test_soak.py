"""The soak: a small one of every robot, and what it counts when something is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from typer.testing import CliRunner

from wbc import Controller
from wbc.benchmarks import soak
from wbc.benchmarks.soak_checks import KKT, findings, kkt_residual
from wbc.benchmarks.soak_scene import SCENES, random_state
from wbc.cli import app
from wbc.errors import InputError
from wbc.hierarchy import closed_form
from wbc.replay import load

TICKS = 100  # of a robot: some seconds of all of them together; `wbc bench soak` runs a million
TIMES = ("worst_us", "memory_mb", "grown_mb", "warm_blocks")  # what differs from run to run


def run(ticks, **keywords):
    return soak.run(ticks, failures=None, progress=False, **keywords)


def counted(results):
    return {name: {key: value for key, value in c.items() if key not in TIMES} for name, c in results.items()}


@pytest.mark.parametrize("name", SCENES)
def test_nothing_goes_wrong_whatever_happens(name):
    results = run(TICKS, robots=[name], seed=3)
    counts = results[name]
    assert counts["ticks"] == sum(counts["status"].values()) == TICKS
    assert not soak.violations(results), counts["errors"]
    assert not counts["status"].get("FALLBACK")


def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(tmp_path, monkeypatch):
    monkeypatch.setattr(soak, "BLOCK", 10)
    state = tmp_path / "soak.json"
    robots = ["ur5", "panda"]
    whole = run(80, robots=robots, seed=5)
    run(40, robots=robots, seed=5, resume=state)
    assert json.loads(state.read_text())["counts"]["ur5"]["ticks"] == 20
    assert counted(run(80, robots=robots, seed=5, resume=state)) == counted(whole)
    with pytest.raises(InputError, match="another file"):
        run(80, robots=robots, seed=6, resume=state)


def test_what_happens_depends_on_the_seed_alone():
    robot = SCENES["ur5"]().robot
    first, second = (random_state(robot, np.random.default_rng(4)) for _ in range(2))
    np.testing.assert_array_equal(first.q, second.q)


def faulty(kind):
    """A controller's tick that goes wrong in one way."""
    tick = Controller.tick

    def one(self, state):
        command = tick(self, state)
        if kind == "exception":
            raise IndexError("mock")
        if kind == "torque violation":
            return replace(command, torque=command.torque + 1e3)
        if kind == "non-finite":
            return replace(command, torque=command.torque * np.nan)
        for task in command.report.tasks.values():  # as if a cause had not been found
            object.__setattr__(task, "because", ())
        return command

    return one


@pytest.mark.parametrize("kind", ["exception", "torque violation", "non-finite", "unexplained miss"])
def test_what_must_not_happen_is_counted_saved_and_fails_the_command(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(Controller, "tick", faulty(kind))
    arguments = ["bench", "soak", "--ticks", "30", "--robot", "ur5", "--failures", str(tmp_path), "--no-progress"]
    result = CliRunner().invoke(app, [*arguments, "--json", str(tmp_path / "soak.json")])
    assert result.exit_code == 1, result.output
    (row,) = json.loads((tmp_path / "soak.json").read_text())["rows"]
    assert row["found"][kind] > 0
    if kind == "exception":
        assert "IndexError: mock" in row["errors"][0] and "mock" in result.output
    else:
        assert load(next(tmp_path.glob(f"{kind.replace(' ', '-')}-ur5-*.npz"))).circumstances.robot == "ur5"


def test_the_certificate_sees_an_answer_that_is_not_the_best_one():
    scene = SCENES["talos"]()
    random = np.random.default_rng(8)
    checked = 0
    while checked < 3:
        command = scene.controller.tick(random_state(scene.robot, random))
        report = command.report
        if report.status.name != "OPTIMAL":
            continue
        assert kkt_residual(report) < KKT
        inside = closed_form.solve(report.gauss_rows, 0.0).free[:, 0]  # a motion that disturbs no strict task
        worse = np.linalg.solve(report.gauss_rows.C, inside)
        report.moment.vdot = report._vdot = report.vdot + 1e-3 * worse
        del report.__dict__["limit_values"]
        assert kkt_residual(report) > KKT
        checked += 1


@cache
def quiet_command():
    scene = SCENES["ur5"]()
    scene.controller.tick(random_state(scene.robot, np.random.default_rng(1)))
    return scene, scene.controller.tick(random_state(scene.robot, np.random.default_rng(2)))


def test_a_good_command_has_no_findings():
    scene, command = quiet_command()
    assert findings(command, scene.robot.torque_limits, certified=True) == []


def test_a_tick_in_fallback_is_counted_and_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(Controller, "_solve", lambda self, problem: (None, "mock: no answer"))
    results = soak.run(20, robots=["ur5"], failures=tmp_path, progress=False)
    assert results["ur5"]["status"] == {"FALLBACK": 20}
    assert load(next(tmp_path.glob("fallback-*.npz"))).status.name == "FALLBACK"


def test_an_unknown_robot_is_refused_with_close_matches():
    result = CliRunner().invoke(app, ["bench", "soak", "--robot", "tallos", "--ticks", "10"])
    assert result.exit_code == 2 and "talos" in result.stderr
