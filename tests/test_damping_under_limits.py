"""Sweeps into and through singular poses while limits are active: both routes agree, torques bounded and continuous.

Field reports B01, B02, B04 and B06 (see ``test_damping.py`` for what they say without limits), on fixed and floating
bases. Continuity is judged by halving the grid: what is continuous has steps half as large then, and a jump keeps its
size. The level's own rows decide where it holds: under a strict order a level below one that limits hold back may jump
(its feasible set is a face of the limits, which changes at once), so that sweeps have one strict level.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from arms import LENGTHS, arm, gap, hand
from standing import robot_or_skip

from tests.fixtures import quiet
from wbc import Command, Controller, Gains, Robot, Stack, State, Status
from wbc.hierarchy.damping import threshold
from wbc.solvers import installed
from wbc.tasks import ComTask, JointLimits, PointContact, PoseTask, PostureTask, SurfaceContact, TorqueLimits

AGREE = 1e-9  # N m, both routes
HALVED = 0.7  # of the largest step on a grid twice as fine; a slope gives 0.5, a jump 1
LARGEST = 1.09  # of the damped inverse, over σ₀
NEVER = 1e3  # on torque limits: rows that are there and never active
H34_FEET = ("rleg_effector_body", "lleg_effector_body")
TURN = pin.SE3(pin.exp3(np.array([0.0, 0.0, 0.7])), np.array([0.3, -0.2, 0.1]))


def along(robot: Robot, q: np.ndarray, joints: dict[str, float], ends: tuple[float, float]) -> Callable[[int], Any]:
    """States at rest on a line of joint angles, by the number of them."""
    direction = np.zeros(robot.nv)
    for name, share in joints.items():
        direction[robot.model.joints[robot.model.getJointId(name)].idx_v] = share
    rest = np.zeros(robot.nv)
    return lambda n: [State(pin.integrate(robot.model, q, x * direction), rest) for x in np.linspace(*ends, n)]


@dataclass(frozen=True, slots=True)
class Sweep:
    """One sweep, and what the robot is asked there.

    Args:
        robot: whose torque limits are multiplied by ``scale``.
        states: of the sweep, by their number.
        stack: makes the stack, for limits at a scale.
        scale: of the torque limits; they are active in a part of the sweep.
    """

    robot: Robot
    states: Callable[[int], Any]
    stack: Callable[[float], Stack]
    scale: float


def of_an_arm(name: str, q: Any, joints: tuple[int, ...], scale: float, ends: tuple[float, float]) -> Sweep:
    """Towards a singular pose and out again, or to the end of the joint, the hand asked for the same all the time."""
    robot = arm(name)

    def stack(scale: float) -> Stack:
        task = PoseTask("hand", frame=hand(name), gains=Gains(0.0, 0.0))
        task.target_acceleration = (3.0, 1.0, 2.0, 0.5, -0.5, 0.3)
        nominal = PostureTask("posture", target=robot.home, gains=Gains(2.0, 3.0))
        return Stack(nominal=nominal, strict=[task], limits=[TorqueLimits(scale=scale), JointLimits()])

    names = {robot.joint_names[j]: 1.0 for j in joints}
    return Sweep(robot, along(robot, np.array(q, dtype=float), names, ends), stack, scale)


def of_a_humanoid(robot: Robot, contacts: Callable[[], list[Any]], q: np.ndarray, joints: Any, scale: float) -> Sweep:
    """Knees from straight to bent, heading anywhere, while the centre of mass shall rise."""

    def stack(scale: float) -> Stack:
        com = ComTask("com", gains=Gains(0.0, 0.0))
        com.target_acceleration = (0.3, 0.2, 2.0)
        nominal = PostureTask("posture", target=robot.home, gains=Gains(2.0, 3.0))
        limits = [TorqueLimits(scale=scale), JointLimits()]
        return Stack(nominal=nominal, contacts=contacts(), strict=[com], limits=limits)

    q = q.copy()
    q[:7] = pin.SE3ToXYZQUAT(TURN * pin.XYZQUATToSE3(q[:7]))
    return Sweep(robot, along(robot, q, joints, (1e-6, 0.2)), stack, scale)


def talos() -> Sweep:
    robot = robot_or_skip("talos")
    q, joints = robot.home.copy(), {}
    for side in ("left", "right"):
        for number, share in ((3, -0.5), (4, 1.0), (5, -0.5)):  # hip, knee and ankle: the foot stays flat
            name = f"leg_{side}_{number}_joint"
            q[robot.model.joints[robot.model.getJointId(name)].idx_q] = 0.0
            joints[name] = share
    return of_a_humanoid(robot, lambda: [robot.contact(foot, friction=0.7) for foot in robot.feet], q, joints, 0.3)


def h34() -> Robot:
    return quiet(Robot.from_pinocchio, pin.buildSampleModelHumanoid(), name="H34")


KNEES = {
    f"{side}leg_{joint}_joint": share
    for side in "rl"
    for joint, share in (("shoulder2", -0.5), ("elbow", 1.0), ("wrist1", -0.5))
}


def h34_sweep() -> Sweep:
    robot = h34()

    def feet() -> list[Any]:
        return [SurfaceContact(f, frame=f, half_size=(0.1, 0.05), friction=0.7) for f in H34_FEET]

    return of_a_humanoid(robot, feet, robot.home, KNEES, 0.6)


CONTINUOUS: dict[str, Callable[[], Sweep]] = {
    "R6, wrist": lambda: of_an_arm("R6", np.zeros(6), (3,), 3.0, (-0.2, 0.2)),
    "R6, straight": lambda: of_an_arm("R6", np.zeros(6), (1, 3), 3.0, (-0.2, 0.2)),
    "UR5, elbow": lambda: of_an_arm("ur5", (0.4, -0.9, 0.0, -0.7, 0.9, 0.2), (2,), 0.5, (-0.2, 0.2)),
    "UR5, wrist": lambda: of_an_arm("ur5", (0.4, -0.9, 1.1, -0.7, 0.0, 0.2), (4,), 0.25, (-0.2, 0.2)),
    "Talos, knees": talos,
}
JUMPING: dict[str, Callable[[], Sweep]] = {
    "Panda, elbow": lambda: of_an_arm("panda", (0.3, 0.0, 0.0, -0.46, 0.0, 0.0, 0.4), (3,), 0.3, (-0.2, 0.2)),
    "H34, knees": h34_sweep,
}
SWEEPS = {**CONTINUOUS, **JUMPING}


def run(sweep: Sweep, n: int, method: Any = "auto", scale: float | None = None) -> list[Command]:
    controller = Controller(sweep.robot, sweep.stack(sweep.scale if scale is None else scale), method=method)
    return [controller.tick(state) for state in sweep.states(n)]


def torques(commands: list[Command]) -> np.ndarray:
    return np.array([command.torque for command in commands])


@pytest.mark.parametrize("name", SWEEPS)
def test_both_routes_agree_and_stay_inside_limits_that_are_active_in_a_part_of_the_sweep(name: str) -> None:
    sweep = SWEEPS[name]()
    n = 21 if name.startswith("H34") else 61
    auto, qp = run(sweep, n), run(sweep, n, "qp")
    assert gap(torques(auto), torques(qp)) < AGREE
    assert (np.abs(torques(auto)) <= sweep.scale * sweep.robot.torque_limits + AGREE).all()
    assert all(command.report.status is not Status.FALLBACK for command in auto + qp)
    active = np.array([any(limit.limit == "torque" for limit in command.report.active) for command in auto])
    damped = np.array([any(task.damping > 0.0 for task in command.report.tasks.values()) for command in auto])
    assert active.sum() >= n // 10
    if name != "Talos, knees":  # its arms and trunk lift the centre of mass where straight legs cannot
        assert damped.sum() >= n // 10 and (active & damped).any() and (~active | ~damped).any()


@pytest.mark.parametrize("name", CONTINUOUS)
def test_under_limits_torques_are_continuous_along_the_sweep(name: str) -> None:
    sweep = CONTINUOUS[name]()
    coarse, fine = (np.abs(np.diff(torques(run(sweep, n)), axis=0)).max() for n in (101, 201))
    assert fine < HALVED * coarse


def test_where_a_redundant_arm_jumps_what_its_strict_level_reaches_does_not() -> None:
    """The order is strict: a limit that holds the hand back stays where it is, whatever that costs the level below.

    Where the motion that the hand leaves free hardly feels that limit (an algorithmic singularity, of limits and task
    together), least motion may be at one end of what is left or at the other. The hand's own miss is continuous.
    """
    sweep, steps, jumps = JUMPING["Panda, elbow"](), [], []
    for n in (101, 201):
        commands = run(sweep, n)
        missed = np.array([command.report.tasks["hand"].missed for command in commands])
        steps.append(np.abs(np.diff(missed, axis=0)).max())
        jumps.append(np.abs(np.diff(torques(commands), axis=0)).max())
    assert steps[1] < HALVED * steps[0]
    assert jumps[1] > 0.9 * jumps[0]  # if this ever fails, the sweep belongs to the continuous ones


@pytest.mark.parametrize("name", ["R6, wrist", "R6, straight", "UR5, elbow"])
def test_the_bound_on_the_constraint_force_holds_wherever_limits_leave_the_nominal_motion_alone(name: str) -> None:
    """‖C (v̇ − v̇₀)‖, in the directions of the task's rows, is at most 1.09 ‖r‖/σ₀, limits active or not.

    The limits then are a convex set that holds y = 0: the nearest point of it is no farther from zero.
    """
    sweep, active = CONTINUOUS[name](), 0
    sigma0 = threshold(sweep.robot.mass)
    for command in run(sweep, 61):
        p = command.report.problem
        nominal = p.limit_values(p.nominal, np.zeros(0), p.M @ p.nominal + p.h)
        if (nominal > p.upper).any() or (nominal < p.lower).any():
            continue
        active += bool(command.report.active)
        C = np.linalg.cholesky(p.M).T
        _, sigma, Vt = np.linalg.svd(np.linalg.solve(C.T, p.A[:6].T).T, full_matrices=False)
        y = Vt[sigma > 1e-9] @ (C @ (command.acceleration - p.nominal))
        r = LENGTHS * (p.A[:6] @ p.nominal + p.b[:6])
        assert np.linalg.norm(y) <= LARGEST * np.linalg.norm(r) / sigma0
    assert active >= 5


# B06: many contacts, and the same one twice


def h34_on_points() -> Robot:
    """H34 with frames at the corners of its soles: (y, z) = (±0.05, ±0.1) m of the foot's frame."""
    model = pin.buildSampleModelHumanoid()
    for foot in H34_FEET:
        frame = model.frames[model.getFrameId(foot)]
        for k, (y, z) in enumerate(((0.05, 0.1), (0.05, -0.1), (-0.05, 0.1), (-0.05, -0.1))):
            place = frame.placement * pin.SE3(np.eye(3), np.array([0.0, y, z]))
            model.addFrame(pin.Frame(f"{foot} {k}", frame.parentJoint, 0, place, pin.FrameType.OP_FRAME))
    return quiet(Robot.from_pinocchio, model, name="H34 on points")


def on_points(robot: Robot, *, twice: bool, scale: float, **arguments: Any) -> Controller:
    frames = [f"{foot} {k}" for foot in H34_FEET for k in range(4)]
    contacts = [PointContact(frame, frame=frame) for frame in frames]
    if twice:
        contacts.append(PointContact("again", frame=frames[0]))
    nominal = PostureTask("posture", target=robot.home, gains=Gains.critical(25.0))
    limits = [TorqueLimits(scale=scale), JointLimits()]
    return Controller(robot, Stack(nominal=nominal, contacts=contacts, limits=limits), **arguments)


def base_rows(command: Command) -> np.ndarray:
    p, f = command.report.problem, command.report.solution.f
    return (p.M @ command.acceleration + p.h - f @ p.J)[:6]


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("solver", installed())
def test_b06_every_solver_stands_on_eight_points_one_of_them_twice(solver: str, twice: bool) -> None:
    robot = h34_on_points()
    state = State(robot.home, np.zeros(robot.nv))
    command = on_points(robot, twice=twice, scale=1.0, method="qp", solver=solver).tick(state)
    assert command.report.status is Status.OPTIMAL
    assert np.abs(base_rows(command)).max() < 1e-6
    assert abs(sum(wrench[2] for wrench in command.wrenches.values()) - robot.weight) < 1e-5
    once = on_points(robot, twice=False, scale=1.0).tick(state)
    assert gap(command.acceleration, once.acceleration) < 1e-6
    assert gap(command.torque, once.torque) < 1e-6


def test_b06_points_that_are_listed_twice_are_solved_under_active_limits_by_both_routes_alike() -> None:
    robot, random, active = h34_on_points(), np.random.default_rng(7), 0
    for _ in range(8):
        q = pin.integrate(robot.model, robot.home, 0.02 * random.normal(size=robot.nv))
        state = State(q, 0.3 * random.normal(size=robot.nv))
        auto, qp = (on_points(robot, twice=True, scale=0.3, method=method).tick(state) for method in ("auto", "qp"))
        assert auto.report.status is not Status.FALLBACK
        assert gap(auto.torque, qp.torque) < AGREE
        assert np.abs(base_rows(auto)).max() < 1e-9 * robot.weight
        assert (np.abs(auto.torque) <= 0.3 * robot.torque_limits + AGREE).all()
        active += bool(auto.report.active)
    assert active >= 4
