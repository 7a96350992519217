"""TSID's acceleration-force formulation on a scene; run in an environment that has tsid 1.7 or a later one.

Same rows as wbc: kp and kd with reference minus measured, contacts as hard equalities with the same drift correction,
friction pyramids of slope μ/√2, soles as four corner forces (the same wrenches as wbc's rectangle), torque limits, all
tasks on one level below them. Forces have no cost of their own; the solver's regularisation 1e-8 ‖x‖² stays.
"""

from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import pinocchio as pin
from protocol import Scene, serve

try:
    from tsid import tsid_pywrap as tsid  # the wheel of 1.7.1 has its package's __init__ in the wrong place
except ImportError as error:
    raise SystemExit(f"this Python cannot import tsid: {error}") from None

# of all tasks: the solver's own 1e-8 of forces squared then bends accelerations by less than 1e-6; with ten times as
# much, eiquadprog calls answers optimal that break torque limits
WEIGHT = 10.0
MOST_FORCE = 1e6  # N: no limit
HARD, SOFT = 0, 1


class Peer:
    """A TSID formulation and its solver."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.versions = {name: _version(name) for name in ("tsid", "pin", "eiquadprog", "numpy")}
        paths = pin.StdVec_StdString()
        root = (pin.JointModelFreeFlyer(),) if scene.free else ()
        self.robot = robot = tsid.RobotWrapper(scene.urdf, paths, *root, False)
        model = robot.model()
        base_q, base_v = (7, 6) if scene.free else (0, 0)
        joints = [model.joints[model.getJointId(name)] for name in scene.joints]
        self._to_q = np.array([*range(base_q), *(joint.idx_q for joint in joints)])
        self._to_v = np.array([*range(base_v), *(joint.idx_v for joint in joints)])
        self._joints = self._to_v[base_v:] - base_v  # of TSID's actuated ones, in the scene's order
        self._q, self._v = np.zeros(model.nq), np.zeros(model.nv)
        self._set(0)
        self.formulation = tsid.InverseDynamicsFormulationAccForce("scene", robot, False)
        self.formulation.computeProblemData(0.0, self._q, self._v)
        self._kept = [self._contact(spec) for spec in scene.contacts]  # the formulation does not keep them alive
        self._tasks = [(spec, *self._task(spec)) for spec in scene.tasks]
        self._kept.append(self._limits())
        self.solver = tsid.SolverHQuadProgFast("solver")
        self.solver.resize(self.formulation.nVar, self.formulation.nEq, self.formulation.nIn)
        self._solution: Any = None
        self.torque: Any = None

    def prepare(self, i: int) -> None:
        """State and targets of tick i."""
        self._set(i)
        for spec, task, sample in self._tasks:
            name, kind = spec["name"], spec["kind"]
            goal = {what: self.scene.goal(name, what, i) for what in ("position", "velocity", "acceleration")}
            n = len(self.scene.joints)
            if kind == "posture":
                for set_, value in ((sample.value, goal["position"]), (sample.derivative, goal["velocity"])):
                    ordered = np.zeros(n)
                    ordered[self._joints] = value[len(value) - n :]
                    set_(ordered)
            elif kind == "com":
                sample.value(goal["position"])
                sample.derivative(goal["velocity"])
                sample.second_derivative(goal["acceleration"])
            else:
                move = np.zeros(3) if kind == "orientation" else goal["position"]
                sample.value(tsid.SE3ToVector(pin.SE3(self.scene.goal(name, "rotation", i), move)))
                for set_, what in ((sample.derivative, "velocity"), (sample.second_derivative, "acceleration")):
                    set_(np.concatenate((np.zeros(3) if kind == "orientation" else goal[what], np.zeros(3))))
            task.setReference(sample)

    def tick(self) -> bool:
        """Problem, solve, torque."""
        problem = self.formulation.computeProblemData(0.0, self._q, self._v)
        solution = self.solver.solve(problem)
        if solution.status != 0:
            return False
        self.torque = self.formulation.getActuatorForces(solution)
        self._solution = solution
        return True

    @property
    def qdd(self) -> Any:
        """Acceleration of the last tick, in the scene's order."""
        return np.array(self.formulation.getAccelerations(self._solution))[self._to_v]

    def _set(self, i: int) -> None:
        self._q[self._to_q] = self.scene.q[i]
        self._v[self._to_v] = self.scene.v[i]

    def _contact(self, spec: Any) -> Any:
        place = pin.SE3(np.array(spec["rotation"]), np.array(spec["position"]))
        axes, slope = np.array(spec["axes"]), spec["friction"] / 2.0**0.5
        if spec["kind"] == "point":
            # its pyramid stands along the world's x and y, wbc's is turned with the foot; no sides are active here
            normal = axes[:, 2].copy()
            contact = tsid.ContactPoint(spec["name"], self.robot, spec["frame"], normal, slope, 0.0, MOST_FORCE)
            contact.useLocalFrame(False)
            n = 3
        else:
            local = place.rotation.T @ axes
            half = spec["half_size"]
            corners = [(x * half[0], y * half[1], 0.0) for x in (1, -1) for y in (1, -1)]
            points = np.asfortranarray(local @ np.array(corners).T)
            normal = local[:, 2].copy()
            contact = tsid.Contact6d(spec["name"], self.robot, spec["frame"], points, normal, slope, 0.0, MOST_FORCE)
            n = 6
        contact.setKp(np.full(n, spec["kp"]))
        contact.setKd(np.full(n, 2.0 * spec["kp"] ** 0.5))
        contact.setReference(place)
        self.formulation.addRigidContact(contact, 0.0)
        return contact

    def _task(self, spec: Any) -> tuple[Any, Any]:
        robot, kind = self.robot, spec["kind"]
        if kind == "posture":
            task, n = tsid.TaskJointPosture(spec["name"], robot), len(self.scene.joints)
            sample = tsid.TrajectorySample(n)
        elif kind == "com":
            task, n = tsid.TaskComEquality(spec["name"], robot), 3
            sample = tsid.TrajectorySample(n)
        else:
            task, n = tsid.TaskSE3Equality(spec["name"], robot, spec["frame"]), 6
            task.useLocalFrame(False)
            task.setMask(np.array([float(kind == "pose")] * 3 + [1.0] * 3))
            sample = tsid.TrajectorySample(12, 6)
        task.setKp(np.full(n, spec["kp"]))
        task.setKd(np.full(n, 2.0 * spec["kp"] ** 0.5))
        self.formulation.addMotionTask(task, WEIGHT * spec["weight"], SOFT, 0.0)
        return task, sample

    def _limits(self) -> Any:
        limits = tsid.TaskActuationBounds("limits", self.robot)
        most = np.zeros(len(self.scene.joints))
        most[self._joints] = self.scene.limits
        limits.setBounds(-most, most)
        self.formulation.addActuationTask(limits, 1.0, HARD, 0.0)
        return limits


def _version(name: str) -> str:
    """What pip knows of a package; a Python that was named may have it from elsewhere."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "of unknown version"


if __name__ == "__main__":
    serve(Peer)
