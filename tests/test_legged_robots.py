"""Robots that stand on feet or wheels: what is loaded, whether home can be stood in, and whether one tick holds it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial import ConvexHull

from wbc import Controller, Robot, Stack, State, Status
from wbc.errors import NotInstalledError, RobotError, UnknownNameError
from wbc.foot import Foot
from wbc.inspection import inspect
from wbc.robots import jvrc1, load, names
from wbc.robots.feet import ball, sole, standing, with_frame
from wbc.tasks import JointLimits, PointContact, PostureTask, SurfaceContact, TorqueLimits
from wbc.terms import Terms

pytestmark = pytest.mark.filterwarnings("error::wbc.errors.RobotWarning")

FLAT = 1e-9  # m and rad: by how much a foot may stand above or below the ground, or tilt
INSIDE = 0.05  # rad, m: how far inside its position limits a home must be at least
BASE = 1e-9  # relative to the weight: what may be left of the base rows
WEIGHT = 1e-6  # relative: vertical forces against the weight
MARGIN = 0.02  # m: how far inside the support polygon the centre of mass must be at least
G = 9.81

QUADRUPED_FEET = ("front_left_foot", "front_right_foot", "rear_left_foot", "rear_right_foot")
HUMANOID_FEET = ("left_foot", "right_foot")

# name: (nq, nv, nu, mass [kg], feet, wheel of its description)
TABLE = {
    "talos": (37, 36, 30, 90.27, HUMANOID_FEET, "example-robot-data"),
    "g1": (36, 35, 29, 33.34, HUMANOID_FEET, "example-robot-data"),
    "jvrc1": (39, 38, 32, 62.40, HUMANOID_FEET, "jvrc-description"),
    "anymal_c": (19, 18, 12, 52.13, QUADRUPED_FEET, "example-robot-data"),
    "go2": (19, 18, 12, 16.09, QUADRUPED_FEET, "example-robot-data"),
    "solo12": (19, 18, 12, 2.500, QUADRUPED_FEET, "example-robot-data"),
    "tiago": (14, 13, 12, 65.89, (), "example-robot-data"),
    "tiago_pro": (21, 20, 20, 61.45, (), "example-robot-data"),
}
LEGGED = [name for name, row in TABLE.items() if row[4]]
WHEELED = [name for name, row in TABLE.items() if not row[4]]


def needs(name: str):
    try:
        distribution(TABLE[name][5])
    except PackageNotFoundError:
        return pytest.param(name, marks=pytest.mark.skip(reason='needs pip install "wbc[robots]"'))
    return name


every_robot = pytest.mark.parametrize("name", [needs(name) for name in TABLE])
every_legged_robot = pytest.mark.parametrize("name", [needs(name) for name in LEGGED])
every_wheeled_robot = pytest.mark.parametrize("name", [needs(name) for name in WHEELED])


def placements(robot: Robot) -> dict[str, pin.SE3]:
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, np.array(robot.home))
    return {foot.name: data.oMf[robot.frame_id(foot.frame)] for foot in robot.footing}


def com(robot: Robot) -> np.ndarray:
    return np.array(pin.centerOfMass(robot.model, robot.model.createData(), np.array(robot.home)))


def mass_matrix(robot: Robot, q: np.ndarray) -> np.ndarray:
    upper = np.triu(pin.crba(robot.model, robot.model.createData(), q))
    return upper + np.triu(upper, 1).T


@every_robot
def test_a_robot_loads_with_the_dimensions_and_the_name_it_should_have(name):
    robot = load(name)
    nq, nv, nu, mass, feet, _ = TABLE[name]
    assert name in names()
    assert (robot.nq, robot.nv, robot.nu) == (nq, nv, nu)
    assert robot.name == name
    assert robot.mass == pytest.approx(mass, rel=1e-3)
    assert robot.feet == feet
    assert not robot.warnings
    if feet:
        assert not set(robot.actuated) & set(range(6))
        assert robot.joint_names == robot.velocity_names[6:]


@every_robot
def test_nothing_is_left_to_mend(name):
    findings = inspect(load(name))
    assert findings.usable and not findings.warnings


@every_robot
def test_every_motor_has_real_limits(name):
    robot = load(name)
    assert np.isfinite(robot.torque_limits).all() and (robot.torque_limits > 0.0).all()
    velocity = robot.velocity_limits[robot.actuated]
    assert np.isfinite(velocity).all() and (velocity > 0.0).all()
    placeholders = robot.torque_limits >= 1000.0
    assert [robot.joint_names[i] for i in np.flatnonzero(placeholders)] in ([], ["torso_lift_joint"])


@every_robot
def test_home_is_inside_the_limits(name):
    robot = load(name)
    lower, upper = robot.position_limits
    for joint in list(robot.model.joints)[1:]:
        if joint.nq == joint.nv == 1 and np.isfinite(lower[joint.idx_v]):
            at, where = robot.home[joint.idx_q], robot.model.names[joint.id]
            straight = at == 0.0 and 0.0 in (lower[joint.idx_v], upper[joint.idx_v])  # a joint that rests on its stop
            assert straight or lower[joint.idx_v] + INSIDE < at < upper[joint.idx_v] - INSIDE, where
    assert pin.isNormalized(robot.model, np.array(robot.home), 1e-12)


@every_robot
def test_the_mass_matrix_is_positive_definite_everywhere(name):
    robot = load(name)
    rng = np.random.default_rng(2)
    for _ in range(20):
        q = pin.integrate(robot.model, np.array(robot.home), rng.uniform(-2.0, 2.0, robot.nv))
        assert np.linalg.eigvalsh(mass_matrix(robot, q))[0] > 0.0


@every_legged_robot
def test_all_feet_stand_flat_on_the_ground_with_their_middle_at_the_origin(name):
    robot = load(name)
    points = []
    for foot_name, placement in placements(robot).items():
        foot = robot.foot(foot_name)
        touching = foot.touching(placement)
        assert np.abs(touching[:, 2]).max() < FLAT
        if foot.half_size is not None:
            assert np.abs(placement.rotation[:, 2] - [0.0, 0.0, 1.0]).max() < FLAT
            assert placement.rotation[0, 0] > 0.9  # x forward
        points.append(touching.mean(axis=0))
    assert np.abs(np.mean(points, axis=0)).max() < FLAT
    left = {foot for foot in robot.feet if "left" in foot}
    for foot, point in zip(robot.feet, points, strict=True):
        assert (point[1] > 0.0) == (foot in left)
        assert (point[0] > 0.0) == ("front" in foot) or "front" not in " ".join(robot.feet)


@every_legged_robot
def test_the_centre_of_mass_is_over_the_feet_and_the_base_is_level(name):
    robot = load(name)
    corners = np.vstack([robot.foot(foot).touching(placement) for foot, placement in placements(robot).items()])
    edges = ConvexHull(corners[:, :2]).equations  # normal·point + offset <= 0 inside
    assert (edges[:, :2] @ com(robot)[:2] + edges[:, 2] < -MARGIN).all()
    assert robot.home[3:7].tolist() == [0.0, 0.0, 0.0, 1.0]


@every_legged_robot
def test_a_contact_of_a_foot_is_of_its_kind_and_takes_keywords(name):
    robot = load(name)
    for foot_name in robot.feet:
        foot, contact = robot.foot(foot_name), robot.contact(foot_name, friction=0.6, min_force=1.0)
        assert isinstance(contact, PointContact if foot.half_size is None else SurfaceContact)
        assert (contact.name, contact.frame, contact.friction, contact.min_force) == (foot_name, foot.frame, 0.6, 1.0)
        assert contact is not robot.contact(foot_name)
        assert robot.frame_id(foot.frame) > 0
        assert (foot.radius > 0.0) == (foot.half_size is None)


@every_legged_robot
def test_one_tick_at_home_holds_the_robot_within_its_limits(name):
    robot = load(name)
    stack = Stack(
        nominal=PostureTask("posture", target=robot.home),
        contacts=[robot.contact(foot, friction=0.7) for foot in robot.feet],
        limits=[TorqueLimits(), JointLimits()],
    )
    state = State(robot.home, np.zeros(robot.nv))
    command = Controller(robot, stack).tick(state)
    weight = robot.mass * G
    assert command.report.status is Status.OPTIMAL
    assert (np.abs(command.torque) <= robot.torque_limits).all()
    assert (np.abs(command.torque) < 0.5 * robot.torque_limits).all()
    assert np.abs(command.acceleration).max() < 1e-6
    total = sum(wrench[:3] for wrench in command.wrenches.values())
    assert total[2] == pytest.approx(weight, rel=WEIGHT)
    # the base rows from pinocchio alone: M v̇ + h − Σ Jᵀ f has nothing left where there is no motor
    model, data, terms = robot.model, robot.model.createData(), Terms(robot, 0.001)
    terms.update(state)
    left = pin.rnea(model, data, np.array(robot.home), np.zeros(robot.nv), np.array(command.acceleration))
    for foot, wrench in command.wrenches.items():
        J = terms.frame(robot.foot(foot).frame).J[: len(wrench)]
        left = left - J.T @ wrench
    assert np.abs(left[:6]).max() < BASE * weight
    assert left[robot.actuated] == pytest.approx(command.torque, abs=BASE * weight)


@every_wheeled_robot
def test_one_tick_at_home_holds_a_manipulator_on_its_base(name):
    robot = load(name)
    stack = Stack(nominal=PostureTask("posture", target=robot.home), limits=[TorqueLimits(), JointLimits()])
    state = State(robot.home, np.zeros(robot.nv))
    command = Controller(robot, stack).tick(state)
    gravity = pin.computeGeneralizedGravity(robot.model, robot.model.createData(), np.array(robot.home))
    assert command.report.status is Status.OPTIMAL
    assert command.torque == pytest.approx(gravity[robot.actuated], abs=1e-9)
    assert (np.abs(command.torque) < 0.5 * robot.torque_limits).all()


@every_wheeled_robot
def test_a_planar_base_has_forces_with_limits_by_name(name):
    robot = load(name)
    base = ("root_joint_x", "root_joint_y", "root_joint_yaw")
    assert robot.velocity_names[:3] == base
    assert robot.joint_names[:2] == (base[::2] if name == "tiago" else base[:2])  # a differential base has two
    assert robot.home[:4].tolist() == [0.0, 0.0, 1.0, 0.0]
    assert not any("wheel" in joint or "finger" in joint or "hand" in joint for joint in robot.joint_names)
    slower = Robot.from_pinocchio(
        robot.model,
        torque_limits=dict(zip(robot.joint_names, robot.torque_limits, strict=True)) | {base[0]: 50.0},
        velocity_limits=dict(zip(robot.velocity_names, robot.velocity_limits, strict=True)) | {base[2]: 0.5},
    )
    assert slower.torque_limits[0] == 50.0 and slower.velocity_limits[2] == 0.5


@every_wheeled_robot
def test_the_twist_of_a_planar_base_is_in_its_own_axes(name):
    robot = load(name)
    q, v = np.array(robot.home), np.zeros(robot.nv)
    q[2:4], v[0] = (0.0, 1.0), 1.0  # turned left by a right angle, moving ahead
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q, v)
    frame = robot.frame_id("base_footprint")
    velocity = pin.getFrameVelocity(robot.model, data, frame, pin.LOCAL_WORLD_ALIGNED)
    assert velocity.linear == pytest.approx([0.0, 1.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("name", [needs("tiago_pro")])
def test_both_hands_of_tiago_pro_are_mirror_images(name):
    robot = load(name)
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, np.array(robot.home))
    left, right = (data.oMf[robot.frame_id(f"arm_{side}_tool_link")].translation for side in ("left", "right"))
    assert left * [1.0, -1.0, 1.0] == pytest.approx(right, abs=1e-3)


@pytest.mark.parametrize("name", [needs("anymal_c")])
def test_a_mistyped_foot_is_refused_with_close_matches(name):
    robot = load(name)
    with pytest.raises(UnknownNameError, match="did you mean 'front_left_foot'"):
        robot.contact("front_left")
    with pytest.raises(UnknownNameError, match="did you mean 'LF_FOOT'"):
        robot.with_feet(ball("paw", "LF_FOOTS", 0.03))
    with pytest.raises(RobotError, match="two feet have one name: paw, paw"):
        robot.with_feet(ball("paw", "LF_FOOT", 0.03), ball("paw", "RF_FOOT", 0.03))


def test_a_robot_without_feet_says_so():
    pendulum = load("double_pendulum")
    assert pendulum.feet == ()
    with pytest.raises(UnknownNameError, match="there are: none"):
        pendulum.foot("left_foot")


def test_feet_survive_scaling_and_a_new_frame_leaves_the_old_robot_alone():
    box = pin.Model()
    joint = box.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    box.appendBodyToJoint(joint, pin.Inertia.FromBox(2.0, 0.4, 0.2, 0.2), pin.SE3.Identity())
    box.addJointFrame(joint)
    robot = Robot.from_pinocchio(box, name="box")
    framed = with_frame(robot, "bottom", "base", (0.1, 0.0, -0.1))
    assert robot.model.nframes + 1 == framed.model.nframes
    stood = standing(framed, sole("foot", "bottom", (0.1, 0.1))).scaled(torque=0.5)
    assert stood.feet == ("foot",)
    assert stood.home[:3].tolist() == pytest.approx([-0.1, 0.0, 0.1])


def test_corners_of_a_turned_sole_and_the_lowest_point_of_a_ball():
    turn = pin.SE3(pin.exp3(np.array([0.0, 0.0, np.pi / 2])), np.array([1.0, 2.0, 3.0]))
    corners = Foot("f", "x", (0.2, 0.1), 0.0, PointContact).touching(turn)
    assert corners[0] == pytest.approx([0.9, 2.2, 3.0])
    tilted = pin.SE3(pin.exp3(np.array([1.0, 0.0, 0.0])), np.array([1.0, 2.0, 3.0]))
    assert Foot("f", "x", None, 0.5, PointContact).touching(tilted).tolist() == [[1.0, 2.0, 2.5]]


def test_without_its_wheel_jvrc1_says_what_to_install(monkeypatch):
    def absent(_):
        raise PackageNotFoundError(jvrc1.WHEEL)

    monkeypatch.setattr(jvrc1, "distribution", absent)
    with pytest.raises(NotInstalledError, match="jvrc-description"):
        load("jvrc1")
