"""What peers share that do inverse kinematics, whose answer is a velocity: other work than wbc's, for scale.

The same robot, tasks, weights and targets; no masses, forces, torques and limits. An error fades as fast as with kp and
kd, and contacts are tasks that weigh HELD.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from protocol import Scene

HELD = 1e4  # weight of contacts


class VelocityPeer(ABC):
    """A configuration and its tasks.

    Args:
        scene: what is asked.
        neutral: a configuration in the peer's order.
        joints: where each of the scene's joints stands in it.
    """

    versions: dict[str, str]

    def __init__(self, scene: Scene, neutral: Any, joints: Any) -> None:
        self.scene, self.joints = scene, np.array(joints)
        self.q, self._posture = np.array(neutral), np.array(neutral)
        self._set(0)
        self._contacts = [self._contact(spec) for spec in scene.contacts]
        self._tasks = [(spec, self._task(spec)) for spec in scene.tasks]
        self.tasks = [*self._contacts, *(task for _, task in self._tasks)]
        self.velocity: Any = None

    @abstractmethod
    def place(self, rotation: Any, position: Any) -> Any:
        """A target of a frame."""

    @abstractmethod
    def set_base(self, q: Any) -> None:
        """Put a floating base where q says: position, then the quaternion xyzw."""

    @abstractmethod
    def frame_task(self, frame: str, position_cost: float, orientation_cost: float, gain: float) -> Any:
        """A task on a frame; costs are roots of weights, gain is the share of the error that a step takes away."""

    @abstractmethod
    def com_task(self, cost: float, gain: float) -> Any:
        """A task on the centre of mass."""

    @abstractmethod
    def posture_task(self, cost: float, gain: float) -> Any:
        """A task on all joints."""

    @abstractmethod
    def tick(self) -> bool:
        """Kinematics at q, solve, velocity."""

    def prepare(self, i: int) -> None:
        """State and targets of tick i."""
        self._set(i)
        for spec, task in self._tasks:
            name, kind = spec["name"], spec["kind"]
            position = self.scene.goal(name, "position", i)
            if kind == "posture":
                self._posture[self.joints] = position[-len(self.joints) :]
                task.set_target(self._posture)
            elif kind == "com":
                task.set_target(position)
            else:
                move = np.zeros(3) if kind == "orientation" else position
                task.set_target(self.place(self.scene.goal(name, "rotation", i), move))

    def _set(self, i: int) -> None:
        q = self.scene.q[i]
        self.q[self.joints] = q[-len(self.joints) :]
        if self.scene.free:
            self.set_base(q[:7])

    def _contact(self, spec: Any) -> Any:
        turning = 0.0 if spec["kind"] == "point" else HELD**0.5
        task = self.frame_task(spec["frame"], HELD**0.5, turning, self._gain(spec))
        task.set_target(self.place(np.array(spec["rotation"]), np.array(spec["position"])))
        return task

    def _task(self, spec: Any) -> Any:
        cost, gain = spec["weight"] ** 0.5, self._gain(spec)
        if spec["kind"] == "posture":
            return self.posture_task(cost, gain)
        if spec["kind"] == "com":
            return self.com_task(cost, gain)
        return self.frame_task(spec["frame"], cost if spec["kind"] == "pose" else 0.0, cost, gain)

    def _gain(self, spec: Any) -> float:
        return float(spec["kp"] ** 0.5 * self.scene.dt)
