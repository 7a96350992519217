"""mink's differential inverse kinematics on a scene; run in an environment that has mink 1."""

from importlib.metadata import version
from pathlib import Path
from typing import Any

import mink
import mujoco
from protocol import Scene, serve
from velocity_peer import VelocityPeer

# MuJoCo would melt links that cannot move into those that can, and stands a robot on its root link
KEEP = '<mujoco><compiler fusestatic="false"/></mujoco>'
FREE = (
    '<link name="world"/><joint name="floating_base" type="floating">'
    '<parent link="world"/><child link="root_link"/></joint>'
)


class Peer(VelocityPeer):
    """A mink configuration and its tasks."""

    def __init__(self, scene: Scene) -> None:
        self.versions = {name: version(name) for name in ("mink", "mujoco", "daqp", "numpy")}
        text = Path(scene.urdf).read_text(encoding="utf-8")
        text = text.replace("</robot>", KEEP + (FREE if scene.free else "") + "</robot>")
        self.model = model = mujoco.MjModel.from_xml_string(text)
        super().__init__(scene, model.qpos0, [model.joint(name).qposadr[0] for name in scene.joints])
        self.configuration = mink.Configuration(model, self.q)

    def tick(self) -> bool:
        """Kinematics at q, solve, velocity."""
        self.configuration.update(self.q)
        try:
            self.velocity = mink.solve_ik(self.configuration, self.tasks, self.scene.dt, "daqp", limits=[])
        except mink.NoSolutionFound:
            return False
        return True

    def place(self, rotation: Any, position: Any) -> Any:
        """A target of a frame."""
        return mink.SE3.from_rotation_and_translation(mink.SO3.from_matrix(rotation), position)

    def set_base(self, q: Any) -> None:
        """Put a floating base where q says; MuJoCo's quaternions are wxyz."""
        self.q[:3], self.q[3], self.q[4:7] = q[:3], q[6], q[3:6]

    def frame_task(self, frame: str, position_cost: float, orientation_cost: float, gain: float) -> Any:
        """A task on a frame."""
        return mink.FrameTask(frame, "body", position_cost, orientation_cost, gain=gain)

    def com_task(self, cost: float, gain: float) -> Any:
        """A task on the centre of mass."""
        return mink.ComTask(cost, gain=gain)

    def posture_task(self, cost: float, gain: float) -> Any:
        """A task on all joints."""
        return mink.PostureTask(self.model, cost, gain=gain)


if __name__ == "__main__":
    serve(Peer)
