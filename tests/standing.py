"""Random states that robots stand in: feet flat on the ground, any place and heading, trunk and joints at random."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial import ConvexHull

from wbc import Robot, State
from wbc.errors import NotInstalledError
from wbc.robots import load
from wbc.terms import Terms

ROBOTS = ("talos", "g1", "jvrc1", "anymal_c", "go2", "solo12")
FLAT = 1e-10  # m and rad: by how much a foot may miss its place
ROOM = 0.02  # rad: how far joints are inside their limits
INSIDE = (
    0.1  # of the way from the middle of the support polygon to its edge, that the centre of mass stays away from it
)
NEWTON = 20  # steps at most


def robot_or_skip(name: str) -> Robot:
    """A robot, or a skipped test where its description is not installed."""
    try:
        return load(name)
    except NotInstalledError as error:
        pytest.skip(str(error))


@dataclass(slots=True)
class Standing:
    """Draws states of one robot.

    Args:
        robot: a robot with feet.
        joints: standard deviation of joints from home [rad].
        tilt: of the trunk [rad].
        step: of the feet from home, as a part of the robot's height.
        speed: of velocities in the directions that leave the feet where they are [rad/s, m/s].
    """

    robot: Robot
    joints: float = 0.1
    tilt: float = 0.08
    step: float = 0.01
    speed: float = 0.2
    _home: dict[str, pin.SE3] = field(init=False)
    _terms: Terms = field(init=False)
    _data: pin.Data = field(init=False)

    def __post_init__(self) -> None:
        terms = Terms(self.robot, 0.001)
        terms.update(State(self.robot.home, np.zeros(self.robot.nv)))
        self._home = {foot.frame: pin.SE3(*self._place(terms, foot.frame)) for foot in self.robot.footing}
        self._terms, self._data = terms, self.robot.model.createData()

    @staticmethod
    def _place(terms: Terms, frame: str) -> tuple[np.ndarray, np.ndarray]:
        found = terms.frame(frame)
        return found.rotation.copy(), found.position.copy()

    def draw(self, random: np.random.Generator) -> State:
        """A state out of which the robot can stand still: inside its joint limits, its centre of mass over its feet."""
        while True:
            q = self._planted(random)
            if q is not None and self._inside(q) and self._balanced(q):
                break
        turn = pin.SE3(pin.exp3(np.array([0.0, 0.0, random.uniform(-np.pi, np.pi)])), random.normal(size=3))
        q[:7] = pin.SE3ToXYZQUAT(turn * pin.XYZQUATToSE3(q[:7]))
        self._terms.update(State(q, np.zeros(self.robot.nv)))
        J = self._errors_and_jacobian({})[1]
        free = np.linalg.svd(J)[2][np.linalg.matrix_rank(J) :]  # its rows span what leaves the feet where they are
        return State(q, self.speed * free.T @ random.normal(size=len(free)))

    def _planted(self, random: np.random.Generator) -> np.ndarray | None:
        """Newton steps of all coordinates from a random posture to feet that stand flat; ``None`` where they do not."""
        robot = self.robot
        away = np.r_[0.0, 0.0, 0.0, self.tilt * random.normal(size=3), self.joints * random.normal(size=robot.nu)]
        q, height = pin.integrate(robot.model, np.array(robot.home), away), robot.home[2]
        goals = {}
        for frame, home in self._home.items():
            place = pin.SE3(home)
            place.translation[:2] += self.step * height * random.normal(size=2)
            place.rotation = pin.exp3(np.array([0.0, 0.0, self.tilt * random.normal()])) @ place.rotation
            goals[frame] = place
        for _ in range(NEWTON):
            self._terms.update(State(q, np.zeros(robot.nv)))
            errors, J = self._errors_and_jacobian(goals)
            if np.abs(errors).max() < FLAT:
                return q
            q = pin.integrate(robot.model, q, np.linalg.lstsq(J, errors, rcond=1e-6)[0])
        return None

    def _errors_and_jacobian(self, goals: dict[str, pin.SE3]) -> tuple[np.ndarray, np.ndarray]:
        errors, rows = [], []
        for foot in self.robot.footing:
            frame, size = self._terms.frame(foot.frame), 3 if foot.half_size is None else 6
            rows.append(frame.J[:size].copy())
            if goals:
                goal = goals[foot.frame]
                turn = pin.log3(goal.rotation @ frame.rotation.T)
                errors.append(np.r_[goal.translation - frame.position, turn][:size])
        return np.concatenate(errors) if goals else np.zeros(0), np.vstack(rows)

    def _inside(self, q: np.ndarray) -> bool:
        lower, upper = self.robot.position_limits
        joints = q[7:]
        return bool((lower[6:] + ROOM < joints).all() and (joints < upper[6:] - ROOM).all())

    def _balanced(self, q: np.ndarray) -> bool:
        robot, data = self.robot, self._data
        pin.framesForwardKinematics(robot.model, data, q)
        corners = np.vstack([foot.touching(data.oMf[robot.frame_id(foot.frame)])[:, :2] for foot in robot.footing])
        middle = corners.mean(axis=0)
        edges = ConvexHull(corners).equations  # normal · point + offset ≤ 0 inside
        com = pin.centerOfMass(robot.model, data, q)[:2]
        return bool((edges[:, :2] @ com + edges[:, 2] < INSIDE * (edges[:, :2] @ middle + edges[:, 2])).all())
