"""Pictures: written, with a robot in them, whole, and with or without meshes."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from wbc.errors import InputError, NotInstalledError
from wbc.robot import Robot
from wbc.simulation.collada import read_collada
from wbc.simulation.meshes import find_mesh
from wbc.simulation.render import render
from wbc.simulation.shapes import shapes_of

pytest.importorskip("mujoco")
Image = pytest.importorskip("PIL.Image")

URDF = """<robot name="two"><material name="red"><color rgba="0.9 0.1 0.1 1"/></material>
<link name="base"><visual><geometry><box size="0.2 0.2 0.1"/></geometry></visual></link>
<link name="arm"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0 0 0.3"/>
<geometry><cylinder radius="0.05" length="0.6"/></geometry><material name="red"/></visual>
<visual><geometry><mesh filename="package://nowhere/missing.stl"/></geometry></visual></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="10" velocity="5"/></joint></robot>"""

DAE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"><asset><unit meter="0.5"/></asset>
<library_effects><effect id="e"><profile_COMMON><technique><lambert><diffuse><color>0.1 0.2 0.3 1</color></diffuse>
</lambert></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh><source id="p"><float_array count="12">0 0 0 1 0 0 1 1 0 0 1 0</float_array>
</source><vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<polylist material="s" count="1"><input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL" source="#n"
offset="1"/><vcount>4</vcount><p>0 0 1 0 2 0 3 0</p></polylist></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene><node><translate>0 0 2</translate><instance_geometry url="#g"><bind_material>
<technique_common><instance_material symbol="s" target="#m"/></technique_common></bind_material></instance_geometry>
</node></visual_scene></library_visual_scenes></COLLADA>"""


def draw(robot: Robot, path: Path, **options: Any) -> Any:
    try:
        render(robot, robot.home, path, size=(320, 240), **options)
    except NotInstalledError as error:
        pytest.skip(str(error))
    return np.asarray(Image.open(path)).astype(int)


def quiet(text: str) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Robot.from_urdf(text)


def red(picture: Any) -> Any:
    return (picture[..., 0] > 1.6 * picture[..., 1]) & (picture[..., 0] > 60)


def test_a_picture_shows_the_colours_of_the_description_and_is_not_cut(tmp_path: Path) -> None:
    picture = draw(quiet(URDF), tmp_path / "two.png")
    assert picture.shape == (240, 320, 3) and picture.std() > 5.0
    seen = red(picture)
    assert seen.mean() > 0.01
    assert not (seen[0].any() or seen[-1].any() or seen[:, 0].any() or seen[:, -1].any())


def test_a_bare_model_is_drawn_as_capsules_and_a_trace_as_beads(tmp_path: Path) -> None:
    robot = Robot.from_pinocchio(pin.buildSampleModelManipulator())
    without = draw(robot, tmp_path / "bare.png")
    trace = [(0.3 * np.cos(a), 0.3 * np.sin(a), 1.0) for a in np.linspace(0, 6, 50)]
    with_trace = draw(robot, tmp_path / "trace.png", trace=trace)
    assert without.std() > 5.0
    assert red(with_trace).sum() > red(without).sum() + 100


def test_a_missing_mesh_is_left_out_and_a_found_one_is_found(tmp_path: Path) -> None:
    robot = quiet(URDF)
    assert [shape.kind for shape in shapes_of(robot)] == ["box", "cylinder"]
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "a.stl").write_bytes(b"")
    (tmp_path / "arm.urdf").write_text(URDF)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = Robot.from_urdf(tmp_path / "arm.urdf", package_dirs=[tmp_path.parent])
    assert robot.description is not None
    for address in (f"package://{tmp_path.name}/meshes/a.stl", "meshes/a.stl", f"file://{tmp_path}/meshes/a.stl"):
        assert find_mesh(robot.description, address) == tmp_path / "meshes" / "a.stl"
    assert find_mesh(robot.description, "package://other/meshes/a.stl") is None


def test_a_collada_mesh_keeps_its_places_units_and_colours(tmp_path: Path) -> None:
    (tmp_path / "square.dae").write_text(DAE)
    ((vertices, faces, colour),) = read_collada(tmp_path / "square.dae")
    assert np.allclose(vertices, [[0, 0, 1], [0.5, 0, 1], [0.5, 0.5, 1], [0, 0.5, 1]])
    assert faces.tolist() == [[0, 1, 2], [0, 2, 3]] and colour == (0.1, 0.2, 0.3, 1.0)
    (tmp_path / "broken.dae").write_text(DAE[:400])
    with pytest.raises(ValueError, match=r"broken\.dae"):
        read_collada(tmp_path / "broken.dae")


@pytest.mark.parametrize("name", ["panda", "ur5", "xarm7", "z1", "kinova"])
def test_every_arm_has_a_picture(name: str, tmp_path: Path) -> None:
    pytest.importorskip("wbc.robots")
    from wbc.robots import load

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            robot = load(name)
        except NotInstalledError as error:
            pytest.skip(str(error))
    assert sum(shape.kind == "mesh" for shape in shapes_of(robot)) >= robot.nu
    assert draw(robot, tmp_path / f"{name}.png").std() > 10.0


def test_a_picture_that_cannot_be_meant_is_refused(tmp_path: Path) -> None:
    robot = quiet(URDF)
    for q, path, size in (
        ([0.0, 0.0], tmp_path / "a.png", (32, 32)),
        ([0.0], tmp_path / "nowhere" / "a.png", (32, 32)),
        ([0.0], tmp_path / "a.png", (0, 32)),
    ):
        with pytest.raises(InputError):
            render(robot, q, path, size=size)
