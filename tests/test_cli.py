"""The command line: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import json
import warnings

import pytest
from typer.testing import CliRunner

import wbc
from wbc import scenarios
from wbc.cli import app
from wbc.cli_words import in_words
from wbc.errors import ControlWarning

COMMANDS = (("list",), ("run",), ("check",), ("bench",), ("bench", "arm"), ("bench", "humanoid"), ("bench", "push"))
SHORT = ("--duration", "0.05", "--no-progress")


def run(*arguments: str):
    # a wide terminal, so that no name is broken over two lines
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200", "TERM": "dumb"})


def test_the_list_shows_every_scenario_with_a_line_and_the_solvers():
    result = run("list")
    assert result.exit_code == 0
    for name in scenarios.names():
        assert name in result.output
        assert scenarios.line(name)[:40] in result.output
    assert "daqp" in result.output
    assert "inertia_squared" in result.output


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_a_help_and_those_that_do_something_an_example(command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert command == ("bench",) or "Example" in result.output


def test_the_version_is_the_packages():
    assert run("--version").output.strip() == wbc.__version__


def test_a_run_writes_everything_that_is_asked_for(tmp_path):
    files = {what: tmp_path / name for what, name in
             {"--json": "a/s.json", "--save": "a/r.npz", "--plot": "a/p.png"}.items()}  # fmt: skip
    options = [str(word) for pair in files.items() for word in pair]
    result = run("run", "panda-tray", *SHORT, *options)
    assert result.exit_code == 0, result.output
    assert all(path.stat().st_size > 0 for path in files.values())
    summary = json.loads(files["--json"].read_text())
    keys = {"scenario", "finished", "status", "error", "torque_ratio_max", "violations", "tick_us"}
    assert keys <= set(summary)
    assert set(summary["tick_us"]) == {"p50", "p95", "p99", "max"}
    assert set(summary["error"]["hand"]) == {"rms", "max"}
    assert summary["scenario"] == "panda-tray"
    assert wbc.Recording.load(files["--save"]).time.shape == (50,)


def test_several_runs_are_drawn_into_one_picture_and_recorded_one_by_one(tmp_path):
    files = ("--plot", str(tmp_path / "p.png"), "--save", str(tmp_path / "r.npz"), "--json", str(tmp_path / "s.json"))
    result = run("run", "panda-figure", *SHORT, *files)
    assert result.exit_code == 0, result.output
    names = {"osc", "qp", "rac", "clipped", "limits"}
    recordings = {"r.npz", *(f"r-{name}.npz" for name in names - {"qp"})}
    assert {path.name for path in tmp_path.iterdir()} == {"p.png", "s.json", *recordings}
    summary = json.loads((tmp_path / "s.json").read_text())
    assert set(summary["runs"]) == names
    assert {"position_mm", "orientation_mrad", "asked_violations"} <= set(summary["runs"]["clipped"])
    assert summary["failures"] == []


def test_tables_fit_a_terminal_of_80_columns():
    result = CliRunner().invoke(app, ["run", "panda-figure", *SHORT], env={"COLUMNS": "80", "TERM": "dumb"})
    # no head and no unit is cut off: what does not fit, rich ends with an ellipsis
    assert "…" not in result.output
    assert all(word in result.output for word in ("[mm]", "[mrad]", "p99", "OPTIMAL"))


@pytest.mark.parametrize("method", ["auto", "closed_form", "qp"])
@pytest.mark.parametrize("physics", ["mujoco", "pinocchio"])
def test_a_scenario_runs_with_every_method_and_physics(method, physics):
    result = run("run", "panda-tray", *SHORT, "--method", method, "--physics", physics)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "panda-figur"), "'panda-figure'"),
        (("run", "panda-tray", "--solver", "dapq"), "'daqp'"),
        (("run", "panda-tray", "--metric", "inertial"), "'inertia'"),
        (("run", "panda-tray", "--method", "qpp"), "'qp'"),
        (("run", "panda-tray", "--physics", "mujocco"), "'mujoco'"),
        (("run", "panda-tray", "--duration", "-1"), "--duration"),
        (("run", "panda-tray", "--plot", "picture.foo"), ".png"),
        (("run", "panda-tray", "--save", "recording.txt"), ".npz"),
        (("check", "no-such-file.urdf"), "no-such-file.urdf"),
        (("check",), "--environment"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bad_input_ends_with_status_two_and_one_sentence_that_says_how_to_mend_it(arguments, words):
    result = run(*arguments, *(("--no-progress",) if arguments[0] == "run" else ()))
    assert result.exit_code == 2
    assert words in result.output
    assert "Traceback" not in result.output


def test_a_run_that_misses_what_it_promises_ends_with_status_one(monkeypatch):
    from wbc.scenarios import panda_tray

    original = panda_tray.scenario

    def strict():
        from dataclasses import replace

        found = original()
        return replace(found, bounds=(scenarios.Bound("nothing", -1.0, "mm", lambda recordings: 0.0),))

    monkeypatch.setattr(panda_tray, "scenario", strict)
    result = run("run", "panda-tray", *SHORT)
    assert result.exit_code == 1
    assert "nothing: 0 mm, promised at most -1" in result.output


def test_checking_a_description_says_what_it_lacks_and_how_to_mend_it(tmp_path):
    path = tmp_path / "weightless.urdf"
    path.write_text(
        '<robot name="weightless"><link name="base"/><link name="arm"/><joint name="j" type="continuous">'
        '<parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>'
    )
    result = run("check", str(path))
    assert result.exit_code == 1
    assert "arm" in result.output
    assert "inertial" in result.output


def test_the_environment_lists_versions():
    result = run("check", "--environment")
    assert result.exit_code == 0
    assert all(part in result.output for part in ("Python", "pinocchio", "numpy", "MuJoCo", "daqp"))


def test_a_warning_is_one_sentence_without_a_line_of_source(capsys):
    said = warnings.showwarning

    @in_words
    def command():
        warnings.warn("the period [1 ms] is not kept", ControlWarning, stacklevel=1)

    command()
    assert capsys.readouterr().err.strip() == "warning: the period [1 ms] is not kept"
    assert warnings.showwarning is said
