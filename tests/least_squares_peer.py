"""A peer for the tests: the soft tasks of an arm by least squares, from the files of a scene and pinocchio alone."""

import sys
from pathlib import Path

import numpy as np
import pinocchio as pin

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks" / "peer_workers"))
from protocol import serve

AXES = pin.LOCAL_WORLD_ALIGNED


class Peer:
    """Weighted least squares; says that it has no solution where a torque would be over its limit."""

    def __init__(self, scene):
        self.versions = {"least squares": "1"}
        print("what a library prints does not reach the benchmark")
        self.scene = scene
        self.model = pin.buildModelFromUrdf(scene.urdf)
        self.data = self.model.createData()

    def prepare(self, i):
        self.i = i

    def tick(self):
        scene, model, data, i = self.scene, self.model, self.data, self.i
        q, v = scene.q[i], scene.v[i]
        pin.computeJointJacobians(model, data, q)
        pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
        A, b = [], []
        for task in scene.tasks:
            name, kp, kd = task["name"], task["kp"], 2.0 * np.sqrt(task["kp"])
            goal = {what: scene.goal(name, what, i) for what in ("position", "velocity", "acceleration", "rotation")}
            if task["kind"] == "posture":
                J, drift = np.eye(model.nv), np.zeros(model.nv)
                error, rate, feed = goal["position"] - q, goal["velocity"] - v, np.zeros(model.nv)
            else:
                frame = model.getFrameId(task["frame"])
                place = pin.updateFramePlacement(model, data, frame)
                J = pin.getFrameJacobian(model, data, frame, AXES)
                drift = pin.getFrameClassicalAcceleration(model, data, frame, AXES).vector
                turn = pin.log3(goal["rotation"] @ place.rotation.T)
                error = np.concatenate((goal["position"] - place.translation, turn))
                rate = np.concatenate((goal["velocity"], np.zeros(3))) - J @ v
                feed = np.concatenate((goal["acceleration"], np.zeros(3)))
            root = np.sqrt(task["weight"])
            A.append(root * J)
            b.append(root * (kp * error + kd * rate + feed - drift))
        self.qdd = np.linalg.lstsq(np.vstack(A), np.concatenate(b), rcond=None)[0]
        return bool((np.abs(pin.rnea(model, data, q, v, self.qdd)) <= scene.limits).all())


if __name__ == "__main__":
    serve(Peer)
