"""ANYmal sways: its body moves along and turns about all three axes over four feet that stay where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from wbc.reference import figure
from wbc.robot import Robot
from wbc.robots import load
from wbc.rows import Gains
from wbc.scenarios import legged, measures
from wbc.scenarios.scenario import Bound, Scenario
from wbc.tasks import PoseTask

TURN = np.array((0.12, 0.10, 0.15))  # rad: roll, pitch and yaw


def scenario() -> Scenario:
    """One run."""
    return sway(
        "anymal-sway", "ANYmal C moves its body along and about all axes", load("anymal_c"), (0.06, 0.05, 0.05), 0.2
    )


def sway(name: str, line: str, robot: Robot, size: tuple[float, float, float], speed: float) -> Scenario:
    """The body on a closed figure of half widths ``size`` [m], turning by ``TURN`` at the same time.

    With four balls on the ground the body has six degrees of freedom and the legs none of their own: strict.
    """
    frame = legged.trunk(robot)
    home = measures.pose_at(robot, robot.home, frame)
    place = figure(home.translation, size=size, speed=speed, frequencies=(1, 2, 1))
    # roll, pitch and yaw go with y, x and z: six coordinates, one phase, three frequencies
    turn = figure(
        np.zeros(3), size=TURN, speed=speed * float(np.linalg.norm(TURN) / np.linalg.norm(size)), frequencies=(2, 1, 3)
    )

    def move(t: float, stack: Any) -> None:
        point, body = place(t), stack["body"]
        angles = turn(t)
        R, omega, omega_dot = _turned(angles.position, angles.velocity, angles.acceleration)
        body.target = pin.SE3(R @ home.rotation, point.position)
        body.target_velocity = np.concatenate((point.velocity, omega))
        body.target_acceleration = np.concatenate((point.acceleration, omega_dot))

    def tasks() -> dict[str, Any]:
        return {"strict": [[PoseTask("body", frame=frame, gains=Gains.critical(400.0))]]}

    return legged.scenario(
        name,
        line,
        robot,
        move,
        4.0,
        (
            legged.rms_mm("body position", "body", 0.5),
            Bound(
                "body orientation: error, RMS", 1.0, "mrad", lambda r: measures.orientation_rms_mrad(r["stack"], "body")
            ),
            legged.torque_step(),
        ),
        tasks=tasks,
        hand="body",
    )


def _turned(angle: Any, rate: Any, acceleration: Any) -> tuple[Any, Any, Any]:
    """exp(angle), a rotation vector that changes, with its angular velocity and acceleration in world axes."""
    left = pin.Jexp3(-angle)  # ω = J_l(θ) θ̇, and the left Jacobian is the right one of −θ
    omega = left @ rate
    step = 1e-6
    later = pin.Jexp3(-(angle + step * rate)) @ (rate + step * acceleration)
    before = pin.Jexp3(-(angle - step * rate)) @ (rate - step * acceleration)
    return pin.exp3(angle), omega, (later - before) / (2.0 * step)
