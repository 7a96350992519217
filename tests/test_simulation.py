"""Physics: MuJoCo means the same robot as pinocchio, in any order and turned any way; runs stop when they must."""

from __future__ import annotations

import enum
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from wbc.errors import ControlWarning, InputError, RobotError, UnknownNameError
from wbc.parity import compare
from wbc.robot import Robot
from wbc.simulation import simulate
from wbc.simulation.integrator import Integrator
from wbc.simulation.motors import Motor, Motors, motors_of
from wbc.simulation.physics import PHYSICS, physics_by_name
from wbc.state import State

pytest.importorskip("mujoco")
from wbc.simulation.world import MujocoWorld

SAME_DYNAMICS = 1e-12  # relative to the largest entry of M and h
SAME_ACCELERATION = 1e-10  # relative; the condition of M comes in


class Status(enum.Enum):
    OPTIMAL = 1


class Fake:
    """A controller without a stack: one function from state to torque."""

    def __init__(self, robot: Robot, law: Any, dt: float = 0.001) -> None:
        self.robot, self.dt, self._law = robot, dt, law

    def tick(self, state: State) -> Any:
        torque = np.asarray(self._law(state), dtype=float)
        return SimpleNamespace(torque=torque, wrenches={}, report=SimpleNamespace(status=Status.OPTIMAL))


def quiet(make: Any) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot: Robot = make()
    return robot


CONTINUOUS = """<robot name="one"><link name="a"/><link name="b"/><joint name="j" type="continuous">
<parent link="a"/><child link="b"/><axis xyz="0 -0.6 0.8"/></joint></robot>"""


def odd_model(root: Any = None) -> Any:
    """Every kind of joint, turned placements, full inertias, armature, a massless link and an impossible inertia."""
    rng = np.random.default_rng(7)
    model, parent = pin.Model(), 0
    axis = np.array([0.6, 0.0, 0.8])
    unbounded = pin.buildModelFromXML(CONTINUOUS).joints[1].extract()  # pinocchio's Python cannot make one
    joints = [
        pin.JointModelRX(),
        pin.JointModelRevoluteUnaligned(axis),
        pin.JointModelPZ(),
        pin.JointModelPrismaticUnaligned(-axis),
        pin.JointModelRUBY(),
        unbounded,
        pin.JointModelSpherical(),
        pin.JointModelRY(),
        pin.JointModelRZ(),
    ]
    for i, joint in enumerate([root] * (root is not None) + joints):
        placement = pin.SE3(pin.exp3(rng.standard_normal(3)), rng.uniform(-0.5, 0.5, 3))
        parent = model.addJoint(parent, joint, placement, f"joint{9 - i}")
        half = rng.standard_normal((3, 3))
        inertia = pin.Inertia(rng.uniform(0.5, 2.0), rng.uniform(-0.2, 0.2, 3), 0.05 * half @ half.T)
        if joint.shortname() == "JointModelRY":
            inertia = pin.Inertia.Zero()
        if joint.shortname() == "JointModelRX":
            inertia = pin.Inertia(1.0, np.array([0.1, 0.0, 0.2]), np.diag((0.01, 0.01, 0.05)))
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
        model.addBodyFrame(f"link{9 - i}", parent, pin.SE3(pin.exp3(rng.standard_normal(3)), rng.uniform(-1, 1, 3)), 0)
    armature = np.zeros(model.nv)
    for joint in model.joints:
        armature[joint.idx_v : joint.idx_v + joint.nv] = rng.uniform(0.0, 0.2) if joint.nv == 1 else 0.0
    model.armature = armature
    return model


ROBOTS = {
    "R6": lambda: Robot.from_pinocchio(pin.buildSampleModelManipulator()),
    "H34": lambda: Robot.from_pinocchio(pin.buildSampleModelHumanoid()),
    "H32 random": lambda: Robot.from_pinocchio(pin.buildSampleModelHumanoidRandom()),
    "odd, fixed": lambda: Robot.from_pinocchio(odd_model()),
    "odd, free": lambda: Robot.from_pinocchio(odd_model(pin.JointModelFreeFlyer())),
    "odd, planar": lambda: Robot.from_pinocchio(odd_model(pin.JointModelPlanar())),
}


def by_name(name: str) -> Any:
    def make() -> Robot:
        from wbc.robots import load

        return load(name)

    return make


ROBOTS |= {name: by_name(name) for name in ("double_pendulum", "chain9", "panda", "ur5", "xarm7", "z1", "kinova")}
FLOATING = ("H34", "odd, free", "odd, planar")


@pytest.fixture(params=ROBOTS)
def robot(request: pytest.FixtureRequest) -> Robot:
    if request.param in ("panda", "ur5", "xarm7", "z1", "kinova"):
        from importlib.util import find_spec

        if find_spec("mujoco") is None or not _has_wheel():
            pytest.skip("needs the wheel example-robot-data")
    return quiet(ROBOTS[request.param])


def _has_wheel() -> bool:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        distribution("example-robot-data")
    except PackageNotFoundError:
        return False
    return True


def states(robot: Robot, count: int, speed: float = 2.0, seed: int = 3) -> list[State]:
    """Moving states, turned in every joint and base."""
    rng, zero = np.random.default_rng(seed), pin.neutral(robot.model)
    return [
        State(pin.integrate(robot.model, zero, rng.uniform(-2, 2, robot.nv)), speed * rng.standard_normal(robot.nv))
        for _ in range(count)
    ]


def test_mujoco_and_pinocchio_have_the_same_mass_matrix_and_bias(robot: Robot) -> None:
    world, chosen = MujocoWorld(robot), states(robot, 20)
    M, h = zip(*(world.dynamics(state) for state in chosen), strict=True)
    parity = compare(robot, chosen, M, h, mass=world.mass, tolerance=SAME_DYNAMICS)
    assert parity.agrees, str(parity)


def test_mujoco_and_pinocchio_accelerate_alike(robot: Robot) -> None:
    world, data, rng = MujocoWorld(robot), robot.model.createData(), np.random.default_rng(5)
    for state in states(robot, 20):
        force = 5.0 * rng.standard_normal(robot.nv)
        ours = np.array(pin.aba(robot.model, data, state.q, state.v, force))
        assert np.abs(world.acceleration(state, force) - ours).max() <= SAME_ACCELERATION * np.abs(ours).max()


def test_a_heavier_link_in_the_simulator_is_named() -> None:
    """Field report F12."""
    model = pin.buildSampleModelManipulator()
    heavy = pin.Model(model)
    heavy.inertias[4] = pin.Inertia(
        heavy.inertias[4].mass + 1.0, heavy.inertias[4].lever, np.array(heavy.inertias[4].inertia)
    )
    robot, world = Robot.from_pinocchio(model), MujocoWorld(Robot.from_pinocchio(heavy))
    chosen = states(robot, 20)
    M, h = zip(*(world.dynamics(state) for state in chosen), strict=True)
    parity = compare(robot, chosen, M, h, mass=world.mass)
    assert not parity.agrees and parity.mass == pytest.approx(1.0)
    assert set(parity.affected) == set(robot.joint_names[:4])  # joints beyond the link do not move it


def test_states_come_back_from_mujoco_as_they_went(robot: Robot) -> None:
    world = MujocoWorld(robot)
    for state in states(robot, 20):
        world.reset(state)
        back = world.state
        assert np.abs(pin.difference(robot.model, state.q, back.q)).max() < 1e-13
        assert np.abs(state.v - back.v).max() < 1e-13


def test_a_yawed_base_turns_its_velocity() -> None:
    """Field report D09: the base twist is in the base's axes, MuJoCo's linear velocity in the world's."""
    robot = quiet(ROBOTS["H34"])
    world = MujocoWorld(robot)
    qpos, qvel = np.zeros(world.model.nq), np.zeros(world.model.nv)
    qpos[3:7] = np.cos(np.pi / 4), 0.0, 0.0, np.sin(np.pi / 4)
    qvel[:6] = 1.0, 0.0, 0.0, 0.0, 0.0, 1.0
    _, v = world.coordinates.from_mujoco(qpos, qvel)
    assert np.allclose(v[:6], (0.0, -1.0, 0.0, 0.0, 0.0, 1.0), atol=1e-15)

    q, v = pin.neutral(robot.model), np.zeros(robot.nv)
    q[3:7] = 0.0, 0.0, np.sin(np.pi / 4), np.cos(np.pi / 4)
    v[0] = 1.0
    data = robot.model.createData()
    pin.centerOfMass(robot.model, data, q, v)
    assert np.allclose(data.vcom[0], (0.0, 1.0, 0.0), atol=1e-15)
    assert np.allclose(world.coordinates.to_mujoco(q, v)[1][:3], (0.0, 1.0, 0.0), atol=1e-15)


def test_a_quaternion_is_w_first_there_and_w_last_here() -> None:
    """Field report D10."""
    robot = quiet(ROBOTS["H34"])
    world = MujocoWorld(robot)
    qpos = np.zeros(world.model.nq)
    qpos[:7] = 0.1, 0.2, 0.3, 1.0, 0.0, 0.0, 0.0
    q, _ = world.coordinates.from_mujoco(qpos, np.zeros(world.model.nv))
    assert np.array_equal(q[:7], (0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0))
    gravity = pin.computeGeneralizedGravity(robot.model, robot.model.createData(), q)
    assert gravity[2] == pytest.approx(152.055, abs=1e-3)


def kinetic(robot: Robot, state: State) -> float:
    """½ vᵀ M v; pinocchio's own function counts the armature of some kinds of joints only."""
    M = np.triu(pin.crba(robot.model, robot.model.createData(), state.q))
    return float(0.5 * state.v @ (M + np.triu(M, 1).T) @ state.v)


def energy(robot: Robot, state: State) -> float:
    potential = pin.computePotentialEnergy(robot.model, robot.model.createData(), state.q)
    return kinetic(robot, state) + float(potential)


@pytest.mark.parametrize("name", ["R6", "odd, fixed", *FLOATING])
def test_both_physics_fall_alike_and_keep_their_energy(name: str) -> None:
    robot = quiet(ROBOTS[name])
    (start,) = states(robot, 1, speed=0.5)
    ends = []
    for physics in PHYSICS:
        world = physics_by_name(physics, robot, 10)
        world.reset(start)
        energies = [energy(robot, start)]
        for _ in range(300):
            world.step(np.zeros(robot.nu), 1e-3)
            energies.append(energy(robot, world.state))
        ends.append(world.state)
        moving = kinetic(robot, ends[-1])
        assert moving > 1.0 and np.ptp(energies) < 1e-2 * moving  # first-order steps of 0.1 ms
    # a base's position is stepped along its old axes here and along straight lines there, so only to first order
    assert np.abs(pin.difference(robot.model, ends[0].q, ends[1].q)).max() < (1e-3 if name in FLOATING else 1e-9)


@pytest.mark.parametrize("physics", PHYSICS)
def test_a_pendulum_without_motors_swings_and_keeps_its_energy(physics: str) -> None:
    robot = quiet(ROBOTS["double_pendulum"])
    start = State(robot.home + 0.7, np.zeros(robot.nv))
    controller = Fake(robot, lambda s: np.zeros(robot.nu))
    recording = simulate(controller, 2.0, physics=physics, substeps=20, start=start, progress=False)
    passed = [State(q, v) for q, v in zip(recording.q, recording.v, strict=True)]
    swing = max(kinetic(robot, s) for s in passed)
    assert swing > 0.05 and np.ptp([energy(robot, s) for s in passed]) < 2e-3 * swing  # steps of 50 us


@pytest.mark.parametrize("physics", PHYSICS)
@pytest.mark.parametrize("name", ["R6", "odd, fixed", *FLOATING])
def test_a_disturbance_pushes_as_its_transposed_jacobian_says(physics: str, name: str) -> None:
    robot, dt = quiet(ROBOTS[name]), 1e-6
    model, data = robot.model, robot.model.createData()
    frames = [f.name for f in model.frames if f.parentJoint][-3::2]
    wrenches = {frames[0]: np.array([3.0, -2.0, 1.0, 0.5, 0.2, -0.4]), frames[1]: np.array([0, 0, 5.0, 0, 0, 0])}
    (start,) = states(robot, 1)
    world = physics_by_name(physics, robot, 1)
    pin.computeJointJacobians(model, data, start.q)
    pin.updateFramePlacements(model, data)
    force = sum(
        pin.getFrameJacobian(model, data, model.getFrameId(f), pin.LOCAL_WORLD_ALIGNED).T @ w
        for f, w in wrenches.items()
    )
    vdot = np.array(pin.aba(model, data, start.q, start.v, force))
    expected = vdot - np.array(pin.aba(model, data, start.q, start.v, np.zeros(robot.nv)))
    world.reset(start)
    world.step(np.zeros(robot.nu), dt)
    free = world.state.v
    world.reset(start)
    world.step(np.zeros(robot.nu), dt, wrenches)
    pushed = (world.state.v - free) / dt
    assert np.abs(pushed - expected).max() < 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("physics", PHYSICS)
@pytest.mark.parametrize("name", ["R6", "odd, planar", "H34"])
def test_a_torque_turns_the_joint_that_it_is_meant_for(physics: str, name: str) -> None:
    robot, dt = quiet(ROBOTS[name]), 1e-6
    (start,) = states(robot, 1)
    world = physics_by_name(physics, robot, 1)
    torque = np.arange(1.0, robot.nu + 1.0)
    tau = np.zeros(robot.nv)
    tau[robot.actuated] = torque
    expected = np.array(pin.aba(robot.model, robot.model.createData(), start.q, start.v, tau))
    world.reset(start)
    world.step(torque, dt)
    got = (world.state.v - start.v) / dt
    assert np.abs(got - expected).max() < 1e-4 * np.abs(expected).max()  # first order in dt


def test_joint_losses_and_stops_act_only_when_asked_for() -> None:
    model = pin.buildSampleModelManipulator()
    model.damping = np.full(6, 2.0)
    model.friction = np.full(6, 0.1)
    robot = Robot.from_pinocchio(model)
    start = State(np.zeros(6), np.array([6.0, 0.0, 0.0, 0.0, 0.0, 0.0]))

    def later(world: Any) -> State:
        world.reset(start)
        for _ in range(1000):
            world.step(np.zeros(6), 1e-3)
        state: State = world.state
        return state

    free, lossy = later(MujocoWorld(robot)), later(MujocoWorld(robot, losses=True))
    stopped = later(MujocoWorld(robot, joint_limits=True))
    assert abs(later(Integrator(robot)).q - free.q).max() < 1e-9
    assert energy(robot, free) == pytest.approx(energy(robot, start), abs=0.1)
    assert energy(robot, lossy) < energy(robot, start) - 5.0
    assert free.q[0] > robot.position_limits[1, 0] + 0.5 and stopped.q[0] < robot.position_limits[1, 0] + 0.2


def test_a_joint_that_mujoco_does_not_have_is_named() -> None:
    model = pin.Model()
    model.addJoint(0, pin.JointModelSphericalZYX(), pin.SE3.Identity(), "shoulder")
    model.appendBodyToJoint(1, pin.Inertia.Random(), pin.SE3.Identity())
    with pytest.raises(RobotError, match=r"shoulder.*SphericalZYX"):
        MujocoWorld(Robot.from_pinocchio(model))


@pytest.mark.parametrize("physics", PHYSICS)
def test_a_run_that_blows_up_stops_and_says_so(physics: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    robot = quiet(ROBOTS["R6"])
    recording = simulate(Fake(robot, lambda s: 1e4 * s.v + 1.0), 2.0, physics=physics, progress=False)
    assert not recording.finished and recording.reason and len(recording.time) < 2000
    recording = simulate(Fake(robot, lambda s: np.full(6, np.nan)), 2.0, physics=physics, progress=False)
    assert not recording.finished and "torque" in recording.reason and len(recording.time) == 1
    assert not list(tmp_path.iterdir())  # MuJoCo would leave its log here


def test_two_runs_from_one_start_are_equal_bit_by_bit() -> None:
    robot = quiet(ROBOTS["R6"])
    controller, start = Fake(robot, lambda s: -5.0 * s.v), states(robot, 1)[0]
    for physics in PHYSICS:
        world = physics_by_name(physics, robot, 4)
        one, two = (simulate(controller, 0.2, physics=world, start=start, progress=False) for _ in range(2))
        assert np.array_equal(one.q, two.q) and np.array_equal(one.v, two.v) and len(one.time) == 200


def test_reference_and_disturbance_are_called_before_every_tick_with_its_time() -> None:
    robot = quiet(ROBOTS["R6"])
    controller: Any = Fake(robot, lambda s: np.zeros(6), dt=0.002)
    controller.stack, times, pushes = object(), [], []
    recording = simulate(
        controller,
        0.1,
        reference=lambda t, stack: times.append((t, stack is controller.stack)),
        disturbance=lambda t: pushes.append(t) or {},
        progress=False,
    )
    assert len(recording.time) == 50 and times == [(t, True) for t in recording.time] and pushes == list(recording.time)


def test_a_run_paced_by_the_clock_counts_late_ticks_and_warns() -> None:
    import time

    robot = quiet(ROBOTS["R6"])
    with pytest.warns(ControlWarning, match=r"dt = 0\.001"):
        late = simulate(
            Fake(robot, lambda s: time.sleep(0.003) or np.zeros(6)),
            0.03,
            realtime=True,
            progress=False,  # type: ignore[func-returns-value]
        )
    assert late.overruns > 20
    begin = time.perf_counter()
    simulate(Fake(robot, lambda s: np.zeros(6), dt=0.01), 0.2, realtime=True, progress=False)
    assert time.perf_counter() - begin >= 0.2


def test_gravity_left_to_the_firmware_is_added_by_the_simulated_robot() -> None:
    robot = quiet(ROBOTS["R6"])
    controller: Any = Fake(robot, lambda s: np.zeros(6))
    controller.gravity = "excluded"
    start = State(np.array([0.0, 1.0, 0.3, 0.2, 0.1, 0.0]), np.zeros(6))
    recording = simulate(controller, 0.2, start=start, progress=False)
    assert np.abs(recording.q[-1] - start.q).max() < 1e-9 and np.abs(recording.torque).max() > 1.0


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"physics": "mujocoo"}, UnknownNameError),
        ({"duration": 0.0}, InputError),
        ({"duration": 1e-5}, InputError),
        ({"substeps": 0}, InputError),
        ({"substeps": 1.5}, InputError),
        ({"start": State(np.zeros(5), np.zeros(6))}, InputError),
        ({"disturbance": lambda t: {"no_such_frame": np.zeros(6)}}, UnknownNameError),
        ({"disturbance": lambda t: {"effector_body": np.zeros(3)}}, InputError),
    ],
)
def test_a_run_that_cannot_be_meant_is_refused(arguments: dict[str, Any], error: type[Exception]) -> None:
    robot = quiet(ROBOTS["R6"])
    with pytest.raises(error):
        simulate(Fake(robot, lambda s: np.zeros(6)), **{"duration": 0.1, "progress": False} | arguments)


def test_motors_are_found_by_joint_and_gears_are_divided_out() -> None:
    """Field reports L01 and L06."""
    motors = Motors(("a", "b", "c"), [Motor("c", gear=2.0), Motor("a"), Motor("b", gear=50.0, lower=-1, upper=1)])
    assert np.array_equal(motors.control((1.0, 10.0, 3.0)), (1.5, 1.0, 0.2))
    assert np.array_equal(motors.torque(motors.control((1.0, 10.0, 3.0))), (1.0, 10.0, 3.0))
    assert motors.clipped((0.0, 51.0, 0.0)) == ("b",) and motors.clipped((0.0, 50.0, 0.0)) == ()
    with pytest.raises(InputError, match="without a motor: b"):
        Motors(("a", "b", "c"), [Motor("c", gear=2.0), Motor("a")])
    with pytest.raises(InputError, match="torque motors: a"):
        Motors(("a",), [Motor("a", kind="position or velocity servo")])


def test_motors_of_somebody_elses_mujoco_model_are_read_with_their_gears() -> None:
    import mujoco

    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><body><joint name="a"/>
        <geom size="1"/><body><joint name="b"/><geom size="1"/></body></body>
        </worldbody><actuator><motor joint="b" gear="50" ctrlrange="-1 1" ctrllimited="true"/><position joint="a"/>
        </actuator></mujoco>"""
    )
    first, second = motors_of(model)
    assert first == Motor("b", gear=50.0, lower=-1.0, upper=1.0)
    assert second.joint == "a" and second.kind != "motor"
