"""Recording: what is saved comes back, the summary has what it promises, and the plot is a picture."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from wbc.errors import InputError
from wbc.simulation import Recording

T = 500


@pytest.fixture
def recording() -> Recording:
    rng = np.random.default_rng(2)
    time = 0.001 * np.arange(T)
    contact = np.full((T, 6), np.nan)
    contact[100:400] = rng.standard_normal((300, 6))
    torque = np.column_stack((np.full(T, 3.0), np.full(T, -0.5)))
    torque[7] = 4.0 + 1e-10, 0.0  # on its limit but for rounding
    torque[10:12, 0] = 5.0
    return Recording(
        time=time,
        q=rng.standard_normal((T, 3)),
        v=np.column_stack((np.sin(time), -2.0 * np.ones(T))),
        torque=torque,
        error={"hand": np.tile((3e-3, 0.0, -4e-3), (T, 1)), "elbow/left": rng.standard_normal((T, 1))},
        wrenches={"foot": contact},
        measured_wrenches={},
        status=np.array(["OPTIMAL"] * 450 + ["RELAXED"] * 50),
        tick_us=rng.uniform(50, 100, T),
        dt=0.001,
        joint_names=("shoulder", "elbow"),
        torque_limits=np.array([4.0, np.inf]),
        velocity_names=("shoulder", "elbow"),
        velocity_limits=np.array([np.inf, 4.0]),
        robot="arm",
        scenario="wave",
    )


def test_what_is_saved_comes_back_bit_by_bit(recording: Recording, tmp_path: Path) -> None:
    back = Recording.load(recording.save(tmp_path / "run.npz"))
    for name in ("time", "q", "v", "torque", "status", "tick_us", "torque_limits", "velocity_limits"):
        assert np.array_equal(getattr(back, name), getattr(recording, name)), name
    for name in ("dt", "joint_names", "velocity_names", "robot", "scenario", "finished", "reason", "overruns"):
        assert getattr(back, name) == getattr(recording, name), name
    assert list(back.error) == ["hand", "elbow/left"] and back.measured_wrenches == {}
    assert np.array_equal(back.wrenches["foot"], recording.wrenches["foot"], equal_nan=True)
    assert back.summary() == recording.summary()


def test_the_summary_says_what_it_promises_and_is_json(recording: Recording) -> None:
    summary = json.loads(json.dumps(recording.summary(), allow_nan=False))
    assert summary["scenario"] == "wave" and summary["finished"] is True and summary["ticks"] == T
    assert summary["status"] == {"OPTIMAL": 450, "RELAXED": 50, "FALLBACK": 0}
    assert summary["error"]["hand"] == {"rms": pytest.approx(5e-3), "max": pytest.approx(5e-3)}
    assert summary["torque_ratio_max"] == pytest.approx(1.25) and summary["speed_ratio_max"] == pytest.approx(0.5)
    assert summary["violations"] == 2
    assert set(summary["tick_us"]) == {"p50", "p95", "p99", "max"}
    assert summary["tick_us"]["p50"] < summary["tick_us"]["p95"] <= summary["tick_us"]["max"]


def test_a_file_that_is_no_recording_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("no recording")
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    for name in ("missing.npz", "text.npz", "other.npz"):
        with pytest.raises(InputError, match=name):
            Recording.load(tmp_path / name)


def test_a_recording_cannot_go_where_there_is_no_folder(recording: Recording, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        recording.save(tmp_path / "nowhere" / "run.npz")


def test_the_plot_is_a_picture_even_of_a_run_that_ended_at_once(recording: Recording, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert recording.plot(tmp_path / "run.png").read_bytes()[1:4] == b"PNG"
    from dataclasses import replace

    empty = replace(
        recording,
        **{name: getattr(recording, name)[:0] for name in ("time", "q", "v", "torque", "status", "tick_us")},
        error={},
        wrenches={},
        finished=False,
        reason="the state is not finite any more",
    )
    assert empty.plot(tmp_path / "empty.png").stat().st_size > 1000
    assert empty.summary()["tick_us"]["p50"] is None
    with pytest.raises(InputError):
        recording.plot(tmp_path / "nowhere" / "run.png")
