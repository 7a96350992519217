"""What the legged scenarios share: one stack to stand with, references by stations, and the bounds that all keep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from wbc.checks import Array
from wbc.contact import Contact
from wbc.controller import Controller
from wbc.foot import Foot
from wbc.reference import Motion, Path, minimum_jerk
from wbc.robot import Robot
from wbc.rows import Gains
from wbc.scenarios import measures
from wbc.scenarios.feet import cone_used, force_error, pressure_beyond
from wbc.scenarios.scenario import Bound, Choice, Recordings, Run, Scenario
from wbc.simulation import Recording
from wbc.stack import Stack
from wbc.state import State
from wbc.tasks import ComTask, JointLimits, MomentumTask, OrientationTask, PostureTask, TorqueLimits

DT = 0.001  # s, the control period
FRICTION = 0.7  # μ that the controller counts on; the ground has 1
SOLE = 0.9  # of a sole's size that it counts on: at its very edge a foot tips, and G1 falls at 11 N s instead of 22
# weights of the soft tasks, over the robot's mass or its inertia; a centre of mass that weighs more spends arms and
# trunk at once when it is pushed, and G1 then falls at 15 N s instead of 23
COM, TRUNK, MOMENTUM = 15.0, 3.0, 1.0
LEVER = 0.1  # m², of the robot's inertia over its mass


def stand(
    robot: Robot,
    *,
    strict: Sequence[Any] = (),
    soft: Sequence[Any] = (),
    cones: bool = True,
    limits: Sequence[Callable[[], Any]] = (TorqueLimits, JointLimits),
) -> Stack:
    """A robot on all of its feet: posture nominal, and its centre of mass, trunk and momentum as soft tasks.

    The parts are ``"posture"``, ``"com"``, ``"trunk"``, ``"momentum"``, the contacts by the names of the feet, and the
    limits; more tasks may stand above and beside them.

    Args:
        robot: a robot with feet.
        strict, soft: further tasks.
        cones: whether contacts have friction cones; without them they hold and pull.
        limits: makers of the limits.
    """
    inertia = LEVER * robot.mass
    return Stack(
        nominal=PostureTask("posture", target=robot.home, gains=Gains.critical(15.0)),
        contacts=[contact(robot, foot, FRICTION if cones else None) for foot in robot.footing],
        limits=[make() for make in limits],
        strict=strict,
        soft=[
            (ComTask("com", gains=Gains.critical(400.0)), COM * robot.mass),
            (OrientationTask("trunk", frame=trunk(robot), gains=Gains.critical(100.0)), TRUNK * inertia),
            (MomentumTask("momentum", gains=Gains(0.0, 8.0)), MOMENTUM / inertia),  # N m: over the inertia, squared
            *soft,
        ],
    )


def contact(robot: Robot, foot: Foot, friction: float | None) -> Contact:
    """The contact of a foot, a sole with a margin to its edge."""
    if foot.half_size is None:
        return robot.contact(foot.name, friction=friction)
    return robot.contact(foot.name, friction=friction, half_size=SOLE * np.array(foot.half_size))


def trunk(robot: Robot) -> str:
    """The frame of the body that floats."""
    bodies = (frame for frame in robot.model.frames if frame.type == pin.FrameType.BODY and frame.parentJoint == 1)
    return str(next(bodies).name)


def com(robot: Robot) -> Array:
    """Where the centre of mass is at home (3,) [m]."""
    return np.array(pin.centerOfMass(robot.model, robot.model.createData(), robot.home))


def stations(start: Any, *stops: tuple[float, float, Any]) -> Path:
    """From a point (n,) from stop to stop by minimum jerk; a stop is (when to leave for it, how long, point)."""
    begin = np.asarray(start, dtype=np.float64)
    legs, last = [], begin
    for when, lasting, point in stops:
        there = np.asarray(point, dtype=np.float64)
        legs.append((when, minimum_jerk(np.zeros_like(begin), there - last, lasting)))
        last = there

    def at(t: float) -> Motion:
        moves = [leg(t - when) for when, leg in legs]
        return Motion(
            begin + sum(move.position for move in moves),
            np.sum([move.velocity for move in moves], axis=0),
            np.sum([move.acceleration for move in moves], axis=0),
        )

    return at


def follow(task: Any, motion: Motion) -> None:
    """Give a task on a point a motion to follow, feed-forward included."""
    task.target = motion.position
    task.target_velocity, task.target_acceleration = motion.velocity, motion.acceleration


def follow_pose(task: Any, rotation: Array, motion: Motion) -> None:
    """Give a pose task a motion to follow without turning."""
    still = np.zeros(3)
    task.target = pin.SE3(rotation, motion.position)
    task.target_velocity = np.concatenate((motion.velocity, still))
    task.target_acceleration = np.concatenate((motion.acceleration, still))


def due(t: float, at: float) -> bool:
    """Whether this is the tick of a time, for what shall be told to a stack once."""
    return abs(t - at) < 0.5 * DT


def scenario(
    name: str,
    line: str,
    robot: Robot,
    move: Callable[[float, Any], None],
    duration: float,
    bounds: tuple[Bound, ...],
    *,
    tasks: Callable[[], Any] = dict,
    hand: str = "com",
    frame: str = "",
    force: float = 0.02,
    beyond: float = 0.0,
    **more: Any,
) -> Scenario:
    """A legged scenario of one run, from home, with the bounds that all of them keep.

    Args:
        name, line, robot, move, duration, hand, frame, more: of the scenario.
        bounds: its own.
        tasks: makes the ``strict`` and ``soft`` tasks that it adds to :func:`stand`.
        force: most that contact forces may differ from MuJoCo's, root mean square over the weight.
        beyond: most that the centre of pressure may be beyond the feet's edge, as they stand in the physics [mm].
    """

    def plan(choice: Choice) -> tuple[Run, ...]:
        free: dict[str, Any] = {"cones": False, "limits": ()} if choice.method == "closed_form" else {}

        def make() -> Controller:
            return choice.controller(robot, stand(robot, **tasks(), **free), dt=DT)

        return (Run("stack", "the stack", make),)

    def of(measure: Callable[[Robot, Recording], float | None]) -> Callable[[Recordings], float | None]:
        return lambda recordings: measure(robot, recordings["stack"])

    return Scenario(
        name=name,
        line=line,
        robot=robot,
        start=State(robot.home, np.zeros(robot.nv)),
        move=move,
        plan=plan,
        bounds=(
            *bounds,
            Bound("contact forces against MuJoCo's, RMS over the weight", force, "", of(force_error)),
            Bound("largest share of a friction cone that is used", 1.0 + 1e-7, "", of(cone_used)),
            Bound("centre of pressure beyond the feet's edge (below 0: inside)", beyond, "mm", of(pressure_beyond)),
            Bound("ticks over the torque limit", 0, "", lambda r: r["stack"].over_limit.sum()),
        ),
        frame=frame or trunk(robot),
        duration=duration,
        hand=hand,
        **more,
    )


def rms_mm(what: str, task: str, most: float) -> Bound:
    """A bound on the position error of a task, root mean square [mm]."""
    return Bound(f"{what}: error, RMS", most, "mm", lambda r: measures.position_rms_mm(r["stack"], task))


def max_mm(what: str, task: str, most: float) -> Bound:
    """A bound on the largest position error of a task while it is there [mm]."""

    def measure(recordings: Recordings) -> float | None:
        rec = recordings["stack"]
        if task not in rec.error:
            return None  # it never came in
        errors = measures.norms(rec, task, slice(0, 3))
        return 1e3 * float(errors[~np.isnan(errors)].max())

    return Bound(f"{what}: largest error", most, "mm", measure)


def end_mm(what: str, task: str, most: float, after: float) -> Bound:
    """A bound on the position error of a task at the end of a run that lasts at least until ``after`` [mm]."""

    def measure(recordings: Recordings) -> float | None:
        rec = recordings["stack"]
        return None if rec.time[-1] < after else 1e3 * float(measures.norms(rec, task, slice(0, 3))[-1])

    return Bound(f"{what}: error at the end", most, "mm", measure)


def torque_step(most: float = 0.02) -> Bound:
    """A bound on the change of a torque between two ticks, as a part of its limit."""
    return Bound("largest torque step over the limit", most, "", lambda r: measures.largest_torque_step(r["stack"]))
