"""Near singular poses: exact above σ₀, smooth below, one decision for both routes, torques bounded at any demand."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from arms import ARMS, LENGTHS, arm, gap, hand, random_state, smallest_sigma, terms_at

from wbc import Controller, Gains, Stack, State, Status
from wbc.hierarchy.damping import damped, threshold
from wbc.tasks import (
    HalfSpace,
    JointLimits,
    ManipulabilityTask,
    ObstacleTask,
    OrientationTask,
    PoseTask,
    PositionTask,
    PostureTask,
    TorqueLimits,
    TorqueTask,
    UprightTask,
)

AGREE = 1e-9  # N m, both routes, damped or not
EXTRAPOLATED = 1e-7  # N m, level QPs that are exact to 1e-10 over levers of up to 1e6
LARGEST = 1.09  # of (u)(2 − u²) over 0 ≤ u ≤ 1: 4/3 √(2/3) = 1.0887
NEVER = 1e3  # factor on the torque limits: rows that are there and never active


def r6(limit: float = 1e4) -> object:
    """pinocchio's sample arm; its own 10 N m do not hold it up when it is horizontal."""
    return replace(arm("R6"), torque_limits=np.full(6, limit))


# the rule


def test_the_damped_inverse_is_exact_from_the_threshold_on() -> None:
    sigma = np.linspace(1.0, 30.0, 50)
    inverse, mu2 = damped(sigma, np.ones(50))
    assert gap(inverse, 1.0 / sigma) == 0.0
    assert not mu2.any()


def test_the_damped_inverse_is_smooth_at_the_threshold_bounded_and_zero_at_zero() -> None:
    sigma0, step = 0.03, 1e-6
    sigma = np.linspace(1e-9, 2.0, 200001) * sigma0
    inverse, mu2 = damped(sigma, np.full_like(sigma, sigma0))
    assert inverse.max() <= LARGEST / sigma0
    assert inverse[0] < 1e-6 / sigma0
    assert (mu2 >= 0.0).all()
    here = sigma0 * np.array([1.0 - step, 1.0, 1.0 + step])
    value = damped(here, np.full(3, sigma0))[0]
    left, right = value[1] - value[0], value[2] - value[1]
    assert abs(left - right) < 1e-5 * abs(left)  # the slope has no kink
    assert abs(left / (sigma0 * step) + 1.0 / sigma0**2) < 1e-4 / sigma0**2  # and is that of 1/σ


def test_the_tikhonov_term_is_the_damped_inverse_in_a_least_squares_problem() -> None:
    sigma = np.logspace(-8, 1, 200)
    inverse, mu2 = damped(sigma, np.full(200, 0.05))
    assert np.allclose(inverse, sigma / (sigma**2 + mu2), rtol=1e-12, atol=0.0)


def test_the_threshold_is_that_of_a_hundred_robot_masses() -> None:
    assert threshold(4.0) == pytest.approx(0.05, rel=1e-15)


# both routes


def damped_states(name: str, count: int, seed: int) -> list[State]:
    """States at which the hand's pose has a direction with σ < σ₀: found by closing in on singular poses."""
    robot, random = arm(name), np.random.default_rng([seed, len(name)])
    found: list[State] = []
    for _ in range(4000):
        state = random_state(robot, random)
        if robot.nq == robot.nv and len(found) % 2:  # half of them much nearer than chance would find
            q = state.q.copy()
            q[robot.nv - 2] = 10.0 ** random.uniform(-9, -1) * random.choice((-1.0, 1.0))
            if name in ("panda", "xarm7"):
                q[1] = 10.0 ** random.uniform(-9, -1)
                q[2], q[4] = 0.0, 0.0
            lower, upper = robot.position_limits
            state = State(np.clip(q, lower, upper), state.v)
        terms = terms_at(robot, state)
        if smallest_sigma(terms, terms.frame(hand(name)).J, LENGTHS) < threshold(robot.mass):
            found.append(state)
            if len(found) == count:
                return found
    assert len(found) >= 8, f"{name}: only {len(found)} damped states in 4000"
    return found


def hand_stack(name: str, kind: str) -> Stack:
    robot, frame = arm(name), hand(name)
    nominal, limits = PostureTask("posture", target=robot.home, gains=Gains(2.0, 3.0)), [TorqueLimits()]
    if kind == "pose":
        strict = [[PoseTask("hand", frame=frame)]]
    elif kind == "levels":
        strict = [[PositionTask("hand", frame=frame)], [OrientationTask("turn", frame=frame)]]
    else:
        strict = [[(PositionTask("hand", frame=frame), 3.0), (OrientationTask("turn", frame=frame), 0.2)]]
    return Stack(nominal=nominal, limits=limits, strict=strict)


def disturb(stack: Stack, random: np.random.Generator) -> None:
    """Ask every hand task for a random acceleration, wherever it stands."""
    for task in stack.motion_tasks:
        if isinstance(task, PostureTask):
            continue
        task.gains = Gains(0.0, 2.0)
        if isinstance(task, PoseTask):
            task.target_acceleration = random.uniform(-3.0, 3.0, 6)
        elif isinstance(task, PositionTask | OrientationTask):
            task.target_acceleration = random.uniform(-3.0, 3.0, 3)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("kind", ["pose", "levels", "weighted level"])
def test_closed_form_and_qp_agree_in_damped_poses(name: str, kind: str) -> None:
    robot, random = arm(name).scaled(torque=NEVER), np.random.default_rng(1)
    stack, near = hand_stack(name, kind), 0
    auto, qp = Controller(robot, stack), Controller(robot, stack, method="qp")
    for state in damped_states(name, 30, seed=2):
        disturb(stack, random)
        closed, solved = auto.tick(state), qp.tick(state)
        assert closed.report.route == "closed form"
        assert solved.report.route == "qp"
        assert gap(closed.torque, solved.torque) < AGREE
        near += closed.report.near_singular
    assert near >= 8


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("kind", ["pose", "levels"])
def test_the_cascade_agrees_with_the_closed_form_in_damped_poses(name: str, kind: str) -> None:
    """A limit that is active by a hair sends the tick through level QPs, which must damp as the closed form does.

    The torque then moves in proportion to the hair (over levers up to 1e6, since strict levels may not move): from two
    hairs the torque without any is extrapolated, and is the closed form's.
    """
    robot, random = arm(name), np.random.default_rng(3)
    levels = [[task for task, _ in level] for level in hand_stack(name, kind).strict]
    # a last level that takes every direction left leaves one QP no point where a limit is active
    stack = Stack(strict=[*levels, [PostureTask("rest", gains=Gains(0.0, 2.0))]], limits=[TorqueLimits()])
    free, hair, near = Controller(robot.scaled(torque=NEVER), stack), 1e-6, 0
    compared = 0
    for state in damped_states(name, 30, seed=4):
        disturb(stack, random)
        closed = free.tick(state)
        torque, near = closed.torque, near + closed.report.near_singular
        worst, ends = int(np.argmax(np.abs(torque))), []
        for part in (hair, 2.0 * hair):
            bounds = np.abs(torque) * 2.0 + 1.0
            bounds[worst] = abs(torque[worst]) - part * max(1.0, abs(torque[worst]))
            tight = Controller(replace(robot, torque_limits=bounds), stack).tick(state)
            assert tight.report.route == "cascade"
            assert abs(tight.torque[worst]) <= bounds[worst] + AGREE
            ends.append((tight.torque, {(a.element, a.level) for a in tight.report.active}))
        if ends[0][1] == ends[1][1]:  # else another limit comes in between, and there is a kink
            compared += 1
            assert gap(2.0 * ends[0][0] - ends[1][0], torque) < EXTRAPOLATED
    assert near >= 3
    assert compared >= 7


@pytest.mark.parametrize("name", ARMS)
def test_the_constraint_force_is_bounded_by_the_demand(name: str) -> None:
    """‖τ − h − M v̇₀‖ in the metric M⁻¹ is at most 1.09 ‖r‖/σ₀, in any pose; r in comparable units."""
    robot, random = arm(name), np.random.default_rng(5)
    stack = Stack(strict=[PoseTask("hand", frame=hand(name))], nominal=PostureTask("posture", target=robot.home))
    controller, sigma0 = Controller(robot, stack), threshold(robot.mass)
    states = damped_states(name, 30, seed=6) + [random_state(robot, random) for _ in range(100)]
    for state in states:
        disturb(stack, random)
        command = controller.tick(state)
        terms, p = terms_at(robot, state), command.report.problem
        force = command.torque - p.h - p.M @ p.nominal
        # in rows of one unit, that is with rotations times 0.2 m
        r = LENGTHS * (p.A @ p.nominal + p.b)
        size = np.sqrt(force @ np.linalg.solve(terms.M, force))
        assert size <= LARGEST * np.linalg.norm(r) / sigma0


# field reports


def test_b01_a_straight_arm_is_no_exception_and_still_tracks_what_it_can() -> None:
    robot = r6(10.0)
    task = PoseTask("hand", frame="effector_body", gains=Gains(0.0, 0.0))
    task.target_acceleration = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    for limits in ([], [TorqueLimits()]):
        command = Controller(robot, Stack(strict=[task], limits=limits)).tick(State(np.zeros(6), np.zeros(6)))
        assert np.isfinite(command.torque).all()
        if limits:
            assert np.abs(command.torque).max() <= 10.0 + AGREE
    free = Controller(robot, Stack(strict=[task])).tick(State(np.zeros(6), np.zeros(6)))
    terms = terms_at(robot, State(np.zeros(6), np.zeros(6)))
    J, b = terms.frame("effector_body").J, np.array(task.target_acceleration)
    assert np.linalg.matrix_rank(J) == 5
    achievable = J @ np.linalg.pinv(J) @ b
    assert gap(J @ np.linalg.pinv(J) @ free.report.tasks["hand"].got, achievable) < 1e-3
    assert free.report.near_singular
    assert free.report.tasks["hand"].because == ("singular",)
    assert free.report.conditioning == np.inf


def test_b02_the_torque_stays_small_and_changes_slowly_towards_a_singular_wrist() -> None:
    robot, size = r6(), []
    task = PoseTask("hand", frame="effector_body", gains=Gains(0.0, 0.0))
    task.target_acceleration = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    controller = Controller(robot, Stack(strict=[task]))
    for e in np.logspace(-1, -8, 50):
        q = np.array([0.0, 0.0, 0.0, e, 0.0, 0.0])
        torque = controller.tick(State(q, np.zeros(6))).torque
        size.append(float(np.linalg.norm(torque - terms_at(robot, State(q, np.zeros(6))).gravity())))
    ratio = np.array(size[1:]) / np.array(size[:-1])
    assert max(size) <= 100.0
    assert np.maximum(ratio, 1.0 / ratio).max() <= 1.5


S_A = State([0.3, -0.4, 0.5, 0.6, -0.7, 0.8], [1.0, -2.0, 1.5, 0.5, -1.0, 2.0])


def setting(name: str, factor: float) -> np.ndarray:
    """The torque on R6 at S_A of a stack in which one numeric setting is multiplied by a factor."""
    robot = r6(14.0)

    def value(of: str, number: float) -> float:
        return number * factor if of == name else number

    def gains(of: str) -> Gains:
        return Gains(value(f"{of} kp", 9.0), value(f"{of} kd", 4.0))

    frame = "effector_body"
    ball = HalfSpace((0.0, 0.0, -2.0 * value("HalfSpace point", 1.0)), (0.0, 0.0, 1.0))
    makers = {
        "PositionTask": lambda: PositionTask("t", frame=frame, gains=gains("PositionTask")),
        "OrientationTask": lambda: OrientationTask("t", frame=frame, gains=gains("OrientationTask")),
        "PoseTask": lambda: PoseTask("t", frame=frame, gains=gains("PoseTask")),
        "UprightTask": lambda: UprightTask("t", frame=frame, gains=gains("UprightTask")),
        "PostureTask": lambda: PostureTask("t", gains=gains("PostureTask")),
        "ManipulabilityTask": lambda: ManipulabilityTask("t", frame=frame, gains=gains("ManipulabilityTask")),
        "ObstacleTask": lambda: ObstacleTask(
            "t", frame=frame, obstacle=ball, radius=value("ObstacleTask radius", 0.1),
            clearance=value("ObstacleTask clearance", 6.0), gains=gains("ObstacleTask"),
        ),
        "TorqueTask": lambda: TorqueTask("t", target=value("TorqueTask target", 1.0) * np.ones(6)),
    }  # fmt: skip
    kind = name.split()[0] if name.split()[0] in makers else "ObstacleTask" if "HalfSpace" in name else "PositionTask"
    task = makers[kind]()
    number = value("target", 0.3) * np.ones(3)
    if kind in ("PositionTask",):
        task.target = number
        task.target_velocity, task.target_acceleration = (
            value("target_velocity", 0.2) * np.ones(3), value("target_acceleration", 0.4) * np.ones(3),
        )  # fmt: skip
    elif kind in ("PoseTask",):
        task.target = pin.SE3(pin.exp3(np.ones(3)), number)
    elif kind == "OrientationTask":
        task.target = pin.exp3(np.ones(3))
    elif kind == "PostureTask":
        task.target = np.zeros(6)
    elbow = PositionTask("elbow", frame="effector_body", mask=(0, 0, 1))
    limits: list[object] = []
    if name.startswith("TorqueLimits"):
        limits = [TorqueLimits(scale=value("TorqueLimits scale", 0.3))]
    if name.startswith("JointLimits"):
        limits = [
            JointLimits(
                acceleration=value("JointLimits acceleration", 1.0) if "acceleration" in name else np.inf,
                braking=value("JointLimits braking", 0.5) if "braking" in name else None,
                rate=value("JointLimits rate", 0.2),
            )
        ]
        if "rate" in name:
            task.target_acceleration = (0.0, 0.0, 200.0)
    soft = [(elbow, value("weight", 2.0))] if name == "weight" else []
    if name == "weight":
        elbow.target = (0.0, 0.0, 5.0)
        task.mask = (1, 1, 0)
    strict, nominal = ([[task]], ()) if kind not in ("ManipulabilityTask", "ObstacleTask", "TorqueTask") else ([], task)
    stack = Stack(strict=strict, nominal=nominal, soft=soft, limits=limits)
    dt = value("dt", 0.001)
    if name == "dt":
        task.target_acceleration = (0.0, 0.0, 2000.0)
        stack = Stack(strict=[task], limits=[JointLimits(rate=2.0)])
    return Controller(robot, stack, dt=dt).tick(S_A).torque


SETTINGS = [
    *(f"{kind} {gain}" for kind in ("PositionTask", "OrientationTask", "PoseTask", "UprightTask", "PostureTask",
      "ManipulabilityTask", "ObstacleTask") for gain in ("kp", "kd")),
    "ObstacleTask radius", "ObstacleTask clearance", "HalfSpace point", "TorqueTask target", "target",
    "target_velocity", "target_acceleration", "TorqueLimits scale", "JointLimits acceleration", "JointLimits braking",
    "JointLimits rate", "weight", "dt",
]  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("factor", [100.0, 0.01])
def test_b04_no_numeric_setting_is_dead(name: str, factor: float) -> None:
    assert gap(setting(name, factor), setting(name, 1.0)) > 1e-9


def test_b04_every_numeric_argument_of_a_task_or_limit_is_among_the_settings() -> None:
    """Whoever adds an argument adds it to the list above, or to the names of arguments that are no numbers."""
    no_numbers = {"self", "name", "frame", "mask", "mask_frame", "weighting", "axes", "axis", "direction", "obstacle"}
    no_numbers |= {"position", "velocity"}
    kinds = (
        PositionTask, OrientationTask, PoseTask, UprightTask, PostureTask, ManipulabilityTask, ObstacleTask, TorqueTask,
        TorqueLimits, JointLimits,
    )  # fmt: skip
    for kind in kinds:
        for argument in inspect.signature(kind).parameters:
            if argument in no_numbers or (kind is PostureTask and argument == "target"):
                continue
            name = kind.__name__
            expected = [f"{name} kp", f"{name} kd"] if argument == "gains" else [f"{name} {argument}"]
            for entry in expected:
                assert entry in SETTINGS, entry


# what the report says


def near_singular_command(*limits: object) -> object:
    task = PoseTask("hand", frame="effector_body", gains=Gains(0.0, 0.0))
    task.target_acceleration = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    state = State([0.0, 0.0, 0.0, 1e-3, 0.0, 0.0], np.zeros(6))
    return Controller(r6(), Stack(strict=[task], limits=list(limits))).tick(state)


def test_the_report_says_where_damping_acts_and_by_how_much() -> None:
    report = near_singular_command().report
    assert report.near_singular
    assert report.conditioning > 100.0
    assert report.tasks["hand"].because == ("singular",)
    assert 0.0 < report.tasks["hand"].damping <= 1.0
    assert report.status is Status.RELAXED
    assert "singular" in report.explain()


def test_far_from_singularities_nothing_is_damped() -> None:
    for name in ARMS:
        robot = arm(name)
        report = (
            Controller(robot, Stack(strict=[PoseTask("hand", frame=hand(name))]))
            .tick(State(robot.home, np.full(robot.nv, 0.1)))
            .report
        )
        assert not report.near_singular
        assert report.tasks["hand"].damping == 0.0
        assert report.status is Status.OPTIMAL


def test_damping_in_the_report_is_the_share_of_the_demand_that_is_left_out() -> None:
    """One task row, one number: σ (u/σ₀)(2 − u²) is what arrives, and the report says what does not."""
    robot, seen = r6(), 0
    task = PositionTask("hand", frame="effector_body", mask=(0, 0, 1), gains=Gains(0.0, 0.0))
    task.target_acceleration = (0.0, 0.0, 1.0)
    controller = Controller(robot, Stack(strict=[task]))
    for e in np.logspace(-4, 0, 30):
        state = State([0.0, e, 0.0, 0.0, 0.0, 0.0], np.zeros(6))
        report = controller.tick(state).report
        terms = terms_at(robot, state)
        u = smallest_sigma(terms, terms.frame("effector_body").J[2:3], np.ones(1)) / threshold(robot.mass)
        left_out = 1.0 - u * u * (2.0 - u * u) if u < 1.0 else 0.0
        seen += 0.01 < left_out < 0.99
        assert report.tasks["hand"].damping == pytest.approx(left_out, abs=1e-9)
        assert float(report.tasks["hand"].missed[0]) == pytest.approx(left_out, abs=1e-9)
    assert seen >= 2


# sweeps under limits


@pytest.mark.parametrize("solver", ["daqp", "proxqp", "quadprog"])
def test_a_sweep_through_a_singularity_under_torque_limits_is_bounded_and_continuous(solver: str) -> None:
    """UR5, elbow from bent through straight to bent the other way, the hand asked to move outwards all the time."""
    robot = arm("ur5").scaled(torque=0.5)
    task = PoseTask("hand", frame="tool0", gains=Gains(0.0, 0.0))
    task.target_acceleration = (3.0, 1.0, 2.0, 0.5, -0.5, 0.3)
    controller = Controller(robot, Stack(strict=[task], limits=[TorqueLimits()]), solver=solver)
    before, steps, count = None, [], 0
    for elbow in np.linspace(-0.3, 0.3, 601):
        q = np.array([0.4, -0.9, elbow, -0.7, 0.9, 0.2])
        command = controller.tick(State(q, np.zeros(6)))
        assert (np.abs(command.torque) <= robot.torque_limits + AGREE).all()
        assert command.report.status is not Status.FALLBACK
        count += bool(command.report.active)
        if before is not None:
            steps.append(gap(command.torque, before))
        before = command.torque
    # 1 mrad of elbow: at most a few N m; the undamped law changes sign there, from −∞ to +∞
    assert max(steps) < 10.0
    assert count > 0


def test_a_sweep_into_the_straight_arm_is_continuous_at_every_scale() -> None:
    robot, before = arm("ur5").scaled(torque=0.5), None
    task = PoseTask("hand", frame="tool0", gains=Gains(0.0, 0.0))
    task.target_acceleration = (3.0, 1.0, 2.0, 0.5, -0.5, 0.3)
    controller = Controller(robot, Stack(strict=[task], limits=[TorqueLimits()]))
    for elbow in np.logspace(-1, -10, 400):
        command = controller.tick(State([0.4, -0.9, elbow, -0.7, 0.9, 0.2], np.zeros(6)))
        assert (np.abs(command.torque) <= robot.torque_limits + AGREE).all()
        if before is not None:
            assert gap(command.torque, before) < 10.0
        before = command.torque
