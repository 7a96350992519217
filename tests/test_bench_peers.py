"""The comparison with peers: what they are handed, what is said to them, what is made of it; by a peer of our own."""

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from rich.console import Console
from typer.testing import CliRunner

from wbc.benchmarks import peer_environments, peers
from wbc.benchmarks.model_urdf import urdf_of
from wbc.benchmarks.peer_environments import ON_DEMAND, PLACO, TSID, interpreter, is_made
from wbc.benchmarks.peer_process import WORKERS, PeerError, PeerProcess
from wbc.benchmarks.peer_scene import scene
from wbc.cli import app
from wbc.errors import NotInstalledError, RobotError, UnknownNameError
from wbc.robots import example_robot_data, load

try:
    example_robot_data.folder()
except NotInstalledError:
    pytest.skip('needs pip install "wbc[robots]"', allow_module_level=True)
pytestmark = pytest.mark.filterwarnings("ignore")

WORKER = Path(__file__).with_name("least_squares_peer.py")
WRITTEN = (
    1e-12  # relative: numbers in a URDF are written so that they are read back bit by bit; roll, pitch, yaw are not
)
SAME = 1e-6  # m/s², rad/s²: what is left of the Gauss cost beside the tasks


def ours(worker=WORKER, python=sys.executable):
    return peers.Peer("least squares", Path(python), Path(worker))


@pytest.mark.parametrize("name", ["panda", "anymal_c", "talos", "g1"])
def test_a_robot_written_as_urdf_is_the_same_robot(name):
    robot = load(name)
    frames = [foot.frame for foot in robot.footing] or ["panda_hand_tcp"]
    free = pin.JointModelFreeFlyer() if robot.nv != robot.nu else None
    text = urdf_of(robot, frames)
    model = pin.buildModelFromXML(text, free) if free else pin.buildModelFromXML(text)
    rng = np.random.default_rng(1)
    q, v = pin.integrate(robot.model, robot.home, rng.normal(size=robot.nv)), rng.normal(size=robot.nv)
    # pinocchio sorts joints that hang on one body by name, so that the order may differ
    base = 6 if free else 0
    order = np.array([*range(base), *(model.joints[model.getJointId(n)].idx_v for n in robot.joint_names)])
    q_there, v_there = np.array(q), np.empty(robot.nv)
    v_there[order] = v
    q_there[order[base:] + (1 if free else 0)] = q[base + (1 if free else 0) :]
    data, there = robot.model.createData(), model.createData()
    M, M_there = pin.crba(robot.model, data, q), pin.crba(model, there, q_there)
    h, h_there = pin.nonLinearEffects(robot.model, data, q, v), pin.nonLinearEffects(model, there, q_there, v_there)
    np.testing.assert_allclose(M_there[np.ix_(order, order)], M, atol=WRITTEN * np.abs(M).max())
    np.testing.assert_allclose(h_there[order], h, atol=WRITTEN * np.abs(h).max())
    pin.framesForwardKinematics(robot.model, data, q)
    pin.framesForwardKinematics(model, there, q_there)
    for frame in frames:
        here, other = data.oMf[robot.frame_id(frame)], there.oMf[model.getFrameId(frame)]
        np.testing.assert_allclose(other.homogeneous, here.homogeneous, atol=WRITTEN * 100)
    np.testing.assert_array_equal(model.effortLimit[order[base:]], robot.torque_limits)


def test_a_joint_that_a_urdf_cannot_say_is_refused():
    with pytest.raises(RobotError, match="Planar"):
        urdf_of(load("tiago"), [])


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("peers")
    readme = folder / "README.md"
    readme.write_text("<!-- bench peers -->\nstale\n<!-- end bench peers -->\n", encoding="utf-8")
    rows = peers.run(
        quick=True,
        json=folder / "peers.json",
        readme=readme,
        robots=("panda",),
        peers=[ours()],
        console=Console(file=io.StringIO()),
        progress=False,
    )
    return rows, folder


def test_a_peer_of_the_same_problem_finds_the_same_accelerations(results):
    idle, active = results[0]
    assert idle["peer_solved"] == idle["compared"] == 1.0
    assert idle["acceleration_difference_max"] < SAME
    # it knows no limits: where one is active it has no solution, and nothing is compared
    assert active["peer_solved"] < 1.0 and active["compared"] == pytest.approx(active["peer_solved"], abs=0.02)


def test_rows_hold_ratios_and_files_hold_rows(results):
    rows, folder = results
    for row in rows:
        assert set(row) == set(peers.Row.__annotations__)
        assert row["peer"] == "least squares" and row["peer_versions"] == {"least squares": "1"}
        assert row["ratio_p50"] > 0.0
        assert row["ratio_p99"] == pytest.approx(row["own_p99_us"] / row["peer_own_p99_us"])
        for who in ("", "peer_"):
            assert 0.0 < row[f"{who}p50_us"] <= row[f"{who}p95_us"] <= row[f"{who}p99_us"] <= row[f"{who}max_us"]
    assert json.loads((folder / "peers.json").read_text(encoding="utf-8"))["rows"] == rows
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert "stale" not in text and "| panda | idle | least squares |" in text


def test_check_speaks_of_placo_and_of_the_same_problem_only():
    row = {"robot": "talos", "case": "idle", "peer": "placo", "ratio_p50": 0.3, "acceleration_difference": 1e-7}
    assert peers.missed([row]) == []
    assert "0.40, at most 0.35" in peers.missed([row | {"ratio_p50": 0.4}])[0]
    assert "not the same problem" in peers.missed([row | {"acceleration_difference": 1e-3}])[0]
    assert "not the same problem" in peers.missed([row | {"acceleration_difference": None}])[0]
    assert peers.missed([row | {"peer": "tsid", "ratio_p50": 9.0}]) == []


def test_a_peer_that_ends_says_why_in_one_sentence(tmp_path):
    made = scene("panda", "idle", 5)
    broken = tmp_path / "broken.py"
    broken.write_text("raise RuntimeError('no such solver')\n", encoding="utf-8")
    with pytest.raises(PeerError, match="no such solver"):
        PeerProcess("broken", Path(sys.executable), broken, made)
    with pytest.raises(PeerError, match="cannot be started"):
        PeerProcess("nobody", tmp_path / "python", WORKER, made)
    late = tmp_path / "late.py"
    late.write_text("print('{\"ready\": {}}', flush=True)\nraise SystemExit('gave up')\n", encoding="utf-8")
    with PeerProcess("late", Path(sys.executable), late, made) as process, pytest.raises(PeerError, match="gave up"):
        process.run(0, 5)


def test_without_a_registry_there_is_one_sentence_and_status_2(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert str(tmp_path) in str(peer_environments.cache())

    def fail(command, **keywords):
        return subprocess.CompletedProcess(command, 1, "", "WARNING: retrying\nERROR: No matching distribution\n")

    monkeypatch.setattr(peer_environments.subprocess, "run", fail)
    with pytest.raises(NotInstalledError, match=r"placo==0\.10\.2 cannot be installed \(ERROR: No matching"):
        interpreter(PLACO)
    found = CliRunner().invoke(app, ["bench", "peers", "--quick"])
    assert found.exit_code == 2 and "cannot be installed" in found.output and "Traceback" not in found.output


def test_an_environment_is_made_once(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    calls, said = [], []

    def make(command, **keywords):
        calls.append(command)
        python = peer_environments.cache() / f"placo-py{sys.version_info.major}{sys.version_info.minor}/bin/python"
        python.parent.mkdir(parents=True, exist_ok=True)
        python.touch()
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(peer_environments.subprocess, "run", make)
    first = interpreter(PLACO, said.append)
    assert interpreter(PLACO, said.append) == first
    assert len(calls) == 2 and len(said) == 1 and "placo==0.10.2" in calls[1]


def test_a_python_without_tsid_says_so_in_one_sentence_and_status_2(monkeypatch):
    monkeypatch.setattr(peers, "ON_DEMAND", (TSID,))
    found = CliRunner().invoke(app, ["bench", "peers", "--quick", "--robot", "panda", "--tsid", sys.executable])
    assert found.exit_code == 2 and "Traceback" not in found.output
    assert "peer tsid: its program ended: this Python cannot import tsid: No module named 'tsid'" in found.output


def test_who_is_not_required_and_cannot_be_had_is_left_out_by_name(monkeypatch, tmp_path):
    def fail(spec, say):
        raise NotInstalledError(f"peer {spec.name}: no network")

    monkeypatch.setattr(peers, "interpreter", fail)
    monkeypatch.setattr(peers, "ON_DEMAND", [spec for spec in ON_DEMAND if spec is not PLACO])
    out, file = io.StringIO(), tmp_path / "peers.json"
    rows = peers.run(quick=True, json=file, robots=(), console=Console(file=out), progress=False)
    assert rows == [] and "left out: peer tsid: no network" in out.getvalue()
    assert "peer tsid: no network" in json.loads(file.read_text(encoding="utf-8"))["left_out"]
    with pytest.raises(NotInstalledError, match="placo"):
        monkeypatch.setattr(peers, "ON_DEMAND", ON_DEMAND)
        peers.run(quick=True, robots=(), console=Console(file=out), progress=False)


MADE = [spec for spec in ON_DEMAND if is_made(spec)]


@pytest.mark.skipif(not MADE, reason="no peer's environment was made by `wbc bench peers` yet")
@pytest.mark.parametrize("spec", MADE, ids=lambda spec: spec.name)
@pytest.mark.parametrize("name", ["panda", "anymal_c"])
def test_peers_that_are_there_solve_every_tick_and_those_that_do_the_same_work_agree(spec, name):
    made = scene(name, "idle", 5)
    with PeerProcess(spec.name, interpreter(spec), WORKERS / spec.worker, made) as process:
        assert process.run(0, 5).min() > 0.0 and process.solved.all()
        assert spec.name in process.versions
        if spec.same_work:
            assert np.abs(process.accelerations() - peers._accelerations(made).vdot).max() < SAME


def test_an_unknown_robot_is_refused():
    with pytest.raises(UnknownNameError, match="panda, anymal_c, talos"):
        peers.run(quick=True, robots=("atlas",), peers=[])
