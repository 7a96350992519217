"""Tasks of humanoids: CoM, momentum, relative pose, gaze, distance, wrench, masks in a frame of choice."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from wbc import Controller, Gains, Robot, Stack, State, Status, Terms
from wbc.errors import InputError, StackError, UnknownNameError
from wbc.task import MotionTask
from wbc.tasks import (
    ComTask,
    DistanceTask,
    GazeTask,
    MomentumTask,
    OrientationTask,
    PointContact,
    PoseTask,
    PositionTask,
    PostureTask,
    RelativePoseTask,
    SurfaceContact,
    TorqueLimits,
    TorqueTask,
    UprightTask,
    WrenchTask,
)

SLOPE = 1e-6  # relative: central differences with a step of 1e-5 s miss by 1e-10 curvature and 1e-16/1e-5 rounding
STEP = 1e-5  # s
DRIFT = 1e-5  # field report C12
ROUNDING = 1e-9  # relative to forces of some 100 N and accelerations of some 10 m/s²
SAME_MOTION = 1e-9  # m/s², DESIGN section 2: forces last
RIGHT, LEFT = "rarm_effector_body", "larm_effector_body"
FEET = ("rleg_effector_body", "lleg_effector_body")
SOLE = np.array([0.1, 0.05])


def quiet(model: Any, name: str) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Robot.from_pinocchio(model, name=name)


@functools.cache
def humanoid() -> Robot:
    return quiet(pin.buildSampleModelHumanoid(), "H34")


@functools.cache
def arm() -> Robot:
    return quiet(pin.buildSampleModelManipulator(), "R6")


ROBOTS = {"arm": arm, "humanoid": humanoid}
FRAMES = {"arm": ("effector_body", "upperarm_body"), "humanoid": (RIGHT, LEFT)}


def moving(robot: Robot, seed: int, *, spread: float = 1.0, speed: float = 1.0) -> State:
    """Anywhere near neutral, the base turned and moved too; pin.randomConfiguration gives NaN on free-flyers."""
    random = np.random.default_rng(seed)
    q = pin.integrate(robot.model, pin.neutral(robot.model), random.uniform(-spread, spread, robot.nv))
    return State(q, random.uniform(-speed, speed, robot.nv))


def standing(seed: int, *, speed: float = 0.1) -> State:
    """The humanoid on bent legs with its arms in front, in slow motion, its base upright."""
    robot, random = humanoid(), np.random.default_rng(seed)
    step = random.uniform(-0.3, 0.3, robot.nv)
    step[:6] = 0.0
    return State(pin.integrate(robot.model, pin.neutral(robot.model), step), speed * random.normal(size=robot.nv))


def terms_at(robot: Robot, state: State) -> Terms:
    terms = Terms(robot, 0.001)
    terms.update(state)
    return terms


def beside(robot: Robot, state: State, h: float, vdot: Any = 0.0) -> State:
    """The state a time h later, along a constant velocity plus the given acceleration."""
    return State(pin.integrate(robot.model, state.q, h * state.v), state.v + h * vdot)


def slope(function: Callable[[State], Any], robot: Robot, state: State, h: float = STEP) -> Any:
    """Central difference of a function along the motion at v̇ = 0."""
    return (function(beside(robot, state, h)) - function(beside(robot, state, -h))) / (2.0 * h)


def gap(a: Any, b: Any) -> float:
    return float(np.abs(np.subtract(a, b)).max(initial=0.0))


def relative(a: Any, b: Any) -> float:
    return gap(a, b) / (1.0 + float(np.abs(b).max(initial=0.0)))


def hands_gaze(frame: str) -> GazeTask:
    return GazeTask("gaze", frame=frame, axis=(0.3, -0.5, 0.8), target=(1.0, 0.5, 0.4))


TASKS: dict[str, Callable[[str, str], MotionTask]] = {
    "com": lambda frame, other: ComTask("com"),
    "angular momentum": lambda frame, other: MomentumTask("h"),
    "linear momentum": lambda frame, other: MomentumTask("h", kind="linear"),
    "momentum": lambda frame, other: MomentumTask("h", kind="both"),
    "relative pose": lambda frame, other: RelativePoseTask("rel", frame=frame, reference=other),
    "gaze": lambda frame, other: hands_gaze(frame),
    "distance of frames": lambda frame, other: DistanceTask("r", frame=frame, other=other),
    "distance of a point": lambda frame, other: DistanceTask("r", frame=frame, point=(1.0, 0.5, -0.4)),
}
ALL = pytest.mark.parametrize("make", TASKS.values(), ids=TASKS)
BOTH = pytest.mark.parametrize("name", ROBOTS)


# --- kinematics -------------------------------------------------------------------------------------------------------


@BOTH
@ALL
@pytest.mark.parametrize("seed", range(4))
def test_the_drift_is_the_change_of_J_v_along_the_motion(name: str, make: Any, seed: int) -> None:
    robot, task = ROBOTS[name](), make(*FRAMES[name])
    state = moving(robot, seed)
    assert (
        relative(
            task.kinematics(terms_at(robot, state)).Jdot_v,
            slope(lambda at: task.kinematics(terms_at(robot, at)).J @ state.v, robot, state),
        )
        < SLOPE
    )


@BOTH
@ALL
@pytest.mark.parametrize("seed", range(4))
def test_the_velocity_error_falls_by_J_vdot_plus_the_drift(name: str, make: Any, seed: int) -> None:
    robot, task = ROBOTS[name](), make(*FRAMES[name])
    state, vdot = moving(robot, seed), np.random.default_rng(seed).normal(size=robot.nv)

    def velocity(h: float) -> Any:
        return -task.kinematics(terms_at(robot, beside(robot, state, h, vdot))).velocity_error

    k = task.kinematics(terms_at(robot, state))
    assert relative(-k.velocity_error, k.J @ state.v) < 1e-12
    assert relative((velocity(STEP) - velocity(-STEP)) / (2 * STEP), k.J @ vdot + k.Jdot_v) < SLOPE


@BOTH
@pytest.mark.parametrize("kind", ["com", "relative pose", "distance of frames", "distance of a point"])
def test_the_error_falls_by_the_velocity_error(name: str, kind: str) -> None:
    robot, task = ROBOTS[name](), TASKS[kind](*FRAMES[name])
    state = moving(robot, 5)
    terms = terms_at(robot, state)
    task.kinematics(terms)  # holds what it sees here

    def error(at: State) -> Any:
        terms.update(at)
        return task.kinematics(terms).error

    terms.update(state)
    k = task.kinematics(terms)
    assert gap(k.error, 0.0) < 1e-12
    assert relative(slope(error, robot, state), k.velocity_error) < SLOPE


@BOTH
@pytest.mark.parametrize("seed", range(3))
def test_a_gaze_follows_a_point_that_moves(name: str, seed: int) -> None:
    robot = ROBOTS[name]()
    state, random = moving(robot, seed), np.random.default_rng(seed)
    p, dp, ddp = np.array((1.0, 0.5, 0.4)), random.normal(size=3), random.normal(size=3)
    task = hands_gaze(FRAMES[name][0])

    def velocity(h: float) -> Any:
        task.target, task.point_velocity = p + h * dp + 0.5 * h * h * ddp, dp + h * ddp
        return -task.kinematics(terms_at(robot, beside(robot, state, h))).velocity_error

    drift = (velocity(STEP) - velocity(-STEP)) / (2 * STEP)
    task.target, task.point_velocity, task.point_acceleration = p, dp, ddp
    assert relative(task.kinematics(terms_at(robot, state)).Jdot_v, drift) < SLOPE


@BOTH
def test_com_and_momentum_terms_are_pinocchio_s_and_symmetric_and_repeat_bitwise(name: str) -> None:
    robot = ROBOTS[name]()
    for seed in range(5):
        state = moving(robot, seed)
        one, two = terms_at(robot, state), terms_at(robot, state)
        two.frame(FRAMES[name][0])
        assert two.momentum.A.shape == (6, robot.nv)  # another order of asking
        assert np.array_equal(one.M, one.M.T)
        for a, b in ((one.com, two.com), (one.momentum, two.momentum)):
            for slot in a.__slots__:
                assert np.array_equal(getattr(a, slot), getattr(b, slot)), slot
        data = robot.model.createData()
        assert gap(one.com.position, pin.centerOfMass(robot.model, data, state.q, state.v)) < 1e-12
        assert gap(one.com.velocity, data.vcom[0]) < 1e-12
        assert gap(one.momentum.momentum, pin.computeCentroidalMomentum(robot.model, data, state.q, state.v)) < 1e-12
        assert relative(one.momentum.A @ state.v, one.momentum.momentum) < 1e-12
        assert one.com is one.com and one.momentum is one.momentum
        drift = slope(lambda at: terms_at(robot, at).com.J @ state.v, robot, state)  # noqa: B023
        assert gap(one.com.Jdot_v, drift) < DRIFT


@BOTH
def test_frames_are_the_same_whether_com_and_momentum_are_asked_before_or_after(name: str) -> None:
    robot, frame = ROBOTS[name](), FRAMES[name][0]
    state = moving(robot, 3)
    plain, before, between = (terms_at(robot, state) for _ in range(3))
    asked = [before.momentum, before.com, between.com, between.frame(FRAMES[name][1]), between.momentum]
    assert len(asked) == 5
    for terms in (before, between):
        for slot in ("J", "Jdot_v", "position", "rotation", "velocity"):
            assert np.array_equal(getattr(plain.frame(frame), slot), getattr(terms.frame(frame), slot)), slot
    after = terms_at(robot, state)
    after.frame(frame)
    assert np.array_equal(after.com.Jdot_v, before.com.Jdot_v)
    assert np.array_equal(after.momentum.A, before.momentum.A)


def test_com_terms_count_a_base_that_does_not_move() -> None:
    from wbc.robots import load

    robot = load("ur5")
    state = moving(robot, 1)
    terms = terms_at(robot, state)
    assert relative(slope(lambda at: terms_at(robot, at).com.position, robot, state), terms.com.J @ state.v) < SLOPE


def test_terms_without_a_state_say_so() -> None:
    for name in ("com", "momentum"):
        with pytest.raises(InputError, match="no state yet"):
            getattr(Terms(arm(), 0.001), name)


def test_com_velocity_of_a_base_that_is_yawed_is_in_the_world() -> None:
    robot = humanoid()
    q = pin.neutral(robot.model)
    q[3:7] = pin.Quaternion(pin.exp3(np.array((0.0, 0.0, np.pi / 2)))).coeffs()
    v = np.zeros(robot.nv)
    v[0] = 1.0
    assert gap(terms_at(robot, State(q, v)).com.velocity, (0.0, 1.0, 0.0)) < 1e-12  # field report D09


# --- physics ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_in_free_fall_only_gravity_changes_the_momentum(seed: int) -> None:
    robot = humanoid()
    state = moving(robot, seed)
    tau = np.r_[np.zeros(6), np.random.default_rng(seed).normal(size=28)]
    vdot = pin.aba(robot.model, robot.model.createData(), state.q, state.v, tau)
    terms = terms_at(robot, state)
    rate = terms.momentum.A @ vdot + terms.momentum.Adot_v
    assert gap(rate, [0.0, 0.0, -9.81 * robot.mass, 0.0, 0.0, 0.0]) < 1e-8
    assert gap(terms.com.J @ vdot + terms.com.Jdot_v, [0.0, 0.0, -9.81]) < 1e-9


def test_contact_forces_and_weight_make_the_rate_of_momentum() -> None:
    robot, state = humanoid(), standing(4)
    command = Controller(robot, stance(soft=[(MomentumTask("h", kind="both", gains=Gains(0.0, 5.0)), 1.0)])).tick(state)
    terms = terms_at(robot, state)
    rate = np.array([0.0, 0.0, -9.81 * robot.mass, 0.0, 0.0, 0.0])
    for frame in FEET:
        wrench = command.wrenches[frame]
        rate[:3] += wrench[:3]
        rate[3:] += wrench[3:] + np.cross(terms.frame(frame).position - terms.com.position, wrench[:3])
    assert gap(command.report.tasks["h"].got, rate) < 1e-8


def test_a_momentum_task_asks_for_kd_times_its_gap_and_reports_the_gap_as_its_error() -> None:
    robot, state = humanoid(), moving(humanoid(), 2)
    task = MomentumTask("h", kind="both", gains=Gains(100.0, 7.0))
    task.target, task.target_acceleration = [1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]
    controller = Controller(robot, Stack(soft=[(task, 1.0)]))
    report = controller.tick(state).report
    missing = np.arange(1.0, 7.0) - terms_at(robot, state).momentum.momentum
    assert relative(report.tasks["h"].asked, 7.0 * missing + np.arange(6.0, 0.0, -1.0)) < 1e-12
    assert relative(controller.errors()["h"], missing) < 1e-12


def test_a_robot_in_the_air_cannot_change_its_angular_momentum_and_says_that_no_motor_could() -> None:
    """Nothing outside acts, so that the angular momentum stays: the task can only ask for what physics gives."""
    robot, state = humanoid(), moving(humanoid(), 7, speed=0.3)
    command = Controller(robot, Stack(strict=[MomentumTask("h", gains=Gains(0.0, 0.0))])).tick(state)
    assert command.report.status is Status.OPTIMAL
    command = Controller(robot, Stack(strict=[MomentumTask("h", gains=Gains(0.0, 1.0))])).tick(state)
    assert "no motor" in command.report.tasks["h"].because


def test_a_com_task_brings_the_com_where_it_is_asked_to_be() -> None:
    robot, state = humanoid(), standing(1, speed=0.0)
    task = ComTask("com", gains=Gains.critical(100.0))
    controller = Controller(robot, stance(strict=[task]), dt=0.005)
    start = terms_at(robot, state).com.position
    task.target = np.add(start, (0.01, 0.02, -0.03))
    for _ in range(300):
        vdot = controller.tick(state).acceleration
        v = state.v + 0.005 * vdot
        state = State(pin.integrate(robot.model, state.q, 0.005 * v), v)
    assert gap(terms_at(robot, state).com.position, task.target) < 1e-4


# --- geometry ---------------------------------------------------------------------------------------------------------


def test_a_relative_pose_is_that_of_one_hand_in_the_other_and_does_not_care_where_the_robot_is() -> None:
    robot = humanoid()
    task = RelativePoseTask("rel", frame=RIGHT, reference=LEFT)
    task.target = pin.SE3(pin.exp3(np.array((0.1, -0.2, 0.3))), np.array((0.1, 0.2, 0.3)))
    state = moving(robot, 3)
    terms = terms_at(robot, state)
    poses = [pin.SE3(terms.frame(f).rotation, terms.frame(f).position) for f in (RIGHT, LEFT)]
    seen = poses[1].actInv(poses[0])
    k = task.kinematics(terms)
    assert gap(k.error[:3], task.target.translation - seen.translation) < 1e-12
    assert gap(k.error[3:], pin.log3(task.target.rotation @ seen.rotation.T)) < 1e-12
    assert gap(k.J[:, :6], 0.0) < 1e-12  # moving the base as a whole changes nothing
    elsewhere = np.array(state.q)
    elsewhere[:7] = pin.neutral(robot.model)[:7]
    still = np.array(state.v)
    still[:6] = 0.0
    other = task.kinematics(terms_at(robot, State(elsewhere, still)))
    for slot in ("error", "velocity_error", "J", "Jdot_v"):
        assert relative(getattr(other, slot), getattr(k, slot)) < 1e-12, slot


def test_two_hands_keep_their_relative_pose_while_the_whole_body_moves() -> None:
    robot, state = humanoid(), standing(2, speed=0.0)
    grip = RelativePoseTask("grip", frame=RIGHT, reference=LEFT, gains=Gains.critical(400.0))
    lead = PositionTask("lead", frame=LEFT)
    stack = stance(strict=[[grip], [lead]])
    controller = Controller(robot, stack, dt=0.002)
    terms = terms_at(robot, state)
    lead.target = np.add(terms.frame(LEFT).position, (0.05, 0.02, 0.1))

    def seen(at: State) -> Any:
        terms.update(at)
        a, b = (pin.SE3(terms.frame(f).rotation, terms.frame(f).position) for f in (LEFT, RIGHT))
        return a.actInv(b).homogeneous

    before = seen(state)
    for _ in range(300):
        v = state.v + 0.002 * controller.tick(state).acceleration
        state = State(pin.integrate(robot.model, state.q, 0.002 * v), v)
        assert gap(seen(state), before) < 2e-3  # of one 2 ms step at up to 1 m/s
    assert gap(terms.frame(LEFT).position, lead.target) < 0.02


def test_a_gaze_error_is_the_angle_to_the_point_and_zero_where_the_axis_meets_it() -> None:
    robot, state = humanoid(), moving(humanoid(), 4)
    frame = terms_at(robot, state).frame(RIGHT)
    axis = np.array((0.3, -0.5, 0.8)) / np.linalg.norm((0.3, -0.5, 0.8))
    task = GazeTask("gaze", frame=RIGHT, axis=2.0 * axis, target=frame.position + 3.0 * frame.rotation @ axis)
    assert gap(task.kinematics(terms_at(robot, state)).error, 0.0) < 1e-9
    across = frame.rotation @ np.cross(axis, (1.0, 0.0, 0.0))
    for angle in (1e-6, 0.5, 2.0, 3.1):
        turned = pin.exp3(angle * across / np.linalg.norm(across)) @ frame.rotation @ axis
        task.target = frame.position + 0.7 * turned
        assert abs(np.linalg.norm(task.kinematics(terms_at(robot, state)).error) - angle) < 1e-9
    task.target = frame.position - frame.rotation @ axis
    assert abs(np.linalg.norm(task.kinematics(terms_at(robot, state)).error) - np.pi) < 1e-9
    task.target = frame.position  # the point at the origin of the frame: no direction, but no harm
    rows = task.rows(terms_at(robot, state))
    assert np.isfinite(rows.A).all() and np.isfinite(rows.b).all()


def test_a_gaze_on_a_point_far_away_is_an_upright_task() -> None:
    robot, state = humanoid(), moving(humanoid(), 4)
    direction = np.array((0.6, 0.0, 0.8))
    far = GazeTask("gaze", frame=RIGHT, axis=(1, 2, 3), target=1e9 * direction).kinematics(terms_at(robot, state))
    upright = UprightTask("up", frame=RIGHT, axis=(1, 2, 3), direction=direction).kinematics(terms_at(robot, state))
    for slot in ("error", "velocity_error", "J", "Jdot_v"):
        assert gap(getattr(far, slot), getattr(upright, slot)) < 1e-7, slot


def test_a_gaze_without_a_target_keeps_looking_at_the_point_one_metre_ahead() -> None:
    robot, state = arm(), moving(arm(), 1)
    terms = terms_at(robot, state)
    task = GazeTask("gaze", frame="effector_body", axis=(0, 1, 0))
    assert gap(task.kinematics(terms).error, 0.0) < 1e-12
    ahead = terms.frame("effector_body").position + terms.frame("effector_body").rotation[:, 1]
    terms.update(moving(arm(), 2))
    assert gap(task.kinematics(terms).error, _with(task, target=ahead).kinematics(terms).error) == 0.0


def _with(task: GazeTask, target: Any) -> GazeTask:
    return GazeTask("other", frame=task.frame, axis=task.axis, target=target)


def test_a_gaze_turns_an_arm_until_it_looks_at_the_point() -> None:
    robot, state = arm(), State(moving(arm(), 6).q, np.zeros(6))
    task = GazeTask("gaze", frame="effector_body", axis=(1, 0, 0), target=(0.5, 1.0, 0.3))
    controller = Controller(robot, Stack(nominal=PostureTask("p"), strict=[task]), dt=0.005)
    for _ in range(400):
        v = state.v + 0.005 * controller.tick(state).acceleration
        state = State(pin.integrate(robot.model, state.q, 0.005 * v), v)
    assert np.linalg.norm(controller.errors()["gaze"]) < 1e-4


def test_distances_are_those_of_the_origins() -> None:
    robot, state = humanoid(), moving(humanoid(), 8)
    terms = terms_at(robot, state)
    right, left = terms.frame(RIGHT).position, terms.frame(LEFT).position
    apart = DistanceTask("r", frame=RIGHT, other=LEFT, target=0.2)
    assert gap(apart.kinematics(terms).error, 0.2 - np.linalg.norm(right - left)) < 1e-12
    assert gap(apart.kinematics(terms).J[:, :6], 0.0) < 1e-12
    point = DistanceTask("r", frame=RIGHT, point=(1, 2, 3))
    point.target = 0.5
    assert point.target == 0.5 and isinstance(point.target, float)
    assert gap(point.kinematics(terms).error, 0.5 - np.linalg.norm(right - (1, 2, 3))) < 1e-12
    point.target_velocity = 0.25
    assert gap(point.kinematics(terms).velocity_error + point.kinematics(terms).J @ state.v, 0.25) < 1e-12
    point.point = right  # at the point itself there is no direction, but no harm
    rows = point.rows(terms)
    assert np.isfinite(rows.A).all() and np.isfinite(rows.b).all()


# --- masks in a frame of choice ---------------------------------------------------------------------------------------

MASKED: dict[str, Callable[..., MotionTask]] = {
    "position": lambda **k: PositionTask("t", frame=RIGHT, **k),
    "orientation": lambda **k: OrientationTask("t", frame=RIGHT, **k),
    "pose": lambda **k: PoseTask("t", frame=RIGHT, **k),
    "com": lambda **k: ComTask("t", **k),
    "momentum": lambda **k: MomentumTask("t", kind="both", **k),
}


@pytest.mark.parametrize("make", MASKED.values(), ids=MASKED)
def test_a_mask_in_a_frame_keeps_the_rows_along_the_axes_of_that_frame(make: Any) -> None:
    state = moving(humanoid(), 9)
    terms = terms_at(humanoid(), state)
    R = terms.frame(LEFT).rotation
    plain, dim = make(), make().dim
    mask = [1, 0, 1, 0, 1, 0][:dim]
    turned = make(mask=mask, mask_frame=LEFT)
    for task in (plain, turned):
        task.target_acceleration = np.arange(1.0, dim + 1.0)
    whole, some = plain.rows(terms), turned.rows(terms)
    axes = np.kron(np.eye(dim // 3), R.T)[np.flatnonzero(mask)]
    for slot in ("A", "b", "drift"):
        assert relative(getattr(some, slot), axes @ getattr(whole, slot)) < 1e-12, slot
    k = plain.kinematics(terms)
    error = k.velocity_error if isinstance(plain, MomentumTask) else k.error
    assert relative(terms.errors["t"], np.kron(np.eye(dim // 3), R.T) @ error) < 1e-12


def test_gains_of_a_turned_task_count_along_the_axes_of_the_frame() -> None:
    terms = terms_at(humanoid(), moving(humanoid(), 9))
    gains = Gains((1.0, 10.0, 100.0), (2.0, 3.0, 4.0))
    task = PositionTask("t", frame=RIGHT, gains=gains, mask_frame=LEFT)
    task.target = (0.1, 0.2, 0.3)
    k, R = PositionTask.kinematics(task, terms), terms.frame(LEFT).rotation
    b = R.T @ k.Jdot_v - gains.kp * (R.T @ k.error) - gains.kd * (R.T @ k.velocity_error)
    assert relative(task.rows(terms).b, b) < 1e-12
    assert relative(task.rows(terms).A, R.T @ k.J) < 1e-12


def test_a_hand_that_may_slide_along_its_own_axis_is_held_across_it() -> None:
    """A drill: the tool keeps its line, wherever it points, and is free along it."""
    robot, state = arm(), State(moving(arm(), 11).q, np.zeros(6))
    tool = "effector_body"
    line = PositionTask("line", frame=tool, mask=(1, 1, 0), mask_frame=tool)
    hold = OrientationTask("hold", frame=tool)
    push = PositionTask("push", frame=tool)
    controller = Controller(robot, Stack(nominal=PostureTask("p"), strict=[[line, hold], [push]]))
    controller.tick(state)
    frame = terms_at(robot, state).frame(tool)
    push.target = frame.position + frame.rotation @ (0.1, 0.1, 0.1)
    got = frame.rotation.T @ (frame.J[:3] @ controller.tick(state).acceleration + frame.Jdot_v[:3])
    assert gap(got, (0.0, 0.0, 10.0)) < 1e-6  # kp 100, 0.1 m


def test_a_mask_frame_that_does_not_exist_or_makes_no_sense_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="rarm_effector_body"):
        Controller(humanoid(), Stack(strict=[ComTask("com", mask=(1, 1, 0), mask_frame="rarm_efector_body")]))
    for value in (3, "", None):
        with pytest.raises(InputError, match="mask_frame"):
            ComTask("com", mask_frame=value)  # type: ignore[arg-type]

    class Knees(MotionTask):
        dim = 3

        def kinematics(self, terms: Terms) -> Any:
            raise AssertionError

    with pytest.raises(InputError, match=r"mask_frame.*Knees.*world axes"):
        Knees("knees", mask_frame=RIGHT)
    task = PositionTask("t", frame=RIGHT, mask=(1, 1, 0), mask_frame=LEFT)
    Controller(humanoid(), Stack(strict=[task]))
    with pytest.raises(InputError, match="mask_frame stays"):
        task.mask_frame = RIGHT


# --- forces -----------------------------------------------------------------------------------------------------------


def feet(friction: float | None = 0.7) -> list[SurfaceContact]:
    # local x points up and local z forward, which the default, the first axis along the surface, cannot know
    return [SurfaceContact(f, frame=f, half_size=SOLE, forward=(0, 0, 1), friction=friction) for f in FEET]


def wall() -> PointContact:
    """The right hand on a wall; bilateral, so that no cone is in the way of what the test is about."""
    return PointContact("wall", frame=RIGHT, friction=None)


def stance(*, hand: bool = False, friction: float | None = 0.7, **parts: Any) -> Stack:
    contacts: list[Any] = [*feet(friction), *([wall()] if hand else [])]
    return Stack(nominal=PostureTask("posture", gains=Gains.critical(25.0)), contacts=contacts, **parts)


def pushing(weight: float = 1e9, target: Any = (20.0, 0.0, 0.0), **parts: Any) -> Controller:
    soft = [(WrenchTask("push", contact="wall", target=target), weight)]
    return Controller(humanoid(), stance(hand=True, friction=None, soft=soft, **parts))


def plain(**parts: Any) -> Controller:
    return Controller(humanoid(), stance(hand=True, friction=None, **parts))


def change_of_torque(state: State, wrenches: Any, before: Any) -> Any:
    """−Jᵀ Δf of all contacts: (base rows, actuated rows)."""
    terms = terms_at(humanoid(), state)
    total = np.zeros(humanoid().nv)
    for name, wrench in wrenches.items():
        J = terms.frame(RIGHT if name == "wall" else name).J[: len(wrench)]
        total -= J.T @ (wrench - before[name])
    return total


@pytest.mark.parametrize("seed", range(3))
def test_pushing_a_wall_gives_the_force_asked_and_changes_torque_by_J_transpose_f(seed: int) -> None:
    """Field report G09."""
    state = standing(seed)
    without, command = plain().tick(state), pushing().tick(state)
    assert gap(command.wrenches["wall"], (20.0, 0.0, 0.0)) < 1e-6
    assert gap(command.acceleration, without.acceleration) < SAME_MOTION
    change = change_of_torque(state, command.wrenches, without.wrenches)
    assert gap(change[:6], 0.0) < ROUNDING  # what the hand pushes, the feet hold
    assert gap(command.torque - without.torque, change[6:]) < ROUNDING
    assert np.abs(change[6:]).max() > 0.1


def test_the_push_follows_the_robot_and_its_removal_gives_the_old_torque_back() -> None:
    controller, old = pushing(), plain()
    for seed in (0, 1):  # the same controller in another configuration
        state = standing(seed)
        controller.reset()
        command = controller.tick(state)
        change = change_of_torque(state, command.wrenches, plain().tick(state).wrenches)
        assert gap(command.torque, plain().tick(state).torque + change[6:]) < ROUNDING
    state = standing(0)
    assert gap(pushing(weight=0.0).tick(state).torque, old.tick(state).torque) < ROUNDING  # solved on another route
    task = WrenchTask("push", contact="wall", target=(20.0, 0.0, 0.0))
    task_controller = Controller(humanoid(), stance(hand=True, friction=None, soft=[(task, 1e9)]))
    pushed = task_controller.tick(state).torque
    task.target = old.tick(state).wrenches["wall"]
    assert gap(task_controller.tick(state).torque, old.tick(state).torque) < 1e-6
    assert gap(pushed, old.tick(state).torque) > 0.1


@pytest.mark.parametrize("friction", [None, 0.7])
@pytest.mark.parametrize("seed", range(4))
def test_the_motion_is_the_same_with_and_without_tasks_on_forces_whatever_R_and_f0(
    friction: float | None, seed: int
) -> None:
    robot, state, random = humanoid(), standing(seed, speed=0.02), np.random.default_rng(seed)
    com = ComTask("com")
    alone = Controller(robot, stance(hand=True, friction=friction, strict=[com])).tick(state)
    others: list[Any] = [
        (WrenchTask("push", contact=wall(), target=(20.0, 5.0, -10.0)), 10.0 ** random.uniform(-3, 6)),
        (WrenchTask("foot", contact=FEET[0], target=np.zeros(6), mask=(0, 0, 1, 0, 1, 0)), 0.3),
        (TorqueTask("lazy"), 10.0 ** random.uniform(-3, 3)),
    ]
    for _ in range(4):
        controller = Controller(robot, stance(hand=True, friction=friction, strict=[com], soft=others))
        problem = controller._assembler.problem
        problem.root_weight_f[:] *= 10.0 ** random.uniform(-1.0, 1.0, len(problem.root_weight_f))
        problem.f0[:] += random.normal(size=len(problem.f0)) * 20.0
        command = controller.tick(state)
        assert gap(command.acceleration, alone.acceleration) < SAME_MOTION
        assert gap(command.torque, alone.torque) > 1e-3
        base = terms_at(robot, state).M @ command.acceleration + terms_at(robot, state).h
        for name, wrench in command.wrenches.items():
            base -= terms_at(robot, state).frame(RIGHT if name == "wall" else name).J[: len(wrench)].T @ wrench
        assert gap(base[:6], 0.0) < 1e-8 and gap(base[6:], command.torque) < 1e-8


def test_the_forces_are_the_least_cost_by_an_oracle_that_knows_nothing_of_internal_forces() -> None:
    """KKT system on f with the base rows as equalities: R (f − f₀) + w A' (A f + b) ⟂ what the base allows."""
    robot, state = humanoid(), standing(3)
    w_push, w_torque = 0.7, 0.05
    soft = [(WrenchTask("push", contact="wall", target=(20.0, 5.0, -10.0)), w_push), (TorqueTask("lazy"), w_torque)]
    controller = Controller(robot, stance(hand=True, friction=None, soft=soft))
    command = controller.tick(state)
    p = controller._assembler.problem
    nf, J = p.layout.nf, p.J
    R = np.diag(p.root_weight_f**2)
    axes = p.axes[2]
    push = np.zeros((3, nf))
    push[:, 12:15] = axes
    tau0 = (p.M @ command.acceleration + p.h)[6:]
    H = R + w_push * push.T @ push + w_torque * J[:, 6:] @ J[:, 6:].T
    g = R @ p.f0 + w_push * push.T @ (20.0, 5.0, -10.0) + w_torque * J[:, 6:] @ tau0
    B = J[:, :6].T
    rhs = (p.M @ command.acceleration + p.h)[:6]
    f = np.linalg.solve(np.block([[H, B.T], [B, np.zeros((6, 6))]]), np.concatenate([g, rhs]))[:nf]
    assert gap(command.report.solution.f, f) < 1e-8


def test_both_routes_share_the_load_alike() -> None:
    """Torque limits that are far away: the QP and the closed form end at the same forces."""
    robot, state = humanoid(), standing(2, speed=0.0)
    soft = [(WrenchTask("push", contact="wall", target=(20.0, 0.0, 0.0)), 3.0), (TorqueTask("lazy"), 0.1)]
    free = Controller(robot, stance(hand=True, friction=None, soft=soft)).tick(state)
    limits = TorqueLimits(scale=1e6)
    qp = Controller(robot, stance(hand=True, friction=None, soft=soft, limits=[limits]), method="qp").tick(state)
    assert free.report.route == "closed form" and qp.report.route == "qp"
    assert gap(free.torque, qp.torque) < 1e-8
    assert gap(free.report.solution.f, qp.report.solution.f) < 1e-8  # type: ignore[union-attr]


def test_a_cone_stops_a_wrench_task_and_the_report_says_so() -> None:
    robot, state = humanoid(), standing(0, speed=0.0)
    task = WrenchTask("lift", contact=FEET[0], target=np.zeros(6), mask=(0, 0, 1, 0, 0, 0))
    task.target = [0.0, 0.0, -500.0, 0.0, 0.0, 0.0]  # a foot cannot pull
    command = Controller(robot, stance(soft=[(task, 1e3)])).tick(state)
    assert command.wrenches[FEET[0]][2] > -1e-7
    said = command.report.tasks["lift"]
    assert said.is_missed and any(cause.startswith("limit: contact") for cause in said.because)
    assert gap(said.asked, -500.0) == 0.0 and gap(said.got, command.wrenches[FEET[0]][2]) < ROUNDING
    assert command.report.status is Status.OPTIMAL  # soft tasks never change the status


def test_a_wrench_that_the_motion_decides_is_missed_because_of_the_motion() -> None:
    robot, state = humanoid(), standing(0, speed=0.0)
    one_foot = SurfaceContact("foot", frame=FEET[0], half_size=SOLE, friction=None)
    task = WrenchTask("foot force", contact="foot", target=[0.0, 0.0, 10.0, 0.0, 0.0, 0.0], mask=(0, 0, 1, 0, 0, 0))
    command = Controller(robot, Stack(nominal=PostureTask("p"), contacts=[one_foot], soft=[(task, 1.0)])).tick(state)
    assert command.report.tasks["foot force"].because == ("motion",)


def test_a_wrench_is_in_world_axes_on_a_surface_that_is_tilted() -> None:
    robot, state = humanoid(), standing(1, speed=0.0)
    tilted = PointContact("wall", frame=RIGHT, friction=None, normal=(1.0, 2.0, 0.5))
    task = WrenchTask("push", contact=tilted, target=(7.0, -3.0, 5.0))
    stack = Stack(nominal=PostureTask("p"), contacts=[*feet(None), tilted], soft=[(task, 1e9)])
    command = Controller(robot, stack).tick(state)
    assert gap(command.wrenches["wall"], (7.0, -3.0, 5.0)) < 1e-6
    assert gap(command.report.tasks["push"].got, command.wrenches["wall"]) < ROUNDING


def test_a_soft_torque_task_lowers_torques_by_sharing_the_load_and_leaves_the_motion() -> None:
    robot, state = humanoid(), standing(3, speed=0.0)
    strained = plain().tick(state)
    lazy = Controller(robot, stance(hand=True, friction=None, soft=[(TorqueTask("lazy"), 1.0)])).tick(state)
    assert gap(lazy.acceleration, strained.acceleration) < SAME_MOTION
    assert np.linalg.norm(lazy.torque) < 0.9 * np.linalg.norm(strained.torque)
    assert gap(lazy.report.tasks["lazy"].got, lazy.torque) < ROUNDING


def test_a_soft_torque_task_of_an_arm_without_contacts_bends_the_motion_as_before() -> None:
    robot, state = arm(), moving(arm(), 1)
    hold = PostureTask("p")
    stiff = Controller(robot, Stack(nominal=hold)).tick(state)
    easy = Controller(robot, Stack(nominal=PostureTask("p"), soft=[(TorqueTask("t"), 1e6)])).tick(state)
    assert np.linalg.norm(easy.torque) < 1e-3 * np.linalg.norm(stiff.torque)
    assert gap(easy.acceleration, stiff.acceleration) > 0.1


def test_an_arm_pushes_a_wall_with_the_force_it_is_asked_for() -> None:
    robot, state = arm(), State(moving(arm(), 3).q, np.zeros(6))
    contact = PointContact("wall", frame="effector_body", normal=(-1.0, 0.0, 0.0))
    task = WrenchTask("push", contact="wall", target=(-15.0, 1.0, 2.0))
    stack = Stack(nominal=PostureTask("p"), contacts=[contact], soft=[(task, 1e9)])
    command = Controller(robot, stack).tick(state)
    assert gap(command.wrenches["wall"], (-15.0, 1.0, 2.0)) < 1e-6
    terms = terms_at(robot, state)
    tau = terms.M @ command.acceleration + terms.h - terms.frame("effector_body").J[:3].T @ command.wrenches["wall"]
    assert gap(command.torque, tau) < ROUNDING


def test_an_arm_that_touches_a_wall_leans_on_it_only_when_it_is_asked_to() -> None:
    """A fixed base carries the weight itself: without a wish the wall gets no force, also after coming and going."""
    robot, state = arm(), State(moving(arm(), 3).q, np.zeros(6))
    contact = PointContact("wall", frame="effector_body", normal=(-1.0, 0.0, 0.0))
    controller = Controller(robot, Stack(contacts=[contact]))
    gravity = pin.computeGeneralizedGravity(robot.model, robot.model.createData(), state.q)
    for _ in range(2):
        command = controller.tick(state)
        assert gap(command.wrenches["wall"], 0.0) < ROUNDING and gap(command.torque, gravity) < ROUNDING
        controller.stack.deactivate("wall", over=0.0)
        controller.tick(state)
        controller.stack.activate("wall", over=0.0)


def test_at_neutral_the_feet_share_the_weight_and_no_torque_is_needed() -> None:
    """Field report G11: 76.0275 N and −4.905 N m about y per foot at neutral is an exact solution with τ = 0."""
    robot = humanoid()
    state = State(pin.neutral(robot.model), np.zeros(robot.nv))
    command = Controller(robot, stance()).tick(state)
    assert command.torque.shape == (28,) and gap(command.torque, 0.0) < 1e-3
    for frame in FEET:  # field reports G04, G06: the foot's local x points up, forces are in the world
        assert gap(command.wrenches[frame], (0.0, 0.0, 76.0275, 0.0, -4.905, 0.0)) < 1e-2
    J = terms_at(robot, state).frame(FEET[0]).J
    wrench = np.array((0.0, 0.0, 76.0275, 0.0, 0.0, 0.0))
    assert gap((J.T @ wrench)[:6], (0.0, 0.0, 76.0275, -15.2055, 0.0, 0.0)) < 1e-9


def test_two_forces_on_one_body_add_up() -> None:
    """Field report C10."""
    robot = humanoid()
    state = State(pin.neutral(robot.model), np.zeros(robot.nv))
    terms, model = terms_at(robot, state), robot.model
    joint = model.frames[model.getFrameId(FEET[0])].parentJoint
    placement, points = terms.frame(FEET[0]), ((0.1, 0.05, 0.0), (-0.1, 0.02, 0.0))
    total, external = np.zeros(robot.nv), [pin.Force.Zero() for _ in range(model.njoints)]
    data = model.createData()
    pin.forwardKinematics(model, data, state.q)
    for point in points:
        lever, force = np.array(point), np.array((0.0, 0.0, 76.0275))
        total += placement.J.T @ np.concatenate([force, np.cross(lever, force)])
        at = placement.position + lever
        external[joint] += data.oMi[joint].actInv(pin.Force(force, np.cross(at, force)))
    forces = pin.StdVec_Force()
    forces.extend(external)
    zero = np.zeros(robot.nv)
    change = pin.rnea(model, data, state.q, zero, zero, forces) - pin.rnea(model, data, state.q, zero, zero)
    assert gap(-change, total) < ROUNDING


def test_a_wrench_task_comes_and_goes_and_a_contact_that_is_gone_gives_no_force() -> None:
    """Field report G13: no variable of an absent contact stays free, its force is 0."""
    robot, state = humanoid(), standing(0)
    with_push = pushing()
    with_push.tick(state)
    with_push.stack.deactivate("push", over=0.0)
    assert gap(with_push.tick(state).torque, plain().tick(state).torque) < ROUNDING
    assert "push" not in with_push.tick(state).report.tasks
    with_push.stack.activate("push", over=0.0)
    assert gap(with_push.tick(state).torque, pushing().tick(state).torque) < ROUNDING
    with_push.stack.deactivate("wall", over=0.0)
    command = with_push.tick(state)
    assert gap(command.wrenches["wall"], 0.0) == 0.0
    assert gap(command.torque, Controller(robot, stance(friction=None)).tick(state).torque) < 1e-8


@pytest.mark.parametrize("place", ["strict", "nominal"])
def test_a_task_on_forces_stands_only_in_soft(place: str) -> None:
    def stack(task: Any) -> Stack:
        parts = {"strict": [task]} if place == "strict" else {"nominal": [PostureTask("p"), task]}
        return Stack(contacts=[*feet(), wall()], **parts)

    with pytest.raises(StackError, match=r"push.*put it in soft"):
        Controller(humanoid(), stack(WrenchTask("push", contact="wall", target=(1, 2, 3))))
    if place == "strict":
        with pytest.raises(StackError, match=r"lazy.*put it in soft"):
            Controller(humanoid(), stack(TorqueTask("lazy")))
    else:
        Controller(humanoid(), stack(TorqueTask("lazy"))).tick(standing(0))


def test_a_limit_on_a_wrench_is_refused() -> None:
    from wbc.rows import Rows

    class Strange:
        name = "strange"

        def rows(self, terms: Terms) -> Rows:
            return Rows(np.eye(3), np.zeros(3), lower=np.zeros(3), upper=np.ones(3), on="wrench")

        def elements(self, robot: Any) -> tuple[str, ...]:
            return ("x", "y", "z")

    with pytest.raises(StackError, match="strange"):
        Controller(humanoid(), stance(limits=[Strange()]))


# --- bad input --------------------------------------------------------------------------------------------------------

UNKNOWN: dict[str, tuple[Callable[[], Any], str]] = {
    "relative frame": (lambda: RelativePoseTask("t", frame="rarm_efector_body", reference=LEFT), RIGHT),
    "relative reference": (lambda: RelativePoseTask("t", frame=RIGHT, reference="larm_effector_bdy"), LEFT),
    "gaze frame": (lambda: GazeTask("t", frame="rarm_efector_body", target=(1, 0, 0)), RIGHT),
    "distance frame": (lambda: DistanceTask("t", frame="rarm_efector_body", point=(1, 0, 0)), RIGHT),
    "distance other": (lambda: DistanceTask("t", frame=RIGHT, other="larm_effector_bdy"), LEFT),
}


@pytest.mark.parametrize("case", UNKNOWN.values(), ids=UNKNOWN)
def test_a_mistyped_frame_is_refused_with_the_one_that_was_meant(case: tuple[Callable[[], Any], str]) -> None:
    with pytest.raises(UnknownNameError, match=f"did you mean.*{case[1]}"):
        Controller(humanoid(), Stack(strict=[case[0]()]))


def test_a_mistyped_contact_is_refused_with_the_one_that_was_meant() -> None:
    task = WrenchTask("push", contact="wal", target=(1, 2, 3))
    with pytest.raises(UnknownNameError, match=r"push.*'wal' does not exist.*did you mean 'wall'"):
        Controller(humanoid(), stance(hand=True, soft=[(task, 1.0)]))
    with pytest.raises(UnknownNameError, match="there are: none"):
        Controller(humanoid(), Stack(soft=[(task, 1.0)]))
    long = WrenchTask("push", contact="wall", target=np.zeros(6))
    with pytest.raises(InputError, match=r"push.*6 entries.*'wall' has 3"):
        Controller(humanoid(), stance(hand=True, soft=[(long, 1.0)]))


def placed(task: MotionTask) -> MotionTask:
    Controller(humanoid(), Stack(strict=[task]))
    return task


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "relative to itself": (lambda: RelativePoseTask("t", frame=RIGHT, reference=RIGHT), "both 'rarm"),
    "made relative to itself": (
        lambda: setattr(RelativePoseTask("t", frame=RIGHT, reference=LEFT), "frame", LEFT),
        "both 'larm",
    ),
    "distance from itself": (lambda: DistanceTask("t", frame=RIGHT, other=RIGHT), "both 'rarm"),
    "distance zero": (lambda: DistanceTask("t", frame=RIGHT, other=LEFT, target=0.0), "above 0"),
    "distance below zero": (
        lambda: setattr(DistanceTask("t", frame=RIGHT, other=LEFT), "target", -1.0),
        "above 0",
    ),
    "distance from nothing": (lambda: DistanceTask("t", frame=RIGHT), "either other"),
    "distance from two things": (lambda: DistanceTask("t", frame=RIGHT, other=LEFT, point=(0, 0, 0)), "either other"),
    "a point beside a frame": (
        lambda: setattr(DistanceTask("t", frame=RIGHT, other=LEFT), "point", (0, 0, 0)),
        "either point or other",
    ),
    "a frame beside a point": (
        lambda: setattr(placed(DistanceTask("t", frame=RIGHT, point=(1, 0, 0))), "other", LEFT),
        "either other or point",
    ),
    "no point": (lambda: setattr(DistanceTask("t", frame=RIGHT, point=(1, 0, 0)), "point", None), "either point"),
    "a NaN in a point": (lambda: DistanceTask("t", frame=RIGHT, point=(1, np.nan, 0)), r"point\[1\] is nan"),
    "a distance that is a vector": (lambda: DistanceTask("t", frame=RIGHT, other=LEFT, target=(1, 2)), "target"),
    "a gaze without an axis": (lambda: GazeTask("t", frame=RIGHT, axis=(0, 0, 0)), "axis is zero"),
    "a gaze at a NaN": (lambda: GazeTask("t", frame=RIGHT, target=(0, 0, np.nan)), r"target\[2\] is nan"),
    "a gaze at a matrix": (lambda: setattr(GazeTask("t", frame=RIGHT), "target", np.eye(3)), "target"),
    "a momentum of another kind": (lambda: MomentumTask("t", kind="angualr"), "did you mean 'angular'"),
    "a momentum of another length": (
        lambda: setattr(placed(MomentumTask("t")), "target", np.zeros(6)),
        "length 6, expected dim=3",
    ),
    "a momentum of another length from the start": (
        lambda: _placed_with(MomentumTask("t", kind="both"), "target", np.zeros(3)),
        "length 3, expected dim=6",
    ),
    "a rate of another length": (
        lambda: _placed_with(MomentumTask("t"), "target_acceleration", np.zeros(6)),
        "length 6, expected",
    ),
    "a mask of another length": (lambda: MomentumTask("t", mask=(1, 0)), "mask"),
    "a CoM in two dimensions": (lambda: setattr(ComTask("t"), "target", (0.0, 0.0)), "length 2, expected 3"),
    "gains of six for a CoM": (lambda: ComTask("t", gains=Gains(np.ones(6), 1.0)), "length 6, expected 3"),
    "a wrench of four": (lambda: WrenchTask("t", contact="c", target=np.zeros(4)), "length 4, expected 3"),
    "a wrench of nothing": (lambda: WrenchTask("t", contact="c", target=None), "target"),
    "a wrench taken away": (
        lambda: setattr(WrenchTask("t", contact="c", target=np.zeros(3)), "target", None),
        "target is None",
    ),
    "a longer wrench": (
        lambda: setattr(WrenchTask("t", contact="c", target=np.zeros(3)), "target", np.zeros(6)),
        "length 6, expected",
    ),
    "a NaN wrench": (lambda: WrenchTask("t", contact="c", target=(0, 0, np.nan)), r"target\[2\] is nan"),
    "a mask that does not fit a wrench": (
        lambda: WrenchTask("t", contact="c", target=np.zeros(3), mask=(1, 0)),
        "mask",
    ),
    "a number for a contact": (lambda: WrenchTask("t", contact=3, target=np.zeros(3)), "contact"),  # type: ignore
    "a relative pose that is no pose": (
        lambda: setattr(RelativePoseTask("t", frame=RIGHT, reference=LEFT), "target", np.ones((4, 4))),
        "target",
    ),
}


def _placed_with(task: MotionTask, attribute: str, value: Any) -> None:
    setattr(task, attribute, value)
    placed(task)


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_meant_is_refused_by_the_name_of_its_field(case: tuple[Callable[[], Any], str]) -> None:
    with pytest.raises((InputError, UnknownNameError), match=case[1]):
        case[0]()


def test_targets_are_copied_on_the_way_in_and_out() -> None:
    target = np.array((1.0, 2.0, 3.0))
    for task in (ComTask("t"), GazeTask("t", frame=RIGHT), WrenchTask("t", contact="c", target=np.zeros(3))):
        task.target = target
        task.target[0] = 9.0
        assert task.target[0] == 1.0
        out = task.target
        target[1] = 7.0
        assert out[1] == 2.0 and task.target[1] == 2.0
        target[1] = 2.0
