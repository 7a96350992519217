"""With contacts: closed form with contacts that may pull, auto and QP with cones give one torque while no cone acts.

States are near home, moving (with the feet held, as a contact that stands asks for), and turned: any heading, and the
trunk a little tilted. Tasks have random targets and feed-forward, that leave most states inside their cones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from wbc import Controller, Gains, Robot, Stack, State
from wbc.errors import NotInstalledError
from wbc.robots import load
from wbc.scenarios import legged
from wbc.tasks import ComTask, JointLimits, OrientationTask, PostureTask, TorqueLimits
from wbc.terms import Terms

ROBOTS = ("talos", "g1", "jvrc1", "anymal_c", "go2", "solo12")
EXACT = 1e-9  # N m, what theory and the issue ask for; measured 1e-12 and below
BASE = 1e-9  # of the weight: what may be left of the base rows
STATES, ENOUGH = 30, 20  # random states, and how many of them must be inside all cones and limits
FRICTION = 0.7


def robot_or_skip(name: str) -> Robot:
    try:
        return load(name)
    except NotInstalledError as error:
        pytest.skip(str(error))


def standing_stack(robot: Robot, *, strict: bool, bounded: bool) -> Stack:
    """Centre of mass and trunk, strict or soft, over feet with cones and limits, or over feet that may pull."""
    gains = Gains.critical(4.0)  # gentle, or a random posture would throw a humanoid off its soles
    tasks: list[Any] = [ComTask("com", gains=gains), OrientationTask("trunk", frame=legged.trunk(robot), gains=gains)]
    return Stack(
        nominal=PostureTask("posture", target=robot.home, gains=gains),
        contacts=[robot.contact(foot, friction=FRICTION if bounded else None) for foot in robot.feet],
        limits=[TorqueLimits(), JointLimits()] if bounded else [],
        strict=tasks if strict else [],
        soft=[] if strict else [(tasks[0], 100.0 * robot.mass), (tasks[1], 10.0 * robot.mass)],
    )


def random_state(robot: Robot, random: np.random.Generator, terms: Terms) -> State:
    """Near home in joints, anywhere and of any heading in the world; velocities that leave the feet where they are."""
    q = pin.integrate(robot.model, np.array(robot.home), np.r_[np.zeros(6), random.normal(0.0, 0.015, robot.nu)])
    tilt = pin.exp3(random.normal(0.0, 0.03, 3))
    turned = pin.SE3(pin.exp3(np.array([0.0, 0.0, random.uniform(-np.pi, np.pi)])) @ tilt, random.normal(size=3))
    q[:7] = pin.SE3ToXYZQUAT(turned)
    terms.update(State(q, np.zeros(robot.nv)))
    J = np.vstack([contact.rows(terms).J for contact in (robot.contact(foot) for foot in robot.feet)])
    free = np.linalg.svd(J)[2][np.linalg.matrix_rank(J) :]  # its rows span what leaves the feet where they are
    return State(q, 0.1 * free.T @ random.normal(size=len(free)))


def ask(stack: Stack, robot: Robot, state: State, seed: int, reach: float) -> None:
    """The same random targets for every stack, ``reach`` (m/s²) being the acceleration asked of the centre of mass."""
    random, data = np.random.default_rng(seed), robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, state.q)
    com, trunk = stack["com"], stack["trunk"]
    com.target = pin.centerOfMass(robot.model, data, state.q) + random.normal(0.0, 0.002, 3)
    com.target_acceleration = reach * random.normal(size=3)
    trunk.target = pin.exp3(random.normal(0.0, 0.02, 3)) @ data.oMf[robot.frame_id(legged.trunk(robot))].rotation
    trunk.target_acceleration = random.normal(0.0, 0.2, 3)


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "soft"])
@pytest.mark.parametrize("name", ROBOTS)
def test_closed_form_with_contacts_that_may_pull_equals_auto_and_qp_while_no_cone_acts(name: str, strict: bool) -> None:
    robot, random = robot_or_skip(name), np.random.default_rng(21)
    terms = Terms(robot, 0.001)
    pulling = Controller(robot, standing_stack(robot, strict=strict, bounded=False), method="closed_form")
    auto, qp = (Controller(robot, standing_stack(robot, strict=strict, bounded=True), method=m) for m in ("auto", "qp"))
    worst, inside, fastest = 0.0, 0, 0.0
    for seed in range(STATES):
        state, torques = random_state(robot, random, terms), []
        for controller in (auto, pulling, qp):
            controller.reset()
            ask(controller.stack, robot, state, seed, 0.1)
            command = controller.tick(state)
            if controller is auto and command.report.route != "closed form":
                break  # a cone or a limit is active
            assert controller is not qp or command.report.route == "qp"
            torques.append(command.torque)
            p, f = command.report.problem, command.report.solution.f
            base = (p.M @ command.acceleration + p.h - f @ p.J)[:6]
            assert np.abs(base).max() < BASE * robot.weight
        else:
            inside += 1
            fastest = max(fastest, float(np.abs(state.v).max()))
            worst = max(worst, *(float(np.abs(torque - torques[0]).max()) for torque in torques[1:]))
    assert inside >= ENOUGH
    assert fastest > 0.1  # rad/s or m/s: J̇v and Coriolis forces take part
    assert worst < EXACT


@pytest.mark.parametrize("name", ROBOTS)
def test_where_a_cone_acts_the_torque_is_another_one_and_the_cone_is_kept(name: str) -> None:
    robot, random = robot_or_skip(name), np.random.default_rng(22)
    terms = Terms(robot, 0.001)
    pulling = Controller(robot, standing_stack(robot, strict=False, bounded=False), method="closed_form")
    auto = Controller(robot, standing_stack(robot, strict=False, bounded=True))
    held = 0
    for seed in range(5):
        state = random_state(robot, random, terms)
        for controller in (auto, pulling):
            controller.reset()
            ask(controller.stack, robot, state, seed, 8.0)
        command, alone = auto.tick(state), pulling.tick(state)
        p, f = command.report.problem, command.report.solution.f
        cones = slice(p.layout.n_acc, p.layout.n_acc + p.layout.n_cone)
        outside = (p.limit_values(alone.acceleration, alone.report.solution.f, alone.torque) - p.upper)[cones].max()
        if outside > 0.01 * robot.weight:
            held += 1
            assert np.abs(command.torque - alone.torque).max() > 1e-3 * np.abs(alone.torque).max()
            kept = (p.limit_values(command.acceleration, f, command.torque) - p.upper)[cones].max()
            assert kept < 1e-7 * robot.weight  # what the issue allows cones
    assert held >= 2
