"""One tick in one file: read back, explained, and solved again by any solver."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np
import pytest
from arms import arm, clear_states
from fixtures import p1
from typer.testing import CliRunner

from wbc import Command, Controller, Stack, State, Status
from wbc.cli import app
from wbc.errors import InputError
from wbc.hierarchy import SolverFailedError
from wbc.replay import difference, load, solve_again
from wbc.robots import load as load_robot
from wbc.scenarios import legged
from wbc.tasks import ComTask, JointLimits, PoseTask, PositionTask, PostureTask, TorqueLimits

SAME = 1e-12  # a report read back is made of the very numbers that were written
ANOTHER_SOLVER = 1e-6  # N m: proxqp at 1e-10 on rows of unit norm, polished


@functools.cache
def panda_under_load() -> Command:
    """A hand that is asked for more than the torques allow, in a moving state."""
    robot = arm("panda").scaled(torque=0.3)
    hand = PoseTask("hand", frame="panda_hand_tcp")
    stack = Stack(
        nominal=PostureTask("posture", target=robot.home),
        strict=[hand, [(PositionTask("elbow", frame="panda_link4"), 3.0)]],
        limits=[TorqueLimits(), JointLimits()],
    )
    hand.target_acceleration = (0.0, 0.0, 30.0, 0.0, 0.0, 0.0)
    return Controller(robot, stack).tick(clear_states("panda", 1, seed=5)[0])


@functools.cache
def talos_leaning() -> Command:
    """A humanoid on two feet that is asked for more than its feet can push."""
    robot = load_robot("talos")
    com = ComTask("strict com")
    stack = legged.stand(robot, strict=[com])
    com.target_acceleration = (0.0, 6.0, 0.0)
    random = np.random.default_rng(1)
    return Controller(robot, stack).tick(State(robot.home, 0.05 * random.normal(size=robot.nv)))


@functools.cache
def unstoppable() -> Command:
    """P1w of the field reports: a joint that 1 N m cannot stop before its end."""
    return Controller(p1(effort=1.0), Stack(limits=[TorqueLimits(), JointLimits()])).tick(State([0.49], [1.0]))


def in_fallback() -> Command:
    """A tick that no solver solved."""
    robot = arm("panda")
    controller = Controller(robot, Stack(limits=[TorqueLimits()]))
    controller._solve = lambda problem: (None, "mock: no answer")  # what every solver failing leaves
    return controller.tick(State(robot.home, np.full(robot.nv, 0.1)))


def saved(command: Command, folder: Path) -> Path:
    path: Path = command.report.save(folder / "tick.npz")
    return path


@pytest.mark.parametrize("make", [panda_under_load, talos_leaning, unstoppable, in_fallback])
def test_a_tick_read_back_says_what_the_report_said(make, tmp_path):
    command = make()
    report, again = command.report, load(saved(command, tmp_path))
    assert again.status is report.status
    assert again.explain() == report.explain()
    assert again.active == report.active
    assert again.relaxed == report.relaxed
    assert (again.route, again.solver, again.iterations, again.time_us) == (
        report.route, report.solver, report.iterations, report.time_us,
    )  # fmt: skip
    assert again.problem.layout.limits == report.problem.layout.limits
    np.testing.assert_array_equal(again.moment.torque, command.torque)
    np.testing.assert_array_equal(again.vdot, command.acceleration)
    np.testing.assert_array_equal(again.moment.q, report.moment.q)
    assert list(again.tasks) == list(report.tasks)
    for name, task in report.tasks.items():
        assert again.tasks[name].because == task.because
        np.testing.assert_allclose(again.tasks[name].missed, task.missed, atol=SAME)
        np.testing.assert_allclose(again.tasks[name].force, task.force, rtol=1e-9, atol=1e-9)
    for name, wrench in report.wrenches.items():
        np.testing.assert_array_equal(again.wrenches[name], wrench)


def test_the_cases_cover_every_status():
    commands = (panda_under_load(), talos_leaning(), unstoppable(), in_fallback())
    assert {command.report.status for command in commands} >= {Status.RELAXED, Status.FALLBACK}
    assert panda_under_load().report.active and unstoppable().report.relaxed and talos_leaning().wrenches


def test_a_matrix_as_metric_and_a_task_without_limits_are_saved_too(tmp_path):
    robot = arm("panda")
    metric = np.diag(np.arange(1.0, 8.0))
    stack = Stack(nominal=PostureTask("p", target=robot.home), strict=[PoseTask("hand", frame="panda_hand_tcp")])
    command = Controller(robot, stack, metric=metric).tick(clear_states("panda", 1, seed=7)[0])
    report = load(saved(command, tmp_path))
    np.testing.assert_array_equal(report.circumstances.metric, metric)
    assert difference(report, solve_again(report)).torque < ANOTHER_SOLVER


@pytest.mark.parametrize(
    ("make", "solver"),
    [
        *((make, solver) for make in (panda_under_load, talos_leaning, unstoppable) for solver in ("daqp", "quadprog")),
        *((make, "proxqp") for make in (panda_under_load, unstoppable)),
    ],
)
def test_a_saved_tick_is_solved_again_by_any_solver(make, solver, tmp_path):
    report = load(saved(make(), tmp_path))
    again = solve_again(report, solver)
    found = difference(report, again)
    assert again.solver == solver
    assert found.torque < ANOTHER_SOLVER
    assert found.acceleration < 1e-4  # talos: light joints turn 1e-6 N m into this much
    for first, second in found.values.values():
        assert first == pytest.approx(second, rel=1e-6, abs=1e-6)


def test_the_levels_of_a_tick_have_the_values_that_its_tasks_missed(tmp_path):
    report = load(saved(panda_under_load(), tmp_path))
    values = difference(report, report).values
    for label, (task, weight) in {"strict 1": ("hand", 1.0), "strict 2": ("elbow", 3.0)}.items():
        missed = report.tasks[task].missed
        assert values[label][0] == pytest.approx(0.5 * weight * float(missed @ missed), rel=1e-9, abs=1e-15)


def test_no_pickle_is_in_the_file(tmp_path):
    with np.load(saved(panda_under_load(), tmp_path), allow_pickle=False) as archive:
        about = json.loads(str(archive["about"][()]))
        assert all(archive[name].dtype != object for name in archive.files)
    assert {"numpy", "scipy", "wbc", "Python", "daqp (native)"} <= set(about["versions"])


def damaged(path: Path, kind: str) -> None:
    if kind == "text":
        path.write_text("no tick at all")
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "cut":
        path.write_bytes(path.read_bytes()[:2000])
    elif kind == "another archive":
        np.savez(path, about=np.zeros(3))
    elif kind == "bits":
        content = bytearray(path.read_bytes())
        content[3000:3100] = bytes(100)
        path.write_bytes(bytes(content))
    else:
        with np.load(path) as archive:
            arrays = {name: archive[name] for name in archive.files}
        if kind == "short record":
            arrays["record"] = arrays["record"][:-1]
        elif kind == "missing array":
            del arrays["moment/torque"]
        elif kind == "other format":
            arrays["about"] = np.array(str(arrays["about"][()]).replace("wbc tick 1", "wbc tick 99"))
        np.savez(path, **arrays)


KINDS = ("text", "empty", "cut", "another archive", "bits", "short record", "missing array", "other format", "missing")


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_ends_with_status_two_and_one_sentence(kind, tmp_path):
    path = saved(panda_under_load(), tmp_path)
    if kind == "missing":
        path.unlink()
    else:
        damaged(path, kind)
    with pytest.raises(InputError, match=r"tick\.npz"):
        load(path)
    result = CliRunner().invoke(app, ["explain", str(path)])
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 1
    assert "Traceback" not in result.output


def test_explain_prints_the_words_and_the_comparison(tmp_path):
    command = panda_under_load()
    path, summary = saved(command, tmp_path), tmp_path / "summary.json"
    result = CliRunner().invoke(app, ["explain", str(path), "--solver", "proxqp", "--json", str(summary)])
    assert result.exit_code == 0, result.output
    assert "Task 'hand'" in result.output and "Solved again by proxqp" in result.output
    content = json.loads(summary.read_text())
    assert content["status"] == "RELAXED" and content["robot"] == "panda"
    assert content["again"]["torque"] < ANOTHER_SOLVER
    assert content["tasks"]["hand"]["because"] == list(command.report.tasks["hand"].because)


def test_a_solver_that_does_not_exist_is_refused(tmp_path):
    result = CliRunner().invoke(app, ["explain", str(saved(unstoppable(), tmp_path)), "--solver", "dakp"])
    assert result.exit_code == 2 and "daqp" in result.stderr


def test_a_solver_that_does_not_solve_the_tick_says_so(tmp_path, monkeypatch):
    def fail(*arguments):
        raise SolverFailedError("mock: maximum iterations")

    path = saved(unstoppable(), tmp_path)
    monkeypatch.setattr("wbc.hierarchy.solve", fail)
    result = CliRunner().invoke(app, ["explain", str(path), "--solver", "daqp"])
    assert result.exit_code == 2 and "mock: maximum iterations" in result.stderr


def test_a_file_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(InputError, match="nowhere"):
        unstoppable().report.save(tmp_path / "nowhere" / "tick.npz")


@pytest.mark.filterwarnings("ignore::wbc.errors.ControlWarning")  # the same state again and again
def test_a_tick_of_a_ramp_has_the_rows_of_the_solution_that_it_speaks_of(tmp_path):
    robot = arm("panda")
    stack = Stack(
        nominal=PostureTask("posture", target=robot.home),
        strict=[PoseTask("hand", frame="panda_hand_tcp")],
        limits=[TorqueLimits()],
    )
    controller = Controller(robot, stack)
    state = clear_states("panda", 1, seed=8)[0]
    controller.tick(state)
    stack.deactivate("hand", over=0.1)
    for share in np.arange(0.99, 0.5, -0.01):
        command = controller.tick(state)
        report = load(saved(command, tmp_path)) if share < 0.52 else command.report
        assert report.moment.share == pytest.approx(share)
        assert "hand" in report.tasks
        # the solution's own torque is known again, and the command is a mix with the rest, in which nothing is asked
        again = solve_again(report)
        assert not again.tasks["hand"].is_missed
        if report.tasks["hand"].is_missed:
            assert "ramp" in report.tasks["hand"].because
