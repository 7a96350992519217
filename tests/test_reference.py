"""Reference motions: exact derivatives, smooth starts, and rotations that never move a position."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from wbc import reference
from wbc.errors import InputError, WbcError

H = 1e-5  # s, step of the central differences
DERIVATIVE = 1e-7  # relative: truncation H² times the third derivative (below 1e2), rounding 1e-16/H

PATHS = {
    "figure": reference.figure((0.5, 0.1, 0.4), size=(0.1, 0.25, 0.12), speed=0.8, ramp=0.7),
    "minimum_jerk": reference.minimum_jerk((0.1, -0.2, 0.3), (0.5, 0.4, -0.1), 1.3),
    "minimum_jerk of 7 joints": reference.minimum_jerk(np.zeros(7), np.arange(7.0), 2.0),
    "arc": reference.arc((0.5, 0.1, 0.4), (0.3, 0.0, 0.2), (1.0, 2.0, -0.5), 2.5, 1.5),
    "hold": reference.hold((1.0, 2.0, 3.0)),
}
TURNINGS = {
    "turn": reference.turn(pin.exp3(np.array([0.3, -1.0, 0.5])), (1.0, -1.0, 0.3), 2.8, 1.4),
    "swing": reference.swing(pin.exp3(np.array([0.3, -1.0, 0.5])), (0.0, 0.2, 1.0), 1.2, 1.1, ramp=0.6),
}
TIMES = np.linspace(0.013, 3.0, 57)


@pytest.mark.parametrize("name", PATHS)
def test_velocity_and_acceleration_are_the_derivatives_of_the_position(name: str) -> None:
    path = PATHS[name]
    for t in TIMES:
        now, before, after = path(t), path(t - H), path(t + H)
        velocity = (after.position - before.position) / (2 * H)
        acceleration = (after.velocity - before.velocity) / (2 * H)
        assert np.allclose(velocity, now.velocity, rtol=0, atol=DERIVATIVE * (1 + np.abs(now.velocity).max()))
        assert np.allclose(acceleration, now.acceleration, rtol=0, atol=1e-6 * (1 + np.abs(now.acceleration).max()))


@pytest.mark.parametrize("name", TURNINGS)
def test_angular_velocity_and_acceleration_are_derivatives_in_world_axes(name: str) -> None:
    turning = TURNINGS[name]
    for t in TIMES:
        now, before, after = turning(t), turning(t - H), turning(t + H)
        omega = pin.log3(after.rotation @ before.rotation.T) / (2 * H)
        alpha = (after.angular_velocity - before.angular_velocity) / (2 * H)
        assert np.allclose(omega, now.angular_velocity, rtol=0, atol=1e-6)
        assert np.allclose(alpha, now.angular_acceleration, rtol=0, atol=1e-5)
        assert np.allclose(now.rotation @ now.rotation.T, np.eye(3), atol=1e-12)


def test_the_figure_starts_from_rest_at_its_centre_and_reaches_the_speed_asked_for() -> None:
    path = reference.figure((0.5, 0.0, 0.4), speed=0.8)
    begin = path(0.0)
    assert np.array_equal(begin.position, (0.5, 0.0, 0.4))
    assert not begin.velocity.any() and not begin.acceleration.any()
    speeds = [np.linalg.norm(path(t).velocity) for t in np.linspace(0.0, 10.0, 20001)]
    assert max(speeds) == pytest.approx(0.8, rel=1e-5)
    assert max(speeds) <= 0.8 * (1 + 1e-6)


@pytest.mark.parametrize("name", ["minimum_jerk", "arc"])
def test_a_motion_with_an_end_stands_still_before_and_after(name: str) -> None:
    path = PATHS[name]
    for t in (-1.0, 0.0, 5.0, 100.0):
        assert not path(t).velocity.any() and not path(t).acceleration.any()
    assert np.array_equal(path(-1.0).position, path(0.0).position)
    assert np.array_equal(path(5.0).position, path(100.0).position)


def test_an_arc_keeps_its_distance_and_a_turn_ends_at_its_angle() -> None:
    centre = np.array([0.3, 0.0, 0.2])
    distances = [np.linalg.norm(PATHS["arc"](t).position - centre) for t in TIMES]
    assert np.ptp(distances) < 1e-12
    turned = TURNINGS["turn"](10.0).rotation @ TURNINGS["turn"](0.0).rotation.T
    assert np.linalg.norm(pin.log3(turned)) == pytest.approx(2.8, abs=1e-12)


def test_a_pure_rotation_never_moves_the_position() -> None:
    """Field report C05."""
    pose = start = pin.SE3(pin.exp3(np.array([0.4, 0.2, -0.3])), np.array([0.5, 0.2, 0.7]))
    for _ in range(1000):
        pose = reference.integrate_twist(pose, (0, 0, 0, 0, 0, 1.0), 1e-3)
    assert np.abs(pose.translation - (0.5, 0.2, 0.7)).max() <= 1e-9
    assert np.abs(pin.log3(pose.rotation @ start.rotation.T) - (0, 0, 1.0)).max() <= 1e-6


def test_a_pure_translation_leaves_the_rotation_alone() -> None:
    start = pin.SE3(pin.exp3(np.array([0.4, 0.2, -0.3])), np.array([0.5, 0.2, 0.7]))
    pose = reference.integrate_twist(start, (1.0, -2.0, 0.5, 0, 0, 0), 0.1)
    assert np.array_equal(pose.rotation, start.rotation)
    assert np.allclose(pose.translation, (0.6, 0.0, 0.75), atol=1e-15)


@pytest.mark.parametrize(
    "make",
    [
        lambda: reference.minimum_jerk((0, 0, 0), (1, 1, 1), 0.0),
        lambda: reference.minimum_jerk((0, 0, 0), (1, 1), 1.0),
        lambda: reference.figure((0, 0, np.nan)),
        lambda: reference.figure((0, 0, 0), frequencies=(1.5, 1, 1)),
        lambda: reference.figure((0, 0, 0), size=(0, 0, 0)),
        lambda: reference.figure((0, 0, 0), speed=-1.0),
        lambda: reference.turn(np.diag((1.0, 1.0, -1.0)), (0, 0, 1), 1.0, 1.0),
        lambda: reference.turn(np.eye(3), (0, 0, 0), 1.0, 1.0),
        lambda: reference.arc((0, 0), (0, 0, 0), (0, 0, 1), 1.0, 1.0),
    ],
)
def test_a_motion_that_cannot_be_meant_is_refused(make: object) -> None:
    with pytest.raises(WbcError):
        make()  # type: ignore[operator]
    assert issubclass(InputError, ValueError)
