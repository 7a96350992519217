"""Shapes of a robot for a picture: what its URDF shows, or capsules along its bones where there is nothing to show."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from wbc.checks import Array
from wbc.description import Description
from wbc.robot import Robot
from wbc.simulation.meshes import Colour, find_mesh, read_mesh

NONE = np.zeros(3)
PLAIN: Colour = (0.82, 0.83, 0.85, 1.0)
BONE: Colour = (0.93, 0.55, 0.20, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A solid on a joint's body.

    Attributes:
        joint: index of the pinocchio joint that carries it.
        placement: its pose in that joint's frame (pin.SE3).
        kind: ``"box"``, ``"cylinder"``, ``"sphere"``, ``"capsule"`` (both along z) or ``"mesh"``.
        size: (3,) half sizes of a box, or radius and half length [m]; unused by a mesh.
        vertices, faces: (n, 3) [m] and (m, 3), of a mesh.
        colour: red, green, blue, opacity.
    """

    joint: int
    placement: Any
    kind: str
    size: Array
    vertices: Array
    faces: Any
    colour: Colour

    def outline(self) -> Array:
        """Points (n, 3) in its own axes between which it lies."""
        if self.kind == "mesh":
            return self.vertices
        radius, half_length, _ = self.size
        half = {
            "box": self.size,
            "cylinder": np.array([radius, radius, half_length]),
            "capsule": np.array([radius, radius, half_length + radius]),
            "sphere": np.array([radius, radius, radius]),
        }[self.kind]
        return half * np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def shapes_of(robot: Robot) -> list[Shape]:
    """What the description shows of each link: its visuals, else its collision shapes; else capsules for the robot."""
    if robot.description is None:
        return _bones(robot)
    shapes = _from_urdf(robot, robot.description)
    return shapes or _bones(robot)


def _from_urdf(robot: Robot, description: Description) -> list[Shape]:
    root = ElementTree.fromstring(description.text.encode())
    colours = {m.get("name"): c for m in root.findall("material") if (c := _rgba(m)) is not None}
    shapes: list[Shape] = []
    for link in root.findall("link"):
        frame_id = robot.model.getFrameId(link.get("name"), pin.FrameType.BODY)
        if frame_id >= robot.model.nframes:
            continue
        frame = robot.model.frames[frame_id]
        for tag in ("visual", "collision"):
            found = [s for element in link.findall(tag) for s in _solids(element, frame, description, colours)]
            shapes += found
            if found:
                break
    return shapes


def _solids(element: Any, frame: Any, description: Description, colours: dict[str | None, Colour]) -> list[Shape]:
    """The shapes of one <visual> or <collision>: none if its mesh is missing, several if it has several colours."""
    geometry, origin, material = element.find("geometry"), element.find("origin"), element.find("material")
    if geometry is None or not len(geometry):
        return []
    placement = frame.placement * _origin(origin)
    colour = None if material is None else _rgba(material) or colours.get(material.get("name"))
    solid = geometry[0]
    if solid.tag == "mesh":
        path = find_mesh(description, solid.get("filename", ""))
        scale = _numbers(solid.get("scale"), (1.0, 1.0, 1.0))
        parts = [] if path is None else read_mesh(path, scale)
        return [Shape(frame.parentJoint, placement, "mesh", NONE, v, f, colour or own or PLAIN) for v, f, own in parts]
    radius, length = float(solid.get("radius", 0)), float(solid.get("length", 0))
    sizes = {
        "box": _numbers(solid.get("size"), (0.0, 0.0, 0.0)) / 2.0,
        "cylinder": np.array([radius, length / 2.0, 0.0]),
        "capsule": np.array([radius, length / 2.0, 0.0]),
        "sphere": np.array([radius, 0.0, 0.0]),
    }
    size = sizes.get(solid.tag, NONE)
    return [_solid(frame.parentJoint, placement, solid.tag, size, colour or PLAIN)] if size.any() else []


def _solid(joint: int, placement: Any, kind: str, size: Array, colour: Colour) -> Shape:
    none = np.zeros((0, 3))
    return Shape(joint, placement, kind, np.maximum(size, 1e-4), none, none.astype(int), colour)  # nothing is flat


def _bones(robot: Robot) -> list[Shape]:
    """A capsule from each joint to each of its children and frames at the end, a sphere in each joint."""
    model, data = robot.model, robot.model.createData()
    pin.forwardKinematics(model, data, robot.home)
    points = np.array([placement.translation for placement in data.oMi])
    radius = max(0.02 * float(np.ptp(points, axis=0).max()), 0.005)
    shapes = []
    ends = [(model.parents[i], model.jointPlacements[i].translation) for i in range(1, model.njoints)]
    ends += [(f.parentJoint, f.placement.translation) for f in model.frames if f.parentJoint]
    for joint, end in ends:
        length = float(np.linalg.norm(end))
        if length > radius:
            turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), np.array(end) / length).matrix()
            pose, size = pin.SE3(turn, np.array(end) / 2.0), np.array([radius, length / 2.0, 0.0])
            shapes.append(_solid(joint, pose, "capsule", size, PLAIN))
    for joint in range(1, model.njoints):
        shapes.append(_solid(joint, pin.SE3.Identity(), "sphere", np.array([1.6 * radius, 0.0, 0.0]), BONE))
    return shapes


def _origin(element: Any) -> Any:
    if element is None:
        return pin.SE3.Identity()
    roll, pitch, yaw = _numbers(element.get("rpy"), (0.0, 0.0, 0.0))
    return pin.SE3(pin.rpy.rpyToMatrix(roll, pitch, yaw), _numbers(element.get("xyz"), (0.0, 0.0, 0.0)))


def _rgba(material: Any) -> Colour | None:
    colour = material.find("color")
    if colour is None:
        return None
    red, green, blue, opacity = _numbers(colour.get("rgba"), (*PLAIN[:3], 1.0))
    return float(red), float(green), float(blue), float(opacity)


def _numbers(text: str | None, otherwise: tuple[float, ...]) -> Array:
    values = np.array([float(x) for x in (text or "").split()])
    return values if len(values) == len(otherwise) else np.array(otherwise)
