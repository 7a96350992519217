"""Mobile manipulators: coordinates without a motor, axles that do not slide, bases with limits, and their scenarios."""

from __future__ import annotations

import functools
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from fixtures import c2_text, quiet

from wbc import Controller, Gains, Robot, Stack, State, Status, Terms
from wbc.axle import Axle
from wbc.errors import InputError, RobotError, UnknownNameError
from wbc.parity import compare
from wbc.robots import load
from wbc.robots.wheels import axle
from wbc.simulation import simulate
from wbc.simulation.integrator import Integrator
from wbc.tasks import AxleContact, JointLimits, PointContact, PositionTask, PostureTask, TorqueLimits

EXACT = 1e-9  # relative to forces of some 100 N and accelerations of some 10 m/s²
SAME_TORQUE = 1e-9  # N m, DESIGN section 2: closed form and QP
SLOPE = 1e-6  # relative: central differences with a step of 1e-5 s
STEP = 1e-5  # s
NO_SLIDE = 1e-6  # m/s
HELD = 0.01  # relative: a torque held for a millisecond lets a speed overshoot by that much
HAND = "hand_grasping_frame"


def _has_wheel() -> bool:
    try:
        distribution("example-robot-data")
    except PackageNotFoundError:
        return False
    return True


needs_tiago = pytest.mark.skipif(not _has_wheel(), reason='needs pip install "wbc[robots]"')
needs_mujoco = pytest.mark.skipif(find_spec("mujoco") is None, reason='needs pip install "wbc[sim]"')
both_bases = pytest.mark.parametrize("name", ["tiago", "tiago_pro"])


@functools.cache
def robot_called(name: str) -> Robot:
    return load(name)


def tiago() -> Robot:
    return robot_called("tiago")


def turning(robot: Robot, seed: int, *, sideways: bool = False) -> State:
    """Somewhere, turned, driving and turning; without a speed along the axle unless told otherwise."""
    random = np.random.default_rng(seed)
    step = 0.2 * random.normal(size=robot.nv)
    step[:3] = random.uniform(-2.0, 2.0, 3)
    v = random.normal(size=robot.nv)
    if not sideways:
        v[1] = 0.0
    return State(pin.integrate(robot.model, np.array(robot.home), step), v)


def terms_at(robot: Robot, state: State) -> Terms:
    terms = Terms(robot, 0.001)
    terms.update(state)
    return terms


def gap(a: Any, b: Any) -> float:
    return float(np.abs(np.subtract(a, b)).max(initial=0.0))


def driving(limits: bool = True, **arguments: Any) -> Controller:
    """TIAGo with its hand strict at a place and its posture nominal, on wheels."""
    robot = tiago()
    hand = PositionTask("hand", frame=HAND)
    hand.target_velocity = (0.2, 0.1, 0.05)
    stack = Stack(
        nominal=PostureTask("posture", target=robot.home, gains=Gains.critical(25.0)),
        contacts=[robot.contact("wheels")],
        limits=[TorqueLimits(), JointLimits()] if limits else [],
        strict=[[hand]],
    )
    return Controller(robot, stack, **arguments)


def on_a_curve(robot: Robot, controller_dt: float = 0.001) -> tuple[Controller, Any]:
    """A controller and a reference that drive the base ahead at 0.6 m/s and to and fro about the vertical."""
    names = robot.velocity_names
    drive = [name in ("root_joint_x", "root_joint_yaw") for name in names]
    stack = Stack(
        contacts=[robot.contact("wheels")],
        limits=[TorqueLimits(), JointLimits()],
        strict=[[PostureTask("base", mask=drive, gains=Gains(0.0, 20.0))]],
        soft=[(PostureTask("arm", target=robot.home, mask=np.logical_not(drive), gains=Gains.critical(25.0)), 100.0)],
    )

    def reference(t: float, stack: Any) -> None:
        v, vdot = np.zeros(robot.nv), np.zeros(robot.nv)
        v[0], vdot[0] = 0.6 * (1.0 - np.exp(-4.0 * t)), 2.4 * np.exp(-4.0 * t)
        v[2], vdot[2] = 1.2 * np.sin(3.0 * t), 3.6 * np.cos(3.0 * t)
        stack["base"].target_velocity, stack["base"].target_acceleration = v, vdot

    return Controller(robot, stack, dt=controller_dt), reference


# --- coordinates without a motor --------------------------------------------------------------------------------------


def acrobot() -> Robot:
    return quiet(Robot.from_urdf, c2_text(), passive=("j2",))


def test_an_acrobot_has_one_torque_and_obeys_its_row_without_a_motor() -> None:
    robot = acrobot()
    assert robot.joint_names == ("j1",) and robot.velocity_names == ("j1", "j2") and robot.nu == 1
    assert robot.torque_limits.shape == (1,)
    for seed in range(20):
        random = np.random.default_rng(seed)
        angle = random.uniform(-3, 3)
        state = State([np.cos(angle), np.sin(angle), random.uniform(-0.9, 0.9)], random.normal(size=2))
        stack = Stack(nominal=PostureTask("p", target=robot.home), limits=[TorqueLimits()])
        command = Controller(robot, stack).tick(state)
        assert command.torque.shape == (1,)
        force = pin.rnea(robot.model, robot.model.createData(), state.q, state.v, command.acceleration)
        assert abs(force[1]) < EXACT and abs(force[0] - command.torque[0]) < EXACT
        moved = pin.aba(robot.model, robot.model.createData(), state.q, state.v, np.array([command.torque[0], 0.0]))
        assert gap(moved, command.acceleration) < 1e-8


@pytest.mark.parametrize("urdf", [True, False])
def test_a_mistyped_coordinate_without_a_motor_is_refused_with_close_matches(urdf: bool) -> None:
    make, source = (Robot.from_urdf, c2_text()) if urdf else (Robot.from_pinocchio, acrobot().model)
    with pytest.raises(UnknownNameError, match="did you mean 'j1'"):
        quiet(make, source, passive=("j11",))
    with pytest.raises(InputError, match=r"passive=\('j2',\)"):
        quiet(make, source, passive="j2")
    with pytest.raises(UnknownNameError, match="j2"):
        quiet(make, source, passive=["j2"], torque_limits={"j2": 3.0})  # it has no torque to limit


@pytest.mark.filterwarnings("error::wbc.errors.RobotWarning")
def test_nothing_is_said_of_the_missing_effort_of_a_joint_without_a_motor() -> None:
    text = c2_text('<limit lower="-1" upper="1" effort="0" velocity="3"/>').replace("continuous", "revolute")
    text = text.replace('<axis xyz="0 1 0"/></joint>', '<axis xyz="0 1 0"/><limit effort="9" velocity="3"/></joint>', 1)
    text = text.replace('<limit effort="9"', '<limit lower="-2" upper="2" effort="9"')
    assert Robot.from_urdf(text, passive=("j2",)).joint_names == ("j1",)


# --- the axle ---------------------------------------------------------------------------------------------------------


@needs_tiago
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("frame", ["base_footprint", HAND])
def test_the_drift_of_an_axle_is_the_change_of_its_speed(frame: str, seed: int) -> None:
    robot, state = tiago(), turning(tiago(), seed, sideways=True)
    vdot = np.random.default_rng(seed).normal(size=robot.nv)
    contact = AxleContact("a", frame=frame, axis=(0.3, 1.0, -0.2), gains=Gains(0.0, 0.0))

    def speed(h: float) -> float:
        q, v = pin.integrate(robot.model, state.q, h * state.v + 0.5 * h * h * vdot), state.v + h * vdot
        found: float = (contact.rows(terms_at(robot, State(q, v))).J @ v)[0]
        return found

    rows = contact.rows(terms_at(robot, state))
    slope = (speed(STEP) - speed(-STEP)) / (2.0 * STEP)
    assert abs(rows.J @ vdot + rows.b - slope)[0] < SLOPE * (1.0 + abs(slope))
    assert gap(rows.axes.T @ rows.axes, np.eye(3)) < 1e-12
    damped = AxleContact("a", frame=frame, axis=(0.3, 1.0, -0.2)).rows(terms_at(robot, state))
    assert damped.b[0] - rows.b[0] == pytest.approx(20.0 * speed(0.0), abs=1e-9)


@needs_tiago
@pytest.mark.parametrize("seed", range(5))
def test_the_axle_carries_what_has_no_motor(seed: int) -> None:
    robot, state = tiago(), turning(tiago(), seed)
    command = driving(False).tick(state)
    terms = terms_at(robot, state)
    force = command.wrenches["wheels"]
    axle_now = terms.frame("base_footprint").rotation[:, 1]
    assert force.shape == (3,)
    assert gap(force, (force @ axle_now) * axle_now) < EXACT * 100.0
    left = terms.M @ command.acceleration + terms.h - terms.frame("base_footprint").J[:3].T @ force
    assert abs(left[1]) < EXACT * robot.weight
    assert gap(left[robot.actuated], command.torque) < EXACT * robot.weight
    assert abs(command.acceleration[1]) < EXACT  # no speed along the axle, so none that changes
    assert command.report.status is Status.OPTIMAL


@needs_tiago
@pytest.mark.parametrize("seed", range(10))
def test_closed_form_and_qp_agree_on_an_axle(seed: int) -> None:
    state = turning(tiago(), seed, sideways=True)
    commands = [driving(False, method=method).tick(state) for method in ("closed_form", "qp", "auto")]
    for other in commands[1:]:
        assert gap(other.torque, commands[0].torque) < SAME_TORQUE
        assert gap(other.wrenches["wheels"], commands[0].wrenches["wheels"]) < SAME_TORQUE
    relaxed = Controller(tiago(), driving(False).stack, method="auto")
    relaxed.tick(state)
    assert relaxed.as_qp().equality_names[0] == "base 0"


@needs_tiago
@pytest.mark.filterwarnings("ignore::wbc.errors.ControlWarning")  # time stands still here
def test_an_axle_that_is_given_up_gives_no_force_and_comes_back() -> None:
    state, controller = turning(tiago(), 1), driving()
    before = controller.tick(state)
    controller.stack.deactivate("wheels", over=0.01)
    for _ in range(12):
        free = controller.tick(state)
        assert free.report.status is not Status.FALLBACK
    assert gap(free.wrenches["wheels"], 0.0) == 0.0
    assert abs(free.acceleration[1]) > 1e-3
    controller.stack.activate("wheels", over=0.01)
    for _ in range(12):
        again = controller.tick(state)
    assert gap(again.torque, before.torque) < SAME_TORQUE


@needs_tiago
def test_an_axle_takes_nothing_of_the_weight_that_feet_share() -> None:
    model = pin.buildSampleModelHumanoid()
    robot = quiet(Robot.from_pinocchio, model, name="H34")
    feet = [PointContact(f"p{i}", frame=f"{side}leg_effector_body") for i, side in enumerate("rl")]
    roll = AxleContact("roll", frame="rarm_effector_body")
    problem = (
        Controller(robot, Stack(contacts=[*feet, roll])).tick(State(robot.home, np.zeros(robot.nv))).report.problem
    )
    assert problem.f0.tolist() == pytest.approx([0, 0, robot.weight / 2, 0, 0, robot.weight / 2, 0])


def test_an_axle_must_be_level_on_a_planar_base() -> None:
    flat = quiet(Robot.from_urdf, c2_text(), root="planar", passive=("root_joint_y",))
    assert flat.with_axles(axle("wheels", "base", 100.0)).contact("wheels").name == "wheels"
    with pytest.raises(RobotError, match="planar"):
        flat.with_axles(axle("wheels", "l1", 100.0))
    with pytest.raises(RobotError, match="not level"):
        flat.with_axles(axle("wheels", "base", 100.0, (0.0, 1.0, 1.0)))
    with pytest.raises(RobotError, match="one name"):
        flat.with_axles(axle("wheels", "base", 100.0), axle("wheels", "base", 100.0))
    with pytest.raises(UnknownNameError, match="did you mean 'base'"):
        flat.with_axles(axle("wheels", "bas", 100.0))
    with pytest.raises(UnknownNameError, match="did you mean 'wheels'"):
        flat.with_axles(axle("wheels", "base", 100.0)).contact("wheel")
    with pytest.raises(InputError, match="axis"):
        AxleContact("a", frame="base", axis=(0, 0, 0))


# --- physics ----------------------------------------------------------------------------------------------------------


@needs_tiago
@needs_mujoco
@both_bases
def test_mujoco_and_pinocchio_mean_the_same_base_while_it_turns(name: str) -> None:
    from wbc.simulation.world import MujocoWorld

    robot = robot_called(name)
    world, states = MujocoWorld(robot), [turning(robot, seed, sideways=True) for seed in range(10)]
    M, h = zip(*(world.dynamics(state) for state in states), strict=True)
    parity = compare(robot, states, M, h, mass=world.mass, tolerance=1e-12)
    assert parity.agrees, str(parity)


@needs_tiago
@pytest.mark.parametrize("seed", range(5))
def test_the_integrator_moves_as_the_controller_says_while_turning(seed: int) -> None:
    robot, state, dt = tiago(), turning(tiago(), seed), 1e-3
    command, world = driving(False).tick(state), Integrator(robot, substeps=1)
    world.reset(state)
    world.step(command.torque, dt)
    assert gap((world.state.v - state.v) / dt, command.acceleration) < 1e-8


@needs_tiago
@pytest.mark.parametrize("physics", ["pinocchio", pytest.param("mujoco", marks=needs_mujoco)])
def test_a_base_on_a_curve_does_not_slide(physics: str) -> None:
    robot = tiago()
    controller, reference = on_a_curve(robot)
    rec = simulate(controller, 1.0, physics=physics, reference=reference, progress=False)
    assert rec.finished and (rec.status == "OPTIMAL").all()
    assert abs(rec.v[:, 1]).max() < (NO_SLIDE if physics == "pinocchio" else 5 * NO_SLIDE)
    assert rec.v[:, 0].max() > 0.55 and np.ptp(np.arctan2(rec.q[:, 3], rec.q[:, 2])) > 0.7
    force = np.linalg.norm(rec.wrenches["wheels"], axis=1)
    assert force.max() > 20.0  # it would slide if nothing held it
    if physics == "mujoco":
        assert gap(rec.measured_wrenches["wheels"], rec.wrenches["wheels"]) < 0.01 * force.max()


@needs_tiago
@needs_mujoco
def test_tyres_hold_what_they_hold_and_no_more() -> None:
    from wbc.simulation.world import MujocoWorld

    robot = tiago()
    q = pin.integrate(robot.model, np.array(robot.home), np.r_[0.3, -0.2, 1.0, np.zeros(robot.nv - 3)])
    hold = pin.computeGeneralizedGravity(robot.model, robot.model.createData(), q)[robot.actuated]
    speeds, forces = [], []
    for push in (250.0, 400.0):
        world = MujocoWorld(robot)
        world.reset(State(q, np.zeros(robot.nv)))
        sideways = np.array([-np.sin(1.0), np.cos(1.0), 0.0])
        for _ in range(100):
            world.step(hold, 0.001, {"base_footprint": np.r_[push * sideways, np.zeros(3)]})
        speeds.append(abs(world.state.v[1]))
        forces.append(world.measured_wrenches()["wheels"] @ sideways)
    assert speeds[0] < 10 * NO_SLIDE and speeds[1] > 0.05
    assert forces[0] == pytest.approx(-250.0, rel=1e-3) and forces[1] == pytest.approx(-300.0, rel=1e-3)


@needs_tiago
@both_bases
def test_the_base_keeps_speed_limits_given_by_name(name: str) -> None:
    """Field report E11: limits of the base are kept although no description has them."""
    original = robot_called(name)
    slow = {"root_joint_x": 0.2, "root_joint_yaw": 0.1} | ({} if name == "tiago" else {"root_joint_y": 0.15})
    limits = dict(zip(original.velocity_names, original.velocity_limits, strict=True)) | slow
    robot = Robot.from_pinocchio(
        original.model,
        home=original.home,
        torque_limits=dict(zip(original.joint_names, original.torque_limits, strict=True)),
        velocity_limits=limits,
        passive=[joint for joint in original.velocity_names if joint not in original.joint_names],
    ).with_axles(*original.axles)
    frame = HAND if name == "tiago" else "arm_right_tool_link"
    hand = PositionTask("hand", frame=frame, gains=Gains.critical(25.0))
    stack = Stack(
        contacts=[robot.contact(wheels.name) for wheels in robot.axles],
        limits=[TorqueLimits(), JointLimits()],
        strict=[[hand]],
        soft=[(PostureTask("p", target=robot.home, mask=np.arange(robot.nv) > 2, gains=Gains.critical(25.0)), 300.0)],
    )
    goal = terms_at(robot, State(robot.home, np.zeros(robot.nv))).frame(frame).position
    hand.target = goal + np.array([0.6, 0.4, 0.0])
    rec = simulate(Controller(robot, stack), 1.2, physics="pinocchio", progress=False)
    assert rec.finished and not (rec.status == "FALLBACK").any()
    for joint, most in slow.items():
        speed = np.abs(rec.v[:, robot.velocity_names.index(joint)]).max()
        assert 0.98 * most < speed < most * (1.0 + HELD), joint
    assert (np.abs(rec.torque[:, :2]) <= robot.torque_limits[:2] + 1e-9).all()


def test_an_axle_says_where_its_row_is() -> None:
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelPlanar(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(joint, pin.Inertia(30.0, np.array([0.2, 0.1, 0.3]), np.eye(3)), pin.SE3.Identity())
    placement = pin.SE3(pin.exp3(np.array([0.0, 0.0, 0.7])), np.array([0.4, -0.3, 0.1]))
    frame = model.addFrame(pin.Frame("axle", joint, 0, placement, pin.FrameType.OP_FRAME))
    made = Axle("wheels", "axle", (0.0, 2.0, 0.0), 100.0, AxleContact)
    where, row = made.row(model, frame)
    robot = Robot.from_pinocchio(model, name="cart")
    state = State([0.3, -0.2, np.cos(2.0), np.sin(2.0)], [0.5, -0.4, 3.0])
    seen = AxleContact("a", frame="axle").rows(terms_at(robot, state)).J[0]
    assert where == slice(0, 3) and gap(seen, row) < 1e-12


@needs_mujoco
def test_both_physics_drive_the_same_curve_on_an_axle_beside_the_origin() -> None:
    from wbc.simulation.world import MujocoWorld

    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelPlanar(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(joint, pin.Inertia(30.0, np.array([0.2, 0.1, 0.3]), np.eye(3)), pin.SE3.Identity())
    placement = pin.SE3(np.eye(3), np.array([-0.3, 0.0, 0.0]))  # rear axle
    model.addFrame(pin.Frame("axle", joint, 0, placement, pin.FrameType.OP_FRAME))
    robot = Robot.from_pinocchio(model, name="cart", passive=("base_y",)).with_axles(axle("wheels", "axle", 1e4))
    start, ends = State([0.3, -0.2, np.cos(2.0), np.sin(2.0)], [0.5, 0.3 * 2.0, 2.0]), []
    for make in (MujocoWorld, Integrator):
        world = make(robot, substeps=20)
        world.reset(start)
        for _ in range(50):
            world.step(np.array([40.0, 3.0]), 0.02)
            assert abs(world.state.v[1] - 0.3 * world.state.v[2]) < 1e-4
        ends.append(world.state)
    assert gap(ends[0].v, ends[1].v) < 0.01 * np.abs(ends[1].v).max()
    assert gap(ends[0].q, ends[1].q) < 0.01


# --- scenarios --------------------------------------------------------------------------------------------------------


@needs_tiago
@needs_mujoco
@pytest.mark.parametrize("module", ["tiago_reach_far", "tiago_pro_dual"])
@pytest.mark.parametrize("method", ["", "closed_form"])
def test_a_scenario_meets_its_bounds_in_its_first_second_and_a_half(module: str, method: str) -> None:
    from importlib import import_module

    from wbc.scenarios.play import play
    from wbc.scenarios.scenario import Choice

    scenario = import_module(f"wbc.scenarios.{module}").scenario()
    outcome = play(scenario, Choice(method=method), duration=1.5, progress=False)
    assert not outcome.failures
    assert all(value is None or value <= bound.most for bound, value in outcome.measured)
    rec = outcome.main
    assert (rec.status == "OPTIMAL").all()
    assert np.abs(rec.v[-1, :3]).max() > 0.3  # the base drives
    assert np.abs(rec.q[-1, 4] - rec.q[0, 4]) > 0.005  # the lift rises


@needs_tiago
def test_the_hand_of_tiago_goes_two_metres() -> None:
    from wbc.scenarios.scenario import Choice
    from wbc.scenarios.tiago_reach_far import scenario

    found = scenario()
    stack, targets = found.plan(Choice())[0].controller().stack, []  # type: ignore[attr-defined]
    for t in (0.0, found.duration):
        found.move(t, stack)
        targets.append(stack["hand"].target)
    assert np.linalg.norm(targets[1] - targets[0]) == pytest.approx(2.0)
