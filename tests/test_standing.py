"""Robots that stand: 1,000 random states each, judged by the equations of motion and by a certificate of optimality.

Every state has its feet flat on the ground, any heading, a tilted trunk, random joints, and a velocity that leaves the
feet where they are. The whole stack is there: cones, torque and joint limits, centre of mass and trunk, strict for one
half of the states and soft for the other. The certificate costs as much as all the rest, so that every fifth state has
one; ``WBC_TEST_EVERY_STATE=1 pytest tests/test_standing.py`` gives one to every state.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from certificate import kkt_residuals, unreduced
from lexicographic_problems import LexicographicProblem
from lexicographic_reference import violation
from standing import ROBOTS, Standing, robot_or_skip

from wbc import Command, Controller, Gains, Robot, Stack, State, Status
from wbc.scenarios.legged import trunk
from wbc.tasks import ComTask, JointLimits, OrientationTask, PostureTask, TorqueLimits

STATES = 1000
CERTIFIED = 1 if os.environ.get("WBC_TEST_EVERY_STATE") else 5  # every so many states, of both stacks
BASE = 1e-9  # of the weight: what may be left of the base rows
CONE = 1e-7  # of the weight: by how much a force may be outside of its cone
TORQUE = 1e-9  # N m beyond a limit
KKT = 1e-7  # stationarity: forces over the weight, and over length and residual of strict rows
JOINT = 1e-7  # rad/s² beyond a limit on acceleration, relative to 1 + the acceleration
RARE = 0.02  # of the states: a hard row gives way, by name
OFTEN = 0.1  # of the states: limits are active, and none is


def standing_stack(robot: Robot, *, strict: bool) -> Stack:
    """All that the issue of standing robots asks for at once."""
    gains = Gains.critical(25.0)
    tasks: list[Any] = [ComTask("com", gains=gains), OrientationTask("trunk", frame=trunk(robot), gains=gains)]
    return Stack(
        nominal=PostureTask("posture", target=robot.home, gains=Gains.critical(10.0)),
        contacts=[robot.contact(foot, friction=0.7) for foot in robot.feet],
        limits=[TorqueLimits(), JointLimits()],
        strict=[[tasks[0]], [tasks[1]]] if strict else [],
        soft=[] if strict else [(tasks[0], 15.0 * robot.mass), (tasks[1], 0.3 * robot.mass)],
    )


def ask(stack: Stack, robot: Robot, state: State, random: np.random.Generator) -> None:
    """Random targets, from nearly still to more than the feet can push."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, state.q)
    reach = random.choice([0.1, 1.0, 4.0])  # m/s²
    com, body = stack["com"], stack["trunk"]
    com.target = pin.centerOfMass(robot.model, data, state.q) + random.normal(0.0, 0.005, 3)
    com.target_acceleration = reach * random.normal(size=3)
    body.target = pin.exp3(random.normal(0.0, 0.02, 3)) @ data.oMf[robot.frame_id(trunk(robot))].rotation
    body.target_acceleration = reach * random.normal(size=3)
    stack["torque"].scale = random.choice([1.0, 0.6])


def base_rows(robot: Robot, state: State, command: Command) -> np.ndarray:
    """``M v̇ + h − Jᵀ f`` of the base from pinocchio and the wrenches of the command alone."""
    model, data = robot.model, robot.model.createData()
    left = pin.rnea(model, data, state.q, state.v, np.array(command.acceleration))
    pin.computeJointJacobians(model, data, state.q)
    pin.updateFramePlacements(model, data)
    for foot in robot.footing:
        wrench = command.wrenches[foot.name]
        J = pin.getFrameJacobian(model, data, robot.frame_id(foot.frame), pin.LOCAL_WORLD_ALIGNED)
        left = left - J[: len(wrench)].T @ wrench
    return np.array(left[:6])


@dataclass(slots=True)
class Worst:
    """The worst of all states, and how often what happened.

    ``kkt_below`` is that of the levels below a strict task that is missed, ``kkt`` that of all others.
    """

    base: float = 0.0
    cone: float = -np.inf
    torque: float = -np.inf
    joint: float = -np.inf
    kkt: float = 0.0
    kkt_below: float = 0.0
    hard: float = 0.0
    certified: int = 0
    routes: dict[str, int] = field(default_factory=dict)
    unexplained: list[str] = field(default_factory=list)
    relaxed: int = 0

    def see(self, robot: Robot, state: State, command: Command, scale: float, certified: bool) -> None:
        report, p = command.report, command.report.problem
        assert report.solution is not None
        layout, values = p.layout, report.limit_values
        self.routes[report.route] = self.routes.get(report.route, 0) + 1
        self.base = max(self.base, float(np.abs(base_rows(robot, state, command)).max()) / robot.weight)
        cones = slice(layout.n_acc, layout.n_acc + layout.n_cone)
        outside = np.maximum(values - p.upper, p.lower - values)
        self.cone = max(self.cone, float(outside[cones].max()) / robot.weight)
        self.torque = max(self.torque, float((np.abs(command.torque) - scale * robot.torque_limits).max()))
        if report.relaxed:
            self.relaxed += 1
            if not all(gave.because for gave in report.relaxed):
                self.unexplained.append(f"gave way: {report.relaxed}")
        else:
            joints = outside[: layout.n_acc] / (1.0 + np.abs(values[: layout.n_acc]))
            self.joint = max(self.joint, float(joints.max()))
        strict = [report.tasks[part.name] for _, part in report.strict_parts()]
        if report.status is Status.FALLBACK or not all(task.because for task in strict if task.is_missed):
            self.unexplained.append(f"{report.status}: {strict}")
        if certified and not report.relaxed:
            self.certified += 1
            problem = unreduced(command)
            self.hard = max(self.hard, violation(problem, problem.inside))
            residuals = kkt_residuals(problem, robot)
            missed = [k for k, task in enumerate(strict) if task.is_missed]
            first = 2 + missed[0] if missed else len(residuals)  # the contacts come before the strict levels
            self.kkt = max(self.kkt, *residuals[:first])
            self.kkt_below = max(self.kkt_below, *residuals[first:], 0.0)


def judged(robot: Robot) -> Worst:
    """All states of a robot, strict and soft in turn."""
    random, worst, draws = np.random.default_rng(31), Worst(), Standing(robot)
    controllers = [Controller(robot, standing_stack(robot, strict=strict)) for strict in (True, False)]
    for i in range(STATES):
        controller, state = controllers[i % 2], draws.draw(random)
        controller.reset()
        ask(controller.stack, robot, state, random)
        command = controller.tick(state)
        worst.see(robot, state, command, controller.stack["torque"].scale, i % CERTIFIED == 0)
    return worst


@pytest.mark.parametrize("name", ROBOTS)
def test_in_1000_standing_states_physics_limits_and_optimality_are_kept(name: str) -> None:
    worst = judged(robot_or_skip(name))
    assert worst.unexplained == []
    assert worst.base < BASE and worst.cone < CONE and worst.torque < TORQUE and worst.joint < JOINT
    assert worst.kkt < KKT and worst.hard < KKT
    assert worst.relaxed < RARE * STATES and worst.certified >= STATES // CERTIFIED - worst.relaxed
    assert worst.routes["closed form"] > OFTEN * STATES  # states with and without active limits
    assert STATES - worst.routes["closed form"] > OFTEN * STATES
    assert worst.kkt_below < KKT


def test_the_certificate_sees_another_motion_and_another_share_of_the_load() -> None:
    robot = robot_or_skip("talos")
    controller = Controller(robot, standing_stack(robot, strict=False))
    command = controller.tick(Standing(robot).draw(np.random.default_rng(32)))
    problem = unreduced(command)
    assert max(kkt_residuals(problem, robot)) < KKT
    random, base = np.random.default_rng(33), problem.hard.G[:6]
    nv = robot.nv
    for where, level in ((slice(0, nv), -2), (slice(nv, None), -1)):
        rows = np.vstack([base, problem.levels[0].A])[:, where]
        free = np.linalg.svd(rows)[2][np.linalg.matrix_rank(rows, tol=1e-9) :]
        away = np.zeros(problem.n)
        away[where] = 1e-2 * free.T @ random.normal(size=len(free))
        other = LexicographicProblem(0, "", problem.n, problem.inside + away, problem.hard, problem.levels)
        assert kkt_residuals(other, robot)[level] > 10.0 * KKT
