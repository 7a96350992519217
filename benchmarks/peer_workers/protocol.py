"""What a peer's program and the benchmark say to each other: one JSON object a line, arrays in files.

The program is started with the folder of a scene, says ``{"ready": {package: version}}`` when everything is made, then
answers ``{"first": i, "stop": j}`` with ``{"ns": [...], "solved": [...]}``, the times of these ticks, and ``{"file":
path}`` by writing the accelerations of all ticks there, NaN where there was no solution.

The folder holds ``robot.urdf``, ``scene.json`` (tasks and contacts) and ``motion.npz`` (states and references).
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


class Scene:
    """The files of a scene."""

    def __init__(self, where: str) -> None:
        folder = Path(where)
        self.urdf = str(folder / "robot.urdf")
        told = json.loads((folder / "scene.json").read_text())
        self.tasks, self.contacts, self.joints = told["tasks"], told["contacts"], told["joints"]
        self.free, self.limits, self.dt = told["free"], np.array(told["limits"]), told["dt"]
        with np.load(folder / "motion.npz") as arrays:
            self.motion = {name: arrays[name] for name in arrays.files}
        self.q, self.v = self.motion["q"], self.motion["v"]

    def goal(self, task: str, what: str, i: int) -> Any:
        """Row i of what a task is to follow: position, velocity, acceleration or rotation."""
        return self.motion[f"{task}.{what}"][i]


def serve(make: Callable[[Scene], Any]) -> None:
    """Answer until the input ends; ``make(scene)`` gives a peer with ``versions``, ``prepare(i)``, ``tick()``, ``qdd``.

    ``prepare`` sets state and targets and is not timed; ``tick`` goes from there to a torque and says whether there
    is one; ``qdd`` is its acceleration in the order of the scene's v.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints must not come between the answers

    def say(value: Any) -> None:
        print(json.dumps(value), file=answers, flush=True)

    scene = Scene(sys.argv[1])
    peer = make(scene)
    peer.prepare(0)
    peer.tick()
    gc.collect()
    gc.freeze()
    gc.disable()
    say({"ready": peer.versions})
    now = time.perf_counter_ns
    for line in sys.stdin:
        asked = json.loads(line)
        if "file" in asked:
            found = np.full(scene.v.shape, np.nan)
            for i in range(len(found)):
                peer.prepare(i)
                if peer.tick():
                    found[i] = peer.qdd
            np.save(asked["file"], found)
            say({"written": asked["file"]})
            continue
        ns, solved = [], []
        for i in range(asked["first"], asked["stop"]):
            peer.prepare(i)
            started = now()
            found = peer.tick()
            ns.append(now() - started)
            solved.append(bool(found))
        say({"ns": ns, "solved": solved})
