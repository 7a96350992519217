"""The arm benchmark: its rows, its accuracy, its files. Times are measured and never asserted."""

import io
import json
import math

import numpy as np
import pytest
from rich.console import Console

import wbc
from wbc.benchmarks import arm
from wbc.benchmarks.arm_scene import motion, scene
from wbc.benchmarks.contenders import Judge
from wbc.benchmarks.machine import quiet
from wbc.benchmarks.publishing import replace_section
from wbc.benchmarks.scene import DT, Setting, least_factor, moments
from wbc.benchmarks.statistics import Row, exponent, growth
from wbc.robots import load

EXACT = 1e-9  # N m; promised for active-set solvers
LOOSE = {"osqp": 1e-6}  # N m; promised for osqp at eps 1e-9
ROOM = 1e-6  # N m; as_qp may put an active limit 1e-9 (1 + |value|) behind the command, and the solution follows
SOLVERS = ("daqp", "proxqp", "osqp")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    out = io.StringIO()
    readme = folder / "README.md"
    readme.write_text("# Title\n\n<!-- bench arm -->\nold\n<!-- end bench arm -->\n\nafter\n", encoding="utf-8")
    rows = arm.run(
        quick=True,
        json=folder / "arm.json",
        markdown=folder / "arm.md",
        readme=readme,
        robots=("chain7", "chain14"),
        solvers=(*SOLVERS, "mosek"),
        metrics=("inertia", "identity"),
        console=Console(file=out),
        progress=False,
    )
    return rows, folder, out.getvalue()


def test_every_row_has_every_key(results):
    rows, _, _ = results
    keys = set(Row.__annotations__)
    assert all(set(row) == keys for row in rows)
    assert {"robot", "case", "method", "solver", "p50_us", "p95_us", "p99_us", "max_us"} <= keys
    for row in rows:
        assert row["ticks"] > 0
        assert 0.0 < row["p50_us"] <= row["p95_us"] <= row["p99_us"] <= row["max_us"]
        assert (row["build_p50_us"] is None) == (row["method"] != "unreduced")


def test_every_contender_runs_once_in_every_scene(results):
    rows, _, _ = results
    places = [(r["robot"], r["metric"], r["case"], r["method"], r["solver"]) for r in rows]
    assert len(set(places)) == len(places)
    for metric in ("inertia", "identity"):
        for case in ("idle", "active"):
            for method in ("qp", "unreduced"):
                for solver in SOLVERS:
                    assert ("chain7", metric, case, method, solver) in places
    assert ("chain7", "inertia", "idle", "closed_form", "none") in places
    assert ("chain7", "inertia", "conflict", "auto", "daqp") in places
    assert ("chain7", "identity", "conflict", "auto", "daqp") not in places


def test_torques_agree_as_closely_as_promised(results):
    rows, _, _ = results
    for row in rows:
        if row["case"] == "conflict" or (row["method"] == "unreduced" and row["solver"] != "daqp"):
            continue  # equalities at the brink of what the limits allow, and solvers that are asked for less
        if row["torque_difference"] is None:
            assert row["solver"] == "osqp" and row["failed"] == row["ticks"]
            continue
        tolerance = (
            ROOM if row["method"] == "unreduced" and row["case"] == "active" else LOOSE.get(row["solver"], EXACT)
        )
        assert row["torque_difference"] <= tolerance, row
        assert row["constraint_residual"] <= tolerance, row
        assert row["limit_violation"] <= tolerance, row


def test_idle_has_no_active_limit_active_has_and_only_a_conflict_misses_strict_tasks(results):
    rows, _, _ = results
    for row in rows:
        active, conflict = {"idle": (0.0, 0.0), "active": (1.0, 0.0), "conflict": (1.0, 1.0)}[row["case"]]
        assert row["active_share"] >= 0.8 * active and (active or row["active_share"] == 0.0), row
        assert row["conflict_share"] >= 0.8 * conflict and (conflict or row["conflict_share"] == 0.0), row


def test_json_holds_machine_versions_and_the_rows(results):
    rows, folder, _ = results
    found = json.loads((folder / "arm.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert found["rows"] == rows
    assert set(found["machine"]) == {"cpu", "cores", "os", "threads"}
    assert {"python", "pin", "numpy", "qpsolvers", "daqp"} <= set(found["versions"])


def test_what_cannot_be_had_is_left_out_and_named(results):
    _, folder, printed = results
    if "mosek" in __import__("qpsolvers").available_solvers:
        pytest.skip("mosek is installed here")
    assert "left out: solver mosek" in printed.replace("\n", " ")
    assert "solver mosek" in (folder / "arm.md").read_text(encoding="utf-8")


def test_markdown_tables_are_well_formed(results):
    _, folder, _ = results
    text = (folder / "arm.md").read_text(encoding="utf-8")
    tables = [block for block in text.split("\n\n") if block.startswith("|")]
    assert len(tables) == 2  # growth over the chains, and the metrics
    for table in tables:
        lines = table.strip().splitlines()
        assert len({line.count("|") for line in lines}) == 1
        assert set(lines[1]) <= set("|-: ")
    assert text.count("<details>") == text.count("</details>")


def test_readme_section_is_replaced_and_the_rest_is_kept(results):
    _, folder, _ = results
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert text.startswith("# Title\n\n<!-- bench arm -->\n") and text.endswith("<!-- end bench arm -->\n\nafter\n")
    assert "old" not in text.split("<!-- bench arm -->")[1].splitlines()
    assert (folder / "arm.md").read_text(encoding="utf-8").strip() in text
    again = folder / "again.md"
    again.write_text(text, encoding="utf-8")
    replace_section(again, "new")
    replace_section(again, "new")
    assert again.read_text(encoding="utf-8").count("new") == 1


@pytest.mark.parametrize("text", ["", "<!-- bench arm -->", "<!-- end bench arm --> <!-- bench arm -->"])
def test_missing_markers_are_refused_and_nothing_is_written(tmp_path, text):
    file = tmp_path / "README.md"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(wbc.WbcError, match="end bench arm"):
        replace_section(file, "new")
    assert file.read_text(encoding="utf-8") == text


def test_the_printed_table_names_robots_and_solvers(results):
    rows, _, _ = results
    out = io.StringIO()
    arm.print_table([row for row in rows if row["robot"] == "chain7"], Console(file=out, width=200))
    assert "chain7" in out.getvalue() and "proxqp" in out.getvalue()
    arm.print_table([], Console(file=out))


def test_the_exponent_of_a_power_law_is_found():
    sizes = (7, 14, 28, 56)
    assert exponent(sizes, [3.0 * n**1.7 for n in sizes]) == pytest.approx(1.7)
    assert math.isnan(exponent((7,), (1.0,)))


def test_growth_speaks_of_chains_only(results):
    rows, _, _ = results
    entries = growth(rows)
    assert entries and all(list(entry["p50_us"]) == [7, 14] for entry in entries)


def test_recorded_velocities_are_the_derivative_of_the_recorded_positions():
    states = motion(load("chain7"), blocks=2, length=3)
    for block in states:
        central = (block[2].state.q - block[0].state.q) / (2.0 * DT)
        assert np.abs(central - block[1].state.v).max() < 1e-5  # the central difference is exact to dt²
        assert np.abs(block[1].state.v).max() > 0.1


def test_the_least_factor_is_what_the_strict_tasks_need():
    robot = load("chain7")
    state = motion(robot, blocks=1, length=1)[0][0].state
    free = wbc.Controller(robot, scene(robot, limited=False).stack, method="closed_form")
    need = least_factor(free.tick(state).report.problem, robot.torque_limits)
    limited = scene(robot, limited=True)
    bounded = wbc.Controller(robot, limited.stack)
    for factor, missed in ((1.001 * need, False), (0.9 * need, True)):
        limited.limits.scale = factor
        assert any(bounded.tick(state).report.tasks[name].is_missed for name in ("hand", "upright")) == missed


def test_the_truth_of_a_limited_moment_satisfies_the_kkt_conditions():
    robot = load("chain7")
    setting = Setting(robot, scene)
    seen = moments(setting, "inertia", "active", motion(robot, blocks=2, length=2))
    judge = Judge(setting, "inertia", "active")
    for moment in (moment for block in seen for moment in block):
        truth = judge.see(moment)
        p = truth.problem
        vdot = np.linalg.solve(p.M, truth.torque - p.h)
        G, h, A, b = truth.qp.G, truth.qp.h, truth.qp.A, truth.qp.b
        tight = G @ vdot > h - ROOM
        assert truth.active and tight.any()
        gradient = truth.qp.P @ vdot + truth.qp.q
        rows = np.vstack([A, G[tight]])
        multipliers = np.linalg.lstsq(-rows.T, gradient, rcond=None)[0]
        scale = 1.0 + np.abs(gradient).max()
        assert np.abs(A @ vdot - b).max() < 1e-9 and (G @ vdot - h).max() < 1e-9
        assert np.abs(gradient + rows.T @ multipliers).max() < 1e-9 * scale
        assert multipliers[len(A) :].min() > -1e-9 * scale


def test_collection_of_garbage_is_back_after_measuring():
    import gc

    with quiet():
        assert not gc.isenabled()
    assert gc.isenabled() and gc.get_freeze_count() == 0
