"""The ladder: what hard rows do where they clash: which yields, by how much, and what the report says of it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from wbc import Controller, Gains, Robot, Stack, State, Status
from wbc.errors import InputError, StackError, UnknownNameError
from wbc.tasks import ComTask, JointLimits, PositionTask, PostureTask, SurfaceContact, TorqueLimits

KEPT = 1e-9  # what never yields: N m, and N over the weight
FEET = ("rleg_effector_body", "lleg_effector_body")
SHARE = 1e-6  # relative: amounts by which rows give way, against a calculation by hand


def quiet(model: Any, name: str) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Robot.from_pinocchio(model, name=name)


def humanoid() -> Robot:
    return quiet(pin.buildSampleModelHumanoid(), "H34")


def standing(*, min_force: float = 0.0, torque: float = 1.0, ladder: Any = None, **parts: Any) -> Controller:
    feet = [
        SurfaceContact(frame, frame=frame, half_size=(0.1, 0.05), friction=0.7, min_force=min_force) for frame in FEET
    ]
    stack = Stack(
        nominal=PostureTask("posture", gains=Gains.critical(25.0)),
        contacts=feet,
        limits=[TorqueLimits(scale=torque), JointLimits()],
        **parts,
    )
    return Controller(humanoid(), stack, ladder=ladder)


def moving(seed: int) -> State:
    robot, random = humanoid(), np.random.default_rng(seed)
    v = random.normal(size=robot.nv) * 0.1
    return State(pin.integrate(robot.model, robot.home, 0.02 * random.normal(size=robot.nv)), v)


def holds_what_never_yields(controller: Controller, command: Any, torque: float) -> bool:
    """Base rows, motors' limits, and cones without their minimum forces."""
    robot, p, f = controller.robot, command.report.problem, command.report.solution.f
    base = (p.M @ command.acceleration + p.h - f @ p.J)[:6]
    cone = p.limit_values(command.acceleration, f, command.torque)[p.layout.n_acc : p.layout.n_in - p.layout.n_tau]
    lower = np.minimum(p.lower[p.layout.n_acc : p.layout.n_in - p.layout.n_tau], 0.0)
    upper = p.upper[p.layout.n_acc : p.layout.n_in - p.layout.n_tau]
    outside = max(float((cone - upper).max()), float((lower - cone).max()))
    inside = bool((np.abs(command.torque) <= torque * robot.torque_limits + KEPT).all())
    return inside and float(np.abs(base).max()) < 1e-7 * robot.weight and outside < 1e-7 * robot.weight


@pytest.mark.parametrize("seed", range(4))
def test_minimum_forces_that_outweigh_the_robot_give_way_evenly_and_contacts_stay(seed: int) -> None:
    controller = standing(min_force=1e4)  # two feet, 152 N of weight, and motors of 10 N m
    command = controller.tick(moving(seed))
    report = command.report
    assert holds_what_never_yields(controller, command, 1.0)
    assert report.status is Status.RELAXED
    gave = {(r.name, r.element): r.by for r in report.relaxed}
    assert not any(element == "motion" for _, element in gave)  # it yields after minimum forces
    assert all(name.startswith("contact ") or name == "joint" for name, _ in gave)
    amounts = [gave[f"contact {frame}", "normal force"] for frame in FEET]  # both, and none more than it must
    assert min(amounts) > 0.9e4 and max(amounts) < 1e4


def test_the_least_amount_gives_way() -> None:
    """At rest with motors that hold the weight: 2 · 150 N asked, the motion decides what there is."""
    command = standing(min_force=1e4).tick(State(humanoid().home, np.zeros(humanoid().nv)))
    forces = [command.wrenches[frame][2] for frame in FEET]
    gave = {r.name: r.by for r in command.report.relaxed if r.element == "normal force"}
    assert command.report.status is Status.RELAXED
    for frame, force in zip(FEET, forces, strict=True):
        assert abs(gave[f"contact {frame}"] - (1e4 - force)) < SHARE * 1e4


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ladder", [None, (("minimum force", "joint"), "contact motion"), ("joint",)])
def test_torque_and_cones_never_yield_whatever_the_order(seed: int, ladder: Any) -> None:
    controller = standing(min_force=100.0, torque=0.02, ladder=ladder, strict=[[ComTask("com")]])
    controller.stack["com"].target = (0.3, 0.0, 0.0)
    command = controller.tick(moving(seed))
    assert command.report.status is Status.RELAXED
    assert holds_what_never_yields(controller, command, 0.02)
    assert np.isfinite(command.torque).all()


def test_the_order_decides_what_yields() -> None:
    """Weak legs: by default the feet stay as long as they can; told otherwise, the joints' limits do."""
    state = moving(1)
    feet_last = standing(min_force=120.0, torque=0.02).tick(state).report
    feet_first = standing(min_force=120.0, torque=0.02, ladder=(("minimum force", "joint"), "contact motion")).tick(
        state
    )

    def motion(report: Any) -> float:
        return max((r.by for r in report.relaxed if r.element == "motion"), default=0.0)

    def force(report: Any) -> float:
        return sum(r.by**2 for r in report.relaxed if r.element != "motion")

    assert motion(feet_first.report) > motion(feet_last) + 1e-3
    assert force(feet_first.report) < force(feet_last) - 1e-3


def test_a_limit_in_a_strict_level_stands_above_the_tasks_below_it_and_below_those_above() -> None:
    robot = quiet(pin.buildSampleModelManipulator(), "R6")
    q = np.array([0.3, -0.4, 0.5, 0.6, -0.7, 0.8])
    state = State(q, np.array([1.0, -2.0, 1.5, 0.5, -1.0, 2.0]))

    def run(strict: list[Any]) -> Any:
        task = PositionTask("hand", frame="effector_body", gains=Gains.critical(4000.0))
        task.target = (0.5, 0.5, 1.0)
        levels = [[task] if level == "hand" else [TorqueLimits(name="weak", scale=3.0)] for level in strict]
        return Controller(robot, Stack(strict=levels)).tick(state).report

    above, below = run(["limit", "hand"]), run(["hand", "limit"])
    assert above.status is Status.RELAXED and not above.relaxed  # the limit is kept, the hand is not
    assert above.tasks["hand"].because and all(cause.startswith("limit: weak") for cause in above.tasks["hand"].because)
    assert not below.tasks["hand"].is_missed  # the hand is kept, the limit is not
    assert below.relaxed and all(r.name == "weak" for r in below.relaxed)
    assert any("task: hand" in r.because for r in below.relaxed)


def test_names_that_a_ladder_cannot_mean_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="joint"):
        standing(ladder=("jiont",))
    with pytest.raises(StackError, match="never gives way"):
        standing(ladder=("torque",))
    with pytest.raises(InputError, match="twice"):
        standing(ladder=("joint", ("joint", "contact motion")))
    with pytest.raises(InputError, match="tuple"):
        standing(ladder=3)
