"""render: a picture of a robot, drawn off screen by MuJoCo."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from wbc import checks
from wbc.checks import Array
from wbc.errors import InputError
from wbc.robot import Robot
from wbc.simulation.coordinates import WXYZ_OF_XYZW
from wbc.simulation.offscreen import draw
from wbc.simulation.optional import optional
from wbc.simulation.shapes import Shape, shapes_of

TRACE = (0.85, 0.27, 0.20, 1.0)
MOST_BEADS = 1500
FIELD_OF_VIEW = 32.0  # degrees, vertical: nearer to a photograph's than MuJoCo's 45


def render(
    robot: Robot,
    q: Any,
    path: str | Path,
    *,
    size: tuple[int, int] = (960, 720),
    trace: Any = (),
    azimuth: float = 140.0,
    elevation: float = -18.0,
) -> Path:
    """Draw a robot as a PNG and return its path; no window is opened.

    Shapes come from the robot's description (its visuals, else its collision shapes, as far as their meshes are found);
    without any the robot is drawn as capsules from joint to joint. The camera finds the whole robot by itself.

    Args:
        robot: what to draw.
        q: configuration (nq,).
        path: picture to write.
        size: width and height [pixels].
        trace: points (n, 3) [m], such as the path of a hand, drawn as a string of beads.
        azimuth: direction of view about the vertical [degrees].
        elevation: direction of view above the horizontal, negative looks down [degrees].

    Raises:
        InputError: a configuration of a wrong length, a size below one pixel, a path that cannot be written.
        NotInstalledError: MuJoCo or an off-screen OpenGL is not installed.
    """
    q = checks.vector(q, "q", robot.nq)
    points = np.asarray(trace, dtype=np.float64).reshape(-1, 3)
    width, height = (int(checks.scalar(s, "size", lower=1)) for s in size)
    file = Path(path)
    if not file.parent.is_dir():
        raise InputError(f"the picture cannot be written to {str(file)!r}: there is no folder {str(file.parent)!r}")
    placed = _place(robot, q, shapes_of(robot))
    picture = _draw(placed, points, width, height, azimuth, elevation)
    try:
        optional("PIL.Image", "plot").fromarray(picture).save(file)
    except (OSError, ValueError) as error:
        raise InputError(f"the picture cannot be written to {str(file)!r}: {error}") from error
    return file


def _place(robot: Robot, q: Array, shapes: list[Shape]) -> list[tuple[Shape, Any]]:
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q)
    return [(shape, data.oMi[shape.joint] * shape.placement) for shape in shapes]


def _draw(
    placed: list[tuple[Shape, Any]], points: Array, width: int, height: int, azimuth: float, elevation: float
) -> Any:
    mujoco = optional("mujoco", "sim")
    outline = np.vstack([*(shape.outline() @ pose.rotation.T + pose.translation for shape, pose in placed), points])
    model = _scene(mujoco, placed, points, outline, width, height).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    camera = mujoco.MjvCamera()
    camera.azimuth, camera.elevation = azimuth, elevation
    camera.lookat[:], camera.distance = _frame(outline, azimuth, elevation, width / height)
    return draw(model, data, camera, width, height)


def _scene(mujoco: Any, placed: list[tuple[Shape, Any]], points: Array, outline: Array, width: int, height: int) -> Any:
    spec = mujoco.MjSpec()
    visual, world = spec.visual, spec.worldbody
    getattr(visual, "global").offwidth, getattr(visual, "global").offheight = width, height
    getattr(visual, "global").fovy = FIELD_OF_VIEW
    visual.quality.shadowsize, visual.quality.offsamples = 4096, 8
    visual.headlight.ambient, visual.headlight.diffuse = [0.32] * 3, [0.26] * 3
    visual.headlight.specular = [0.05] * 3
    centre, extent = (outline.min(axis=0) + outline.max(axis=0)) / 2.0, float(np.ptp(outline, axis=0).max())
    spec.stat.extent, spec.stat.center = max(extent, 0.1), centre
    visual.map.znear, visual.map.zfar = 0.01, 60.0
    _floor(mujoco, spec, min(0.0, float(outline[:, 2].min())), extent)
    for x, y, strength in ((1.0, -1.2, 0.55), (-1.5, -0.6, 0.16)):
        light = world.add_light(type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, castshadow=strength > 0.5)
        light.pos = centre + 3.0 * extent * np.array([x, y, 2.0])
        light.dir, light.diffuse, light.specular = np.array([-x, -y, -2.0]), [strength] * 3, [0.12] * 3
    for shape, pose in placed:
        _add_shape(mujoco, spec, shape, pose)
    bead = 0.0045 * max(extent, 0.1)
    for point in _even(points, 0.9 * bead):
        world.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, pos=point, size=[bead, 0, 0], rgba=TRACE)
    return spec


def _even(points: Array, spacing: float) -> Array:
    """Points on the same path at even distances, so that beads touch whatever the speed was."""
    if len(points) < 2:
        return points
    along = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))))
    places = np.linspace(0.0, along[-1], min(MOST_BEADS, 2 + int(along[-1] / spacing)))
    return np.column_stack([np.interp(places, along, coordinate) for coordinate in points.T])


def _floor(mujoco: Any, spec: Any, z: float, extent: float) -> None:
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.97, 0.98, 0.99],
        rgb2=[0.80, 0.85, 0.90],
        width=512,
        height=512,
    )
    spec.add_texture(
        name="tiles",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=[0.86, 0.88, 0.90],
        rgb2=[0.80, 0.82, 0.85],
        width=512,
        height=512,
    )
    material = spec.add_material(name="floor", texrepeat=[5, 5], texuniform=True, reflectance=0.06)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "tiles"
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, pos=[0, 0, z - 1e-3], size=[0, 0, 0.1], material="floor")


def _add_shape(mujoco: Any, spec: Any, shape: Shape, pose: Any) -> None:
    quaternion = pin.SE3ToXYZQUAT(pose)[3:][WXYZ_OF_XYZW]
    place = {"pos": pose.translation, "quat": quaternion, "rgba": shape.colour, "contype": 0, "conaffinity": 0}
    if shape.kind == "mesh":
        mesh = spec.add_mesh(name=f"mesh{len(spec.meshes)}", inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
        mesh.uservert, mesh.userface = shape.vertices.ravel(), shape.faces.ravel()
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=mesh.name, **place)
    else:
        kind = getattr(mujoco.mjtGeom, f"mjGEOM_{shape.kind.upper()}")
        spec.worldbody.add_geom(type=kind, size=shape.size, **place)


def _frame(outline: Array, azimuth: float, elevation: float, aspect: float) -> tuple[Array, float]:
    """Where to look and from how far, so that the whole outline is inside the picture with a margin."""
    a, e = math.radians(azimuth), math.radians(elevation)
    forward = np.array([math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)])
    right = np.array([math.sin(a), -math.cos(a), 0.0])
    view = outline @ np.column_stack((forward, right, np.cross(right, forward)))
    middle = (view.min(axis=0) + view.max(axis=0)) / 2.0
    half_height = math.tan(math.radians(FIELD_OF_VIEW) / 2.0)
    depth, across, up = (view - middle).T
    # a point that stands nearer by `depth` needs so much more distance
    needed = np.maximum(np.abs(across) / aspect, np.abs(up)) / half_height - depth
    look = forward * middle[0] + right * middle[1] + np.cross(right, forward) * middle[2]
    return look, 1.12 * float(needed.max())
