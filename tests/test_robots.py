"""Robots by name: every one loads without a warning and is what its file says."""

from __future__ import annotations

import importlib
import re
import sys
import xml.etree.ElementTree as ElementTree
from importlib.metadata import PackageNotFoundError

import numpy as np
import pinocchio as pin
import pytest

import wbc.robots.example_robot_data as wheel
from wbc.errors import InputError, NotInstalledError, RobotError, UnknownNameError
from wbc.robot import Robot
from wbc.robots import load, names
from wbc.robots.chain import LENGTH, MASS, chain

pytestmark = pytest.mark.filterwarnings("error::wbc.errors.RobotWarning")

ROTATION_LENGTH = 0.2  # m; makes rotation rows comparable with position rows (DESIGN, damping)
AWAY = 4.0  # times the damping threshold: how far from singular a home must be at least
INSIDE = 0.1  # rad; how far inside its position limits a home must be at least

# name: (nq, nv, mass that moves [kg], hand frame, rows of the hand's Jacobian that the robot can move)
TABLE = {
    "double_pendulum": (2, 2, 2.0, "tip", (0, 2)),
    "kinova": (9, 6, 4.37, "j2s6s200_end_effector", range(6)),
    "panda": (7, 7, 16.82, "panda_hand_tcp", range(6)),
    "ur5": (6, 6, 16.99, "tool0", range(6)),
    "xarm7": (7, 7, 10.43, "link_eef", range(6)),
    "z1": (6, 6, 4.748, "gripperStator", range(6)),
    "chain7": (7, 7, MASS, "tip", range(6)),
    "chain28": (28, 28, MASS, "tip", range(6)),
}
OWN = ("double_pendulum", "chain7", "chain28")  # need no wheel


def has_wheel() -> bool:
    try:
        wheel.folder()
    except NotInstalledError:
        return False
    return True


needs_wheel = pytest.mark.skipif(not has_wheel(), reason='needs pip install "wbc[robots]"')
every_robot = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in OWN else needs_wheel) for name in TABLE]
)


def mass_matrix(robot: Robot, q: np.ndarray) -> np.ndarray:
    upper = np.triu(pin.crba(robot.model, robot.model.createData(), q))
    return upper + np.triu(upper, 1).T


def test_the_table_of_this_test_has_every_robot():
    standing = importlib.import_module("test_legged_robots").TABLE
    assert set(names()) <= set(TABLE) | set(standing)
    assert list(names()) == sorted(names())


@every_robot
def test_a_robot_loads_with_the_dimensions_and_the_name_it_should_have(name):
    robot = load(name)
    nq, nv, mass, _, _ = TABLE[name]
    assert (robot.nq, robot.nv, robot.nu) == (nq, nv, nv)
    assert robot.name == name
    assert robot.mass == pytest.approx(mass, rel=1e-3)
    assert not robot.warnings


@every_robot
def test_every_motor_has_real_limits(name):
    robot = load(name)
    assert np.isfinite(robot.torque_limits).all() and (robot.torque_limits > 0.0).all()
    assert np.isfinite(robot.velocity_limits).all() and (robot.velocity_limits > 0.0).all()


@every_robot
def test_home_is_well_inside_the_limits_and_can_be_held(name):
    robot = load(name)
    lower, upper = robot.position_limits
    angle = np.array([robot.home[j.idx_q] if j.nq == 1 else 0.0 for j in list(robot.model.joints)[1:]])
    assert (angle > lower + INSIDE).all() and (angle < upper - INSIDE).all()
    gravity = pin.computeGeneralizedGravity(robot.model, robot.model.createData(), robot.home)
    assert (np.abs(gravity) < 0.5 * robot.torque_limits).all()


@every_robot
def test_home_is_far_from_singular_in_gauss_coordinates(name):
    robot = load(name)
    frame, rows = TABLE[name][3], list(TABLE[name][4])
    J = pin.computeFrameJacobian(
        robot.model, robot.model.createData(), robot.home, robot.frame_id(frame), pin.LOCAL_WORLD_ALIGNED
    )
    J = np.vstack([J[:3], ROTATION_LENGTH * J[3:]])[rows]
    C = np.linalg.cholesky(mass_matrix(robot, robot.home)).T
    sigma = np.linalg.svd(J @ np.linalg.inv(C), compute_uv=False)
    assert sigma[-1] > AWAY / np.sqrt(100.0 * robot.mass)


@every_robot
def test_the_mass_matrix_is_positive_definite_everywhere(name):
    robot = load(name)
    rng = np.random.default_rng(1)
    for _ in range(50):
        q = pin.integrate(robot.model, np.array(robot.home), rng.uniform(-3.0, 3.0, robot.nv))
        assert np.linalg.eigvalsh(mass_matrix(robot, q))[0] > 0.0


@every_robot
def test_limits_and_joint_order_are_the_descriptions_own(name):
    robot = load(name)
    assert robot.description is not None
    written = {joint.get("name"): joint for joint in ElementTree.fromstring(robot.description.text).findall("joint")}
    assert robot.joint_names == robot.velocity_names == tuple(robot.model.names)[1:]
    assert list(robot.joint_names) == [joint for joint in written if joint in robot.joint_names]  # base to hand
    for i, joint_name in enumerate(robot.joint_names):
        limit = written[joint_name].find("limit")
        assert limit is not None
        assert robot.torque_limits[i] == float(limit.get("effort", "nan"))
        assert robot.velocity_limits[i] == float(limit.get("velocity", "nan"))
        if written[joint_name].get("type") == "continuous":
            assert robot.position_limits[:, i].tolist() == [-np.inf, np.inf]
        else:
            expected = [float(limit.get("lower", "nan")), float(limit.get("upper", "nan"))]
            assert robot.position_limits[:, i].tolist() == expected


@every_robot
def test_its_frames_exist_and_belong_to_the_last_joint(name):
    robot = load(name)
    hand = robot.model.frames[robot.frame_id(TABLE[name][3])]
    assert hand.parentJoint == robot.model.njoints - 1
    with pytest.raises(UnknownNameError, match="did you mean"):
        robot.frame_id(TABLE[name][3] + "x")


@needs_wheel
def test_locked_fingers_are_no_joints_and_keep_their_mass():
    panda = load("panda")
    assert not any("finger" in joint for joint in panda.joint_names)
    assert panda.frame_id("panda_leftfinger") > 0


@needs_wheel
def test_continuous_joints_have_no_position_limits_and_home_is_on_the_circle():
    kinova = load("kinova")
    free = np.isinf(kinova.position_limits).all(axis=0)
    assert free.tolist() == [True, False, False, True, False, True]
    assert pin.isNormalized(kinova.model, np.array(kinova.home), 1e-12)


@needs_wheel
@pytest.mark.parametrize("name", [name for name in names() if name not in OWN])
def test_the_meshes_of_a_robot_can_be_found_for_pictures(name):
    robot = load(name)
    addresses = set(re.findall(r'package://([^"]+)"', robot.description.text))
    assert addresses
    assert all((robot.description.package_dirs[0] / address).is_file() for address in addresses)


def test_a_chain_is_as_long_and_as_heavy_whatever_its_number_of_joints():
    for n in (1, 2, 7, 14, 56):
        robot = chain(n)
        assert (robot.nv, robot.mass) == (n, pytest.approx(MASS))
        data = robot.model.createData()
        pin.framesForwardKinematics(robot.model, data, np.zeros(n))
        assert data.oMf[robot.frame_id("tip")].translation == pytest.approx([0.0, 0.0, LENGTH])


@pytest.mark.parametrize("n", [0, -1, 501, 2.0, "7", True])
def test_a_chain_of_no_sensible_number_is_refused(n):
    with pytest.raises(InputError, match="whole number of joints from 1 to 500"):
        chain(n)


def test_a_mistyped_robot_is_refused_with_close_matches():
    with pytest.raises(UnknownNameError, match="did you mean 'panda'"):
        load("pandas")
    with pytest.raises(UnknownNameError, match="double_pendulum"):
        load("chain0")
    with pytest.raises(InputError, match="expected a name"):
        load(7)


def test_a_robots_file_is_imported_only_when_it_is_loaded():
    sys.modules.pop("wbc.robots.double_pendulum", None)
    names()
    assert "wbc.robots.double_pendulum" not in sys.modules
    load("double_pendulum")
    assert "wbc.robots.double_pendulum" in sys.modules


def test_without_the_wheel_an_arm_says_what_to_install_and_the_pendulum_loads(monkeypatch):
    def absent(_):
        raise PackageNotFoundError(wheel.WHEEL)

    monkeypatch.setattr(wheel, "distribution", absent)
    with pytest.raises(NotInstalledError, match=re.escape('pip install "wbc[robots]"')):
        load("panda")
    assert load("double_pendulum").nv == 2


@needs_wheel
def test_a_file_that_the_wheel_does_not_hold_is_named():
    with pytest.raises(RobotError, match=r"holds no file robots/nothing\.urdf"):
        wheel.from_wheel("nothing.urdf")


def test_every_load_gives_a_robot_of_its_own():
    assert load("double_pendulum").model is not load("double_pendulum").model
