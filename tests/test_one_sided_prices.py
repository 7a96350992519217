"""Prices where active rows are degenerate: a report says that they are one-sided, and re-solves bear it out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from arms import arm

from wbc import Command, Controller, Robot, Stack, State
from wbc.tasks import PositionTask, TorqueLimits

STEP = 1e-3  # N m
ROUNDING = 1e-6  # relative, of a difference of values over the step
CURVED = 1e-2  # relative, of the same


def pulled(robot: Robot, bounds: np.ndarray, twice: bool) -> Command:
    """An arm at rest whose hand asks for more than one joint can give; its limit stands in the stack once or twice."""
    hand = PositionTask("hand", frame="panda_hand_tcp")
    hand.target_acceleration = (30.0, 0.0, 60.0)
    limits = [TorqueLimits(name="motors"), TorqueLimits(name="gears", scale=1.0 if twice else 1e3)]
    # each limit takes the robot's bounds: the second one is moved apart by its scale only
    return Controller(replace(robot, torque_limits=bounds), Stack(limits=limits, strict=[[hand]])).tick(
        State(robot.home, np.zeros(robot.nv))
    )


def value(command: Command) -> float:
    missed = command.report.tasks["hand"].missed
    return 0.5 * float(missed @ missed)


def test_the_price_of_a_single_limit_is_two_sided() -> None:
    robot = arm("panda")
    active = pulled(robot, robot.torque_limits, False).report.active
    assert active and not any(limit.one_sided for limit in active)


def test_twin_limits_have_one_sided_prices_between_what_wider_and_narrower_bounds_bring() -> None:
    robot = arm("panda")
    bounds = np.array(robot.torque_limits)
    once, twice = pulled(robot, bounds, False), pulled(robot, bounds, True)
    assert np.abs(once.torque - twice.torque).max() < 1e-9
    assert twice.report.active and all(limit.one_sided for limit in twice.report.active)
    total = {limit.element: limit.price for limit in once.report.active}
    for element, price in total.items():
        twins = [limit.price for limit in twice.report.active if limit.element == element]
        # a wider bound of one twin alone brings nothing, a narrower one costs what the single limit costs
        assert all(-ROUNDING <= one <= price * (1.0 + ROUNDING) for one in twins)
        assert sum(twins) == pytest.approx(price, rel=1e-6)


def test_a_row_at_its_bound_that_holds_nothing_back_makes_prices_one_sided() -> None:
    robot = arm("panda")
    bounds = np.array(robot.torque_limits)
    command = pulled(robot, bounds, False)
    free = np.flatnonzero(np.abs(command.torque) < 0.9 * bounds)[0]
    touching = bounds.copy()
    touching[free] = abs(command.torque[free])  # it just touches its limit now
    touched = pulled(robot, touching, False)
    assert np.abs(touched.torque - command.torque).max() < 1e-8
    assert touched.report.active and all(limit.one_sided for limit in touched.report.active)
    held = touched.report.active[0]
    k = robot.joint_names.index(held.element)
    wider, narrower = touching.copy(), touching.copy()
    wider[k] += STEP
    narrower[k] -= STEP
    gain = (value(touched) - value(pulled(robot, wider, False))) / STEP
    cost = (value(pulled(robot, narrower, False)) - value(touched)) / STEP
    assert gain <= held.price * (1.0 + CURVED) and held.price <= cost * (1.0 + CURVED)
