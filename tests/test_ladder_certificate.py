"""Clashing hard rows, certified: what gave way is least, rank after rank, and all below is the best that is left.

Arms race towards the ends of their joints with motors too weak to stop them; humanoids with motors too weak to hold
them shall press harder than they weigh. The certificate is that of ``certificate.py``: the ranks of the ladder are
levels of their own, on the unreduced problem, and nothing of how the tick was solved goes in.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from arms import arm, hand, random_q
from certificate import kkt_residuals, unreduced
from lexicographic_problems import LexicographicProblem
from lexicographic_reference import violation
from standing import robot_or_skip

from tests.fixtures import quiet
from wbc import Controller, Gains, Robot, Stack, State, Status
from wbc.tasks import ComTask, JointLimits, PositionTask, PostureTask, SurfaceContact, TorqueLimits

KKT = 1e-7  # relative; forces over the weight in the levels of Gauss and of forces
LADDERS = (None, (("minimum force", "joint"), "contact motion"), ("joint",))
ARM_STATES, HUMANOID_STATES = 25, 25  # of each robot; 3 arms and 5 humanoids: 200
HUMANOIDS = ("H34", "talos", "g1", "jvrc1", "anymal_c")
RACING = ("panda", "xarm7", "z1")  # with ends of joints near enough


@functools.cache
def humanoid(name: str) -> Robot:
    if name == "H34":
        return quiet(Robot.from_pinocchio, pin.buildSampleModelHumanoid(), name=name)
    return robot_or_skip(name)


def contacts(robot: Robot, min_force: float) -> list[Any]:
    if robot.feet:
        return [robot.contact(foot, friction=0.7, min_force=min_force) for foot in robot.feet]
    return [
        SurfaceContact(frame, frame=frame, half_size=(0.1, 0.05), friction=0.7, min_force=min_force)
        for frame in ("rleg_effector_body", "lleg_effector_body")
    ]


def clash_of_an_arm(name: str, random: np.random.Generator) -> tuple[Controller, State]:
    """Joints at most 0.1 rad from their ends, half of them at the speed limit towards it, and weak motors."""
    robot = arm(name)
    upper = robot.position_limits[1]
    q = random_q(robot, random)
    near = (random.random(robot.nv) < 0.5) & (upper < 2.0 * np.pi)
    q = np.where(near, upper - random.uniform(0.0, 0.1, robot.nv), q)
    v = np.where(near, random.uniform(0.2, 1.0, robot.nv), random.uniform(-1.0, 1.0, robot.nv))
    v *= np.minimum(robot.velocity_limits, 3.0)
    task = PositionTask("hand", frame=hand(name))
    task.target_acceleration = random.uniform(-5.0, 5.0, 3)
    stack = Stack(
        nominal=PostureTask("posture", target=robot.home, gains=Gains(2.0, 3.0)),
        limits=[TorqueLimits(scale=random.uniform(0.1, 0.6)), JointLimits()],
        strict=[task] if random.random() < 0.5 else [],
    )
    return Controller(robot, stack), State(q, v)


def clash_of_a_humanoid(name: str, random: np.random.Generator, ladder: Any = ...) -> tuple[Controller, State]:
    """A moving, turned state; feet that shall press with up to three times the weight, and motors of 2 to 100 %."""
    robot = humanoid(name)
    com = ComTask("com", gains=Gains.critical(25.0))
    com.target_acceleration = random.choice([0.1, 1.0, 4.0]) * random.normal(size=3)
    share = random.choice([0.5, 1.0, 3.0]) * robot.weight / (len(robot.feet) or 2)
    stack = Stack(
        nominal=PostureTask("posture", target=robot.home, gains=Gains.critical(10.0)),
        contacts=contacts(robot, share),
        limits=[TorqueLimits(scale=random.choice([0.02, 0.1, 1.0])), JointLimits()],
        strict=[com] if random.random() < 0.5 else [],
        soft=[] if random.random() < 0.5 else [(PostureTask("rest", gains=Gains(0.0, 3.0)), 2.0)],
    )
    away = np.r_[random.normal(size=3), 0.2 * random.normal(size=3), 0.03 * random.normal(size=robot.nu)]
    q = pin.integrate(robot.model, np.array(robot.home), away)
    ladder = LADDERS[random.integers(len(LADDERS))] if ladder is ... else ladder
    return Controller(robot, stack, ladder=ladder), State(q, random.choice([0.1, 1.0]) * random.normal(size=robot.nv))


@pytest.mark.parametrize("name", [*RACING, *HUMANOIDS])
def test_what_gives_way_is_least_rank_by_rank_and_the_rest_is_the_best_that_is_left(name: str) -> None:
    random, found, drawn = np.random.default_rng([61, len(name), ord(name[-1])]), 0, 0
    draw, states = (clash_of_an_arm, ARM_STATES) if name in RACING else (clash_of_a_humanoid, HUMANOID_STATES)
    while found < states:
        drawn += 1
        assert drawn < 8 * states, "hardly any state clashes"
        controller, state = draw(name, random)
        command = controller.tick(state)
        report = command.report
        if not report.relaxed:
            continue
        found += 1
        assert report.status is Status.RELAXED
        problem = unreduced(command, ranked=True)
        assert violation(problem, problem.inside) < KKT
        residuals = kkt_residuals(problem, controller.robot, contacts=bool(command.wrenches), violent=True)
        assert max(residuals) < KKT, f"state {drawn}: {residuals}"


@pytest.mark.parametrize("name", ["H34", "talos"])
def test_the_certificate_tells_one_order_of_ranks_from_another(name: str) -> None:
    """The best answer for one ladder is no answer for another one, wherever both orders give way differently."""
    told_apart = 0
    for seed in range(15):
        problems = []
        for ladder in LADDERS[:2]:
            controller, state = clash_of_a_humanoid(name, np.random.default_rng([62, seed]), ladder)
            problems.append(unreduced(controller.tick(state), ranked=True))
        one, other = problems
        if np.abs(one.inside - other.inside).max() < 1e-3:
            continue
        told_apart += 1
        for right, wrong in ((one, other), (other, one)):
            swapped = LexicographicProblem(0, "", right.n, wrong.inside, right.hard, right.levels)
            residuals = kkt_residuals(swapped, controller.robot)
            assert max(residuals) > 1e3 * KKT
    assert told_apart >= 2
