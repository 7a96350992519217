"""Scenes of arms: each keeps, on a shortened run, what it promises; the main job keeps it over its hard part."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from wbc import scenarios
from wbc.errors import UnknownNameError
from wbc.scenarios import measures

ARMS = tuple(name for name in scenarios.names() if name.startswith(("panda-", "ur5-")))
SECONDS = {"panda-figure": 4.8}  # through the second time that 0.32 of the torque is not enough; others one second


@pytest.fixture(scope="module")
def figure():
    return scenarios.play(scenarios.load("panda-figure"), duration=SECONDS["panda-figure"], progress=False)


@pytest.mark.parametrize("name", [name for name in ARMS if name in ("panda-limits", "panda-passive")])
def test_a_scene_keeps_what_it_promises(name):
    outcome = scenarios.play(scenarios.load(name), duration=1.0, progress=False)
    assert outcome.failures == ()
    assert outcome.main.finished


def test_the_main_job_keeps_what_it_promises(figure):
    assert figure.failures == ()
    assert set(figure.recordings) == {"osc", "qp", "rac", "clipped", "limits"}


def test_closed_form_and_qp_give_the_same_torque_on_the_figure(figure):
    values = {bound.what: value for bound, value in figure.measured}
    assert values["closed form and QP: torque difference"] < 1e-9  # N m


def test_the_figure_is_followed_at_its_speed_within_a_tenth_of_a_millimetre(figure):
    for name in ("osc", "qp"):
        assert measures.position_rms_mm(figure.recordings[name]) < 0.1
    path = measures.path(figure.scenario.robot, figure.recordings["osc"], figure.scenario.frame)
    speed = np.linalg.norm(np.diff(path, axis=0), axis=1) / 1e-3
    assert speed.max() == pytest.approx(0.8, abs=0.01)  # m/s


def test_the_stack_that_knows_its_limits_keeps_them_where_clipping_loses_the_hand(figure):
    clipped, limits = figure.recordings["clipped"], figure.recordings["limits"]
    assert figure.summary()["runs"]["clipped"]["asked_violations"] > 0
    assert (np.abs(limits.torque) - limits.torque_limits).max() <= 1e-9
    assert limits.speed_ratio.max() <= 1.0
    assert measures.orientation_rms_mrad(limits) < measures.orientation_rms_mrad(clipped) / 3.0


def test_the_tray_goes_six_tenths_of_a_metre_and_turns_about_the_vertical_without_tilting():
    outcome = scenarios.play(scenarios.load("panda-tray"), progress=False)
    assert outcome.failures == ()
    robot, rec = outcome.scenario.robot, outcome.main
    path = measures.path(robot, rec, outcome.scenario.frame)
    assert np.linalg.norm(np.diff(path, axis=0), axis=1).sum() == pytest.approx(0.6, abs=1e-3)
    first, last = (measures.pose_at(robot, q, outcome.scenario.frame).rotation for q in (rec.q[0], rec.q[-1]))
    assert np.linalg.norm(pin.log3(last @ first.T)) > 1.0  # rad
    assert 1e3 * measures.norms(rec, "tray").max() < 0.5  # mrad


def test_the_straight_arm_is_damped_out_of_reach_and_comes_back_without_a_jump():
    outcome = scenarios.play(scenarios.load("ur5-singular"), progress=False)
    assert outcome.failures == ()
    rec = outcome.main
    error = measures.norms(rec, "hand")
    assert error.max() > 0.015  # m: it was out of reach indeed
    assert (rec.status == "RELAXED").any()
    assert error[-1] < 1e-5  # m
    assert measures.largest_torque_step(rec) < 0.02
    assert np.abs(rec.q[:, 2]).min() < 0.02  # rad: the elbow was straight, but for what the wrist is set off


def test_an_elbow_that_nobody_drives_falls_until_a_limit_catches_it():
    outcome = scenarios.play(scenarios.load("panda-passive"), duration=2.0, progress=False)
    assert outcome.failures == ()
    robot, rec = outcome.scenario.robot, outcome.main
    lower, upper = robot.position_limits
    assert (rec.q[-1] - lower).min() < 0.01  # rad
    assert (rec.q >= lower).all()
    assert (rec.q <= upper).all()


@pytest.mark.parametrize("name", scenarios.names())
def test_every_scene_has_one_line_that_needs_no_building(name):
    assert 10 < len(scenarios.line(name)) < 110


def test_an_unknown_scenario_is_refused_with_close_matches():
    with pytest.raises(UnknownNameError, match="panda-figure"):
        scenarios.load("panda-figur")
