"""What bounds measure of feet: forces against the physics, friction cones, and the centre of pressure."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from scipy.spatial import ConvexHull

from wbc.robot import Robot
from wbc.scenarios import measures
from wbc.simulation import Recording
from wbc.state import State
from wbc.terms import Terms

LOADED = 0.01  # of the weight: a foot with less carries nothing worth a margin
STRIDE = 5  # ticks between two looks at margins
SETTLED = 50  # ticks after which feet, that start without touching, carry what they should


def force_error(robot: Robot, recording: Recording) -> float | None:
    """RMS over time of the norm of all feet's force differences, controller against physics, over the weight."""
    if not recording.measured_wrenches:
        return None  # a physics without a ground
    gaps = [
        np.nan_to_num(recording.wrenches[name][:, :3]) - recording.measured_wrenches[name][:, :3] for name in robot.feet
    ]
    return measures.rms(np.linalg.norm(np.hstack(gaps), axis=1)) / robot.weight


def cone_used(robot: Robot, recording: Recording) -> float | None:
    """Largest share of a loaded foot's cone that the controller's wrenches use: 0 in its middle, 1 at its edge."""
    terms, most = Terms(robot, recording.dt), 0.0
    contacts = {name: robot.contact(name) for name in robot.feet}
    cones = {name: contact.bounded_cone()[0][:-1] for name, contact in contacts.items()}  # the last is the normal force
    for i in range(0, len(recording.time), STRIDE):
        terms.update(State(recording.q[i], recording.v[i]))
        for name, contact in contacts.items():
            wrench, cone = recording.wrenches[name][i], cones[name]
            if not wrench[2] > LOADED * robot.weight:
                continue
            local = (wrench.reshape(-1, 3) @ contact.rows(terms).axes).ravel()
            most = max(most, float((1.0 - cone @ local / (cone[:, 2] * local[2])).max()))
    return most


def pressure_beyond(robot: Robot, recording: Recording) -> float | None:
    """How far the physics' centre of pressure is beyond the support polygon of the loaded feet, at worst [mm]."""
    if not recording.measured_wrenches:
        return None
    data, worst = robot.model.createData(), -np.inf
    for i in range(min(SETTLED, len(recording.time) - 1), len(recording.time), STRIDE):
        pin.framesForwardKinematics(robot.model, data, recording.q[i])
        corners, load, turning = [], 0.0, np.zeros(2)
        for foot in robot.footing:
            wrench = recording.measured_wrenches[foot.name][i]
            if wrench[2] < LOADED * robot.weight:
                continue
            place = data.oMf[robot.frame_id(foot.frame)]
            corners.append(foot.touching(place)[:, :2])
            x, y, z = place.translation - np.array([0.0, 0.0, foot.radius])
            fx, fy, fz = wrench[:3]
            mx, my = wrench[3:5] if foot.half_size else (0.0, 0.0)
            load += fz
            turning += (x * fz - z * fx - my, y * fz - z * fy + mx)
        points = np.vstack(corners) if corners else np.zeros((0, 2))
        if len(points) > 2:  # two balls alone are a line without an inside
            edges = ConvexHull(points).equations
            worst = max(worst, float((edges[:, :2] @ (turning / load) + edges[:, 2]).max()))
    return 1e3 * worst
