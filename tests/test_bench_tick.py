"""The tick benchmark: its scenes, its interleaving, its stages, its files. Times are measured and never asserted."""

import io
import json

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from wbc.benchmarks import tick
from wbc.benchmarks.interleave import SETTLE, interleave
from wbc.benchmarks.peer_scene import FRICTION, HELD, follow, scene
from wbc.benchmarks.phases import PHASES, phases
from wbc.cli import app
from wbc.errors import NotInstalledError, UnknownNameError, WbcError
from wbc.robots import example_robot_data

try:
    example_robot_data.folder()
except NotInstalledError:
    pytest.skip('needs pip install "wbc[robots]"', allow_module_level=True)
pytestmark = pytest.mark.filterwarnings("ignore")
TICKS = 40


@pytest.fixture(scope="module")
def scenes():
    return {(name, case): scene(name, case, TICKS) for name in ("panda", "anymal_c") for case in ("idle", "active")}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tick")
    readme = folder / "README.md"
    readme.write_text("# Title\n\n<!-- bench tick -->\nstale\n<!-- end bench tick -->\n\nafter\n", encoding="utf-8")
    out = io.StringIO()
    rows = tick.run(
        quick=True,
        json=folder / "tick.json",
        markdown=folder / "tick.md",
        readme=readme,
        robots=("panda", "anymal_c"),
        console=Console(file=out),
        progress=False,
    )
    return rows, folder


def test_idle_has_no_active_limit_and_active_has_some_while_contacts_hold(scenes):
    for (name, case), made in scenes.items():
        rows = tick.active_rows(made)
        assert (rows == 0).all() if case == "idle" else np.median(rows) >= 1, (name, case, rows)
        controller = made.controller()
        for state, reference in zip(made.states, made.references, strict=True):
            follow(controller.stack, made.tasks, reference)
            command = controller.tick(state)
            p = command.report.problem
            n = p.layout.nf
            assert np.abs(p.A[:n] @ command.acceleration + p.b[:n]).max(initial=0.0) <= HELD
            assert (np.abs(command.torque) <= made.robot.torque_limits * (1.0 + 1e-9)).all()


def test_states_follow_each_other_as_the_commanded_accelerations_say(scenes):
    made = scenes["anymal_c", "idle"]
    controller = made.controller()
    for state, reference, after in zip(made.states, made.references, made.states[1:], strict=False):
        follow(controller.stack, made.tasks, reference)
        # contacts hold where they were when the record began, here where they are first seen: the same to 1e-6
        np.testing.assert_allclose(
            state.v + 0.001 * controller.tick(state).acceleration, after.v, atol=1e-6, err_msg="v(t + dt)"
        )


def test_the_closed_form_is_the_same_problem_where_no_limit_is_active(scenes):
    for name in ("panda", "anymal_c"):
        made = scenes[name, "idle"]
        limited, free = made.controller(), made.controller("closed_form")
        for state, reference in zip(made.states[::10], made.references[::10], strict=True):
            for controller in (limited, free):
                follow(controller.stack, made.tasks, reference)
            np.testing.assert_allclose(limited.tick(state).torque, free.tick(state).torque, atol=1e-8)
        assert all(contact.friction == FRICTION for contact in limited.stack.contacts)


def test_blocks_are_run_in_turn_and_their_first_ticks_are_not_counted():
    calls = []

    def runner(name, ns):
        def go(first, stop):
            calls.append((name, first, stop))
            return np.full(stop - first, ns) + np.arange(stop - first) * (np.arange(stop - first) < SETTLE) * 1e6

        return go

    times = interleave({"a": runner("a", 1000.0), "b": runner("b", 3000.0)}, 25, 10, 2)
    assert [(name, first) for name, first, _ in calls] == [
        *(("a", 0), ("b", 0), ("b", 10), ("a", 10)),
        *(("a", 0), ("b", 0), ("b", 10), ("a", 10)),
    ]
    assert times["a"].ns.shape == (2, 2 * (10 - SETTLE))
    assert times["b"].over(times["a"]) == 3.0
    assert times["a"].us(100) == times["a"].own_us(99) == 1.0


def test_an_interruption_counts_in_the_maximum_and_not_in_a_ticks_own_time():
    lap = [0]

    def go(first, stop):
        ns = np.full(stop - first, 2000.0)
        ns[-1] += 1e6 * (lap[0] == 1)
        lap[0] += 1
        return ns

    times = interleave({"a": go}, 10, 10, 3)["a"]
    assert times.us(100) == 1002.0
    assert times.own_us(100) == 2.0


def test_stages_are_watched_by_name_and_a_missing_one_says_what_to_mend(scenes, monkeypatch):
    found = phases(scenes["panda", "idle"])
    assert set(found) == set(PHASES)
    assert all(us > 0.0 for us in found.values())
    monkeypatch.setitem(__import__("wbc.benchmarks.phases").benchmarks.phases.STAGES, "rows", ("_assembler", "gone"))
    with pytest.raises(WbcError, match=r"_assembler\.gone"):
        phases(scenes["panda", "idle"])


def test_every_row_has_every_key_and_the_files_hold_them(results):
    rows, folder = results
    assert [(row["robot"], row["case"], row["method"]) for row in rows] == [
        (name, case, method)
        for name in ("panda", "anymal_c")
        for case in ("idle", "active")
        for method in ("auto", "closed_form")
    ]
    for row in rows:
        assert set(row) == set(tick.Row.__annotations__)
        assert 0.0 < row["p50_us"] <= row["p95_us"] <= row["p99_us"] <= row["max_us"]
        assert row["ratio_p50"] == 1.0 or row["method"] == "auto"
    found = json.loads((folder / "tick.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert found["rows"] == rows and {"machine", "versions"} <= set(found)
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert "stale" not in text and text.endswith("after\n") and "| panda | idle | auto |" in text


def test_check_names_what_is_missed():
    kept = {
        "robot": "panda",
        "case": "idle",
        "method": "auto",
        "ratio_p50": 1.1,
        "own_p50_us": 10.0,
        "own_p99_us": 19.0,
    }
    assert tick.missed([kept]) == []
    assert "auto over closed form is 1.30" in tick.missed([kept | {"ratio_p50": 1.3}])[0]
    assert "p99 over p50 is 2.10" in tick.missed([kept | {"own_p99_us": 21.0}])[0]
    assert tick.missed([kept | {"case": "active", "own_p99_us": 24.0, "ratio_p50": 9.0}]) == []
    assert tick.missed([kept | {"method": "closed_form", "ratio_p50": 9.0}]) == []


def test_an_unknown_robot_is_refused_in_one_sentence():
    with pytest.raises(UnknownNameError, match="it has panda"):
        tick.run(quick=True, robots=("pandora",))
    found = CliRunner().invoke(app, ["bench", "tick", "--robot", "pandora"])
    assert found.exit_code == 2 and "pandora" in found.output and "Traceback" not in found.output
