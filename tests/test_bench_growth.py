"""The growth benchmark: its stacks, its exponents, its files. Times are measured and never asserted."""

import io
import json
import math

import numpy as np
import pytest
from rich.console import Console

import wbc
from wbc.benchmarks import growth
from wbc.benchmarks.interleave import Times
from wbc.robots import load

pytestmark = pytest.mark.filterwarnings("ignore")


def test_rows_hold_every_size_and_the_files_hold_the_rows(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("<!-- bench growth -->\nstale\n<!-- end bench growth -->\n", encoding="utf-8")
    out = io.StringIO()
    rows = growth.run(
        quick=True,
        json=tmp_path / "growth.json",
        readme=readme,
        joints=(3, 7),
        tasks=(1, 4),
        console=Console(file=out),
        progress=False,
    )
    assert [(row["case"], row["size"]) for row in rows] == [("joints", 3), ("joints", 7), ("tasks", 1), ("tasks", 4)]
    for row in rows:
        assert set(row) == set(growth.Row.__annotations__)
        assert 0.0 < row["p50_us"] <= row["p99_us"] <= row["max_us"]
        assert row["exponent"] == row["last_exponent"] and math.isfinite(row["exponent"])
    assert json.loads((tmp_path / "growth.json").read_text(encoding="utf-8"))["rows"] == rows
    growth.print_table(rows, Console(file=out, width=80))
    assert "joints [µs]" in out.getvalue()
    assert "stale" not in readme.read_text(encoding="utf-8")


def test_exponents_are_those_of_the_medians():
    sizes = (10, 20, 40, 80)
    times = {str(n): Times(np.full((2, 3), 5.0 * n**1.5), np.full((2, 1), 5.0 * n**1.5)) for n in sizes}
    rows = growth._rows("joints", sizes, times)
    assert all(row["exponent"] == pytest.approx(1.5) and row["last_exponent"] == pytest.approx(1.5) for row in rows)
    assert all(row["off_the_line"] == pytest.approx(0.0, abs=1e-9) for row in rows)
    alone = growth._rows("joints", (10,), times)[0]
    assert alone["exponent"] is alone["last_exponent"] is alone["off_the_line"] is None


def test_a_constant_beside_what_grows_shows_in_the_last_exponent_and_off_the_line():
    sizes = (1, 2, 4, 1024, 2048)
    us = {n: 100.0 + n**2 for n in sizes}
    times = {str(n): Times(np.full((2, 3), 1e3 * us[n]), np.full((2, 1), 1e3 * us[n])) for n in sizes}
    row = growth._rows("tasks", sizes, times)[0]
    assert row["last_exponent"] == pytest.approx(2.0, abs=1e-3)
    x, y = np.log(sizes), np.log(list(us.values()))
    slope = ((x - x.mean()) @ y) / ((x - x.mean()) @ (x - x.mean()))
    assert row["exponent"] == pytest.approx(slope) and slope < 1.8
    off = np.exp(np.abs(y - y.mean() - slope * (x - x.mean())).max()) - 1.0
    assert row["off_the_line"] == pytest.approx(off) and off > 0.5


def test_every_task_of_many_is_there_and_no_limit_is_active():
    robot = load("chain64")
    for count in (1, 64):
        controller = wbc.Controller(robot, growth.many_tasks(robot, count))
        report = controller.tick(wbc.State(robot.home, np.full(robot.nv, 0.01))).report
        assert len([name for name in report.tasks if name.startswith("link")]) == count
        assert report.route == "closed form" and report.active == ()
