"""README: its code runs as it stands, and what it says about adding things is true."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import wbc
import wbc.tasks
from wbc.robots import load
from wbc.solvers import table

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.S)


def test_the_example_runs_as_it_stands(capsys):
    example = next(block for block in BLOCKS if "controller.tick" in block)
    assert len(example.strip().splitlines()) <= 18
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "OPTIMAL" in printed
    assert "rms" in printed


def test_the_task_in_the_readme_reaches_its_radius_and_has_the_right_drift():
    namespace: dict = {}
    exec(compile(next(block for block in BLOCKS if "class ReachTask" in block), "README.md", "exec"), namespace)
    robot = load("double_pendulum")
    task = namespace["ReachTask"]("reach", frame="tip", radius=0.6, gains=wbc.Gains.critical(100.0))
    controller = wbc.Controller(robot, wbc.Stack(strict=[task]))
    command = controller.tick(wbc.State(robot.home, [0.5, -0.3]))
    assert np.abs(command.report.tasks["reach"].missed).max() < 1e-9  # m/s²: one row, two joints
    recording = wbc.simulate(controller, 1.5, physics="pinocchio", progress=False)
    assert abs(recording.error["reach"][-1, 0]) < 1e-3  # m, after fifteen time constants


def test_a_robot_is_added_by_a_file_and_a_line_in_the_table(monkeypatch):
    import sys
    import types

    from wbc import robots

    module = types.ModuleType("wbc.robots.mine")
    module.robot = lambda: load("double_pendulum").scaled(torque=0.5)
    monkeypatch.setitem(sys.modules, "wbc.robots.mine", module)
    monkeypatch.setitem(robots._ROBOTS, "mine", "wbc.robots.mine")
    assert robots.load("mine").nu == 2
    assert "mine" in robots.names()


def test_a_solver_is_added_by_a_file_and_a_line_in_the_table(monkeypatch):
    import sys
    import types

    from wbc.solvers.daqp import Daqp

    class Mine:
        name = "mine"

        def __init__(self):
            self.inner = Daqp()

        def solve(self, qp):
            return self.inner.solve(qp)

        def reset(self):
            self.inner.reset()

    module = types.ModuleType("wbc.solvers.mine")
    module.Mine = Mine
    monkeypatch.setitem(sys.modules, "wbc.solvers.mine", module)
    monkeypatch.setitem(table.NATIVE, "mine", ("wbc.solvers.mine", "Mine"))
    robot = load("double_pendulum")
    stack = wbc.Stack(nominal=wbc.tasks.PostureTask("posture", target=robot.home))
    command = wbc.Controller(robot, stack, method="qp", solver="mine").tick(wbc.State(robot.home, [0.1, 0.2]))
    assert command.report.solver == "mine"


@pytest.mark.parametrize("section", ["demo", "bench arm", "bench humanoid", "bench push"])
def test_the_tables_stand_between_their_marks(section):
    start, end = f"<!-- {section} -->", f"<!-- end {section} -->"
    assert README.index(start) < README.index(end)
    assert "|" in README[README.index(start) : README.index(end)]
