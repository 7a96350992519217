"""Bad input is refused when it is given, by the name of the field, and leaves nothing half-done behind.

The table of refusals is the issue's list, line by line, and case K11 of the field reports: every error names its field.
"""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from fixtures import S_A, TOOL, UP, c2, c2_state, joint, link, p1, pendulum, planar_arm, r6, slider

import wbc
from wbc import Controller, Gains, MotionTask, Recording, Robot, Stack, State, reference, tasks
from wbc.errors import InputError, NotInstalledError, RobotError, StackError, UnknownNameError, WbcError
from wbc.robots import load
from wbc.solvers import installed, make_solver
from wbc.tasks import (
    HalfSpace,
    JointLimits,
    ManipulabilityTask,
    ObstacleTask,
    OrientationTask,
    PointContact,
    PoseTask,
    PositionTask,
    PostureTask,
    Sphere,
    SurfaceContact,
    TorqueLimits,
    TorqueTask,
    UprightTask,
)

NAN, INF = float("nan"), float("inf")
SAME = 1e-12  # N m: the same formulas in the same order, up to the last bits of a torque of some N m


def hand(**options: Any) -> PositionTask:
    return PositionTask("hand", frame=TOOL, **options)


def control(*strict: Any, robot: Robot | None = None, **options: Any) -> Controller:
    stack = Stack(
        **{key: options.pop(key) for key in ("nominal", "soft", "limits") if key in options}, strict=[*strict]
    )
    return Controller(robot or r6(), stack, **options)


def assigned(make: Callable[[], Any], field: str, value: Any) -> Callable[[], None]:
    return lambda: setattr(make(), field, value)


def placed(task: Any, robot: Robot | None = None) -> Any:
    """A task that a controller already uses."""
    control(task, robot=robot)
    return task


def pose(**options: Any) -> PoseTask:
    return PoseTask("hand", frame=TOOL, **options)


def turned(**options: Any) -> OrientationTask:
    return OrientationTask("hand", frame=TOOL, **options)


def upright(**options: Any) -> UprightTask:
    return UprightTask("tray", frame=TOOL, **options)


def obstacle(**options: Any) -> ObstacleTask:
    return ObstacleTask("away", frame=TOOL, obstacle=Sphere((0, 0, 0), 0.1), **options)


def sole() -> SurfaceContact:
    return SurfaceContact("foot", frame=TOOL, half_size=(0.1, 0.05))


def point() -> PointContact:
    return PointContact("tip", frame=TOOL)


def with_entry(matrix: np.ndarray, place: tuple[int, int], value: float) -> np.ndarray:
    matrix[place] = value
    return matrix


REFLECTION, STRETCHED, TINY_TILT = np.diag([1.0, 1.0, -1.0]), np.diag([1.0, 1.0, 1.01]), np.eye(3) + 2e-3 * np.eye(3)

# what is refused: name -> (how it is given, what the message must contain)
REFUSED: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    # unknown names, with close matches
    "a mistyped frame": (
        lambda: control(PositionTask("hand", frame="effector")),
        ("frame", "effector", "effector_body", "R6"),
    ),
    "a frame that nothing resembles": (
        lambda: control(PositionTask("hand", frame="xyzzy")),
        ("frame", "xyzzy", "there are"),
    ),
    "a mistyped frame of a nominal": (
        lambda: control(nominal=ManipulabilityTask("up", frame="effector_bdy")),
        ("frame", TOOL),
    ),
    "a frame that is no text": (lambda: PositionTask("hand", frame=3), ("'hand'", "frame")),
    "a frame that is left empty": (lambda: PoseTask("hand", frame=""), ("'hand'", "frame")),
    "no frame": (lambda: OrientationTask("hand", frame=None), ("'hand'", "frame")),
    "another frame for a task in use": (assigned(lambda: placed(hand()), "frame", "elbow_joint"), ("'hand'", "frame")),
    "a mistyped joint": (
        lambda: Robot.from_pinocchio(r6().model, torque_limits={"elbow": 1.0}),
        ("joint", "elbow", "elbow_joint"),
    ),
    "a frame for a joint": (lambda: Robot.from_pinocchio(r6().model, armature={TOOL: 0.1}), ("joint", TOOL)),
    "a mistyped robot": (lambda: load("pand"), ("robot", "pand", "panda")),
    "a robot that is no text": (lambda: load(None), ("robot", "None")),
    "a mistyped solver": (lambda: control(solver="dapq"), ("solver", "dapq", "daqp")),
    "no solver": (lambda: control(solver=None), ("solver",)),
    "a mistyped metric": (lambda: control(metric="inertial"), ("metric", "inertial", "'inertia'")),
    "no metric": (lambda: control(metric=None), ("metric",)),
    "a mistyped method": (lambda: control(method="closedform"), ("method", "closedform", "closed_form")),
    "a flag for a method": (lambda: control(method=True), ("method",)),
    "a mistyped gravity": (lambda: control(gravity="include"), ("gravity", "include", "included")),
    "a mistyped part": (lambda: Stack(strict=[hand()])["hnad"], ("part", "hnad", "hand")),
    "a mistyped zero_limits": (
        lambda: Robot.from_pinocchio(r6().model, zero_limits="unlimitd"),
        ("zero_limits", "unlimited"),
    ),
    "a mistyped root": (lambda: Robot.from_urdf("<robot/>", root="fix"), ("root", "fixed")),
    # numbers of the state
    "NaN in q": (lambda: State([0, 0, 0, NAN, 0, 0], np.zeros(6)), ("q[3]", "nan")),
    "inf in v": (lambda: State(np.zeros(6), [0, 0, 0, 0, INF, 0]), ("v[4]", "inf")),
    "infs that cancel": (lambda: State([0, -INF, 0, INF, 0, 0], np.zeros(6)), ("q[1]", "-inf")),
    "q of another length": (lambda: control().tick(State(np.zeros(5), np.zeros(6))), ("q has length 5", "nq=6")),
    "v of another length": (lambda: control().tick(State(np.zeros(6), np.zeros(7))), ("v has length 7", "nv=6")),
    "q as a column": (lambda: State(np.zeros((6, 1)), np.zeros(6)), ("q has shape (6, 1)",)),
    "q as text": (lambda: State("here", np.zeros(6)), ("q", "'here'")),
    "no v": (lambda: State(np.zeros(6), None), ("v",)),
    "a pair for a state": (lambda: control().tick((np.zeros(6), np.zeros(6))), ("State(q, v)", "tuple")),
    "a (cos, sin) pair off the circle": (
        lambda: control(robot=c2()).tick(State([0.9, 0.0, 0.1], np.zeros(2))),
        ("q", "unit norm"),
    ),
    "a (cos, sin) pair of zeros": (
        lambda: control(robot=c2()).tick(State(np.zeros(3), np.zeros(2))),
        ("q", "unit norm"),
    ),
    "a home off the circle": (lambda: Robot.from_pinocchio(c2().model, home=[2.0, 0.0, 0.0]), ("home", "unit norm")),
    # attributes
    "a mistyped target": (assigned(hand, "targt", (0, 0, 0)), ("attribute 'targt'", "'hand'", "'target'")),
    "a mistyped gain of a task in use": (
        assigned(lambda: placed(hand()), "gain", 1.0),
        ("'gain'", "'hand'", "'gains'"),
    ),
    "an attribute that nothing resembles": (assigned(hand, "xyzzy", 1.0), ("'xyzzy'", "'hand'", "__init__")),
    "a mistyped target of a torque": (assigned(lambda: TorqueTask("rest"), "traget", [0] * 6), ("'rest'", "'target'")),
    "a mistyped friction": (assigned(point, "frction", 0.5), ("'frction'", "contact 'tip'", "'friction'")),
    "a mistyped gain of a contact": (assigned(sole, "gian", 0.5), ("'gian'", "contact 'foot'", "'gains'")),
    "a mistyped scale": (assigned(TorqueLimits, "scal", 0.5), ("'scal'", "limit 'torque'", "'scale'")),
    "a mistyped rate": (assigned(JointLimits, "rat", 5.0), ("'rat'", "limit 'joint'", "'rate'")),
    "another name for a task": (assigned(hand, "name", "foot"), ("'hand'", "name", "make a new task")),
    "another name for a contact": (assigned(point, "name", "foot"), ("'tip'", "name", "make a new contact")),
    "another name for a limit": (assigned(JointLimits, "name", "foot"), ("'joint'", "name", "make a new limit")),
    "another friction": (assigned(point, "friction", 0.5), ("'tip'", "friction stays 0.7", "make a new contact")),
    "another least force": (assigned(point, "min_force", 5.0), ("'tip'", "min_force stays 0.0", "make a new contact")),
    "another largest force": (
        assigned(sole, "max_force", 5.0),
        ("'foot'", "max_force stays inf", "make a new contact"),
    ),
    "another frame for a contact": (assigned(sole, "frame", "elbow_joint"), ("'foot'", "frame stays", TOOL)),
    "another size of a sole": (assigned(sole, "half_size", (1, 1)), ("'foot'", "half_size stays")),
    "another direction of a sole": (assigned(sole, "forward", (1, 0, 0)), ("'foot'", "forward stays None")),
    "other facets": (assigned(point, "facets", 8), ("'tip'", "facets stays 4")),
    "another axle": (
        assigned(lambda: tasks.AxleContact("axle", frame=TOOL), "axis", (1, 0, 0)),
        ("'axle'", "axis stays", "make a new contact"),
    ),
    "a number for a contact's gains": (assigned(point, "gains", 100.0), ("contact 'tip'", "gains", "Gains(kp, kd)")),
    "gains by row for a contact": (assigned(point, "gains", Gains(np.ones(3), 1.0)), ("contact 'tip'", "two numbers")),
    "no normal": (assigned(point, "normal", None), ("contact 'tip'", "normal", "None")),
    "a contact without a frame": (lambda: PointContact("tip", frame=3), ("contact 'tip'", "frame", "3")),
    "a limit whose name is a number": (lambda: JointLimits(name=3), ("JointLimits", "name", "3")),
    "another rate": (assigned(JointLimits, "rate", -3.0), ("'joint'", "rate stays 20.0", "make a new limit")),
    "another acceleration": (assigned(JointLimits, "acceleration", "much"), ("'joint'", "acceleration stays inf")),
    "another braking": (assigned(JointLimits, "braking", 3.0), ("'joint'", "braking stays None")),
    "positions that no longer count": (assigned(JointLimits, "position", False), ("'joint'", "position stays True")),
    "speeds that no longer count": (assigned(JointLimits, "velocity", False), ("'joint'", "velocity stays True")),
    # targets
    "NaN in a target": (assigned(hand, "target", [0, NAN, 0]), ("'hand'", "target[1]", "nan")),
    "inf in a target velocity": (assigned(hand, "target_velocity", [0, 0, INF]), ("'hand'", "target_velocity[2]")),
    "NaN in a target acceleration": (
        assigned(pose, "target_acceleration", [NAN] * 6),
        ("'hand'", "target_acceleration[0]"),
    ),
    "a target of two numbers": (assigned(hand, "target", (0.1, 0.2)), ("'hand'", "target", "length 2", "3")),
    "a target of words": (assigned(hand, "target", "home"), ("'hand'", "target", "'home'")),
    "a pose of 3x3": (assigned(pose, "target", np.eye(3)), ("'hand'", "target", "(4, 4)")),
    "a pose of seven numbers": (assigned(pose, "target", np.zeros(7)), ("'hand'", "target", "(4, 4)")),
    "a pose with another last row": (assigned(pose, "target", 2 * np.eye(4)), ("'hand'", "target", "last row")),
    "a pose with a NaN": (assigned(pose, "target", with_entry(np.eye(4), (1, 3), NAN)), ("'hand'", "target[1, 3]")),
    "a pose that reflects": (assigned(pose, "target", np.diag([1.0, 1, -1, 1])), ("'hand'", "target", "reflection")),
    "an orientation that reflects": (assigned(turned, "target", REFLECTION), ("'hand'", "target", "reflection")),
    "an orientation that stretches": (assigned(turned, "target", STRETCHED), ("'hand'", "target", "rotation")),
    "an orientation of 2 per mille too much": (assigned(turned, "target", TINY_TILT), ("'hand'", "target", "rotation")),
    "an orientation of zeros": (assigned(turned, "target", np.zeros((3, 3))), ("'hand'", "target", "rotation")),
    "a quaternion as four numbers": (assigned(turned, "target", [0, 0, 0, 1]), ("'hand'", "target", "(3, 3)")),
    "a quaternion of norm 3.6": (
        assigned(turned, "target", pin.Quaternion(0.0, 0.0, 0.0, 3.6)),
        ("'hand'", "target", "3.6"),
    ),
    "a quaternion of zeros": (
        assigned(turned, "target", pin.Quaternion(0.0, 0.0, 0.0, 0.0)),
        ("'hand'", "target", "norm 0"),
    ),
    "a posture of another length": (
        lambda: control(nominal=PostureTask("posture", target=np.zeros(5))),
        ("'posture'", "target", "nq=6"),
    ),
    "a posture of angles for a continuous joint": (
        lambda: control(PostureTask("p", target=[0, 0]), robot=c2()),
        ("'p'", "target", "nq=3"),
    ),
    "a posture's velocity of another length": (
        lambda: control(moving_posture(5)),
        ("'posture'", "target_velocity", "nv=6"),
    ),
    "another length for a posture in use": (
        assigned(lambda: placed(PostureTask("posture")), "target", [0] * 7),
        ("'posture'", "target", "nq=6"),
    ),
    "one number for six velocities in use": (
        assigned(lambda: placed(PostureTask("p")), "target_velocity", [0]),
        ("'p'", "target_velocity", "nv=6"),
    ),
    "one number for six accelerations in use": (
        assigned(lambda: placed(PostureTask("p")), "target_acceleration", [0]),
        ("'p'", "target_acceleration", "nv=6"),
    ),
    "a torque of another length": (
        lambda: control(nominal=TorqueTask("rest", target=np.zeros(5))),
        ("'rest'", "target", "nu=6"),
    ),
    "another length for a torque in use": (
        assigned(lambda: placed(TorqueTask("rest")), "target", np.zeros(5)),
        ("'rest'", "target", "nu=6"),
    ),
    "NaN in a torque": (lambda: TorqueTask("rest", target=[NAN] * 6), ("'rest'", "target[0]")),
    "a zero direction": (lambda: upright(direction=(0, 0, 0)), ("'tray'", "direction", "zero")),
    "a zero axis": (lambda: upright(axis=(0, 0, 0)), ("'tray'", "axis", "zero")),
    "a zero direction later": (assigned(upright, "direction", np.zeros(3)), ("'tray'", "direction", "zero")),
    "no direction": (assigned(upright, "direction", None), ("'tray'", "direction", "None")),
    "no axis": (lambda: upright(axis=None), ("'tray'", "axis", "None")),
    "NaN in a direction": (lambda: upright(direction=(0, NAN, 1)), ("'tray'", "direction[1]")),
    "a direction in the plane": (lambda: upright(direction=(0, 1)), ("'tray'", "direction", "length 2")),
    # gains, masks, weights
    "a negative kp": (lambda: Gains(-1.0, 1.0), ("kp", "-1")),
    "a negative kd of one row": (lambda: Gains(1.0, [1.0, -2.0, 1.0]), ("kd", "-2")),
    "NaN for kp": (lambda: Gains(NAN, 1.0), ("kp", "nan")),
    "inf for kd": (lambda: Gains(1.0, INF), ("kd", "inf")),
    "NaN in a row of kp": (lambda: Gains([1.0, NAN, 1.0], 1.0), ("kp[1]", "nan")),
    "words for kp": (lambda: Gains("high", 1.0), ("kp", "'high'")),
    "a matrix for kp": (lambda: Gains(np.eye(3), 1.0), ("kp", "(3, 3)")),
    "a negative critical kp": (lambda: Gains.critical(-4.0), ("kp", "-4")),
    "a number for gains": (lambda: hand(gains=100.0), ("'hand'", "gains", "Gains(kp, kd)")),
    "no gains": (assigned(hand, "gains", None), ("'hand'", "gains")),
    "gains of another length": (lambda: hand(gains=Gains([1.0, 2.0], 1.0)), ("'hand'", "gains.kp", "3")),
    "a posture's gains of another length": (
        lambda: control(PostureTask("p", gains=Gains(1.0, np.ones(5)))),
        ("'p'", "gains.kd", "6"),
    ),
    "gains of another length for a posture in use": (
        assigned(lambda: placed(PostureTask("p")), "gains", Gains(np.ones(5), 1.0)),
        ("'p'", "gains.kp", "6"),
    ),
    "a mask of another length": (lambda: hand(mask=(1, 0)), ("'hand'", "mask", "3")),
    "a mask of halves": (lambda: hand(mask=(1, 0.5, 1)), ("'hand'", "mask", "0.5")),
    "a mask of zeros": (lambda: hand(mask=(0, 0, 0)), ("'hand'", "mask")),
    "a number for a mask": (lambda: PostureTask("p", mask=5), ("'p'", "mask")),
    "a posture's mask of another length": (
        lambda: control(PostureTask("p", mask=(1, 0, 1, 1, 1))),
        ("'p'", "mask", "6"),
    ),
    "a mask of fewer rows for a task in use": (
        assigned(lambda: placed(hand()), "mask", (1, 0, 0)),
        ("'hand'", "mask", "3"),
    ),
    "axes of another length": (
        lambda: ManipulabilityTask("climb", frame=TOOL, axes=(1, 1, 1)),
        ("'climb'", "axes", "6"),
    ),
    "a negative weight": (lambda: Stack(soft=[(hand(), -1.0)]), ("weight", "'hand'", "-1")),
    "NaN for a weight": (lambda: Stack(soft=[(hand(), NAN)]), ("weight", "'hand'", "nan")),
    "inf for a weight": (lambda: Stack(soft=[(hand(), INF)]), ("weight", "'hand'", "inf")),
    "True for a weight": (lambda: Stack(soft=[(hand(), True)]), ("weight", "'hand'", "True")),
    "a strict weight of zero": (lambda: Stack(strict=[[(hand(), 0.0)]]), ("weight", "'hand'", "0")),
    "a soft task without a weight": (lambda: Stack(soft=[hand()]), ("soft", "hand", "1.0")),
    # parts and their places
    "a name that is given twice": (
        lambda: Stack(strict=[[hand()]], soft=[(PostureTask("hand"), 1.0)]),
        ("'hand'", "strict level 1", "soft"),
    ),
    "a limit with a task's name": (
        lambda: Stack(strict=[[hand()]], limits=[TorqueLimits(name="hand")]),
        ("'hand'", "limits"),
    ),
    "a task in two places": (lambda: two_places(), ("'hand'", "nominal", "strict level 1")),
    "a task twice in one level": (lambda: twice_in_a_level(), ("'hand'", "strict level 1")),
    "a task's class": (lambda: Stack(strict=[PositionTask]), ("strict level 1", "PositionTask")),
    "None for a task": (lambda: Stack(strict=[[None]]), ("strict level 1", "None")),
    "a limit for a task": (lambda: Stack(soft=[(TorqueLimits(), 1.0)]), ("soft", "TorqueLimits")),
    "a task for a limit": (lambda: Stack(limits=[hand()]), ("limits", "hand")),
    "a limit's class": (lambda: Stack(limits=[TorqueLimits]), ("limits", "TorqueLimits")),
    "a task for strict levels": (lambda: Stack(strict=hand()), ("strict", "strict=[...]")),
    "a limit for limits": (lambda: Stack(limits=TorqueLimits()), ("limits", "limits=[...]")),
    "no name": (lambda: PositionTask("", frame=TOOL), ("name",)),
    "a number for a name": (lambda: TorqueTask(3), ("name", "3")),
    "a limit without a name": (lambda: TorqueLimits(name=""), ("TorqueLimits", "name")),
    "closed form beside limits": (
        lambda: control(hand(), limits=[TorqueLimits()], method="closed_form"),
        ("closed_form", "torque", "auto"),
    ),
    "a stack for a robot": (lambda: Controller(Stack(), r6()), ("robot", "Stack")),
    "a list for a stack": (lambda: Controller(r6(), [hand()]), ("stack", "hand")),
    "as_qp before a tick": (lambda: control(hand()).as_qp(), ("as_qp", "tick")),
    # numbers of limits, controller and obstacles
    "a period of zero": (lambda: control(dt=0.0), ("dt", "0")),
    "a negative period": (lambda: control(dt=-0.001), ("dt", "-0.001")),
    "NaN for a period": (lambda: control(dt=NAN), ("dt", "nan")),
    "no period": (lambda: control(dt=None), ("dt", "None")),
    "NaN in a metric": (lambda: control(metric=with_entry(np.eye(6), (2, 2), NAN)), ("metric[2, 2]",)),
    "a metric of another size": (lambda: control(metric=np.eye(5)), ("metric", "(5, 5)", "(6, 6)")),
    "a metric that is not positive definite": (
        lambda: control(metric=np.diag([1.0, 1, 1, 1, 1, 0])),
        ("metric", "positive definite"),
    ),
    "a metric that is not symmetric": (lambda: control(metric=np.eye(6) + np.eye(6, k=1)), ("metric", "symmetric")),
    "a negative scale": (lambda: TorqueLimits(scale=-1.0), ("TorqueLimits", "scale", "-1")),
    "a negative scale later": (assigned(TorqueLimits, "scale", -1.0), ("TorqueLimits", "scale", "-1")),
    "a negative rate": (lambda: JointLimits(rate=-1.0), ("JointLimits", "rate", "-1")),
    "a negative acceleration": (lambda: JointLimits(acceleration=-1.0), ("JointLimits", "acceleration", "-1")),
    "NaN in accelerations": (lambda: JointLimits(acceleration=[1.0, NAN]), ("JointLimits", "acceleration", "nan")),
    "words in accelerations": (lambda: JointLimits(acceleration=["much"]), ("JointLimits", "acceleration", "much")),
    "accelerations of another length": (
        lambda: control(limits=[JointLimits(acceleration=[1.0, 2.0])]),
        ("JointLimits", "acceleration", "nv=6"),
    ),
    "NaN for a braking": (lambda: JointLimits(braking=NAN), ("JointLimits", "braking", "nan")),
    "a negative torque limit": (
        lambda: Robot.from_pinocchio(r6().model, torque_limits={"elbow_joint": -1.0}),
        ("torque_limits", "elbow_joint", "-1"),
    ),
    "NaN for a velocity limit": (
        lambda: Robot.from_pinocchio(r6().model, velocity_limits={"elbow_joint": NAN}),
        ("velocity_limits", "elbow_joint", "nan"),
    ),
    "a negative armature": (
        lambda: Robot.from_pinocchio(r6().model, armature={"elbow_joint": -1.0}),
        ("armature", "elbow_joint", "-1"),
    ),
    "a negative factor of torques": (lambda: r6().scaled(torque=-0.5), ("torque", "-0.5")),
    "a factor of zero for velocities": (lambda: r6().scaled(velocity=0.0), ("velocity", "0")),
    "an order with a name twice": (lambda: p1().order(["j", "j"]), ("order", "twice", "j")),
    "NaN in a home": (lambda: Robot.from_pinocchio(r6().model, home=[NAN] * 6), ("home[0]",)),
    "a home of another length": (lambda: Robot.from_pinocchio(r6().model, home=np.zeros(5)), ("home", "length 5", "6")),
    "a link with a negative mass": (lambda: Robot.from_urdf(heavy(-1.0)), ("mass", "'j'", "-1")),
    "an obstacle of no shape": (lambda: ObstacleTask("away", frame=TOOL, obstacle=(0, 0, 0)), ("'away'", "obstacle")),
    "no obstacle later": (assigned(obstacle, "obstacle", None), ("'away'", "obstacle")),
    "a negative radius": (lambda: obstacle(radius=-0.1), ("'away'", "radius", "-0.1")),
    "NaN for a radius later": (assigned(obstacle, "radius", NAN), ("'away'", "radius", "nan")),
    "a clearance of zero": (lambda: obstacle(clearance=0.0), ("'away'", "clearance", "0")),
    "a negative clearance later": (assigned(obstacle, "clearance", -1.0), ("'away'", "clearance", "-1")),
    "a sphere of negative radius": (lambda: Sphere((0, 0, 0), -1.0), ("Sphere", "radius", "-1")),
    "a sphere nowhere": (lambda: Sphere((0, NAN, 0), 1.0), ("Sphere", "center[1]")),
    "a wall without a normal": (lambda: HalfSpace((0, 0, 0), (0, 0, 0)), ("HalfSpace", "normal", "zero")),
    # reference motions
    "NaN in a figure": (lambda: reference.figure((0, 0, NAN)), ("centre",)),
    "a motion of no duration": (lambda: reference.minimum_jerk((0, 0), (1, 1), 0.0), ("duration", "0")),
    "a goal of another length": (lambda: reference.minimum_jerk((0, 0), (1, 1, 1), 1.0), ("goal", "length 3", "2")),
}


def moving_posture(length: int) -> PostureTask:
    task = PostureTask("posture")
    task.target_velocity = np.zeros(length)
    return task


def two_places() -> Stack:
    task = hand()
    return Stack(nominal=task, strict=[[task]])


def twice_in_a_level() -> Stack:
    task = hand()
    return Stack(strict=[[task, task]])


def humanoid() -> Robot:
    return Robot.from_pinocchio(pin.buildSampleModelHumanoid(), name="H34")


def heavy(mass: float) -> str:
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    text = f'<robot name="r"><link name="base"/>{link("l")}{joint("j", "base", "l", limit)}</robot>'
    return text.replace('mass value="1"', f'mass value="{mass}"')


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_meant_is_refused_by_the_name_of_its_field(case: str) -> None:
    """Bad input, K01, K10, K11: a WbcError, which is a ValueError, and the offending field stands in its message."""
    give, said = REFUSED[case]
    with pytest.raises(WbcError) as refusal:
        give()
    assert isinstance(refusal.value, ValueError)
    for word in said:
        assert word in str(refusal.value), f"{word!r} is missing in: {refusal.value}"


# --- what is refused changes nothing ------------------------------------------------------------------------


# setter -> (how the owner is made, field, what is accepted, what is refused)
PAIRS: dict[str, tuple[Callable[[], Any], str, Any, Any]] = {
    "position target": (hand, "target", (0.1, 0.2, 0.3), (0.1, NAN, 0.3)),
    "position velocity": (hand, "target_velocity", (1, 0, 0), (1, 0)),
    "position acceleration": (hand, "target_acceleration", (1, 0, 0), (INF, 0, 0)),
    "position gains": (hand, "gains", Gains(4.0, [1.0, 2.0, 3.0]), Gains([1.0, 2.0], 1.0)),
    "position mask": (hand, "mask", (1, 0, 1), (1, 2, 0)),
    "position mask in use": (lambda: placed(hand(mask=(1, 0, 0))), "mask", (0, 0, 1), (1, 0, 1)),
    "frame": (hand, "frame", "elbow_joint", 7),
    "frame in use": (lambda: placed(hand()), "frame", TOOL, "elbow_joint"),
    "pose target": (pose, "target", np.eye(4), -np.eye(4)),
    "pose velocity": (pose, "target_velocity", np.ones(6), np.ones(3)),
    "orientation target": (turned, "target", pin.exp3(np.array([0.3, -0.2, 1.0])), REFLECTION),
    "orientation quaternion": (
        turned,
        "target",
        pin.Quaternion(0.6, 0.0, 0.8, 0.0),
        pin.Quaternion(0.0, 0.0, 3.6, 0.0),
    ),
    "orientation acceleration": (turned, "target_acceleration", (0, 0, 1), (0, 0, "1 rad")),
    "direction": (upright, "direction", (0, 3, 4), (0, 0, 0)),
    "axis": (upright, "axis", (1, 0, 0), None),
    "tilt rate": (upright, "target_velocity", (0.1, 0.2), (0.1, 0.2, 0.3)),
    "posture target": (lambda: placed(PostureTask("p")), "target", np.ones(6), np.ones(7)),
    "posture velocity": (lambda: placed(PostureTask("p")), "target_velocity", np.ones(6), np.ones(1)),
    "posture gains": (lambda: placed(PostureTask("p")), "gains", Gains(np.ones(6), 2.0), Gains(np.ones(7), 2.0)),
    "torque": (lambda: placed(TorqueTask("t")), "target", np.ones(6), np.ones(5)),
    "obstacle": (obstacle, "obstacle", HalfSpace((0, 0, 0), (0, 0, 1)), "wall"),
    "radius": (obstacle, "radius", 0.0, -1e-9),
    "clearance": (obstacle, "clearance", 0.2, 0.0),
    "scale": (TorqueLimits, "scale", 0.8, -0.8),
}


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray | tuple | list):
        return np.array_equal(a, b)
    if isinstance(a, pin.SE3):
        return a.isApprox(b, 0.0)
    return bool(a == b)


@pytest.mark.parametrize("setter", PAIRS)
def test_a_setter_takes_what_is_right_and_a_refusal_leaves_the_old_value(setter: str) -> None:
    """K06, and 'nothing half-done': a check that is the wrong way round would fail one of the two."""
    make, field, right, wrong = PAIRS[setter]
    owner = make()
    setattr(owner, field, right)
    old = getattr(owner, field)
    with pytest.raises(InputError, match=field):
        setattr(owner, field, wrong)
    assert same(getattr(owner, field), old)


@pytest.mark.parametrize(
    ("make", "right", "wrong"),
    [
        (lambda value: Gains(value, 1.0), 0.0, -1e-9),
        (lambda value: Gains(1.0, value), [0.0, 1.0], [0.0, -1.0]),
        (Gains.critical, 4.0, -4.0),
        (lambda value: Stack(soft=[(hand(), value)]), 0.0, -1e-9),
        (lambda value: Stack(strict=[[(hand(), value)]]), 1e-9, 0.0),
        (lambda value: control(dt=value), 1e-9, 0.0),
        (lambda value: control(metric=value), 1e-9 * np.eye(6), -np.eye(6)),
        (lambda value: TorqueLimits(scale=value), 0.0, -0.1),
        (lambda value: JointLimits(rate=value), 1e-9, 0.0),
        (lambda value: JointLimits(acceleration=value), INF, 0.0),
        (lambda value: JointLimits(braking=value), [1.0] * 6, [1.0, 0.0]),
        (lambda value: r6().scaled(torque=value), 0.0, -1.0),
        (lambda value: r6().scaled(velocity=value), 0.1, 0.0),
        (lambda value: Robot.from_urdf(heavy(value)), 0.5, -0.5),
        (lambda value: Robot.from_pinocchio(p1().model, torque_limits={"j": value}), INF, -1.0),
        (lambda value: Robot.from_pinocchio(p1().model, armature=value), 0.0, -1.0),
        (lambda value: Sphere((0, 0, 0), value), 0.0, -1.0),
        (lambda value: State(value, np.zeros(1)), [1e9], [NAN]),
    ],
)
def test_a_constructor_takes_the_last_good_value_and_refuses_the_first_bad_one(
    make: Callable[[Any], Any], right: Any, wrong: Any
) -> None:
    """K06: one valid and one invalid example for each number that is checked, on both sides of the border."""
    make(right)
    with pytest.raises(WbcError):
        make(wrong)


def test_lower_and_upper_position_limits_the_wrong_way_round_are_refused() -> None:
    """K06: the pair swapped, and the same pair the right way round."""
    good = heavy(1.0)
    assert Robot.from_urdf(good).position_limits[0, 0] == -1.0
    with pytest.raises(RobotError, match="'j': lower position limit 1 is above the upper one -1"):
        Robot.from_urdf(good.replace('lower="-1" upper="1"', 'lower="1" upper="-1"'))


def test_a_controller_that_was_refused_leaves_stack_and_tasks_usable() -> None:
    """'Nothing half-done': the same stack serves a second, right controller."""
    task = PositionTask("hand", frame="efector_body")
    stack = Stack(strict=[task])
    with pytest.raises(UnknownNameError, match=TOOL):
        Controller(r6(), stack)
    task.frame = TOOL
    assert np.array_equal(Controller(r6(), stack).tick(S_A).torque, control(hand()).tick(S_A).torque)


def test_a_refused_state_leaves_the_controller_as_it_was() -> None:
    """A17-like: the tick after a state with a NaN is the one that would have come anyway, bit by bit."""
    moving = State(S_A.q, -0.5 * S_A.v)
    through, around = control(hand(), limits=[TorqueLimits()]), control(hand(), limits=[TorqueLimits()])
    for controller in (through, around):
        controller.tick(S_A)
    for bad in ([0, 0, 0, NAN, 0, 0], [0, 0, INF, 0, 0, 0]):
        with pytest.raises(InputError, match=r"q\[[32]\]"):
            through.tick(State(bad, np.zeros(6)))
    with pytest.raises(InputError, match="nq=6"):
        through.tick(State(np.zeros(7), np.zeros(6)))
    assert np.array_equal(through.tick(moving).torque, around.tick(moving).torque)
    assert np.array_equal(through.errors()["hand"], around.errors()["hand"])


@pytest.mark.parametrize("robot", [c2(), humanoid()], ids=["C2", "H34"])
def test_q_and_v_swapped_are_refused_wherever_their_lengths_differ(robot: Robot) -> None:
    """D12: on an arm with a continuous joint and on a floating base."""
    terms = wbc.Terms(robot, 0.001)
    with pytest.raises(InputError, match=f"q has length {robot.nv}, expected nq={robot.nq}"):
        terms.update(State(np.zeros(robot.nv), np.zeros(robot.nq)))


def test_a_floating_base_needs_a_unit_quaternion() -> None:
    """Bad input: a quaternion of norm 3.6, or of zeros, is refused, and one that is right to 1e-7 is taken as it is."""
    robot = humanoid()
    terms = wbc.Terms(robot, 0.001)
    v = np.zeros(robot.nv)
    for factor in (3.6, 0.0, 1.0 + 1e-5):
        q = pin.neutral(robot.model)
        q[3:7] *= factor
        with pytest.raises(InputError, match=r"q: a quaternion \(xyzw\)"):
            terms.update(State(q, v))
    q = pin.neutral(robot.model)
    q[6] += 1e-7
    terms.update(State(q, v))
    assert terms.q[6] == q[6]


# --- names --------------------------------------------------------------------------------------------------


def test_a_frame_name_where_a_joint_belongs_is_refused_and_a_joint_name_is_a_frame_too() -> None:
    """K02: never the value behind index njoints or nframes; a joint's name as a frame means the joint's own frame."""
    with pytest.raises(UnknownNameError, match="joint 'effector_body' does not exist in robot"):
        Robot.from_pinocchio(r6().model, torque_limits={TOOL: 5.0})
    assert r6().model.frames[r6().frame_id("elbow_joint")].name == "elbow_joint"
    for name in [frame.name for frame in r6().model.frames if frame.name != "universe"]:
        assert r6().frame_id(name) < r6().model.nframes
    with pytest.raises(UnknownNameError):
        r6().frame_id("universe_joint")


def test_an_unknown_name_is_a_key_error_whose_message_reads_as_a_sentence() -> None:
    """K01: KeyError and ValueError at once, and not the repr of a KeyError."""
    with pytest.raises(KeyError) as refusal:
        r6().frame_id("effector")
    assert str(refusal.value) == "frame 'effector' does not exist in robot 'R6'; did you mean 'effector_body'?"


def test_a_scenario_that_does_not_exist_is_refused_with_close_matches() -> None:
    """Bad input: unknown scenario."""
    scenarios = pytest.importorskip("wbc.scenarios")
    if not hasattr(scenarios, "load"):
        pytest.skip("wbc.scenarios has no load yet")
    with pytest.raises(UnknownNameError, match="scenario 'panda-figur' does not exist; did you mean 'panda-figure'"):
        scenarios.load("panda-figur")


def test_a_solver_that_is_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bad input: the pip extra is named, and what is installed; J02: nothing else is harmed."""
    import qpsolvers

    monkeypatch.setattr(qpsolvers, "available_solvers", ["proxqp", "osqp"])
    for name in ("quadprog", "piqp", "clarabel"):
        with pytest.raises(NotInstalledError, match=rf'solver {name!r} is not installed: pip install "wbc\[solvers\]"'):
            control(hand(), solver=name)
    with pytest.raises(NotInstalledError, match=r'"qpsolvers\[ecos\]"; installed are daqp, proxqp, osqp') as refusal:
        make_solver("ecos")
    assert isinstance(refusal.value, ImportError)
    assert control(hand(), solver="osqp").solver == "osqp"


def test_every_solver_that_is_installed_can_be_made_by_its_name() -> None:
    """The table of names and what is installed agree; daqp, proxqp and osqp always are."""
    assert {"daqp", "proxqp", "osqp"} <= set(installed())
    assert [make_solver(name).name for name in installed()] == list(installed())


# --- what is defined although it looks empty ----------------------------------------------------------------


@pytest.mark.parametrize("robot", [r6(), c2(), pendulum(), planar_arm(), slider()], ids=lambda robot: robot.name)
@pytest.mark.parametrize("method", ["auto", "closed_form", "qp"])
def test_the_torque_of_an_empty_stack_is_h(robot: Robot, method: Any) -> None:
    """Bad input: an empty stack is defined: gravity and bias compensation, v̇ = 0; here in motion."""
    rng = np.random.default_rng(5)
    q = pin.integrate(robot.model, robot.home, rng.normal(size=robot.nv))
    v = rng.normal(size=robot.nv)
    command = Controller(robot, Stack(), method=method).tick(State(q, v))
    h = pin.nonLinearEffects(robot.model, robot.model.createData(), q, v)
    assert np.abs(command.torque - h).max() < SAME * max(1.0, np.abs(h).max())
    assert np.abs(command.acceleration).max() < SAME
    assert command.report.status is wbc.Status.OPTIMAL


# --- kinds of numbers ---------------------------------------------------------------------------------------


def all_tasks(convert: Callable[[np.ndarray], Any]) -> Controller:
    """A stack in which every array that a user can hand in has gone through ``convert``."""
    rotation = pin.exp3(np.array([0.5, 0.25, -0.5])).astype(np.float32).astype(np.float64)
    arm = pose(
        gains=Gains(convert(np.array([64.0, 32, 16, 8, 4, 2])), convert(np.full(6, 8.0))), mask=convert(np.ones(6))
    )
    target = np.eye(4)
    target[:3, :3], target[:3, 3] = rotation, (0.25, -0.5, 1.5)
    arm.target = convert(target)
    arm.target_velocity, arm.target_acceleration = convert(np.arange(6.0)), convert(-np.arange(6.0))
    tray = UprightTask(
        "tray", frame="elbow_joint", axis=convert(np.array([0.0, 1, 0])), direction=convert(np.array([0, 0.5, 1]))
    )
    posture = PostureTask("posture", target=convert(np.full(6, 0.125)))
    rest = TorqueTask("rest", target=convert(np.linspace(-1, 1, 6).astype(np.float32).astype(np.float64)))
    return control(
        arm,
        nominal=[posture, rest],
        soft=[(tray, 0.5)],
        limits=[JointLimits(acceleration=convert(np.full(6, 512.0))), TorqueLimits()],
        metric=convert(np.diag([1.0, 2, 4, 8, 16, 32])),
    )


def strided(a: np.ndarray) -> np.ndarray:
    """The same numbers in every other place of a larger array, filled with NaN."""
    larger = np.full([2 * n for n in a.shape], NAN)
    view = larger[tuple([slice(None, None, 2)] * a.ndim)]
    view[...] = a
    return view


@pytest.mark.parametrize(
    "convert",
    [
        lambda a: a.astype(np.float32),
        lambda a: a.tolist(),
        strided,
        np.asfortranarray,
        lambda a: a[..., ::-1].copy()[..., ::-1],
        lambda a: a.astype(">f8"),
        lambda a: a.astype(object),
    ],
    ids=["float32", "lists", "strided", "column-major", "reversed view", "big-endian", "objects"],
)
def test_every_kind_of_numbers_gives_the_same_torque_bit_by_bit(convert: Callable[[np.ndarray], Any]) -> None:
    """Bad input, last line: the numbers are exact in float32, so that nothing may differ at all."""
    q, v = (np.float32(x).astype(np.float64) for x in (S_A.q, S_A.v))
    reference_torque = all_tasks(lambda a: a).tick(State(q, v)).torque
    assert np.array_equal(all_tasks(convert).tick(State(convert(q), convert(v))).torque, reference_torque)


def test_integers_are_numbers_too() -> None:
    """Integer configurations, gains, masks, weights and targets."""
    task = hand(gains=Gains(100, 20), mask=[True, True, True])
    task.target = (0, 0, 2)
    other = hand(gains=Gains(100.0, 20.0))
    other.target = (0.0, 0.0, 2.0)
    state = State([0, 1, 0, 1, 0, 0], np.array([1, 0, 0, 0, 0, 2]))
    assert np.array_equal(control(task).tick(state).torque, control(other).tick(State(state.q, state.v)).torque)


# --- arrays in and out --------------------------------------------------------------------------------------


def test_arrays_that_were_handed_in_may_be_overwritten_afterwards() -> None:
    """DESIGN: arrays handed in are copied, every one of them."""
    given: list[np.ndarray] = []

    def keep(a: np.ndarray) -> np.ndarray:
        given.append(np.array(a))
        return given[-1]

    controller, untouched = all_tasks(keep), all_tasks(np.array)
    q, v = S_A.q.copy(), S_A.v.copy()
    state = State(q, v)
    for array in (*given, q, v):
        array[...] = NAN
    assert np.array_equal(controller.tick(state).torque, untouched.tick(S_A).torque)


def test_a_pose_given_as_a_pinocchio_object_is_copied_too() -> None:
    """DESIGN: the same for pin.SE3 and pin.Quaternion, which are mutable."""
    place = pin.SE3(pin.exp3(np.array([0.1, 0.2, 0.3])), np.array([0.1, 0.2, 1.5]))
    task, kept = pose(), place.copy()
    task.target = place
    place.translation[:] = 9.0
    place.rotation[:] = -np.eye(3)
    assert task.target.isApprox(kept, SAME)


def test_arrays_that_are_handed_out_are_the_callers_own() -> None:
    """DESIGN: overwriting what a getter, a command or a report gave changes nothing, now or at the next tick."""
    task = PostureTask("posture", target=np.full(6, 0.1))
    controller = control(hand(), nominal=task, soft=[(turned_soft(), 1.0)])
    untouched = control(hand(), nominal=PostureTask("posture", target=np.full(6, 0.1)), soft=[(turned_soft(), 1.0)])
    for _ in range(3):
        command, expected = controller.tick(S_A), untouched.tick(S_A)
        assert np.array_equal(command.torque, expected.torque)
        assert np.array_equal(command.acceleration, expected.acceleration)
        wanted = expected.report.tasks["hand"]
        command.torque[:] = NAN
        command.acceleration[:] = NAN
        task.target[:] = NAN
        controller.errors()["hand"][:] = NAN
        found = command.report.tasks["hand"]
        assert np.array_equal(found.asked, wanted.asked) and np.array_equal(found.got, wanted.got)
        for array in (found.asked, found.got, found.missed, found.force):
            array[:] = NAN
        assert np.isfinite(controller.errors()["hand"]).all()


def turned_soft() -> OrientationTask:
    return OrientationTask("turn", frame=TOOL)


def test_a_command_is_not_overwritten_by_the_next_tick() -> None:
    """DESIGN: command and report keep their own copies, whatever comes after."""
    controller = control(hand(), limits=[TorqueLimits()])
    first = controller.tick(S_A)
    torque, vdot, got = first.torque.copy(), first.acceleration.copy(), first.report.tasks["hand"].got.copy()
    late = controller.tick(UP)
    fresh = control(hand(), limits=[TorqueLimits()]).tick(S_A)
    controller.tick(State(-S_A.q, S_A.v))
    assert np.array_equal(first.torque, torque) and np.array_equal(first.acceleration, vdot)
    assert np.array_equal(first.report.tasks["hand"].got, got)
    assert first.report.explain() and late.report.explain()
    assert np.array_equal(fresh.torque, torque)


def test_no_array_of_a_robot_can_be_written_to() -> None:
    """A robot is handed to many controllers: none may change its limits for the others."""
    for robot in (r6(), r6().scaled(torque=0.5)):
        for name in ("home", "torque_limits", "position_limits", "velocity_limits", "actuated"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(robot, name)[...] = 0


def test_gains_do_not_change_behind_a_tasks_back() -> None:
    """Two tasks may share one Gains: it is a value, and says how to give a task another."""
    rows = np.array([1.0, 2.0, 3.0])
    gains = Gains(rows, 1.0)
    rows[:] = 99.0
    assert np.array_equal(gains.kp, (1.0, 2.0, 3.0))
    with pytest.raises(AttributeError, match=r"task\.gains"):
        gains.kp = 5.0  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        gains.kp[0] = 5.0  # type: ignore[index]


# --- signatures ---------------------------------------------------------------------------------------------


def public() -> list[tuple[str, Any]]:
    """Every public function, class and method of the package's public modules."""
    found = [("load", load)]
    for module in (wbc, tasks, reference, wbc.gauss, wbc.osc):
        names = getattr(module, "__all__", None) or [
            n for n, o in vars(module).items() if getattr(o, "__module__", "") == module.__name__ and n[0] != "_"
        ]
        for name in names:
            thing = getattr(module, name)
            if not callable(thing):
                continue
            found.append((name, thing))
            if inspect.isclass(thing):
                methods = [n for n in dir(thing) if n[0] != "_" and inspect.isfunction(getattr(thing, n))]
                found += [(f"{name}.{n}", getattr(thing, n)) for n in methods]
    return found


def entered(context: Any) -> None:
    """A context once entered and left."""
    with context:
        pass


FLAGS: dict[str, Callable[[Any], Any]] = {
    "position": lambda value: JointLimits(position=value),
    "velocity": lambda value: JointLimits(velocity=value),
    "progress": lambda value: wbc.simulate(control(), 0.001, physics="pinocchio", progress=value),
    "realtime": lambda value: wbc.simulate(control(), 0.001, physics="pinocchio", progress=False, realtime=value),
    "collection": lambda value: entered(wbc.realtime(collection=value)),
}


def test_every_optional_argument_of_the_public_api_is_keyword_only() -> None:
    """E12: nothing can slip into another argument's place."""
    positional = []
    for name, thing in public():
        try:
            parameters = inspect.signature(thing).parameters.values()
        except ValueError:  # an exception's or enum's own constructor
            continue
        if name in ("Status", "WbcError") or name.startswith(("Status.", "WbcError.")):
            continue
        positional += [
            f"{name}({p.name})"
            for p in parameters
            if p.default is not p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY)
        ]
    assert not positional, positional


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("value", [1, 0, "yes", None, [True], np.ones(6)], ids=repr)
def test_a_flag_takes_nothing_but_true_and_false(flag: str, value: Any) -> None:
    """E12: a truthy object that meant another argument is refused with a TypeError that names the flag."""
    with pytest.raises(TypeError, match=flag):
        FLAGS[flag](value)
    FLAGS[flag](False)


def test_the_table_of_flags_has_every_flag_of_the_public_api() -> None:
    """E12: whoever adds a flag adds it here."""
    flags = {
        p.name
        for name, thing in public()
        if inspect.isfunction(thing) or (inspect.isclass(thing) and name not in ("Recording", "Status", "WbcError"))
        for p in inspect.signature(thing).parameters.values()
        if p.annotation in (bool, "bool")
    }
    assert flags == set(FLAGS)


def test_state_vectors_may_be_given_by_name() -> None:
    """K10: vectors of one type are told apart by their names."""
    assert np.array_equal(State(v=S_A.v, q=S_A.q).q, S_A.q)


def test_errors_are_value_errors_of_one_family() -> None:
    """DESIGN: errors derive from WbcError, and from ValueError as well."""
    for error in (InputError, UnknownNameError, RobotError, StackError, NotInstalledError):
        assert issubclass(error, WbcError) and issubclass(error, ValueError)


def test_a_continuous_joint_takes_a_unit_pair_and_never_normalises_it() -> None:
    """DESIGN: off by less than 1e-6 it is taken as it is; off by more it is refused."""
    controller = control(robot=c2())
    controller.tick(c2_state(1.0, 0.2))
    near = c2_state(1.0, 0.2).q
    near[:2] *= 1.0 + 1e-7
    controller.tick(State(near, np.zeros(2)))
    near[:2] *= 1.0 + 1e-5
    with pytest.raises(InputError, match=r"\(cos, sin\)"):
        controller.tick(State(near, np.zeros(2)))


# --- attributes, and names in what is handed out ------------------------------------------------------------


class Own(MotionTask):
    """A user's own task, with an attribute of each kind: of ``__init__``, declared, private."""

    dim = 1
    note: str

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.height = 0.5

    def kinematics(self, terms: Any) -> wbc.Kinematics:
        self.note, self.height, self._seen = "seen", 0.25, True
        J = np.zeros((1, terms.robot.nv))
        J[0, 0] = 1.0
        return wbc.Kinematics(np.zeros(1), -J @ terms.v, J, np.zeros(1))


def test_a_task_of_ones_own_sets_what_it_declares_and_whatever_is_private() -> None:
    """In ``__init__``, from its methods and from outside; what it neither declares nor sets is refused there too."""
    task = Own("own")
    task.height = 1.0
    controller = control(task)
    controller.tick(S_A)
    assert (task.note, task.height, task._seen) == ("seen", 0.25, True)
    with pytest.raises(UnknownNameError, match=r"'heigt'.*'own'.*'height'.*__init__"):
        task.heigt = 2.0  # type: ignore[attr-defined]
    assert not hasattr(task, "heigt")


def test_a_subclass_of_a_subclass_is_open_until_its_own_constructor_is_through() -> None:
    class More(Own):
        def __init__(self) -> None:
            super().__init__("more")
            self.depth = 3.0

    task = More()
    task.depth = 4.0
    with pytest.raises(UnknownNameError, match="'depth'"):
        task.dept = 5.0  # type: ignore[attr-defined]
    assert list(inspect.signature(PositionTask).parameters) == [
        "name",
        "frame",
        "gains",
        "mask",
        "mask_frame",
        "weighting",
    ]


def test_a_copy_of_a_task_refuses_what_the_task_refuses() -> None:
    duplicate = copy.copy(hand())
    duplicate.target = (0.1, 0.2, 0.3)
    with pytest.raises(UnknownNameError, match="'target'"):
        duplicate.targt = (0.1, 0.2, 0.3)  # type: ignore[attr-defined]


def test_a_refused_assignment_leaves_a_contact_as_it_was() -> None:
    contact = sole()
    with pytest.raises(InputError):
        contact.gains = Gains([1.0, 2.0], 1.0)
    with pytest.raises(InputError):
        contact.half_size = (1.0, 1.0)
    contact.half_size[0] = 7.0  # a copy
    assert contact.half_size.tolist() == [0.1, 0.05]
    assert (contact.friction, contact.gains.kp) == (0.7, 100.0)


def test_the_gains_of_a_contact_act_from_the_next_tick_on() -> None:
    """They may be assigned at any time: the rows are those of a contact that was made with them."""
    robot = r6()
    after, made = (
        PointContact("tip", frame=TOOL, friction=None, gains=gains) for gains in (None, Gains.critical(400.0))
    )
    terms = wbc.Terms(robot, 0.001)
    terms.update(S_A)
    before = after.rows(terms).b
    after.gains = Gains.critical(400.0)
    assert np.array_equal(after.rows(terms).b, made.rows(terms).b)
    assert np.abs(after.rows(terms).b - before).max() > 1e-3  # m/s²: S_A moves, so that kd shows


def test_what_is_read_by_name_is_a_dict_that_refuses_a_mistyped_name_in_a_sentence() -> None:
    """report.tasks, command.wrenches and a recording's tables: ``in``, ``get``, iteration, equality as in a dict."""
    robot = r6()
    tip = PointContact("tip", frame=TOOL, friction=None)
    stack = Stack(contacts=[tip], soft=[(PositionTask("elbow", frame="elbow_joint"), 1.0)])
    command = Controller(robot, stack).tick(S_A)
    n = 3
    recording = Recording(
        time=np.arange(n) * 0.001,
        q=np.zeros((n, 6)),
        v=np.zeros((n, 6)),
        torque=np.zeros((n, 6)),
        error={"elbow": np.zeros((n, 3))},
        wrenches={"tip": np.zeros((n, 3))},
        measured_wrenches={"tip": np.zeros((n, 3))},
        status=np.full(n, "OPTIMAL"),
        tick_us=np.zeros(n),
        dt=0.001,
        joint_names=robot.joint_names,
        torque_limits=robot.torque_limits,
        velocity_names=robot.velocity_names,
        velocity_limits=robot.velocity_limits,
    )
    tables: list[tuple[Any, str, str]] = [
        (command.report.tasks, "elbow", "task 'elbo' does not exist in the report"),
        (command.report.wrenches, "tip", "contact 'ti' does not exist in the report"),
        (command.wrenches, "tip", "contact 'ti' does not exist in the command"),
        (recording.error, "elbow", "task 'elbo' does not exist in the recording's error"),
        (recording.wrenches, "tip", "contact 'ti' does not exist in the recording's wrenches"),
        (recording.measured_wrenches, "tip", "foot 'ti' does not exist in the recording's measured_wrenches"),
    ]
    for table, name, words in tables:
        with pytest.raises(KeyError) as refusal:
            table[name[:-1]]
        assert isinstance(refusal.value, WbcError)
        assert words in str(refusal.value)
        assert f"did you mean {name!r}?" in str(refusal.value)
        assert isinstance(table, dict)
        assert name in table and name[:-1] not in table
        assert table.get(name[:-1]) is None
        assert list(table) == [name]
        assert table[name] is not None
        kept = pickle.loads(pickle.dumps(table))
        with pytest.raises(UnknownNameError, match=words):
            kept[name[:-1]]
