"""Inspection: whatever the description, a person learns what is the matter and what to do."""

from __future__ import annotations

import sys
import warnings
from importlib.metadata import PackageNotFoundError, distribution
from io import StringIO
from pathlib import Path
from types import ModuleType

import pinocchio as pin
import pytest
from rich.console import Console

from wbc.environment import available, environment
from wbc.errors import InputError, RobotError, RobotWarning, WbcError
from wbc.inspection import Findings, inspect
from wbc.inspection_view import print_environment, print_findings
from wbc.robot import Robot
from wbc.robots import load

MASS = 1e-9  # relative; two ways of adding up the same masses

LIMIT = '<limit lower="-1" upper="1" effort="10" velocity="2"/>'
INERTIA = '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/>'
INERTIAL = f'<inertial><origin xyz="0.1 0 0.2"/><mass value="1"/>{INERTIA}</inertial>'


def arm(limit: str = LIMIT, inertial: str = INERTIAL, kind: str = "revolute", more: str = "", extra: str = "") -> str:
    """Two links behind each other; the arguments change the second one, ``l2``, and its joint ``j2``."""
    return (
        f'<robot name="arm"><link name="base"/><link name="l1">{INERTIAL}</link><link name="l2">{inertial}</link>'
        f'<joint name="j1" type="revolute"><parent link="base"/><child link="l1"/><axis xyz="0 1 0"/>{LIMIT}</joint>'
        f'<joint name="j2" type="{kind}"><parent link="l1"/><child link="l2"/><origin xyz="0 0 0.3"/>'
        f'<axis xyz="0 1 0"/>{limit}{more}</joint>{extra}</robot>'
    )


def found(findings: Findings, severity: str) -> list[str]:
    return [f"{f.where}: {f.what}" for f in findings.findings if f.severity == severity]


def test_a_sound_robot_gives_facts_and_no_warning():
    findings = inspect(arm())
    assert (findings.name, findings.source) == ("arm", "text")
    assert (findings.nq, findings.nv) == (2, 2)
    assert (findings.mass, findings.moving_mass) == (2.0, 2.0)
    assert [(j.name, j.lower, j.upper, j.velocity, j.effort) for j in findings.joints] == [
        ("j1", -1.0, 1.0, 2.0, 10.0),
        ("j2", -1.0, 1.0, 2.0, 10.0),
    ]
    assert set(findings.frames) == {"base", "l1", "l2", "j1", "j2"}
    assert findings.usable and not findings.warnings and not findings.missing_meshes
    assert [f.where for f in findings.findings] == ["armature"]


def limit(lower: str = "-1", upper: str = "1", effort: str = "10", velocity: str = "2") -> str:
    return f'<limit lower="{lower}" upper="{upper}" effort="{effort}" velocity="{velocity}"/>'


def inertial(mass: str = "1", xx: str = "0.02", yy: str = "0.02", zz: str = "0.01", xy: str = "0") -> str:
    inertia = f'<inertia ixx="{xx}" ixy="{xy}" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"/>'
    return f'<inertial><mass value="{mass}"/>{inertia}</inertial>'


BEHIND = '<joint name="j3" type="{}"><parent link="{}"/><child link="{}"/>{}</joint>'
TOOL = '<link name="tool"/>' + BEHIND.format("fixed", "l2", "tool", "")
HEAVY = f'<link name="l3">{INERTIAL}</link>' + BEHIND.format("revolute", "l2", "l3", LIMIT)
MIMIC = '<mimic joint="j1"/>'

# what is wrong, severity, where, what is said, what the fix says
CASES = [
    # limits
    (arm(limit=limit(effort="0")), "warning", "joint 'j2'", "effort limit is 0", "torque_limits={'j2': ...}"),
    (arm(limit=limit(velocity="0")), "warning", "joint 'j2'", "velocity limit is 0", "velocity_limits={'j2': ...}"),
    (arm(limit=limit(effort="1000")), "warning", "joint 'j2'", "looks like a placeholder", "torque_limits"),
    (arm(limit=limit(effort="1.797e308")), "note", "joint 'j2'", "unlimited", "torque_limits"),
    (arm(limit=limit(effort="-1")), "error", "joint 'j2'", "effort limit -1 is negative", "positive"),
    (
        arm(limit=limit("1", "-1")),
        "error",
        "joint 'j2'",
        "lower position limit 1 is above the upper one -1",
        "exchange",
    ),
    (arm(limit=limit("0.5", "0.5")), "warning", "joint 'j2'", "it cannot move", "lock={'j2': 0.5}"),
    (arm(limit=limit("0", "0")), "warning", "joint 'j2'", "no position limits", "write lower and upper"),
    (arm(limit=limit("-180", "180")), "warning", "joint 'j2'", "more than four turns", "radians"),
    (arm(limit=limit("-1e30", "1e30")), "note", "joint 'j2'", "unlimited on that side", ""),
    (arm(limit=limit("abc")), "error", "joint 'j2'", "its lower limit is 'abc'", "plain number"),
    (arm(limit=limit(effort="inf")), "error", "joint 'j2'", "its effort limit is 'inf'", "1e30"),
    (arm(limit='<limit effort="1" velocity="1"/>'), "warning", "joint 'j2'", "no position limits", "write lower"),
    (arm(limit='<limit upper="1" effort="1" velocity="1"/>'), "warning", "joint 'j2'", "no lower limit", "write lower"),
    (arm(limit='<limit lower="-1" upper="1" velocity="1"/>'), "error", "joint 'j2'", "has no effort", 'effort=".."'),
    (arm(limit=""), "error", "joint 'j2'", "has no <limit>", "continuous"),
    (arm(limit="", kind="continuous"), "warning", "joint 'j2'", "no effort limit", "torque_limits"),
    (arm(limit="", kind="continuous"), "note", "continuous joints", "j2: endless", "home={joint: angle}"),
    # joints
    (arm(more=MIMIC), "warning", "joint 'j2'", "it mimics 'j1', which is ignored", "lock=('j2',)"),
    (arm(more='<mimic joint="jj"/>'), "warning", "joint 'j2'", "which does not exist", "lock=('j2',)"),
    (arm(more='<dynamics damping="1" friction="0"/>'), "note", "friction", "j2: damping", "does not make up"),
    (arm(kind="hinge"), "error", "joint 'j2'", "its type is 'hinge'", "revolute"),
    (arm(more='<axis xyz="0 0 0"/>').replace('<axis xyz="0 1 0"/>', ""), "error", "joint 'j2'", "axis is zero", "give"),
    (
        arm(kind="fixed", limit="").replace('type="revolute"', 'type="fixed"'),
        "error",
        "robot",
        "no joint that moves",
        "",
    ),
    # links
    (arm(inertial=""), "error", "link 'l2'", "joint 'j2' moves it and all behind it without mass", "<inertial>"),
    (arm(inertial="", extra=TOOL), "error", "link 'l2'", "the mass matrix is singular", "armature={'j2': 0.01}"),
    (arm(inertial="", extra=HEAVY), "note", "link 'l2'", "what it carries has", ""),
    (arm(inertial=inertial("-1")), "error", "link 'l2'", "its mass -1 kg is negative", "real mass"),
    (arm(inertial=inertial("x")), "error", "link 'l2'", "its <mass> value is 'x'", "plain number"),
    (arm(inertial='<inertial><mass value="1"/></inertial>'), "error", "link 'l2'", "no <inertia>", "complete it"),
    (arm(inertial=inertial("0"), extra=HEAVY), "warning", "link 'l2'", "no mass, but moments of inertia", "both"),
    (arm(inertial=inertial(xy="0.05")), "warning", "link 'l2'", "not positive definite", "signs or axes"),
    (arm(inertial=inertial(zz="0.1")), "warning", "link 'l2'", "triangle inequality", "centre of mass"),
    (
        arm(inertial=inertial("0.1", "1", "1", "1")),
        "warning",
        "link 'l2'",
        "radius of gyration of 3.2 m",
        "placeholder",
    ),
    (arm(inertial=inertial("1", "1e-9", "1e-9", "1e-9")), "warning", "link 'l2'", "radius of gyration", "placeholder"),
    # structure
    (
        arm(extra='<link name="island"/>'),
        "error",
        "robot",
        "links 'base', 'island' hang on nothing",
        "exactly one link",
    ),
    (arm(extra='<link name="l2"/>'), "error", "link 'l2'", "several of this name", "rename"),
    (arm(extra=BEHIND.format("fixed", "base", "l2", "")), "error", "link 'l2'", "a closed loop", "tree"),
    (
        arm(extra=BEHIND.format("fixed", "l2", "l9", "")),
        "error",
        "joint 'j3'",
        "child link 'l9' does not exist",
        "name",
    ),
    (arm(extra=BEHIND.format("fixed", "l2", "base", "")), "error", "robot", "every link hangs on another", "exactly"),
    ('<robot name="r"/>', "error", "robot", "no <link>", "right file"),
    (arm().replace(' name="arm"', ""), "error", "robot", "no name", "<robot name="),
    (
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:m/></robot>',
        "error",
        "robot",
        "xacro template",
        "xacro FILE",
    ),
]


@pytest.mark.parametrize(("text", "severity", "where", "what", "fix"), CASES, ids=[case[3] for case in CASES])
def test_each_fault_is_found_where_it_is_with_a_fix(text, severity, where, what, fix):
    hits = [f for f in inspect(text).findings if f.where == where and what in f.what]
    assert [f.severity for f in hits] == [severity]
    assert fix in hits[0].fix


@pytest.mark.parametrize("text", [case[0] for case in CASES], ids=[case[3] for case in CASES])
def test_an_error_is_found_wherever_the_robot_class_refuses(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)
        try:
            Robot.from_urdf(text)
        except WbcError:
            assert inspect(text).errors


def test_a_point_mass_on_its_joints_axis_is_found_by_the_numbers():
    point = '<inertial><mass value="1"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>'
    findings = inspect(arm(inertial=point))
    assert ["mass matrix is singular, joint 'j2'" in text for text in found(findings, "error")] == [True]
    assert "a point" in found(findings, "warning")[0]


def test_the_worst_comes_first_and_a_note_hides_nothing():
    findings = inspect(arm(limit=limit(effort="0"), inertial=""))
    order = [f.severity for f in findings.findings]
    assert order == sorted(order, key=["error", "warning", "note"].index) and not findings.usable


def test_missing_meshes_are_listed_and_are_not_fatal(tmp_path):
    folder = tmp_path / "a ü b"
    (folder / "pkg" / "urdf").mkdir(parents=True)
    (folder / "pkg" / "here.stl").touch()
    meshes = "".join(
        f'<visual><geometry><mesh filename="{address}"/></geometry></visual>'
        for address in ("package://pkg/here.stl", "package://pkg/gone.stl", "../here.stl", "meshes/gone.STL")
    )
    path = folder / "pkg" / "urdf" / "arm.urdf"
    path.write_text(arm(inertial=INERTIAL + meshes), encoding="utf-8")
    alone = inspect(path)
    assert alone.missing_meshes == ("package://pkg/here.stl", "package://pkg/gone.stl", "meshes/gone.STL")
    assert alone.usable and not alone.warnings
    note = next(f for f in alone.findings if f.where == "meshes")
    assert note.fix.startswith(f"for pictures: package_dirs=({str(folder)!r},)")
    assert inspect(path, package_dirs=[folder]).missing_meshes == ("package://pkg/gone.stl", "meshes/gone.STL")


def test_a_base_with_mass_is_said_to_be_bolted():
    text = arm().replace('<link name="base"/>', f'<link name="base">{INERTIAL}</link>')
    findings = inspect(text)
    assert (findings.mass, findings.moving_mass) == (3.0, 2.0)
    assert next(f for f in findings.findings if f.where == "base 'base'").fix.startswith('root="free"')


def test_a_robot_that_is_already_there_is_seen_with_what_it_was_told():
    robot = Robot.from_urdf(arm(limit=limit(effort="0")), torque_limits={"j2": 5.0}, lock=("j1",), armature=0.1)
    findings = inspect(robot)
    assert [(j.name, j.effort, j.lower) for j in findings.joints] == [("j2", 5.0, -1.0)]
    assert findings.usable and not findings.findings[1:]
    assert findings.mass == pytest.approx(2.0) and findings.moving_mass == pytest.approx(1.0)
    with pytest.warns(RobotWarning):
        warned = inspect(Robot.from_urdf(arm(limit=limit(effort="0"))))
    assert found(warned, "warning") == ["joint 'j2': effort limit is 0, taken for a placeholder: unlimited"]


def test_a_bare_pinocchio_model_with_a_free_base_can_be_inspected():
    findings = inspect(Robot.from_pinocchio(pin.buildSampleModelHumanoid()))
    assert (findings.nq, findings.nv) == (35, 34)
    assert findings.joints[0].kind == "floating"
    assert findings.mass == pytest.approx(15.5)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ("nowhere.urdf", RobotError, "there is no file 'nowhere.urdf'"),
        ("<robot", RobotError, "not XML"),
        ("<mujoco/>", RobotError, "expected <robot>"),
        (None, InputError, "expected the path or the text"),
        (7, InputError, "expected the path or the text"),
    ],
)
def test_where_there_is_nothing_to_inspect_it_is_said(given, error, message):
    with pytest.raises(error, match=message):
        inspect(given)


def wheel_files() -> list[Path]:
    try:
        share = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data")))
    except PackageNotFoundError:
        return []
    return sorted(share.rglob("*.urdf"))


@pytest.mark.skipif(not wheel_files(), reason='needs pip install "wbc[robots]"')
def test_every_description_of_the_wheel_is_judged_as_the_robot_class_judges_it():
    files = wheel_files()
    assert len(files) > 60
    for path in files:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                robot = Robot.from_urdf(path)
            except RobotError:
                robot = None
        findings = inspect(path)
        assert findings.usable == (robot is not None), path
        print_findings(findings, Console(file=StringIO()))
        if robot is not None:
            assert (findings.nq, findings.nv) == (robot.nq, robot.nv), path
            assert findings.moving_mass == pytest.approx(robot.mass, rel=MASS), path
            assert {joint.name for joint in findings.joints} == set(robot.joint_names), path
            named = {f.where for f in findings.warnings}
            for warning in (w for w in caught if issubclass(w.category, RobotWarning)):
                assert any(where in str(warning.message) for where in named), warning.message


def printed(findings: Findings, width: int = 120) -> str:
    out = StringIO()
    print_findings(findings, Console(file=out, width=width))
    return out.getvalue()


def test_findings_print_as_tables_with_everything_a_person_asks_for():
    text = printed(inspect(arm(limit=limit(effort="0"), more=MIMIC)))
    for part in ("arm", "nq 2, nv 2, 2 actuated", "mass 2 kg", "j1", "revolute", "torque_limits", "lock=('j2',)"):
        assert part in text
    assert "usable: 0 errors, 2 warnings" in text
    assert "not usable: 1 error, 0 warnings" in printed(inspect(arm(inertial="")))


def test_brackets_in_names_print_as_they_are():
    assert "[red]j[/red]" in printed(inspect(arm().replace('"j2"', '"[red]j[/red]"')))


def test_a_narrow_terminal_breaks_nothing():
    assert "usable" in printed(inspect(load("double_pendulum")), width=20)


# --- J01, J02: the environment --------------------------------------------------------------------------------------


def test_j01_the_environment_lists_versions_of_everything_that_matters():
    rows = dict(environment())
    for name in ("Python", "pinocchio", "eigenpy", "boost", "numpy", "scipy", "qpsolvers", "MuJoCo", "numba"):
        assert rows[name]
    for name in ("pinocchio", "numpy", "daqp (native)", "proxqp (native)", "osqp (native)", "daqp (qpsolvers)"):
        assert available(rows[name]), f"{name}: {rows[name]}"


def test_j02_a_package_that_does_not_import_is_listed_with_its_reason_and_breaks_nothing(monkeypatch):
    def refuse(name, *_):
        if name == "osqp":
            raise ImportError("numpy.core.multiarray failed to import")
        if name == "mujoco":
            raise AttributeError("_ARRAY_API not found")
        return sys.modules.get(name) or ModuleType(name)

    monkeypatch.setattr("wbc.environment.import_module", refuse)
    rows = dict(environment())
    assert rows["osqp (native)"] == "does not import: ImportError: numpy.core.multiarray failed to import"
    assert rows["MuJoCo"] == "does not import: AttributeError: _ARRAY_API not found"
    assert available(rows["numpy"]) and not available(rows["MuJoCo"])


def test_what_is_not_installed_says_which_extra_brings_it(monkeypatch):
    def absent(name):
        raise PackageNotFoundError(name)

    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr("wbc.environment.version", absent)
    monkeypatch.setattr("wbc.environment.import_module", missing)
    rows = dict(environment())
    assert rows["MuJoCo"] == 'not installed (pip install "wbc[sim]")'
    assert rows["example-robot-data"] == 'not installed (pip install "wbc[robots]")'
    assert rows["numba"] == "not installed" and not available(rows["numba"])


def test_the_environment_prints_as_a_table():
    out = StringIO()
    print_environment(Console(file=out, width=100))
    assert "pinocchio" in out.getvalue() and "(qpsolvers)" in out.getvalue()
