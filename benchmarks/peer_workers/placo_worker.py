"""PlaCo's dynamics solver on a scene; run in an environment that has placo 0.10.2.

Same rows as wbc: PlaCo's kp and kd with reference minus measured, contacts as hard tasks with the same drift
correction, friction pyramids of slope μ/√2 in the axes of the surface, torque limits. Its own costs (torque, forces)
are off; its regularisation 1e-8 ‖x‖² stays, and is made small beside the tasks by their weights.
"""

from importlib.metadata import version
from typing import Any

import numpy as np
import placo
from protocol import Scene, serve

WEIGHT = 1e4  # of all tasks: the solver's own 1e-8 of forces squared then bends accelerations by less than 1e-6


class Peer:
    """A PlaCo solver."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.versions = {name: version(name) for name in ("placo", "pin", "numpy")}
        flags = int(placo.Flags.ignore_collisions)
        self.robot = robot = placo.RobotWrapper(scene.urdf, flags)
        self.solver = solver = placo.DynamicsSolver(robot)
        solver.mask_fbase(not scene.free)
        solver.enable_torque_limits(True)
        solver.torque_cost = 0.0
        # PlaCo has a free base always, 7 and 6 numbers before the joints, and its own order of them
        base_q, base_v = (7, 6) if scene.free else (0, 0)
        self._q = np.array(robot.state.q)
        self._v = np.zeros(len(robot.state.qd))
        offsets_q = [robot.get_joint_offset(name) for name in scene.joints]
        offsets_v = [robot.get_joint_v_offset(name) for name in scene.joints]
        self._to_q = np.array([*range(base_q), *offsets_q])
        self._to_v = np.array([*range(base_v), *offsets_v])
        self._set(0)
        robot.update_kinematics()
        self._contacts = [self._contact(contact) for contact in scene.contacts]
        self._tasks = [(task, self._task(task)) for task in scene.tasks]
        self._result: Any = None
        self.torque: Any = None

    def prepare(self, i: int) -> None:
        """State and targets of tick i."""
        scene = self.scene
        for spec, task in self._tasks:
            name, kind = spec["name"], spec["kind"]
            if kind == "posture":
                q, v = scene.goal(name, "position", i), scene.goal(name, "velocity", i)
                base = len(q) - len(scene.joints), len(v) - len(scene.joints)
                task.set_joints(dict(zip(scene.joints, q[base[0] :].tolist(), strict=True)))
                task.set_joints_velocities(dict(zip(scene.joints, v[base[1] :].tolist(), strict=True)))
                continue
            turn, move = task.get("turn"), task.get("move")
            if turn is not None:
                turn.R_world_frame = scene.goal(name, "rotation", i)
            if move is not None:
                move.target_world = scene.goal(name, "position", i)
                move.dtarget_world = scene.goal(name, "velocity", i)
                move.ddtarget_world = scene.goal(name, "acceleration", i)
        self._set(i)

    def tick(self) -> bool:
        """Kinematics, solve, torque."""
        self.robot.update_kinematics()
        result = self.solver.solve(False)
        if not result.success:
            return False
        self.torque = result.tau
        self._result = result
        return True

    @property
    def qdd(self) -> Any:
        """Acceleration of the last tick, in the scene's order."""
        return np.array(self._result.qdd)[self._to_v]

    def _set(self, i: int) -> None:
        self._q[self._to_q] = self.scene.q[i]
        self._v[self._to_v] = self.scene.v[i]
        self.robot.state.q = self._q
        self.robot.state.qd = self._v

    def _contact(self, spec: Any) -> Any:
        place = np.eye(4)
        place[:3, :3], place[:3, 3] = spec["rotation"], spec["position"]
        if spec["kind"] == "point":
            task = self.solver.add_position_task(spec["frame"], place[:3, 3])
            task.configure(spec["name"], "hard", 1.0)
            task.kp, task.kd = spec["kp"], 2.0 * spec["kp"] ** 0.5
            contact = self.solver.add_unilateral_point_contact(task)
            contact.R_world_surface = np.array(spec["axes"])
        else:
            task = self.solver.add_frame_task(spec["frame"], place)
            task.configure(spec["name"], "hard", 1.0, 1.0)
            for part in (task.position(), task.orientation()):
                part.kp, part.kd = spec["kp"], 2.0 * spec["kp"] ** 0.5
            contact = self.solver.add_planar_contact(task)
            contact.length, contact.width = 2.0 * spec["half_size"][0], 2.0 * spec["half_size"][1]
        contact.mu = spec["friction"] / 2.0**0.5
        contact.weight_forces = contact.weight_moments = contact.weight_tangentials = 0.0
        return contact

    def _task(self, spec: Any) -> Any:
        solver, weight, kp, kd = self.solver, WEIGHT * spec["weight"], spec["kp"], 2.0 * spec["kp"] ** 0.5
        place = np.eye(4)
        if spec["kind"] == "posture":
            task = solver.add_joints_task()
            task.set_joints(dict.fromkeys(self.scene.joints, 0.0))
            parts: list[Any] = [task]
            made: Any = task
        elif spec["kind"] == "com":
            task = solver.add_com_task(place[:3, 3])
            parts, made = [task], {"move": task}
        elif spec["kind"] == "orientation":
            task = solver.add_orientation_task(spec["frame"], place[:3, :3])
            parts, made = [task], {"turn": task}
        else:
            frame = solver.add_frame_task(spec["frame"], place)
            parts = [frame.position(), frame.orientation()]
            made = {"move": parts[0], "turn": parts[1]}
        for part in parts:
            part.configure(spec["name"] + "_" + type(part).__name__, "soft", weight)
            part.kp, part.kd = kp, kd
        return made


if __name__ == "__main__":
    serve(Peer)
