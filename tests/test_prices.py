"""Prices of limits on a floating base and at missed strict levels: what a wider bound brings, against a re-solve."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest
from standing import Standing, robot_or_skip

from wbc import Command, Controller, Gains, Robot, Stack, State
from wbc.tasks import ComTask, JointLimits, PostureTask, TorqueLimits

RELATIVE = 1e-3  # ten times better than prices promise, on active sets that do not change
STEP = 1e-4  # N m; of a central difference, whose error is of second order
DIGITS = 1e-8  # of a difference of values of 10 to 1e4, with 12 to 16 digits, over the step
CASES = {  # robot, torque scale, strict or soft, demand [m/s²]
    "talos, strict missed": ("talos", 0.25, True, 6.0),
    "talos, soft": ("talos", 0.25, False, 3.0),
    "g1, strict missed": ("g1", 0.3, True, 6.0),
    "g1, soft": ("g1", 0.3, False, 3.0),
    "anymal_c, strict missed": ("anymal_c", 0.4, True, 6.0),
    "anymal_c, soft": ("anymal_c", 0.4, False, 3.0),
}


def command_of(robot: Robot, state: State, strict: bool, demand: np.ndarray, bounds: np.ndarray) -> Command:
    com = ComTask("com", gains=Gains(0.0, 0.0))
    com.target_acceleration = demand
    stack = Stack(
        nominal=PostureTask("posture", target=robot.home, gains=Gains.critical(10.0)),
        contacts=[robot.contact(foot, friction=0.7) for foot in robot.feet],
        limits=[TorqueLimits(), JointLimits()],
        strict=[com] if strict else [],
        soft=[] if strict else [(com, 15.0 * robot.mass)],
    )
    return Controller(replace(robot, torque_limits=bounds), stack).tick(state)


def value_at(command: Command, level: str) -> float:
    """½ ‖residual‖² of a level: of the strict task, of Gauss with the soft tasks, of the forces."""
    p, solution = command.report.problem, command.report.solution
    assert solution is not None
    layout, soft = p.layout, p.layout.soft_rows
    if level.startswith("strict"):
        missed = command.report.tasks["com"].missed
        return 0.5 * float(missed @ missed)
    if level == "gauss":
        away = command.acceleration - p.nominal
        r = layout.root_weights[soft] * (p.A[soft] @ command.acceleration + p.b[soft])
        return 0.5 * float(away @ p.M @ away + r @ r)
    away = p.root_weight_f * (solution.f - p.f0)
    return 0.5 * float(away @ away)


@pytest.mark.parametrize("case", CASES)
def test_a_price_is_what_its_level_gains_from_a_wider_bound_on_a_floating_base(case: str) -> None:
    name, scale, strict, reach = CASES[case]
    robot = robot_or_skip(name)
    random, draws, checked, levels = np.random.default_rng(51), Standing(robot), 0, set()
    base = scale * robot.torque_limits
    for _ in range(6):
        state, demand = draws.draw(random), reach * random.normal(size=3)
        tick = functools.partial(command_of, robot, state, strict, demand)
        here = tick(base)
        active = [limit for limit in here.report.active if limit.limit == "torque"]
        for limit in dict.fromkeys(active[:3] + active[-2:]):  # the dearest and the cheapest
            i = robot.joint_names.index(limit.element)
            ends = []
            for sign in (1.0, -1.0):
                bounds = base.copy()
                bounds[i] += sign * STEP
                ends.append(tick(bounds))
            if len({frozenset((a.limit, a.element, a.level) for a in end.report.active) for end in (*ends, here)}) > 1:
                continue  # the active set changes inside the difference: one-sided there
            slope = -(value_at(ends[0], limit.level) - value_at(ends[1], limit.level)) / (2.0 * STEP)
            assert limit.price == pytest.approx(slope, rel=RELATIVE, abs=DIGITS), limit
            checked += 1
            levels.add(limit.level)
    assert checked >= 8
    assert "strict 1" in levels if strict else "gauss" in levels
