"""Robot descriptions: what is read, what is mended with a warning, what is refused and how it is said."""

from __future__ import annotations

import math
import re
import warnings

import numpy as np
import pinocchio as pin
import pytest

from wbc.errors import InputError, RobotError, RobotWarning, UnknownNameError
from wbc.parity import compare
from wbc.robot import Robot
from wbc.state import State

EXACT = 1e-12  # two routes through the same formulas in double precision
PARITY = 1e-9  # what `compare` calls the same robot

INERTIAL = (
    '<inertial><origin xyz="0.1 0 0.2"/><mass value="{mass}"/>'
    '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial>'
)
LIMIT = '<limit lower="-1" upper="1" effort="10" velocity="2"/>'


def link(name: str, mass: float | None = 1.0, extra: str = "") -> str:
    return f'<link name="{name}">{"" if mass is None else INERTIAL.format(mass=mass)}{extra}</link>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", limit: str = LIMIT, extra: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>{limit}{extra}</joint>'
    )


def arm(first: str = "", second: str = "", *, mass: float | None = 1.0, name: str = "arm") -> str:
    """Two links: joint j1 moves l1, joint j2 moves l2; ``second`` replaces the limit of j2."""
    return (
        f'<robot name="{name}">{link("base", None)}{link("l1")}{link("l2", mass)}'
        f"{joint('j1', 'base', 'l1', limit=first or LIMIT)}{joint('j2', 'l1', 'l2', limit=second or LIMIT)}</robot>"
    )


def quiet(*args, **arguments) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)
        return Robot.from_urdf(*args, **arguments)


def mass_matrix(model, q) -> np.ndarray:
    upper = np.triu(pin.crba(model, model.createData(), np.array(q)))
    return upper + np.triu(upper, 1).T


# --- F01: links without inertia -------------------------------------------------------------------------------------


def test_f01_a_moving_link_without_inertia_is_refused_by_link_and_joint():
    with pytest.raises(RobotError, match=r"joint 'j2' moves link 'l2'.*armature=\{'j2': 0.01\}"):
        Robot.from_urdf(arm(mass=None))


def test_f01_an_armature_or_a_lock_makes_a_massless_link_usable():
    with_armature = Robot.from_urdf(arm(mass=None), armature={"j2": 0.01})
    assert np.linalg.eigvalsh(mass_matrix(with_armature.model, [0.3, -0.2]))[0] > 0.0
    assert Robot.from_urdf(arm(mass=None), lock=("j2",)).joint_names == ("j1",)


def test_f01_a_massless_link_on_a_fixed_joint_is_fine_and_the_total_mass_is_known():
    tool = link("tool", None) + joint("tool_joint", "l2", "tool", "fixed", limit="")
    robot = Robot.from_urdf(arm().replace("</robot>", tool + "</robot>"))
    assert robot.mass == 2.0
    assert "mass=2 kg" in repr(robot)
    assert robot.frame_id("tool") < robot.model.nframes


@pytest.mark.parametrize("root", ["fixed", "free"])
def test_a_negative_mass_is_refused_by_name(root):
    with pytest.raises(RobotError, match="behind joint 'j2' has the mass -1 kg"):
        Robot.from_urdf(arm(mass=-1.0), root=root)


def test_a_free_base_without_mass_is_told_to_get_an_inertial_and_nothing_else():
    with pytest.raises(RobotError, match=r"joint 'root_joint' moves link 'base'.*give the link an <inertial>$"):
        Robot.from_urdf(arm(), root="free")


def test_an_infinite_mass_is_refused_by_name():
    model = pin.buildSampleModelManipulator()
    model.inertias[3] = pin.Inertia(math.inf, np.zeros(3), np.eye(3))
    with pytest.raises(RobotError, match="behind joint 'shoulder3_joint' has the mass inf"):
        Robot.from_pinocchio(model)


def test_a_robot_in_which_nothing_moves_is_refused():
    with pytest.raises(RobotError, match="no joint that moves"):
        Robot.from_urdf('<robot name="stone"><link name="base"/></robot>')
    with pytest.raises(RobotError, match="no joint that moves"):
        Robot.from_urdf(arm(), lock=("j1", "j2"))


# --- F03, F04: armature ---------------------------------------------------------------------------------------------


def test_f03_an_armature_by_joint_name_stands_on_the_diagonal_and_the_algorithms_agree():
    bare = pin.buildSampleModelManipulator()
    names = list(bare.names)[1:]
    robot = Robot.from_pinocchio(bare, armature=dict.fromkeys(names, 0.1))
    q, v, vdot = np.array([0.3, -0.4, 0.5, 0.6, -0.7, 0.8]), np.array([1, -2, 1.5, 0.5, -1, 2.0]), np.arange(6.0)
    M = mass_matrix(robot.model, q)
    assert M - mass_matrix(bare, q) == pytest.approx(0.1 * np.eye(6), abs=EXACT)
    data = robot.model.createData()
    tau = pin.rnea(robot.model, data, q, v, vdot)
    assert pin.nonLinearEffects(robot.model, data, q, v) + M @ vdot == pytest.approx(tau, abs=1e-11)
    assert pin.aba(robot.model, data, q, v, tau) == pytest.approx(vdot, abs=1e-9)


@pytest.mark.filterwarnings("ignore::wbc.errors.RobotWarning")
def test_f03_rotor_inertia_and_gear_become_armature_and_it_is_said():
    model = pin.buildSampleModelManipulator()
    model.rotorInertia, model.rotorGearRatio = np.full(6, 1e-4), np.full(6, 100.0)
    with pytest.warns(RobotWarning, match="'wrist2_joint': armature 1 kg m² taken from rotor inertia"):
        robot = Robot.from_pinocchio(model)
    assert robot.model.armature == pytest.approx(np.ones(6))
    assert len(robot.warnings) == 6 and not any("universe" in warning for warning in robot.warnings)
    assert model.armature == pytest.approx(np.zeros(6))  # the caller's model is left alone


def test_f04_saying_an_armature_twice_adds_it_once():
    model = pin.buildSampleModelManipulator()
    model.armature = np.full(6, 0.1)
    model.rotorInertia, model.rotorGearRatio = np.full(6, 1e-5), np.full(6, 100.0)
    once = Robot.from_pinocchio(model)
    twice = Robot.from_pinocchio(once.model, armature=0.1)
    assert once.model.armature == pytest.approx(np.full(6, 0.1))
    assert twice.model.armature == pytest.approx(np.full(6, 0.1))


def test_an_armature_of_an_unknown_joint_or_below_zero_is_refused():
    with pytest.raises(UnknownNameError, match="did you mean"):
        Robot.from_urdf(arm(), armature={"j3": 0.1})
    with pytest.raises(UnknownNameError):
        Robot.from_urdf(arm(), armature={"universe": 0.1})
    with pytest.raises(InputError, match=r"armature\['j1'\] is -1"):
        Robot.from_urdf(arm(), armature={"j1": -1.0})


# --- F05: mimic joints ----------------------------------------------------------------------------------------------

MIMIC = arm().replace(
    "</robot>", link("l3") + joint("j3", "l2", "l3", extra='<mimic joint="j2" multiplier="-1"/>') + "</robot>"
)


def test_f05_a_mimic_joint_moves_by_itself_and_a_warning_says_so():
    with pytest.warns(RobotWarning, match=r"joint 'j3' mimics 'j2', which is ignored.*lock=\('j3',\)"):
        robot = Robot.from_urdf(MIMIC)
    assert (robot.nq, robot.nu, robot.joint_names) == (3, 3, ("j1", "j2", "j3"))


def test_f05_a_locked_mimic_joint_is_nothing_to_warn_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Robot.from_urdf(MIMIC, lock=("j3",)).joint_names == ("j1", "j2")


def test_f05_a_pinocchio_model_with_real_mimic_joints_obeys_the_chain_rule():
    robot = Robot.from_pinocchio(pin.buildModelFromXML(MIMIC, mimic=True))
    free = quiet(MIMIC)
    assert (robot.nq, robot.nv, robot.joint_names) == (2, 2, ("j1", "j2"))
    G = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    q, v = np.array([0.4, -0.7]), np.array([1.0, 2.0])
    h = pin.nonLinearEffects(free.model, free.model.createData(), G @ q, G @ v)
    assert mass_matrix(robot.model, q) == pytest.approx(G.T @ mass_matrix(free.model, G @ q) @ G, abs=EXACT)
    assert pin.nonLinearEffects(robot.model, robot.model.createData(), q, v) == pytest.approx(G.T @ h, abs=EXACT)


# --- F07: meshes and paths ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address", ["package://nowhere/x.stl", "./meshes/y.STL", "file:///no/z.dae", "model://m/q.obj"]
)
def test_f07_no_mesh_is_needed_and_the_path_may_hold_blanks_and_umlauts(tmp_path, monkeypatch, address):
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    folder = tmp_path / "mein Roboter – größer Ж 机器人"
    folder.mkdir()
    mesh = f'<visual><geometry><mesh filename="{address}"/></geometry></visual>'
    text = arm().replace('<link name="l1">', f'<link name="l1">{mesh}{mesh.replace("visual", "collision")}')
    path = folder / "der Arm.urdf"
    path.write_text(text, encoding="utf-8")
    for given in (path, str(path), text):
        robot = Robot.from_urdf(given)
        assert robot.nv == 2
    assert Robot.from_urdf(path).description.folder == folder.resolve()


def test_f07_names_with_letters_of_any_language_and_a_byte_order_mark_are_read(tmp_path):
    path = tmp_path / "bom.urdf"
    path.write_text(arm().replace('"j2"', '"Gelenk_ä"'), encoding="utf-8-sig")
    assert Robot.from_urdf(path).joint_names == ("j1", "Gelenk_ä")


# --- F09: joint order -----------------------------------------------------------------------------------------------

SDK = ["FR_hip", "FL_hip", "RR_hip", "RL_hip"]


def quadruped() -> Robot:
    legs = "".join(link(f"{n[:2]}_leg") + joint(n, "trunk", f"{n[:2]}_leg") for n in SDK)
    return Robot.from_urdf(f'<robot name="q">{link("trunk")}{legs}</robot>', root="free")


def test_f09_names_translate_to_the_order_of_a_motor_driver_and_back():
    robot = quadruped()
    assert robot.joint_names == ("FL_hip", "FR_hip", "RL_hip", "RR_hip")  # not as declared
    order = robot.order(SDK)
    x = np.random.default_rng(0).normal(size=4)
    assert (order.from_robot(order.to_robot(x)) == x).all()
    assert (order.to_robot(order.from_robot(x)) == x).all()
    torque = {"FL_hip": 1.0, "FR_hip": 2.0, "RL_hip": 3.0, "RR_hip": 4.0}
    sent = order.from_robot([torque[name] for name in robot.joint_names])
    assert sent.tolist() == [torque[name] for name in SDK] and sent[0] == torque["FR_hip"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (SDK[:3], "missing: RL_hip"),
        ([*SDK, "head"], "unknown: head"),
        ([*SDK[:3], "FR_hip"], "given twice: FR_hip; missing: RL_hip"),
    ],
)
def test_f09_missing_extra_and_duplicate_names_are_listed(names, message):
    with pytest.raises(InputError, match=message):
        quadruped().order(names)


def test_f09_values_of_the_wrong_length_are_refused():
    with pytest.raises(InputError, match="length 3, expected 4"):
        quadruped().order(SDK).from_robot([1.0, 2.0, 3.0])


# --- F12: parity ----------------------------------------------------------------------------------------------------

THREE = MIMIC.replace('<mimic joint="j2" multiplier="-1"/>', "")


def numbers_of(robot: Robot, seed: int = 3):
    """What a simulator of ``robot`` would say at 20 random states, and the states."""
    rng, model = np.random.default_rng(seed), robot.model
    states = [
        State(pin.integrate(model, pin.neutral(model), rng.normal(size=robot.nv)), rng.normal(size=robot.nv))
        for _ in range(20)
    ]
    M = np.array([mass_matrix(model, s.q) for s in states])
    h = np.array([pin.rnea(model, model.createData(), s.q, s.v, np.zeros(robot.nv)) for s in states])
    return states, M, h, robot.mass


@pytest.mark.parametrize("root", ["fixed", "free"])
def test_f12_the_same_robot_agrees(root):
    text = THREE.replace('<link name="base"></link>', link("base"))
    robot = Robot.from_urdf(text, root=root)
    states, M, h, mass = numbers_of(robot)
    parity = compare(robot, states, M, h, mass)
    assert parity.agrees and not parity.affected
    assert max(parity.M.max(), parity.bias.max()) < PARITY
    assert "the same robot" in str(parity)


def test_f12_one_link_heavier_by_a_kilogram_names_the_joints_that_move_it():
    robot = Robot.from_urdf(THREE)
    heavier = pin.Model(robot.model)
    inertia = heavier.inertias[2].copy()
    inertia.mass += 1.0
    heavier.inertias[2] = inertia
    parity = compare(robot, *numbers_of(Robot.from_pinocchio(heavier)))
    assert parity.affected == ("j1", "j2")  # j3 lies behind the heavy link and does not move it
    assert parity.mass == pytest.approx(1.0)
    assert "moving mass differs by +1 kg" in str(parity) and "j2: M differs" in str(parity)


def test_f12_an_armature_that_only_one_side_has_shows_on_its_own_joint():
    robot = Robot.from_urdf(arm())
    parity = compare(robot, *numbers_of(Robot.from_urdf(arm(), armature={"j2": 0.05})))
    assert parity.affected == ("j2",)
    assert parity.M[1] == pytest.approx(0.05)


def test_f12_numbers_of_the_wrong_shape_are_refused():
    robot = Robot.from_urdf(arm())
    states, M, h, mass = numbers_of(robot)
    with pytest.raises(InputError, match="M has shape"):
        compare(robot, states, M[:3], h, mass)
    with pytest.raises(InputError, match="bias has shape"):
        compare(robot, states, M, h[:, :1], mass)
    with pytest.raises(InputError, match="at least one State"):
        compare(robot, [], M, h)


# --- D07, E10 and other limits --------------------------------------------------------------------------------------

ZERO = '<limit lower="-1" upper="1" effort="0" velocity="0"/>'
C2 = (
    f'<robot name="c2">{link("base", None)}{link("l1")}{link("l2")}'
    f"{joint('j1', 'base', 'l1', 'continuous', limit='')}{joint('j2', 'l1', 'l2', limit=ZERO)}</robot>"
)


def test_d07_the_limits_of_cos_and_sin_are_no_limits_of_the_angle():
    robot = quiet(C2)
    assert (robot.nq, robot.nv) == (3, 2)
    assert robot.model.lowerPositionLimit == pytest.approx([-1.01, -1.01, -1.0])
    assert robot.position_limits.tolist() == [[-math.inf, -1.0], [math.inf, 1.0]]
    assert [robot.torque_limits[0], robot.velocity_limits[0]] == [math.inf, math.inf]


def test_d07_a_continuous_joint_is_placed_by_its_angle():
    robot = quiet(C2, home={"j1": 3.0, "j2": 0.5})
    assert robot.home == pytest.approx([math.cos(3.0), math.sin(3.0), 0.5])
    with pytest.raises(InputError, match="unit norm"):
        quiet(C2, home=[1.0, 1.0, 0.0])


def test_e10_zero_limits_are_placeholders_by_default_and_the_joint_is_named():
    with pytest.warns(RobotWarning) as caught:
        robot = Robot.from_urdf(C2)
    said = [str(warning.message) for warning in caught if "j2" in str(warning.message)]
    assert [next(w for w in ("effort", "velocity") if w in text) for text in said] == ["effort", "velocity"]
    assert "torque_limits={'j2': ...}" in said[0]
    assert (robot.torque_limits[1], robot.velocity_limits[1]) == (math.inf, math.inf)


def test_e10_zero_limits_can_be_meant_or_refused():
    robot = Robot.from_urdf(C2, zero_limits="zero")
    assert (robot.torque_limits[1], robot.velocity_limits[1]) == (0.0, 0.0)
    with pytest.raises(RobotError, match="joint 'j2': effort limit is 0"):
        Robot.from_urdf(C2, zero_limits="error")
    with pytest.raises(UnknownNameError):
        Robot.from_urdf(C2, zero_limits="nil")


def test_e10_limits_that_the_user_gives_replace_placeholders_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = Robot.from_urdf(C2, torque_limits={"j2": 5.0}, velocity_limits={"j2": 1.0})
    assert (robot.torque_limits[1], robot.velocity_limits[1]) == (5.0, 1.0)
    with pytest.raises(UnknownNameError, match="'j2'"):
        quiet(C2, torque_limits={"j22": 5.0})


@pytest.mark.parametrize("effort", ["1000", "50000", "1e9"])
def test_round_huge_efforts_are_placeholders(effort):
    with pytest.warns(RobotWarning, match="joint 'j2': effort limit .* looks like a placeholder"):
        robot = Robot.from_urdf(arm(second=LIMIT.replace('effort="10"', f'effort="{effort}"')))
    assert robot.torque_limits.tolist() == [10.0, math.inf]


def test_the_largest_number_means_no_limit_like_infinity():
    huge = '<limit lower="-1.797e308" upper="1.797e308" effort="1.797e308" velocity="1e30"/>'
    robot = Robot.from_urdf(arm(second=huge))
    assert robot.position_limits[:, 1].tolist() == [-math.inf, math.inf]
    assert (robot.torque_limits[1], robot.velocity_limits[1]) == (math.inf, math.inf)
    model = pin.buildSampleModelHumanoid()  # has them on its unbounded joints
    assert not (np.abs(Robot.from_pinocchio(model).position_limits[:, 6:]) == np.finfo(float).max).any()


def test_position_limits_that_nobody_wrote_are_unlimited_and_it_is_said():
    with pytest.warns(RobotWarning, match="joint 'j2': both position limits are 0"):
        robot = Robot.from_urdf(arm(second='<limit effort="10" velocity="2"/>'))
    assert robot.position_limits[:, 1].tolist() == [-math.inf, math.inf]


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ('<limit lower="1" upper="-1" effort="1" velocity="1"/>', "joint 'j2': lower position limit 1 is above"),
        ('<limit lower="-1" upper="1" effort="-1" velocity="1"/>', "joint 'j2': effort limit -1 is negative"),
        ('<limit lower="-1" upper="1" effort="1" velocity="-1"/>', "joint 'j2': velocity limit -1 is negative"),
        ('<limit lower="-1" upper="1" velocity="1"/>', "joint 'j2': its <limit> has no effort"),
        ('<limit lower="nan" upper="1" effort="1" velocity="1"/>', "joint 'j2': its lower limit is 'nan'"),
        ('<limit lower="-1" upper="1" effort="inf" velocity="1"/>', "joint 'j2': its effort limit is 'inf'"),
        (" ", "joint 'j2': it is revolute and has no <limit>"),
    ],
)
def test_a_limit_that_cannot_be_meant_is_refused_by_joint(limit, message):
    with pytest.raises(RobotError, match=message):
        Robot.from_urdf(arm(second=limit))


def test_a_free_base_is_neither_limited_nor_driven():
    robot = Robot.from_pinocchio(pin.buildSampleModelHumanoidRandom())
    assert np.isinf(robot.position_limits[:, :6]).all() and np.isinf(robot.velocity_limits[:6]).all()
    assert robot.nu == robot.nv - 6 and robot.actuated[0] == 6


# --- What is no robot -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<robot name='r'><link", "text is not XML"),
        ("<mujoco model='m'/>", "not a URDF: its outermost element is <mujoco>"),
        ("<sdf version='1.7'/>", "its outermost element is <sdf>"),
        ("<robot name='r'/>", "it has no <link>"),
        (arm().replace('name="arm"', ""), "robot: it has no name"),
        (arm().replace('child link="l2"', 'child link="l9"'), "joint 'j2': its child link 'l9' does not exist"),
        (arm().replace('parent link="l1"', 'parent link="base" '), None),
        (arm().replace("</robot>", '<link name="island"/></robot>'), "links 'base', 'island' hang on nothing"),
        (arm().replace('type="revolute"', 'type="hinge"'), "joint 'j1': its type is 'hinge'"),
        (arm().replace('"j2"', '"j1"'), "joint 'j1': there are several of this name"),
    ],
)
def test_a_text_that_is_no_robot_is_refused_with_the_reason(text, message):
    if message is None:
        assert Robot.from_urdf(text).nv == 2
    else:
        with pytest.raises(RobotError, match=message):
            Robot.from_urdf(text)


def test_a_file_that_is_missing_a_folder_or_binary_is_refused(tmp_path):
    with pytest.raises(RobotError, match=re.escape(f"there is no file {str(tmp_path / 'x.urdf')!r}")):
        Robot.from_urdf(tmp_path / "x.urdf")
    with pytest.raises(RobotError, match="there is no file"):
        Robot.from_urdf(tmp_path)
    (tmp_path / "b.urdf").write_bytes(bytes(range(256)))
    with pytest.raises(RobotError, match="cannot be read as text"):
        Robot.from_urdf(tmp_path / "b.urdf")
    (tmp_path / "t.urdf").write_text("just words")
    with pytest.raises(RobotError, match="is not XML"):
        Robot.from_urdf(tmp_path / "t.urdf")


@pytest.mark.parametrize("given", [None, 3, b"<robot/>", ["a.urdf"]])
def test_what_is_neither_path_nor_text_is_refused(given):
    with pytest.raises(InputError, match="expected the path or the text"):
        Robot.from_urdf(given)


# --- Arguments: lock, home, root ------------------------------------------------------------------------------------


def test_a_lock_that_is_plain_text_is_refused_with_the_right_spelling():
    with pytest.raises(InputError, match=re.escape("write lock=('j2',)")):
        Robot.from_urdf(arm(), lock="j2")


def test_a_locked_joint_stays_where_it_is_told_or_where_home_has_it():
    told = Robot.from_urdf(arm(), lock={"j1": 0.5})
    home = Robot.from_urdf(arm(), lock=("j1",), home={"j1": 0.5, "j2": 0.25})
    assert told.joint_names == home.joint_names == ("j2",)
    assert home.home.tolist() == [0.25]
    for robot in (told, home):
        assert robot.mass == 1.0  # what moves; the locked link has become part of the base
        rotation = robot.model.jointPlacements[1].rotation
        assert pin.log3(rotation) == pytest.approx([0.0, 0.5, 0.0], abs=EXACT)


def test_an_unknown_locked_joint_is_refused_with_close_matches():
    with pytest.raises(UnknownNameError, match="joint 'j22' does not exist in robot 'arm'; did you mean 'j2'"):
        Robot.from_urdf(arm(), lock=("j22",))


def test_home_by_name_leaves_the_others_at_zero_inside_their_limits():
    raised = '<limit lower="0.4" upper="1" effort="10" velocity="2"/>'
    robot = Robot.from_urdf(arm(second=raised), home={"j1": -0.5})
    assert robot.home.tolist() == [-0.5, 0.4]
    assert Robot.from_urdf(arm(second=raised)).home.tolist() == [0.0, 0.4]


@pytest.mark.parametrize(
    ("home", "error", "message"),
    [
        ({"j22": 0.1}, UnknownNameError, "did you mean 'j2'"),
        ({"j2": math.nan}, InputError, "home"),
        ([0.1], InputError, "home has length 1, expected 2"),
        ([0.1, math.inf], InputError, "home"),
    ],
)
def test_a_home_that_cannot_be_meant_is_refused(home, error, message):
    with pytest.raises(error, match=message):
        Robot.from_urdf(arm(), home=home)


def test_home_cannot_be_written_to_and_the_callers_array_is_copied():
    given = np.array([0.1, 0.2])
    robot = Robot.from_urdf(arm(), home=given)
    given[0] = 9.0
    assert robot.home.tolist() == [0.1, 0.2]
    with pytest.raises(ValueError, match="read-only"):
        robot.home[0] = 1.0


@pytest.mark.parametrize(("root", "nq", "nv", "nu"), [("fixed", 2, 2, 2), ("free", 9, 8, 2), ("planar", 6, 5, 5)])
def test_the_root_decides_the_dimensions(root, nq, nv, nu):
    robot = Robot.from_urdf(arm().replace('<link name="base"></link>', link("base")), root=root)
    assert (robot.nq, robot.nv, robot.nu) == (nq, nv, nu)
    with pytest.raises(UnknownNameError, match="root 'fred' does not exist"):
        Robot.from_urdf(arm(), root="fred")


def test_a_frame_that_shares_its_name_with_a_joint_is_the_link():
    text = arm().replace("</robot>", link("same") + joint("same", "l2", "same", "fixed", limit="") + "</robot>")
    robot = Robot.from_urdf(text)
    frame = robot.model.frames[robot.frame_id("same")]
    assert (frame.name, frame.type) == ("same", pin.FrameType.BODY)


def test_a_mistyped_frame_is_refused_with_close_matches():
    with pytest.raises(UnknownNameError, match="frame 'l22' does not exist in robot 'arm'; did you mean 'l2'"):
        Robot.from_urdf(arm()).frame_id("l22")
    with pytest.raises(InputError, match="expected a name"):
        Robot.from_urdf(arm()).frame_id(2)
