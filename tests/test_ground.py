"""Real contact: what MuJoCo's ground pushes feet with, against statics and against the controller; and falling."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from wbc import Controller, Robot, Stack, State
from wbc.foot import Foot
from wbc.rows import Gains
from wbc.simulation import push, simulate
from wbc.simulation.integrator import Integrator
from wbc.simulation.world import MujocoWorld
from wbc.tasks import PointContact, PoseTask, PostureTask, SurfaceContact, TorqueLimits

mujoco = pytest.importorskip("mujoco")

DT = 1e-3
AT_REST = 0.002  # relative to the weight: what has not come to rest after half a second
SAME_WRENCH = 0.005  # relative to the weight: the controller's contacts are rigid, MuJoCo's sink in
G = 9.81
HEAVY, HALF = 20.0, (0.12, 0.07)  # kg, m
CORNERS = {"a": (0.1, 0.08), "b": (-0.1, 0.05), "c": (0.02, -0.1)}  # m, three balls of a tripod


def brick(*feet: Foot, places: Mapping[str, pin.SE3], com: Any = (0.01, -0.02, 0.2), start: Any = None) -> Robot:
    """One free body of 20 kg without a motor, on feet at some places in it."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(joint, pin.Inertia(HEAVY, np.array(com), np.diag((0.3, 0.4, 0.5))), pin.SE3.Identity())
    for name, place in places.items():
        model.addFrame(pin.Frame(name, joint, 0, place, pin.FrameType.OP_FRAME))
    home = pin.SE3ToXYZQUAT(pin.SE3.Identity() if start is None else start)
    return Robot.from_pinocchio(model, name="brick", home=home).with_feet(*feet)


def on_a_sole(yaw: float = 0.4, com: Any = (0.01, -0.02, 0.2)) -> Robot:
    """A brick on one sole that is turned in it and not in its middle; the brick itself stands turned and elsewhere."""
    sole = pin.SE3(pin.exp3(np.array([0.0, 0.0, 0.3])), np.array([0.02, 0.01, -0.1]))
    foot = Foot("foot", "sole", HALF, 0.0, partial(SurfaceContact, "foot", frame="sole", half_size=HALF))
    pose = pin.SE3(pin.exp3(np.array([0.0, 0.0, yaw])), np.array([0.7, -0.3, 0.1]))
    handle = pin.SE3(np.eye(3), np.array([0.06, -0.02, 0.1]))
    return brick(foot, places={"sole": sole, "handle": handle}, com=com, start=pose)


def on_three_balls(radius: float = 0.03) -> Robot:
    feet = [Foot(n, n, None, radius, partial(PointContact, n, frame=n)) for n in CORNERS]
    places = {n: pin.SE3(np.eye(3), np.array([x, y, -0.1])) for n, (x, y) in CORNERS.items()}
    return brick(*feet, places=places, start=pin.SE3(np.eye(3), np.array([0.2, 0.1, 0.1 + radius])))


def idle(robot: Robot) -> Any:
    """A controller that lets go."""
    return SimpleNamespace(
        robot=robot, dt=DT, tick=lambda state: SimpleNamespace(torque=np.zeros(robot.nu), wrenches={}, report=None)
    )


def settled(robot: Robot, wrenches: Mapping[str, Any], *, seconds: float = 0.5, **keywords: Any) -> MujocoWorld:
    world = MujocoWorld(robot, **keywords)
    for _ in range(round(seconds / DT)):
        world.step(np.zeros(robot.nu), DT, wrenches)
    return world


def places(robot: Robot, state: State) -> Any:
    """Place of a frame, and of the centre of mass under the name "com"."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, state.q)
    com = np.array(pin.centerOfMass(robot.model, data, state.q))
    return lambda name: com if name == "com" else np.array(data.oMf[robot.frame_id(name)].translation)


def test_a_sole_carries_the_weight_and_its_moment_tells_where() -> None:
    """The wrench at the sole's frame balances gravity and an off-centre load, in a turned brick far from the origin."""
    robot = on_a_sole()
    load = np.array([0.0, 0.0, -50.0, 0.0, 0.0, 0.0])
    slanting = np.array([8.0, -5.0, -30.0, 0.4, -0.3, 0.2])
    for loads in ({}, {"handle": load}, {"handle": slanting}):
        world = settled(robot, loads)
        at = places(robot, world.state)
        expected = np.zeros(6)
        for name, wrench in (*loads.items(), ("com", np.array([0, 0, -HEAVY * G, 0, 0, 0]))):
            expected -= np.concatenate([wrench[:3], wrench[3:] + np.cross(at(name) - at("sole"), wrench[:3])])
        measured = world.measured_wrenches()["foot"]
        assert np.abs(measured[:3] - expected[:3]).max() < AT_REST * HEAVY * G
        assert np.abs(measured[3:] - expected[3:]).max() < 0.1 * AT_REST * HEAVY * G  # at an arm of 0.1 m
        cop = at("sole")[:2] + np.array([-measured[4], measured[3]]) / measured[2]
        assert np.linalg.norm(cop - at("sole")[:2]) > 0.01  # m: off centre, or nothing was tested
        if not any(wrench[:2].any() for wrench in loads.values()):  # the loads' own centre
            extra = 50.0 * bool(loads)
            middle = (HEAVY * G * at("com") + extra * at("handle"))[:2] / (HEAVY * G + extra)
            assert np.abs(cop - middle).max() < 1e-4


def test_balls_on_one_link_share_the_weight_as_statics_says() -> None:
    robot = on_three_balls()
    world = settled(robot, {})
    at = places(robot, world.state)
    measured = world.measured_wrenches()
    assert {name: force.shape for name, force in measured.items()} == dict.fromkeys(CORNERS, (3,))
    lever = np.array([[1.0, 1.0, 1.0], *np.array([at(name)[:2] for name in CORNERS]).T])
    expected = np.linalg.solve(lever, HEAVY * G * np.array([1.0, *at("com")[:2]]))
    assert np.abs([measured[name][2] for name in CORNERS] - expected).max() < AT_REST * HEAVY * G


@pytest.mark.parametrize("make", [on_a_sole, on_three_balls])
def test_the_ground_pushes_back_against_a_lateral_push(make: Any) -> None:
    robot = make()
    frame = robot.foot(robot.feet[0]).frame
    for direction in (np.array([1.0, 0, 0]), np.array([0, -1.0, 0])):
        pushed = settled(robot, {frame: np.concatenate([30.0 * direction, np.zeros(3)])}).measured_wrenches()
        total = sum(wrench[:3] for wrench in pushed.values())
        assert np.abs(total - (-30.0 * direction + np.array([0, 0, HEAVY * G]))).max() < AT_REST * HEAVY * G


@pytest.mark.parametrize("make", [on_a_sole, on_three_balls])
def test_a_sliding_foot_is_braked_with_its_friction(make: Any) -> None:
    robot = make()
    world = MujocoWorld(robot, friction=0.2)
    frame = robot.foot(robot.feet[0]).frame
    for _ in range(100):
        world.step(np.zeros(0), DT, {frame: np.array([0.0, 90.0, 0, 0, 0, 0])})
    for _ in range(10):
        world.step(np.zeros(0), DT)
    total = sum(wrench[:3] for wrench in world.measured_wrenches().values())
    assert world.state.v[1] > 0.1  # it slides
    assert total[1] == pytest.approx(-0.2 * total[2], rel=0.05)  # it turns a little as well


def test_wrenches_are_the_sum_of_mujocos_own_contact_forces() -> None:
    robot = on_a_sole()
    world = settled(robot, {"handle": np.array([20.0, 10.0, -30.0, 1.0, 2.0, 3.0])}, substeps=1, seconds=0.02)
    # the state before the last step is not kept, so evaluate one step by hand
    mujoco.mj_forward(world.model, world.data)
    expected, origin = np.zeros(6), places(robot, world.state)("sole")
    for i in range(world.data.ncon):
        local = np.zeros(6)
        mujoco.mj_contactForce(world.model, world.data, i, local)
        contact = world.data.contact[i]
        force = contact.frame.reshape(3, 3).T @ local[:3]
        expected += np.concatenate([force, np.cross(contact.pos - origin, force)])
    world._ground.clear()
    world._ground.add(world.data)
    assert world.data.ncon == 4 and np.abs(world.measured_wrenches()["foot"] - expected).max() < 1e-9


def test_a_world_without_ground_measures_nothing() -> None:
    robot = on_a_sole()
    world = settled(robot, {}, ground=False, seconds=0.1)
    assert world.measured_wrenches() == {} and world.state.v[2] == pytest.approx(-0.1 * G, rel=1e-6)
    fresh = MujocoWorld(robot)
    assert np.array_equal(fresh.measured_wrenches()["foot"], np.zeros(6))


def legged(name: str) -> Robot:
    load = pytest.importorskip("wbc.robots").load
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            robot: Robot = load(name)
    except Exception as error:  # the descriptions are an extra
        if type(error).__name__ == "NotInstalledError":
            pytest.skip(str(error))
        raise
    return robot


def base_of(robot: Robot) -> str:
    """The first link's name."""
    return str(next(f.name for f in robot.model.frames if f.parentJoint == 1 and f.type == pin.FrameType.BODY))


def standing(robot: Robot) -> Controller:
    posture = PostureTask("posture", target=robot.home, gains=Gains.critical(100.0))
    contacts = [robot.contact(name) for name in robot.feet]
    base = PoseTask("base", frame=base_of(robot), gains=Gains.critical(100.0))
    stack = Stack(nominal=posture, contacts=contacts, limits=[TorqueLimits()], soft=[(base, 10.0 * robot.mass)])
    return Controller(robot, stack, dt=DT)


@pytest.mark.parametrize("name", ["talos", "g1", "anymal_c", "go2", "solo12", "jvrc1"])
def test_a_robot_stands_and_the_ground_carries_what_the_controller_meant(name: str) -> None:
    robot = legged(name)
    run = simulate(standing(robot), 0.5, progress=False)
    assert run.finished and set(run.status) == {"OPTIMAL"}
    assert set(run.measured_wrenches) == set(robot.feet) == set(run.wrenches)
    weight, late = robot.mass * G, slice(300, None)
    vertical = sum(table[late, 2] for table in run.measured_wrenches.values())
    assert np.abs(vertical - weight).max() < 0.005 * weight
    for foot in robot.feet:
        gap = run.measured_wrenches[foot][late] - run.wrenches[foot][late]
        assert np.abs(gap).max() < SAME_WRENCH * weight
    data = robot.model.createData()
    com = np.array([np.array(pin.centerOfMass(robot.model, data, q)) for q in run.q[::50]])
    assert np.abs(com - com[0]).max() < 1e-3


@pytest.mark.parametrize("name", ["talos", "anymal_c"])
def test_weight_push_and_measured_forces_make_the_momentum_tick_by_tick(name: str) -> None:
    """m Δv_com = Δt (Σ f + push + m g): the measured forces are those of the tick that they stand beside."""
    robot = legged(name)
    shove = push(base_of(robot), 8.0, (0.6, 0.8, 0.0), 0.2, lasting=0.1)
    run = simulate(standing(robot), 0.4, disturbance=shove, progress=False)
    data = robot.model.createData()
    momentum = np.array(
        [pin.computeCentroidalMomentum(robot.model, data, q, v).linear for q, v in zip(run.q, run.v, strict=True)]
    )
    forces = sum(table[:, :3] for table in run.measured_wrenches.values()) + robot.mass * np.array([0, 0, -G])
    forces += [shove(t).get(base_of(robot), np.zeros(6))[:3] for t in run.time]
    gap = np.diff(momentum, axis=0) / DT - forces[:-1]
    assert np.abs(gap[20:]).max() < 1.0  # N, in 80 N of push; steps of 0.25 ms
    shear = sum(table[:, :2] for table in run.measured_wrenches.values()) @ (0.6, 0.8)
    assert abs(shear[199]) < 0.5 and shear[250:300].max() < -10.0  # against the push


def test_a_robot_that_lets_go_has_fallen_and_its_run_says_so() -> None:
    run = simulate(idle(legged("anymal_c")), 3.0, progress=False)
    assert not run.finished and run.reason.startswith("the base fell from 0.") and len(run.time) < 2000


def test_a_robot_that_is_knocked_over_has_fallen() -> None:
    robot = on_a_sole()
    run = simulate(idle(robot), 3.0, disturbance=push("handle", 60.0, (1.0, 0.0, 0.0), 0.1), progress=False)
    assert not run.finished and "fell" in run.reason and "tilted" in run.reason
    assert simulate(idle(robot), 0.3, progress=False).finished


def test_two_runs_on_the_ground_are_equal_bit_by_bit() -> None:
    robot = legged("anymal_c")
    shove = push(base_of(robot), 5.0, (0.3, 1.0, 0.0), 0.02, lasting=0.03)
    one, two = (simulate(standing(robot), 0.1, disturbance=shove, progress=False) for _ in range(2))
    assert np.array_equal(one.q, two.q) and np.array_equal(one.torque, two.torque)
    assert all(np.array_equal(one.measured_wrenches[n], two.measured_wrenches[n]) for n in robot.feet)


@pytest.mark.parametrize(("at", "lasting"), [(0.1, 0.1), (0.2, 0.1), (0.3, 0.05), (0.7, 0.3)])
def test_a_push_gives_its_impulse_whatever_the_clock_rounds(at: float, lasting: float) -> None:
    shove = push("base", 7.0, (0.0, 3.0, 4.0), at, lasting=lasting)
    wrenches = [shove(i * DT)["base"] for i in range(1200) if shove(i * DT)]
    assert len(wrenches) == round(lasting / DT)
    assert np.allclose(DT * np.sum(wrenches, axis=0), (0.0, 4.2, 5.6, 0.0, 0.0, 0.0), rtol=1e-12)


def test_motors_of_a_planar_base_turn_with_it() -> None:
    """A base driven forward while it turns: its force turns within a tick, and both physics drive the same curve."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelPlanar(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(joint, pin.Inertia(30.0, np.array([0.2, 0.1, 0.3]), np.eye(3)), pin.SE3.Identity())
    robot = Robot.from_pinocchio(model, name="cart")
    start, ends = State(np.array([0.3, -0.2, np.cos(2.0), np.sin(2.0)]), np.array([0.5, -0.4, 3.0])), []
    for make in (MujocoWorld, Integrator):
        world = make(robot, substeps=20)
        world.reset(start)
        for _ in range(50):
            world.step(np.array([60.0, 20.0, 8.0]), 0.02)
        ends.append(world.state)
    assert np.abs(ends[0].v - ends[1].v).max() < 0.01 * np.abs(ends[1].v).max()
    assert np.abs(ends[0].q - ends[1].q).max() < 0.01
