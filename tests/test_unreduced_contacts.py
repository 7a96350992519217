"""``controller.as_qp()`` of robots with contacts: another solver's answer to it is the command, forces included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import qpsolvers
from standing import Standing, robot_or_skip

from wbc import Controller, Gains, Robot, Stack, unreduced
from wbc.scenarios.legged import trunk
from wbc.tasks import ComTask, JointLimits, OrientationTask, PostureTask, TorqueLimits, TorqueTask, WrenchTask

EXACT = 1e-6  # relative to weight, and to 1 + |v̇|: what an active-set solver leaves of limits 1e-11 behind the command
DAQP = {"primal_tol": 1e-11, "dual_tol": 1e-12, "eps_prox": 0.0}
STATES = 15


def stack(robot: Robot, kind: str) -> Stack:
    """Strict or soft tasks on motion, and with ``forces`` soft tasks on a wrench and on all torques."""
    gains = Gains.critical(25.0)
    com, body = ComTask("com", gains=gains), OrientationTask("trunk", frame=trunk(robot), gains=gains)
    foot = robot.feet[0]
    mask = (0, 0, 1) if robot.foot(foot).half_size is None else (0, 0, 1, 0, 0, 0)
    load = WrenchTask("load", contact=foot, target=0.3 * robot.weight * np.array(mask), mask=mask)
    forces: list[Any] = [(load, 0.5), (TorqueTask("lazy"), 2.0 / robot.mass)] if "forces" in kind else []
    strict = "strict" in kind
    return Stack(
        nominal=PostureTask("posture", target=robot.home, gains=gains),
        contacts=[robot.contact(foot, friction=0.7) for foot in robot.feet],
        limits=[TorqueLimits(), JointLimits()],
        strict=[[com], [body]] if strict else [],
        soft=forces if strict else [(com, 15.0 * robot.mass), (body, 0.3 * robot.mass), *forces],
    )


@pytest.mark.parametrize("kind", ["soft", "strict", "soft, forces", "strict, forces"])
@pytest.mark.parametrize("name", ["talos", "anymal_c"])
def test_the_solution_is_the_command_with_cones_and_tasks_on_forces(name: str, kind: str) -> None:
    robot = robot_or_skip(name)
    draws, random, active = Standing(robot), np.random.default_rng(41), 0
    controller = Controller(robot, stack(robot, kind))
    for _ in range(STATES):
        controller.reset()
        controller.stack["com"].target_acceleration = random.choice([0.3, 2.0]) * random.normal(size=3)
        command = controller.tick(draws.draw(random))
        solution = command.report.solution
        assert solution is not None
        active += command.report.route != "closed form"
        qp = controller.as_qp()
        assert len(qp.equality_names) == len(qp.A) and len(qp.inequality_names) == len(qp.G)
        x = np.asarray(qpsolvers.solve_problem(qp, "daqp", **DAQP).x)
        vdot, f = x[: robot.nv], x[robot.nv :]
        assert np.abs(vdot - command.acceleration).max() < EXACT * (1.0 + np.abs(command.acceleration).max())
        assert np.abs(f - solution.f).max() < EXACT * robot.weight
    assert active >= 2


def test_tasks_on_forces_are_in_the_cost_and_epsilon_moves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = robot_or_skip("talos")
    random, found = np.random.default_rng(42), {}
    state = Standing(robot).draw(random)
    for kind in ("soft", "soft, forces"):
        controller = Controller(robot, stack(robot, kind))
        command = controller.tick(state)
        assert command.report.solution is not None
        for epsilon in (1e-4, 1.0):
            monkeypatch.setattr(unreduced, "FORCE_WEIGHT", epsilon)
            found[kind, epsilon] = np.asarray(qpsolvers.solve_problem(controller.as_qp(), "daqp", **DAQP).x)
            assert np.abs(found[kind, epsilon][robot.nv :] - command.report.solution.f).max() < EXACT * robot.weight
    moved = np.abs(found["soft", 1.0] - found["soft, forces", 1.0])
    assert moved[: robot.nv].max() < 1e-5  # the motion is decided before the forces
    assert moved[robot.nv :].max() > 0.05 * robot.weight


def test_absent_parts_have_no_rows_and_no_force() -> None:
    robot = robot_or_skip("anymal_c")
    random = np.random.default_rng(43)
    controller = Controller(robot, stack(robot, "strict, forces"))
    state = Standing(robot, speed=0.0, joints=0.02, tilt=0.02).draw(random)
    controller.tick(state)
    gone = robot.feet[3]
    for name in ("trunk", gone, "load"):
        controller.stack.deactivate(name, over=0.0)
    command = controller.tick(state)
    qp = controller.as_qp()
    assert not any(name.startswith("trunk") for name in qp.equality_names)
    assert [name for name in qp.equality_names if name.startswith(gone)] == [f"{gone} {i} absent" for i in range(3)]
    x = np.asarray(qpsolvers.solve_problem(qp, "daqp", **DAQP).x)
    assert command.report.solution is not None
    assert np.abs(x[: robot.nv] - command.acceleration).max() < EXACT * (1.0 + np.abs(command.acceleration).max())
    assert np.abs(x[robot.nv :] - command.report.solution.f).max() < EXACT * robot.weight
