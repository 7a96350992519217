"""Reading Collada (.dae) meshes for a picture: triangles with their colours.

coal reads these files too, but drops their colours and shuffles the triangles of some with several parts (UR5's wrist:
13 times the surface that the file has).
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from wbc.checks import Array

Colour = tuple[float, float, float, float]
Part = tuple[Array, Any, Colour | None]


def read_collada(path: Path) -> list[Part]:
    """(vertices (n, 3) [m], faces (m, 3), colour or None) of each part, in the file's axes, whichever it calls up.

    ROS's viewers do not turn a file whose up axis is y either, and descriptions are written for those.

    Raises:
        ValueError: the file is not Collada, or of a form that is not read here.
    """
    try:
        root = ElementTree.fromstring(path.read_bytes())
        for element in root.iter():
            element.tag = element.tag.rpartition("}")[2]
        named = {"#" + element.get("id", ""): element for element in root.iter() if element.get("id")}
        unit = root.find("asset/unit")
        scale = np.diag([float(unit.get("meter", 1.0)) if unit is not None else 1.0] * 3 + [1.0])
        return [
            part
            for scene in root.iterfind("library_visual_scenes/visual_scene")
            for node in scene.iterfind("node")
            for part in _node(node, scale, named)
        ]
    except (ElementTree.ParseError, KeyError, IndexError, AttributeError, OSError) as error:
        raise ValueError(f"{path.name} is no Collada file that can be read here: {error!r}") from error


def _node(node: Any, pose: Array, named: dict[str, Any]) -> Iterator[Part]:
    pose = pose @ _transform(node)
    for instance in node.iterfind("instance_geometry"):
        materials = {m.get("symbol"): m.get("target") for m in instance.iter("instance_material")}
        mesh = named[instance.get("url")].find("mesh")
        for faces in list(mesh):
            if faces.tag in ("triangles", "polylist"):
                colour = _colour(named.get(materials.get(faces.get("material"), "")), named)
                vertices, triangles = _triangles(mesh, faces, named)
                if len(triangles):
                    turned = vertices @ pose[:3, :3].T + pose[:3, 3]
                    # a mirrored part is inside out
                    yield turned, triangles if np.linalg.det(pose[:3, :3]) > 0 else triangles[:, ::-1], colour
    for child in node.iterfind("node"):
        yield from _node(child, pose, named)
    for instance in node.iterfind("instance_node"):
        yield from _node(named[instance.get("url")], pose, named)


def _triangles(mesh: Any, faces: Any, named: dict[str, Any]) -> tuple[Array, Any]:
    inputs = faces.findall("input")
    stride = 1 + max(int(i.get("offset")) for i in inputs)
    vertex = next(i for i in inputs if i.get("semantic") == "VERTEX")
    place = next(i for i in named[vertex.get("source")].findall("input") if i.get("semantic") == "POSITION")
    points = _floats(named[place.get("source")].find("float_array")).reshape(-1, 3)
    text = faces.find("p").text or ""
    corners = np.array(text.split(), dtype=np.int64).reshape(-1, stride)[:, int(vertex.get("offset"))]
    if faces.tag == "triangles":
        triangles = corners.reshape(-1, 3)
    else:  # polygons, each a fan of triangles from its first corner
        counts = np.array((faces.find("vcount").text or "").split(), dtype=np.int64)
        starts = np.cumsum(counts) - counts
        fans = [(s, s + k, s + k + 1) for s, n in zip(starts, counts, strict=True) for k in range(1, n - 1)]
        triangles = corners[np.array(fans, dtype=np.int64).reshape(-1, 3)]
    used, index = np.unique(triangles, return_inverse=True)
    return points[used], index.reshape(-1, 3)


def _transform(node: Any) -> Array:
    pose = np.eye(4)
    for element in node:
        step = np.eye(4)
        if element.tag == "matrix":
            step = _floats(element).reshape(4, 4)
        elif element.tag == "translate":
            step[:3, 3] = _floats(element)
        elif element.tag == "scale":
            step[:3, :3] = np.diag(_floats(element))
        elif element.tag == "rotate":
            x, y, z, degrees = _floats(element)
            K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
            angle = np.radians(degrees)
            step[:3, :3] += np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
        pose = pose @ step
    return pose


def _colour(material: Any, named: dict[str, Any]) -> Colour | None:
    if material is None:
        return None
    effect = named.get(material.find("instance_effect").get("url"))
    diffuse = effect.find(".//diffuse/color") if effect is not None else None
    if diffuse is None:
        return None
    red, green, blue, *_ = _floats(diffuse)
    return float(red), float(green), float(blue), 1.0


def _floats(element: Any) -> Array:
    return np.array((element.text or "").split(), dtype=np.float64)
