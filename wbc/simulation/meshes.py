"""Mesh files for a picture: finding what a description means, and reading it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from wbc.checks import Array
from wbc.description import Description
from wbc.simulation.collada import Colour, Part, read_collada


def find_mesh(description: Description, address: str) -> Path | None:
    """The file that a mesh address in a URDF means, or None if it is in none of the folders."""
    scheme, _, rest = address.rpartition("://")
    if scheme == "file":
        candidates = [Path(rest)]
    elif scheme in ("package", "model"):
        package, _, inside = rest.partition("/")
        candidates = [folder / rest for folder in description.package_dirs]
        candidates += [folder / inside for folder in description.package_dirs if folder.name == package]
    else:
        folders = ([description.folder] if description.folder else []) + list(description.package_dirs)
        candidates = [folder / address for folder in folders]
    return next((path for path in candidates if path.is_file()), None)


def read_mesh(path: Path, scale: Array) -> list[Part]:
    """(vertices, faces, colour or None) of each colour in a mesh file; nothing if the file cannot be read."""
    try:
        parts = read_collada(path) if path.suffix.lower() == ".dae" else _read_with_coal(path)
    except (ImportError, ValueError, RuntimeError):
        return []
    by_colour: dict[Colour | None, tuple[list[Array], list[Any]]] = {}
    for vertices, faces, colour in parts:
        points, triangles = by_colour.setdefault(colour, ([], []))
        triangles.append(faces + sum(map(len, points)))
        points.append(vertices)
    whole = [(np.vstack(points) * scale, np.vstack(faces), colour) for colour, (points, faces) in by_colour.items()]
    return [(v, f if scale.prod() > 0.0 else f[:, ::-1], colour) for v, f, colour in whole if len(v) > 3]


def _read_with_coal(path: Path) -> list[Part]:
    """STL and OBJ."""
    import coal

    mesh = coal.MeshLoader().load(str(path), np.ones(3))
    faces = np.array([[t[0], t[1], t[2]] for t in (mesh.tri_indices(i) for i in range(mesh.num_tris))], dtype=np.int64)
    return [(np.array(mesh.vertices()), faces.reshape(-1, 3), None)]
