"""MJCF: the robot that is read is the one that MuJoCo simulates: frames, M, h, motors, home; and what is left out."""

from __future__ import annotations

import importlib.resources
import warnings

import numpy as np
import pinocchio as pin
import pytest

from wbc import Controller, Robot, Stack, State, Status
from wbc.errors import InputError, RobotError, RobotWarning, UnknownNameError
from wbc.simulation.coordinates import Coordinates
from wbc.simulation.motors import Motors, motors_of
from wbc.simulation.world import MujocoWorld
from wbc.tasks import PositionTask, PostureTask, TorqueLimits

mujoco = pytest.importorskip("mujoco")

SAME = 1e-9  # m, kg m², N m relative to the largest: the same robot in two libraries
ROD = '<geom type="capsule" fromto="0 0 0 {x} 0 {z}" size="0.02" mass="{mass}"/>'

CART_POLE = f"""<mujoco model="cart_pole"><compiler angle="radian"/><worldbody>
  <body name="cart" pos="0 0 0.5"><joint name="slide" type="slide" axis="1 0 0" damping="0.1" armature="0.3"/>
    <geom type="box" size=".1 .1 .1" mass="1"/>
    <body name="pole" pos="0 0 0.1"><joint name="hinge" axis="0 1 0" range="-1 1" frictionloss="0.2"/>
      {ROD.format(x=0, z=0.6, mass=0.2)}<site name="top" pos="0 0 0.6"/></body></body></worldbody>
  <actuator><motor joint="slide" gear="10" ctrlrange="-1 1"/></actuator></mujoco>"""

# the first body has no joint but a pose, the motors stand in another order than the joints, and joint 2 is off its body
ARM = f"""<mujoco model="arm"><compiler angle="degree"/>
  <default><joint armature="0.01"/><motor gear="50" ctrlrange="-1 1"/></default><worldbody>
  <body name="base" pos="0 0 0.5" euler="0 10 30"><geom type="cylinder" size=".1 .1" mass="3"/>
    <body name="l1" pos="0 0 0.1"><joint name="j1" axis="0 0 1" range="-90 90"/>{ROD.format(x=0.3, z=0.1, mass=1)}
      <body name="l2" pos="0.3 0 0.1" quat="1 1 0 0"><joint name="j2" pos="0.05 0 0" axis="0 1 1" range="-120 120"/>
        {ROD.format(x=0.2, z=0, mass=1)}<site name="tip" pos=".2 0 0"/></body></body></body></worldbody>
  <actuator><motor name="m2" joint="j2" gear="20" forcerange="-0.5 0.5"/><motor name="m1" joint="j1"/></actuator>
  <keyframe><key name="folded" qpos="1 1"/><key name="home" qpos="0.3 -0.4"/></keyframe></mujoco>"""

# two joints on one body, a joint with a reference, a ball joint, a slide that is oblique
BOX = f"""<mujoco model="box"><option gravity="0 1 -9"/><worldbody><geom type="plane" size="1 1 .1"/>
  <body name="trunk" pos="0 0 0.5" euler="0 0 20"><freejoint name="root"/><geom type="box" size=".2 .1 .05" mass="5"/>
    <body name="left" pos="0.1 0.1 0" euler="10 0 0"><joint name="l_hip_y" axis="0 1 0" ref="20"/>
      <joint name="l_hip_x" axis="1 0 0" pos="0 0.01 0" armature="0.1"/>{ROD.format(x=0, z=-0.3, mass=1)}
      <body name="left_foot" pos="0 0 -0.3"><joint name="l_leg" type="slide" axis="0 1 2" ref="0.05"/>
        {ROD.format(x=0.1, z=0, mass=0.2)}<site name="left_sole"/></body></body>
    <body name="right" pos="0.1 -0.1 0"><joint name="r_hip" type="ball" pos="0 0.02 0.01"/>
      {ROD.format(x=0, z=-0.3, mass=1)}<site name="right_sole" pos="0 0 -0.3"/></body></body></worldbody>
  <actuator><motor joint="l_hip_y" gear="2"/><motor joint="l_leg" gear="-3" ctrlrange="-4 4"/></actuator></mujoco>"""

MODELS = {"cart_pole": CART_POLE, "arm": ARM, "box": BOX}
every_model = pytest.mark.parametrize("name", MODELS)


def read(text: str, **arguments) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RobotWarning)
        return Robot.from_mjcf(text, **arguments)


def quiet(text: str, **arguments) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)
        return Robot.from_mjcf(text, **arguments)


def compare(robot: Robot, mj) -> None:
    """Frames, M and h at random states, moving and turned, against MuJoCo's own."""
    data, mj_data = robot.model.createData(), mujoco.MjData(mj)
    coordinates = Coordinates(robot.model, mj)
    taken = {mj.body(i).name for i in range(mj.nbody)} | {mj.joint(i).name for i in range(mj.njnt)}
    rng = np.random.default_rng(3)
    for _ in range(10):
        q = pin.integrate(robot.model, np.array(robot.home), rng.uniform(-1.0, 1.0, robot.nv))
        v = rng.uniform(-2.0, 2.0, robot.nv)
        mj_data.qpos[:], mj_data.qvel[:] = coordinates.to_mujoco(q, v)
        mujoco.mj_forward(mj, mj_data)
        pin.framesForwardKinematics(robot.model, data, q)
        for kind, number, position, turn in (
            (mj.body, mj.nbody, mj_data.xpos, mj_data.xmat),
            (mj.site, mj.nsite, mj_data.site_xpos, mj_data.site_xmat),
        ):
            for i in range(number):
                name = kind(i).name
                if name in ("", "world"):
                    continue
                place = data.oMf[robot.frame_id(f"{name}_site" if kind == mj.site and name in taken else name)]
                assert np.abs(place.translation - position[i]).max() < SAME, name
                assert np.abs(place.rotation - turn[i].reshape(3, 3)).max() < SAME, name
        columns = []
        for column in np.eye(robot.nv):
            product = np.zeros(mj.nv)
            mujoco.mj_mulM(mj, mj_data, product, coordinates.rate_to_mujoco(q, column))
            columns.append(coordinates.rate_from_mujoco(q, product))
        M = np.triu(pin.crba(robot.model, data, q))
        M = M + np.triu(M, 1).T
        assert np.abs(M - np.column_stack(columns)).max() < SAME * np.abs(M).max()
        drift = np.zeros(mj.nv)
        mujoco.mj_mulM(mj, mj_data, drift, coordinates.drift(q, v))
        h = coordinates.rate_from_mujoco(q, mj_data.qfrc_bias + drift)
        assert np.abs(pin.nonLinearEffects(robot.model, data, q, v) - h).max() < SAME * max(1.0, np.abs(h).max())


@every_model
def test_frames_mass_matrix_and_bias_are_mujocos_own(name):
    robot, mj = read(MODELS[name]), mujoco.MjModel.from_xml_string(MODELS[name])
    assert (robot.name, robot.nq, robot.nv) == (name, mj.nq, mj.nv)
    compare(robot, mj)


@every_model
def test_a_world_made_of_the_robot_has_the_same_dynamics(name):
    robot = read(MODELS[name])
    world = MujocoWorld(robot)
    rng = np.random.default_rng(4)
    q = pin.integrate(robot.model, np.array(robot.home), rng.uniform(-1.0, 1.0, robot.nv))
    v = rng.uniform(-1.0, 1.0, robot.nv)
    M, h = world.dynamics(State(q, v))
    upper = np.triu(pin.crba(robot.model, robot.model.createData(), q))
    assert upper + np.triu(upper, 1).T == pytest.approx(M, abs=SAME)
    assert pin.nonLinearEffects(robot.model, robot.model.createData(), q, v) == pytest.approx(h, abs=1e-8)


def test_f06_a_first_body_without_joint_keeps_its_pose_as_in_the_same_urdf():
    inertial = '<origin xyz="0.1 0 0"/><mass value="2"/><inertia ixx=".1" iyy=".2" izz=".3" ixy="0" ixz="0" iyz="0"/>'
    urdf = f"""<robot name="one"><link name="world"/><link name="base"/><link name="l"><inertial>{inertial}</inertial>
      </link><joint name="fix" type="fixed"><parent link="world"/><child link="base"/><origin xyz="0 0 0.5"/></joint>
      <joint name="j" type="revolute"><parent link="base"/><child link="l"/><origin xyz="0.1 0 0"/><axis xyz="0 1 0"/>
      <limit lower="-1" upper="1" effort="5" velocity="2"/></joint></robot>"""
    mjcf = """<mujoco model="one"><worldbody><body name="base" pos="0 0 0.5"><body name="l" pos="0.1 0 0">
      <joint name="j" axis="0 1 0" range="-57.29577951308232 57.29577951308232"/>
      <inertial pos="0.1 0 0" mass="2" diaginertia=".1 .2 .3"/></body></body></worldbody>
      <actuator><motor joint="j" ctrlrange="-5 5"/></actuator></mujoco>"""
    one, other = Robot.from_urdf(urdf), read(mjcf)
    q = np.array([0.7])
    for frame in ("base", "l"):
        places = []
        for robot in (one, other):
            data = robot.model.createData()
            pin.framesForwardKinematics(robot.model, data, q)
            places.append(data.oMf[robot.frame_id(frame)].homogeneous)
        assert np.abs(places[0] - places[1]).max() < SAME
    for quantity in (pin.crba, pin.computeGeneralizedGravity):
        assert quantity(one.model, one.model.createData(), q) == pytest.approx(
            quantity(other.model, other.model.createData(), q), abs=SAME
        )
    assert other.torque_limits == one.torque_limits
    assert other.position_limits == pytest.approx(one.position_limits)


def test_a_cart_pole_has_two_coordinates_and_one_motor():
    robot = read(CART_POLE)
    assert robot.velocity_names == ("slide", "hinge")
    assert robot.joint_names == ("slide",) and robot.actuated.tolist() == [0]
    assert robot.torque_limits.tolist() == [10.0]
    assert robot.position_limits.tolist() == [[-np.inf, -1.0], [np.inf, 1.0]]
    assert robot.model.armature.tolist() == [0.3, 0.0]
    assert robot.model.damping.tolist() == [0.1, 0.0]
    assert robot.model.friction.tolist() == [0.0, 0.2]
    assert np.isinf(robot.velocity_limits).all()


def test_the_controller_moves_a_cart_and_knows_that_the_pole_has_no_motor():
    robot = read(CART_POLE)
    task = PositionTask("cart", frame="cart", mask=(1, 0, 0))
    task.target = (0.05, 0.0, 0.0)
    command = Controller(robot, Stack(strict=[task], limits=[TorqueLimits()])).tick(State([0.0, 0.3], [0.1, -0.2]))
    assert command.report.status is Status.OPTIMAL
    M, h = MujocoWorld(robot).dynamics(State([0.0, 0.3], [0.1, -0.2]))
    assert M @ command.acceleration + h == pytest.approx([command.torque[0], 0.0], abs=SAME)


def test_gears_and_ranges_are_carried_over_by_joint_not_by_the_order_of_the_motors():
    robot, mj = read(ARM), mujoco.MjModel.from_xml_string(ARM)
    assert robot.joint_names == ("j1", "j2")
    assert robot.torque_limits.tolist() == [50.0, 10.0]  # gear 50 · control 1; gear 20 · force 0.5
    assert robot.model.rotorGearRatio.tolist() == [50.0, 20.0]
    assert robot.position_limits == pytest.approx(np.deg2rad([[-90.0, -120.0], [90.0, 120.0]]))
    assert Motors(robot.joint_names, motors_of(mj)).control([50.0, 10.0]).tolist() == [0.5, 1.0]


def test_the_inertia_of_a_motors_shaft_counts_with_the_gear_squared():
    text = single(actuator='<motor joint="j" gear="3" ctrlrange="-1 1" armature="0.2"/>', joint='armature="0.1"')
    try:
        mj = mujoco.MjModel.from_xml_string(text)
    except ValueError:
        pytest.skip("this mujoco has no armature of actuators")
    robot = read(text)
    assert robot.model.armature.tolist() == pytest.approx([0.1 + 9.0 * 0.2])
    compare(robot, mj)


def test_home_is_the_keyframe_of_that_name_else_qpos0_else_what_is_given():
    assert read(ARM).home.tolist() == [0.3, -0.4]
    assert read(ARM, home=[0.1, 0.2]).home.tolist() == [0.1, 0.2]
    assert read(ARM, home={"j1": 0.1}).home.tolist() == [0.1, -0.4]
    box = read(BOX)
    assert box.home[:3].tolist() == [0.0, 0.0, 0.5]
    assert box.home[3:7] == pytest.approx([0.0, 0.0, np.sin(np.deg2rad(10.0)), np.cos(np.deg2rad(10.0))])
    assert box.home[7] == pytest.approx(np.deg2rad(20.0))  # where the file draws it
    with pytest.raises(UnknownNameError, match="did you mean 'j2' or 'j1'"):
        read(ARM, home={"j": 0.1})


def test_a_floating_box_has_motors_only_where_the_file_has_them():
    robot = read(BOX)
    assert robot.joint_names == ("l_hip_y", "l_leg")
    assert robot.torque_limits.tolist() == [np.inf, 12.0]
    assert robot.model.gravity.linear.tolist() == [0.0, 1.0, -9.0]
    assert robot.mass == pytest.approx(7.2)


def test_joints_can_be_locked_and_keep_their_mass():
    whole, locked = read(ARM), read(ARM, lock=("j2",))
    assert locked.joint_names == ("j1",)
    assert locked.torque_limits.tolist() == [50.0] and locked.home.tolist() == [0.3]
    assert locked.mass == whole.mass and locked.model.armature.tolist() == [0.01]
    data, other = whole.model.createData(), locked.model.createData()
    pin.framesForwardKinematics(whole.model, data, np.array(whole.home))
    pin.framesForwardKinematics(locked.model, other, np.array(locked.home))
    tip, same = data.oMf[whole.frame_id("tip")], other.oMf[locked.frame_id("tip")]
    assert tip.translation == pytest.approx(same.translation, abs=SAME)
    assert read(ARM, lock={"j2": 0.5}).nv == 1
    with pytest.raises(UnknownNameError, match="did you mean 'j2'"):
        read(ARM, lock=("j22",))
    with pytest.raises(InputError, match="list of joint names"):
        read(ARM, lock="j2")


def test_a_file_is_read_as_its_text_is(tmp_path):
    path = tmp_path / "mein Arm.xml"
    path.write_text(ARM)
    assert Robot.from_mjcf(path).home.tolist() == Robot.from_mjcf(str(path)).home.tolist() == [0.3, -0.4]
    assert read(ARM, torque_limits={"j1": 3.0}, velocity_limits={"j2": 2.0}, name="me").torque_limits[0] == 3.0


def single(inside: str = "", actuator: str = "", after: str = "", joint: str = "") -> str:
    return f"""<mujoco model="one"><worldbody><body name="b"><joint name="j" {joint}/>
      {ROD.format(x=1, z=0, mass=1)}{inside}</body></worldbody>
      <actuator>{actuator or '<motor joint="j" ctrlrange="-1 1"/>'}</actuator>{after}</mujoco>"""


@pytest.mark.parametrize(
    "text, words",
    [
        (single(joint='stiffness="3"'), "springs of j: not carried over"),
        (single(actuator='<position name="p" joint="j" forcerange="-7 7"/>'), "actuator 'p': a servo.*forcerange"),
        (single(actuator='<motor name="m" joint="j" ctrlrange="-1 3"/>'), "range -1 to 3 N m is not even"),
        (single().replace('<body name="b">', '<body name="b" gravcomp="1">'), "gravcomp: not carried over"),
        (single(after='<equality><joint name="e" joint1="j"/></equality>'), r"equality 'e' \(joint\): not carried"),
        (
            single(
                inside='<site name="s"/>', actuator='<motor joint="j"/><motor name="jet" site="s" gear="1 0 0 0 0 0"/>'
            ),
            "actuator 'jet': it drives something else than a joint",
        ),
    ],
)
def test_what_is_not_carried_over_is_said(text, words):
    with pytest.warns(RobotWarning, match=words):
        Robot.from_mjcf(text)


def test_a_servo_has_the_limit_of_its_force_range_and_two_motors_add_up():
    assert quiet(single(actuator='<position joint="j" gear="2" forcerange="-7 7"/>')).torque_limits.tolist() == [14.0]
    two = '<motor joint="j" ctrlrange="-1 1" gear="3"/><motor joint="j" ctrlrange="-2 2"/>'
    assert read(single(actuator=two)).torque_limits.tolist() == [5.0]
    assert read(single(actuator=two, joint='actuatorfrcrange="-4 4"')).torque_limits.tolist() == [4.0]
    assert quiet(single(actuator='<motor joint="j" ctrlrange="-1 3"/>')).torque_limits.tolist() == [1.0]


def test_a_loop_is_refused_and_so_is_what_mujoco_refuses(tmp_path):
    weld = '<equality><weld name="w" body1="b"/></equality>'
    with pytest.raises(RobotError, match=r"equality 'w' \(weld\) closes a loop"):
        Robot.from_mjcf(single(after=weld))
    read(single(after=weld.replace("<weld", '<weld active="false"')))
    with pytest.raises(RobotError, match="MuJoCo cannot read the text"):
        Robot.from_mjcf("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>")
    with pytest.raises(RobotError, match="MuJoCo cannot read the text"):
        Robot.from_mjcf("<nothing/>")
    with pytest.raises(RobotError, match=r"the text is a URDF: read it with Robot\.from_urdf"):
        Robot.from_mjcf("<robot name='r'/>")
    with pytest.raises(RobotError, match="there is no file"):
        Robot.from_mjcf(tmp_path / "none.xml")
    with pytest.raises(InputError, match="path or the text"):
        Robot.from_mjcf(7)
    with pytest.raises(RobotError, match="no joint that moves"):
        Robot.from_mjcf('<mujoco model="rock"><worldbody><geom size="1"/></worldbody></mujoco>')


def test_joints_and_bodies_without_names_get_some():
    robot = read(
        f"""<mujoco><worldbody><body><freejoint/>{ROD.format(x=1, z=0, mass=1)}
        <body><joint axis="0 1 0"/><joint axis="1 0 0"/>{ROD.format(x=1, z=0, mass=1)}</body></body>
        </worldbody></mujoco>"""
    )
    assert list(robot.model.names)[1:] == ["root_joint", "body2_joint", "body2_joint1"]
    assert robot.nu == 0 and robot.frame_id("body2") > 0


@pytest.mark.filterwarnings("ignore::wbc.errors.RobotWarning")
def test_a_scene_that_comes_with_mujoco_agrees_too():
    path = importlib.resources.files("mujoco") / "testdata" / "model.xml"
    if not path.is_file():
        pytest.skip("this mujoco has no test data")
    spec = mujoco.MjSpec.from_string(path.read_text())
    for equality in list(spec.equalities):
        spec.delete(equality)  # loops, which a robot does not have
    spec.delete(spec.body("tumbling"))  # 0.2 g among 13 kg: singular to a robot's eyes
    for tendon in spec.tendons:
        tendon.armature = 0.0
    for i, joint in enumerate(spec.joints):
        joint.name = joint.name or f"joint{i}"
    spec.compile()
    text = spec.to_xml()  # rounded
    mj = mujoco.MjModel.from_xml_string(text)
    with pytest.warns(RobotWarning, match="tendons: not carried over"):
        robot = Robot.from_mjcf(text)
    assert (robot.nq, robot.nv) == (mj.nq, mj.nv)
    compare(robot, mj)


def test_posture_holds_the_arm_of_the_file():
    robot = read(ARM)
    command = Controller(robot, Stack(nominal=PostureTask("posture", target=robot.home))).tick(
        State(robot.home, np.zeros(2))
    )
    gravity = pin.computeGeneralizedGravity(robot.model, robot.model.createData(), np.array(robot.home))
    assert command.torque == pytest.approx(gravity, abs=SAME)


def test_motors_may_be_named_for_a_pinocchio_model_too():
    model = pin.buildSampleModelManipulator()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)
        robot = Robot.from_pinocchio(model, actuated=("elbow_joint", "shoulder1_joint"))
    assert robot.joint_names == ("shoulder1_joint", "elbow_joint")
    with pytest.raises(UnknownNameError, match="did you mean 'elbow_joint'"):
        Robot.from_pinocchio(model, actuated=("elbow",))
