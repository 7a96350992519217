"""Real time: switches that are turned back, runs that the wall clock paces, and ticks that leave nothing behind."""

import gc
import os
import tracemalloc

import numpy as np
import pytest
from fixtures import quiet
from typer.testing import CliRunner

import wbc
from wbc.benchmarks.peer_scene import follow, scene
from wbc.cli import app
from wbc.errors import InputError, NotInstalledError
from wbc.realtime import _threads, one_thread, realtime
from wbc.robots import example_robot_data
from wbc.robots.double_pendulum import robot as double_pendulum
from wbc.simulation import Recording
from wbc.simulation.pacing import WallClock
from wbc.tasks import PostureTask

TICKS = int(os.environ.get("WBC_TEST_GARBAGE_TICKS", "2000"))  # 100000 for the whole proof: half an hour
PROOF = TICKS >= 100_000
WINDOWS = 5
NOTHING = 1024  # bytes, in all windows together in the proof: what the caches of Python and numpy still take
CASES = [("panda", "idle"), ("panda", "active"), ("anymal_c", "active")]
CASES += [("talos", "idle"), ("talos", "active")] if PROOF else []


def has_wheel():
    try:
        example_robot_data.folder()
    except NotInstalledError:
        return False
    return True


def test_collection_and_threads_are_as_before_afterwards():
    np.linalg.svd(np.eye(3))
    before = [count for _, count in _threads()]
    assert gc.isenabled()
    with realtime() as switches:
        assert not gc.isenabled() and gc.get_freeze_count() > 0
        assert switches.collection is False and switches.refused == ()
        assert all(count == 1 for _, count in _threads()) and switches.threads == (1 if before else None)
    assert gc.isenabled() and gc.get_freeze_count() == 0
    assert [count for _, count in _threads()] == before


def test_an_error_inside_turns_everything_back_as_well():
    gc.disable()
    try:
        with pytest.raises(ZeroDivisionError), realtime():
            raise ZeroDivisionError
        assert not gc.isenabled()  # it was off before
    finally:
        gc.enable()
    with realtime(collection=True) as switches:
        assert gc.isenabled() and switches.collection


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores can be chosen on Linux only")
def test_one_core_while_it_lasts():
    cores = os.sched_getaffinity(0)
    core = max(cores)
    with realtime(core=core) as switches:
        assert os.sched_getaffinity(0) == {core} and switches.core == core
    assert os.sched_getaffinity(0) == cores


@pytest.mark.skipif(not hasattr(os, "SCHED_FIFO"), reason="the real-time scheduler is Linux's")
def test_a_priority_is_had_or_refused_in_a_sentence_and_given_back():
    with realtime(priority=1) as switches:
        if switches.priority:
            assert os.sched_getscheduler(0) == os.SCHED_FIFO
        else:
            assert "priority 1 was refused" in switches.refused[0]
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


@pytest.mark.parametrize("arguments", [{"core": 10**6}, {"core": True}, {"priority": 100}, {"priority": -1}])
def test_what_cannot_be_meant_is_refused_and_nothing_is_switched(arguments):
    with pytest.raises(InputError, match=next(iter(arguments))), realtime(**arguments):
        pass
    assert gc.isenabled() and gc.get_freeze_count() == 0


def test_one_thread_says_what_is_known():
    assert one_thread() in {"1", os.environ.get("OMP_NUM_THREADS", "the library's choice")}


def test_the_clock_says_how_late_each_tick_began():
    clock = WallClock(0.002)
    for _ in range(5):
        clock.wait()
    assert len(clock.late_us) == 5 and min(clock.late_us) >= 0.0


@pytest.mark.filterwarnings("ignore")
def test_a_paced_run_records_lateness_and_another_does_not(tmp_path):
    robot = quiet(double_pendulum)

    def run(**arguments):
        controller = wbc.Controller(robot, wbc.Stack(nominal=PostureTask("posture")), dt=0.002)
        return wbc.simulate(controller, 0.04, physics="pinocchio", progress=False, **arguments)

    paced, free = run(realtime=True), run()
    assert paced.late_us.shape == paced.time.shape and (paced.late_us >= 0.0).all()
    assert paced.summary()["late_us"]["max"] == paced.late_us.max()
    assert free.late_us.size == 0 and free.summary()["late_us"]["max"] is None
    again = Recording.load(paced.save(tmp_path / "run.npz"))
    np.testing.assert_array_equal(again.late_us, paced.late_us)


@pytest.mark.skipif(not has_wheel(), reason='needs pip install "wbc[robots]"')
@pytest.mark.filterwarnings("ignore")
def test_wbc_run_realtime_reports_late_ticks():
    pytest.importorskip("mujoco")
    found = CliRunner().invoke(app, ["run", "panda-limits", "--realtime", "--duration", "0.05"])
    assert found.exit_code == 0, found.output
    assert "real time" in found.output and "of 50" in found.output and "slow" in found.output
    assert gc.isenabled() and gc.get_freeze_count() == 0


@pytest.mark.skipif(not has_wheel(), reason='needs pip install "wbc[robots]"')
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "case"), CASES)
def test_a_tick_leaves_nothing_behind(name, case):
    made = scene(name, case, 20)
    controller = made.controller()
    stack = controller.stack

    def go(ticks):
        for i in range(ticks):
            follow(stack, made.tasks, made.references[i % 20])
            controller.tick(made.states[i % 20])

    go(60)  # warm-up: caches fill, models of the solver are made
    grown = []
    with realtime():  # no collection: nothing may need one
        tracemalloc.start()
        try:
            # the collection that realtime() began with emptied Python's free lists, and numpy keeps small blocks that
            # were freed before they were traced: both grow until they are full; what a tick leaves grows on
            go(TICKS // 20)
            for _ in range(WINDOWS):
                before, _ = tracemalloc.get_traced_memory()
                go(TICKS // WINDOWS)
                grown.append(tracemalloc.get_traced_memory()[0] - before)
                if grown[-1] < NOTHING and not PROOF:
                    break
        finally:
            tracemalloc.stop()
    assert (sum(grown) if PROOF else min(grown)) < NOTHING, grown
