"""Frames: read from pinocchio's own memory where that says what its public functions say, asked of these otherwise."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures import r6
from standing import robot_or_skip

import wbc
from wbc import frames
from wbc.frames import FrameTable
from wbc.robots import load
from wbc.tasks import ComTask, OrientationTask, PoseTask, PostureTask, TorqueLimits

ROUNDING = 1e-12  # relative: two ways to compute the same numbers
SAME_TORQUE = 1e-9  # N m: what that leaves of a torque


def humanoid():
    return pin.buildSampleModelHumanoid()


def planar():
    """A body that drives, with an arm of two joints turned against it."""
    model = pin.Model()
    parent = model.addJoint(0, pin.JointModelPlanar(), pin.SE3.Identity(), "root")
    random = np.random.default_rng(8)
    for name, joint in (("slide", pin.JointModelPY()), ("turn", pin.JointModelRUBX())):
        placement = pin.SE3(pin.rpy.rpyToMatrix(random.standard_normal(3)), random.standard_normal(3))
        parent = model.addJoint(parent, joint, placement, name)
        model.appendBodyToJoint(parent, pin.Inertia.Random(), placement)
        model.addFrame(pin.Frame(f"{name} tip", parent, 0, placement, pin.FrameType.OP_FRAME))
    return model


def one_joint():
    return pin.buildModelFromXML(
        '<robot name="one"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="continuous">'
        '<parent link="a"/><child link="b"/><axis xyz="0 1 0"/><origin xyz="0.1 0 0" rpy="1 0 0"/></joint></robot>'
    )


def chain():
    return load("chain30").model


def assert_right(model):
    """Every frame of a model, in a moving, turned state, is what the public functions say; returns the table."""
    data, asked = model.createData(), model.createData()
    table = FrameTable(model, data)
    assert [table.add(index) for index in range(model.nframes)] == list(range(model.nframes))
    random = np.random.default_rng(3)
    for _ in range(2):
        q = pin.integrate(model, pin.neutral(model), random.standard_normal(model.nv))
        v = random.standard_normal(model.nv)
        pin.crba(model, data, q, pin.Convention.WORLD)
        pin.nonLinearEffects(model, data, q, v)
        table.fill(q, v)
        pin.computeJointJacobians(model, asked, q)
        pin.forwardKinematics(model, asked, q, v, np.zeros(model.nv))
        pin.updateFramePlacements(model, asked)
        axes = pin.LOCAL_WORLD_ALIGNED
        for i, terms in enumerate(table.terms):
            for found, expected in (
                (terms.rotation, asked.oMf[i].rotation),
                (terms.position, asked.oMf[i].translation),
                (terms.velocity, pin.getFrameVelocity(model, asked, i, axes).vector),
                (terms.J, pin.getFrameJacobian(model, asked, i, axes).reshape(6, -1)),
                (terms.Jdot_v, pin.getFrameClassicalAcceleration(model, asked, i, axes).vector),
            ):
                assert np.abs(found - expected).max() <= ROUNDING * (1.0 + np.abs(expected).max())
    return table


@pytest.mark.parametrize("make", [humanoid, planar, one_joint, chain])
def test_what_is_read_from_memory_is_what_the_public_functions_say(make):
    assert assert_right(make()).live


def turned(oMi, twists, a_gf, Jt):
    """Rotations row by row."""
    oMi = oMi.copy()
    oMi[:, :9] = oMi[:, :9].reshape(-1, 3, 3).transpose(0, 2, 1).reshape(-1, 9)
    return oMi, twists, a_gf, Jt


def angular_first(oMi, twists, a_gf, Jt):
    return oMi, twists, a_gf, np.roll(Jt, 3, axis=1)


def twists_too(oMi, twists, a_gf, Jt):
    return oMi, np.roll(twists, 3, axis=1), a_gf, Jt


def another_acceleration(oMi, twists, a_gf, Jt):
    return oMi, twists, twists, Jt


def not_views(*views):
    return tuple(view.copy() for view in views)


def a_column_late(oMi, twists, a_gf, Jt):
    return oMi, twists, a_gf, np.roll(Jt, 1, axis=0)


def scattered(*views):
    return None


WRONG = [turned, angular_first, twists_too, another_acceleration, not_views, a_column_late, scattered]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("make", [humanoid, planar])
def test_a_layout_that_is_not_the_expected_one_is_noticed_and_not_used(monkeypatch, make, wrong):
    real = frames._live
    monkeypatch.setattr(frames, "_live", lambda data: wrong(*real(data)))
    assert not assert_right(make()).live


def test_joints_that_do_not_lie_one_behind_the_other_are_not_read():
    model = humanoid()
    data = model.createData()

    class Scattered:
        oMi, v, J = data.oMi, data.v, data.J  # noqa: N815
        a_gf = [data.a_gf[0], data.a_gf[2], data.a_gf[1]]  # noqa: RUF012

    assert frames._live(data) is not None and frames._live(Scattered) is None


def arm():
    return r6(), wbc.Stack(nominal=PostureTask("posture"), strict=[[PoseTask("hand", frame="effector_body")]])


def quadruped():
    robot = robot_or_skip("anymal_c")
    return robot, wbc.Stack(
        nominal=PostureTask("posture"),
        contacts=[robot.contact(foot, friction=0.7) for foot in robot.feet],
        limits=[TorqueLimits()],
        strict=[[ComTask("com")]],
        soft=[(OrientationTask("trunk", frame="base"), 10.0)],
    )


@pytest.mark.parametrize("make", [arm, quadruped])
def test_a_controller_gives_the_same_torque_without_the_memory(monkeypatch, make):
    def torques():
        controller, random = wbc.Controller(*make()), np.random.default_rng(4)
        q, found = np.array(controller.robot.home), []
        for _ in range(3):
            found.append(controller.tick(wbc.State(q, 0.1 * random.standard_normal(controller.robot.nv))).torque)
            q = pin.integrate(controller.robot.model, q, 0.05 * random.standard_normal(controller.robot.nv))
        return np.array(found)

    read = torques()
    monkeypatch.setattr(frames, "_live", lambda data: None)
    np.testing.assert_allclose(torques(), read, rtol=0.0, atol=SAME_TORQUE)
