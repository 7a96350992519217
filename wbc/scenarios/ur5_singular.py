"""UR5 reaches for a point that it cannot reach, through the singularity of its straight arm, and comes back."""

from __future__ import annotations

from typing import Any

import numpy as np

from wbc.controller import Controller
from wbc.reference import minimum_jerk
from wbc.robots import load
from wbc.rows import Gains
from wbc.scenarios import measures
from wbc.scenarios.scenario import Bound, Choice, Recordings, Run, Scenario
from wbc.stack import Stack
from wbc.state import State
from wbc.tasks import JointLimits, PositionTask, PostureTask, TorqueLimits

FRAME = "tool0"
OUT = 2.5  # s on the way out, then STAY at the far end, then as long back
STAY = 1.0
BEYOND = 1.1  # m from the shoulder; the straight arm reaches about 0.95 m
STEP = 0.05  # of a torque's limit, from one tick to the next


def scenario() -> Scenario:
    """One run: out, a while out of reach, and back."""
    robot = load("ur5")
    home = measures.pose_at(robot, robot.home, FRAME).translation
    shoulder = np.array([0.0, 0.0, 0.089])
    direction = (home - shoulder) / np.linalg.norm(home - shoulder)
    far = shoulder + BEYOND * direction
    there, back = minimum_jerk(home, far, OUT), minimum_jerk(far, home, OUT)

    def move(t: float, stack: Any) -> None:
        point, hand = there(t) if t < OUT + STAY else back(t - OUT - STAY), stack["hand"]
        hand.target = point.position
        hand.target_velocity, hand.target_acceleration = point.velocity, point.acceleration

    def plan(choice: Choice) -> tuple[Run, ...]:
        def make() -> Controller:
            stack = Stack(
                nominal=PostureTask("posture", target=robot.home, gains=Gains.critical(25.0)),
                limits=[] if choice.method == "closed_form" else [TorqueLimits(), JointLimits()],
                strict=[[PositionTask("hand", frame=FRAME, gains=Gains.critical(100.0))]],
            )
            return Controller(
                robot,
                stack,
                method=choice.method or "auto",  # type: ignore[arg-type]
                solver=choice.solver,
                metric=choice.metric or "inertia",
            )

        return (Run("stack", "the stack", make),)

    def end_mm(recordings: Recordings) -> float | None:
        rec = recordings["stack"]
        if rec.time[-1] < 2.0 * OUT + STAY + 0.5:
            return None
        return 1e3 * float(measures.norms(rec, "hand")[-1])

    return Scenario(
        name="ur5-singular",
        line="a straight-arm sweep through the singularity to a target out of reach, and back",
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
        duration=2.0 * OUT + STAY + 1.0,
    )
