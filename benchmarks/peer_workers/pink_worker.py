"""Pink's differential inverse kinematics on a scene; run in an environment that has pin-pink 4 and daqp."""

from importlib.metadata import version
from typing import Any

import pink
import pinocchio as pin
from protocol import Scene, serve
from velocity_peer import VelocityPeer


class Peer(VelocityPeer):
    """A Pink configuration and its tasks."""

    def __init__(self, scene: Scene) -> None:
        self.versions = {"pink": version("pin-pink")} | {name: version(name) for name in ("pin", "daqp", "numpy")}
        root = (pin.JointModelFreeFlyer(),) if scene.free else ()
        model = pin.buildModelFromUrdf(scene.urdf, *root)
        joints = [model.joints[model.getJointId(name)].idx_q for name in scene.joints]
        super().__init__(scene, pin.neutral(model), joints)
        self.configuration = pink.Configuration(model, model.createData(), self.q, copy_data=False)

    def tick(self) -> bool:
        """Kinematics at q, solve, velocity."""
        self.configuration.update(self.q)
        try:
            self.velocity = pink.solve_ik(self.configuration, self.tasks, self.scene.dt, solver="daqp", limits=[])
        except pink.exceptions.NoSolutionFound:
            return False
        return True

    def place(self, rotation: Any, position: Any) -> Any:
        """A target of a frame."""
        return pin.SE3(rotation, position)

    def set_base(self, q: Any) -> None:
        """Put a floating base where q says."""
        self.q[:7] = q

    def frame_task(self, frame: str, position_cost: float, orientation_cost: float, gain: float) -> Any:
        """A task on a frame."""
        return pink.tasks.FrameTask(frame, position_cost, orientation_cost, gain=gain)

    def com_task(self, cost: float, gain: float) -> Any:
        """A task on the centre of mass."""
        return pink.tasks.ComTask(cost, gain=gain)

    def posture_task(self, cost: float, gain: float) -> Any:
        """A task on all joints."""
        return pink.tasks.PostureTask(cost, gain=gain)


if __name__ == "__main__":
    serve(Peer)
