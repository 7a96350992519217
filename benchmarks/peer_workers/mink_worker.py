"""mink's differential inverse kinematics on a scene; run in an environment that has mink 1.

Other work than wbc's, for scale: joint velocities instead of torques, without masses, forces and limits. The same
robot, tasks, weights and targets; an error fades as fast as with kp and kd, and contacts are tasks that weigh HELD.
"""

from importlib.metadata import version
from pathlib import Path
from typing import Any

import mink
import mujoco
import numpy as np
from protocol import Scene, serve

HELD = 1e4  # weight of contacts
# MuJoCo would melt links that cannot move into those that can, and stands a robot on its root link
KEEP = '<mujoco><compiler fusestatic="false"/></mujoco>'
FREE = (
    '<link name="world"/><joint name="floating_base" type="floating">'
    '<parent link="world"/><child link="root_link"/></joint>'
)


class Peer:
    """A mink configuration and its tasks."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.versions = {name: version(name) for name in ("mink", "mujoco", "daqp", "numpy")}
        text = Path(scene.urdf).read_text(encoding="utf-8")
        text = text.replace("</robot>", KEEP + (FREE if scene.free else "") + "</robot>")
        self.model = model = mujoco.MjModel.from_xml_string(text)
        self._base = 7 if scene.free else 0
        self._joints = np.array([model.joint(name).qposadr[0] for name in scene.joints])
        self._q = np.array(model.qpos0)
        self._posture = np.array(model.qpos0)
        self._set(0)
        self.configuration = mink.Configuration(model, self._q)
        self._contacts = [self._contact(spec) for spec in scene.contacts]
        self._tasks = [(spec, self._task(spec)) for spec in scene.tasks]
        self._all = [*self._contacts, *(task for _, task in self._tasks)]
        self.velocity: Any = None

    def prepare(self, i: int) -> None:
        """State and targets of tick i."""
        self._set(i)
        for spec, task in self._tasks:
            name, kind = spec["name"], spec["kind"]
            position = self.scene.goal(name, "position", i)
            if kind == "posture":
                self._posture[self._joints] = position[-len(self._joints) :]
                task.set_target(self._posture)
            elif kind == "com":
                task.set_target(position)
            else:
                move = np.zeros(3) if kind == "orientation" else position
                task.set_target(_place(self.scene.goal(name, "rotation", i), move))

    def tick(self) -> bool:
        """Kinematics, solve, velocity."""
        self.configuration.update(self._q)
        try:
            self.velocity = mink.solve_ik(self.configuration, self._all, self.scene.dt, "daqp", limits=[])
        except mink.NoSolutionFound:
            return False
        return True

    def _set(self, i: int) -> None:
        q = self.scene.q[i]
        self._q[self._joints] = q[self._base :]
        if self.scene.free:
            self._q[:3], self._q[3], self._q[4:7] = q[:3], q[6], q[3:6]  # xyzw to wxyz

    def _contact(self, spec: Any) -> Any:
        turning = 0.0 if spec["kind"] == "point" else HELD**0.5
        task = mink.FrameTask(spec["frame"], "body", HELD**0.5, turning, gain=self._gain(spec))
        task.set_target(_place(np.array(spec["rotation"]), np.array(spec["position"])))
        return task

    def _task(self, spec: Any) -> Any:
        cost, gain = spec["weight"] ** 0.5, self._gain(spec)
        if spec["kind"] == "posture":
            return mink.PostureTask(self.model, cost, gain=gain)
        if spec["kind"] == "com":
            return mink.ComTask(cost, gain=gain)
        return mink.FrameTask(spec["frame"], "body", cost if spec["kind"] == "pose" else 0.0, cost, gain=gain)

    def _gain(self, spec: Any) -> float:
        return float(spec["kp"] ** 0.5 * self.scene.dt)  # the share of an error that one step takes away


def _place(rotation: Any, position: Any) -> Any:
    return mink.SE3.from_rotation_and_translation(mink.SO3.from_matrix(rotation), position)


if __name__ == "__main__":
    serve(Peer)
