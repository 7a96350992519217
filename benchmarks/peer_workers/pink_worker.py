"""Pink's differential inverse kinematics on a scene; run in an environment that has pin-pink 4 and daqp.

Other work than wbc's, for scale: joint velocities instead of torques, without masses, forces and limits. The same
robot, tasks, weights and targets; an error fades as fast as with kp and kd, and contacts are tasks that weigh HELD.
"""

from importlib.metadata import version
from typing import Any

import numpy as np
import pink
import pinocchio as pin
from protocol import Scene, serve

HELD = 1e4  # weight of contacts


class Peer:
    """A Pink configuration and its tasks."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.versions = {"pink": version("pin-pink")} | {name: version(name) for name in ("pin", "daqp", "numpy")}
        root = (pin.JointModelFreeFlyer(),) if scene.free else ()
        model = pin.buildModelFromUrdf(scene.urdf, *root)
        base = 7 if scene.free else 0
        self._to_q = np.array([*range(base), *(model.joints[model.getJointId(name)].idx_q for name in scene.joints)])
        self._q = np.zeros(model.nq)
        self._posture = np.array(pin.neutral(model))
        self._set(0)
        self.configuration = pink.Configuration(model, model.createData(), self._q, copy_data=False)
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
                n = len(self.scene.joints)
                self._posture[self._to_q[-n:]] = position[-n:]
                task.set_target(self._posture)
            elif kind == "com":
                task.set_target(position)
            else:
                move = np.zeros(3) if kind == "orientation" else position
                task.set_target(pin.SE3(self.scene.goal(name, "rotation", i), move))

    def tick(self) -> bool:
        """Kinematics, solve, velocity."""
        self.configuration.update(self._q)
        try:
            self.velocity = pink.solve_ik(self.configuration, self._all, self.scene.dt, solver="daqp", limits=[])
        except pink.exceptions.NoSolutionFound:
            return False
        return True

    def _set(self, i: int) -> None:
        self._q[self._to_q] = self.scene.q[i]

    def _contact(self, spec: Any) -> Any:
        turning = 0.0 if spec["kind"] == "point" else HELD**0.5
        task = pink.tasks.FrameTask(spec["frame"], HELD**0.5, turning, gain=self._gain(spec))
        task.set_target(pin.SE3(np.array(spec["rotation"]), np.array(spec["position"])))
        return task

    def _task(self, spec: Any) -> Any:
        cost, gain = spec["weight"] ** 0.5, self._gain(spec)
        if spec["kind"] == "posture":
            return pink.tasks.PostureTask(cost, gain=gain)
        if spec["kind"] == "com":
            return pink.tasks.ComTask(cost, gain=gain)
        return pink.tasks.FrameTask(spec["frame"], cost if spec["kind"] == "pose" else 0.0, cost, gain=gain)

    def _gain(self, spec: Any) -> float:
        return float(spec["kp"] ** 0.5 * self.scene.dt)  # the share of an error that one step takes away


if __name__ == "__main__":
    serve(Peer)
