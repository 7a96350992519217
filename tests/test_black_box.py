"""The black box: the last 200 ticks, written once an incident."""

from __future__ import annotations

import numpy as np
import pytest
from arms import arm, clear_states
from typer.testing import CliRunner

from wbc import Controller, Stack, Status
from wbc.black_box import MOST_FILES, TICKS
from wbc.cli import app
from wbc.errors import InputError
from wbc.replay import load
from wbc.tasks import PositionTask, PostureTask, TorqueLimits


def controller_in(folder):
    robot = arm("ur5")
    stack = Stack(
        nominal=PostureTask("posture", target=robot.home),
        strict=[PositionTask("hand", frame="tool0")],
        limits=[TorqueLimits()],
    )
    return Controller(robot, stack, black_box=folder)


def failing(controller, trouble="mock: no answer"):
    """What every solver failing leaves."""
    controller._solve = lambda problem: (None, trouble)


def mended(controller):
    del controller._solve


@pytest.fixture(scope="module")
def states():
    return clear_states("ur5", 250, seed=6)


def run(controller, states):
    commands = [controller.tick(state) for state in states]
    if controller.black_box is not None:
        controller.black_box.wait()
    return commands


@pytest.mark.filterwarnings("ignore::wbc.errors.ControlWarning")
class TestIncidents:
    def test_nothing_is_written_while_all_is_well(self, tmp_path, states):
        run(controller_in(tmp_path / "box"), states[:20])
        assert list((tmp_path / "box").iterdir()) == []

    def test_the_last_ticks_are_written_when_one_ends_in_a_fallback(self, tmp_path, states):
        controller = controller_in(tmp_path)
        before = run(controller, states[:220])
        failing(controller)
        (command,) = run(controller, states[220:221])
        (path,) = tmp_path.iterdir()
        assert f"the last {TICKS} ticks are in {path}" in command.report.trouble
        assert str(path) in command.report.explain()
        kept = [*before, command][-TICKS:]
        last = load(path)
        assert last.status is Status.FALLBACK and last.explain() == command.report.explain()
        for tick in (-2, -100, -TICKS, 0, TICKS - 2):
            report, was = load(path, tick), kept[tick]
            np.testing.assert_array_equal(report.record, was.report.record)
            np.testing.assert_array_equal(report.moment.torque, was.torque)
            assert report.status is was.report.status
            assert [task.because for task in report.tasks.values()] == [
                task.because for task in was.report.tasks.values()
            ]

    def test_an_incident_is_written_once(self, tmp_path, states):
        controller = controller_in(tmp_path)
        failing(controller)
        first, *others = run(controller, states[:5])
        mended(controller)
        run(controller, states[:30])
        failing(controller)
        again = run(controller, states[:3])
        assert len(list(tmp_path.iterdir())) == 1
        assert all("how it began is in" in command.report.trouble for command in (*others, *again))
        assert "the last 1 ticks are in" in first.report.trouble

    def test_a_later_incident_has_a_file_of_its_own_and_nothing_is_overwritten(self, tmp_path, states):
        for _ in range(2):
            controller = controller_in(tmp_path)
            failing(controller)
            run(controller, states[:1])
            mended(controller)
            run(controller, states[:TICKS])
            failing(controller)
            run(controller, states[:1])
        assert sorted(path.name for path in tmp_path.iterdir()) == [f"fallback-000{i}.npz" for i in (1, 2, 3, 4)]

    def test_the_number_of_files_is_bounded(self, tmp_path, states):
        controller = controller_in(tmp_path)
        failing(controller)
        for _ in range(MOST_FILES + 3):
            (command,) = run(controller, states[:1])
            controller.black_box.forget()
        assert len(list(tmp_path.iterdir())) == MOST_FILES
        assert "full" in command.report.trouble

    def test_a_disk_that_cannot_be_written_does_not_end_the_tick(self, tmp_path, states):
        controller = controller_in(tmp_path / "box")
        (tmp_path / "box").rmdir()
        failing(controller)
        (command,) = run(controller, states[:1])
        assert np.isfinite(command.torque).all()
        assert "cannot be written" in command.report.trouble

    def test_wbc_explain_reads_any_of_its_ticks(self, tmp_path, states):
        controller = controller_in(tmp_path)
        run(controller, states[:10])
        failing(controller)
        run(controller, states[10:11])
        path = str(next(tmp_path.iterdir()))
        last, before, beyond = (
            CliRunner().invoke(app, ["explain", path, *options])
            for options in ((), ("--tick", "-2", "--solver", "proxqp"), ("--tick", "-12"))
        )
        assert last.exit_code == 0 and "FALLBACK" in last.output
        assert before.exit_code == 0 and "Solved again by proxqp" in before.output
        assert beyond.exit_code == 2 and "11 ticks" in beyond.stderr


def test_a_folder_that_cannot_be_one_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="folder"):
        controller_in(tmp_path / "file")
