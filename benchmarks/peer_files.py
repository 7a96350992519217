"""A scene as files that a peer's program can read without wbc."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from wbc.benchmarks.model_urdf import urdf_of
from wbc.benchmarks.peer_scene import DT, FRICTION, KP_CONTACT, Scene, follow


def write_scene(made: Scene, folder: Path) -> None:
    """Write ``robot.urdf``, ``scene.json`` and ``motion.npz``; see :mod:`wbc.benchmarks.peer_workers.protocol`."""
    robot = made.robot
    contacts = _contacts(made)
    frames = [task.frame for task in made.tasks if task.frame] + [contact["frame"] for contact in contacts]
    (folder / "robot.urdf").write_text(urdf_of(robot, frames), encoding="utf-8")
    told = {
        "tasks": [asdict(task) | {"kp": task.kp} for task in made.tasks],
        "contacts": contacts,
        "joints": list(robot.joint_names),
        "free": robot.nv != robot.nu,
        "limits": np.minimum(robot.torque_limits, 1e6).tolist(),
        "dt": DT,
    }
    (folder / "scene.json").write_text(json.dumps(told, indent=1), encoding="utf-8")
    arrays = {"q": np.array([s.q for s in made.states]), "v": np.array([s.v for s in made.states])}
    for task in made.tasks:
        goals = [reference[task.name] for reference in made.references]
        for what in ("position", "velocity", "acceleration", "rotation"):
            arrays[f"{task.name}.{what}"] = np.array([getattr(goal, what) for goal in goals])
    np.savez(folder / "motion.npz", **arrays)  # type: ignore[arg-type]


def _contacts(made: Scene) -> list[dict[str, Any]]:
    """Where contacts hold, which is where they are at the first tick, and the axes of their surfaces."""
    controller = made.controller()
    follow(controller.stack, made.tasks, made.references[0])
    problem = controller.tick(made.states[0]).report.problem
    data = made.robot.model.createData()
    pin.framesForwardKinematics(made.robot.model, data, made.states[0].q)
    found = []
    for contact, axes in zip(controller.stack.contacts, problem.axes, strict=True):
        place = data.oMf[made.robot.frame_id(contact.frame)]
        half_size = getattr(contact, "half_size", None)
        found.append(
            {
                "name": contact.name,
                "frame": contact.frame,
                "kind": "point" if half_size is None else "surface",
                "position": place.translation.tolist(),
                "rotation": place.rotation.tolist(),
                "axes": axes.tolist(),
                "half_size": None if half_size is None else half_size.tolist(),
                "friction": FRICTION,
                "kp": KP_CONTACT,
            }
        )
    return found
