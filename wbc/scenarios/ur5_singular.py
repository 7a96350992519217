"""UR5 reaches for a point out of reach, sweeps its straight arm to the side, and comes back.

The elbow straightens at the edge of reach, where the arm can no longer move along itself: the strict hand task is
damped there, and what it misses stands in the report. An elbow that keeps up with a hand of speed v at a distance d
from the edge turns at a rate that grows as v/√d: the last millimetres are taken slowly, as any planner would have to.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pinocchio as pin

from wbc.controller import Controller
from wbc.reference import smooth
from wbc.robots import load
from wbc.rows import Gains
from wbc.scenarios import measures
from wbc.scenarios.scenario import Bound, Choice, Recordings, Run, Scenario
from wbc.stack import Stack
from wbc.state import State
from wbc.tasks import JointLimits, PositionTask, PostureTask, TorqueLimits

FRAME = "tool0"
SHOULDER = np.array([0.0, 0.0, 0.089])  # m
HOME, NEAR, BEYOND = 0.6054, 0.94, 0.97  # m from the shoulder; the straight arm reaches 0.949 m
SWEEP = math.radians(60.0)
# legs: from when [s], how long [s], to which distance from the shoulder [m]
OUT = ((0.0, 2.5, NEAR), (2.5, 4.0, BEYOND))
BACK = ((9.0, 4.0, NEAR), (13.0, 2.5, HOME))
SWEEP_FROM, SWEEP_TIME = 6.5, 2.5  # s
END = 16.0  # s, half a second after the last leg
STEP = 0.02  # of a torque's limit, from one tick to the next


def radius(t: float) -> tuple[float, float, float]:
    """Distance from the shoulder, with its derivatives."""
    begin = HOME
    for start, time, end in (*OUT, *BACK):
        if t < start + time:
            s, ds, dds = smooth((t - start) / time)
            way = end - begin
            return begin + way * s, way * ds / time, way * dds / time**2
        begin = end
    return begin, 0.0, 0.0


def scenario() -> Scenario:
    """One run: out, to the side while out of reach, and back."""
    robot = load("ur5")
    ray = measures.pose_at(robot, robot.home, FRAME).translation - SHOULDER
    ray = ray / HOME  # of unit length to 5e-5, so that the hand starts where it is
    up = np.array([0.0, 0.0, 1.0])

    def move(t: float, stack: Any) -> None:
        hand = stack["hand"]
        r, dr, ddr = radius(t)
        s, ds, dds = smooth((t - SWEEP_FROM) / SWEEP_TIME)
        rate, bend = SWEEP * ds / SWEEP_TIME, SWEEP * dds / SWEEP_TIME**2
        e = pin.exp3(SWEEP * s * up) @ ray
        e_side = np.cross(up, e)
        e_in = np.cross(up, e_side)
        hand.target = SHOULDER + r * e
        hand.target_velocity = dr * e + r * rate * e_side
        hand.target_acceleration = ddr * e + (2.0 * dr * rate + r * bend) * e_side + r * rate**2 * e_in

    def plan(choice: Choice) -> tuple[Run, ...]:
        def make() -> Controller:
            stack = Stack(
                nominal=PostureTask("posture", target=robot.home, gains=Gains.critical(25.0)),
                limits=[] if choice.method == "closed_form" else [TorqueLimits(), JointLimits()],
                strict=[[PositionTask("hand", frame=FRAME, gains=Gains.critical(100.0))]],
            )
            return choice.controller(robot, stack)

        return (Run("stack", "the stack", make),)

    def end_mm(recordings: Recordings) -> float | None:
        rec = recordings["stack"]
        if rec.time[-1] < END - 0.1:
            return None
        return 1e3 * float(measures.norms(rec, "hand")[-1])

    return Scenario(
        name="ur5-singular",
        line="a reach through the singularity, a sweep of the straight arm out of reach, and back",
        robot=robot,
        start=State(robot.home, np.zeros(robot.nv)),
        move=move,
        plan=plan,
        bounds=(
            Bound("torque not finite, ticks", 0, "", lambda r: (~np.isfinite(r["stack"].torque)).any(axis=1).sum()),
            Bound("ticks over the torque limit", 0, "", lambda r: r["stack"].over_limit.sum()),
            Bound("largest torque step over the limit", STEP, "", lambda r: measures.largest_torque_step(r["stack"])),
            Bound("position error at the end, back in reach", 1.0, "mm", end_mm),
        ),
        frame=FRAME,
        duration=END,
    )
