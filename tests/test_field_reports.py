"""Field reports, end to end through the controller: what went wrong for other people cannot happen here.

Each test carries the id of its case. Robots and states are those of the reports (see fixtures.py); what only concerns
one task, one robot description or one formula stands in the tests of those.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from fixtures import (
    S_A,
    TOOL,
    UP,
    advance,
    c2,
    c2_state,
    c2_text,
    forward,
    joint,
    link,
    p1,
    planar_arm,
    quiet,
    r6,
    slider,
)

from wbc import Controller, Gains, Kinematics, MotionTask, Robot, Stack, State, Status, Terms
from wbc.environment import available, environment
from wbc.errors import ControlWarning, InputError, RobotError, RobotWarning
from wbc.solvers import QP, Answer, installed, make_solver
from wbc.solvers.qp import answer as checked_answer
from wbc.tasks import (
    JointLimits,
    OrientationTask,
    PoseTask,
    PositionTask,
    PostureTask,
    TorqueLimits,
    TorqueTask,
)

EXACT = (
    1e-9  # N m, rad/s²: exact solvers and the closed form on well-conditioned rows (DESIGN section 6 measured 1e-11)
)
# accuracy of one QP answer: active-set and proximal solvers are exact, the others are as tight as they go
ACCURACY = {"daqp": 1e-9, "proxqp": 1e-9, "quadprog": 1e-9, "osqp": 1e-6, "piqp": 1e-6, "clarabel": 1e-6, "highs": 1e-5}
SOLVERS = installed()
NATIVE = ("daqp", "proxqp", "osqp")
NAN = float("nan")


def accuracy(solver: str) -> float:
    return ACCURACY.get(solver, 1e-5)


def posture_task(acceleration: Any, name: str = "posture") -> PostureTask:
    """A posture that is nothing but an acceleration."""
    task = PostureTask(name, gains=Gains(0.0, 0.0))
    task.target_acceleration = acceleration
    return task


def bias(robot: Robot, state: State) -> np.ndarray:
    return np.array(pin.nonLinearEffects(robot.model, robot.model.createData(), state.q, state.v))


def mass_matrix(robot: Robot, q: np.ndarray) -> np.ndarray:
    upper = np.triu(pin.crba(robot.model, robot.model.createData(), q))
    return upper + np.triu(upper, 1).T


def placement(robot: Robot, q: np.ndarray, frame: str = TOOL) -> Any:
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    return data.oMf[robot.model.getFrameId(frame)].copy()


def outside(robot: Robot, q: np.ndarray) -> float:
    """How far the worst joint is outside its position limits; joints with one number each."""
    lower, upper = robot.position_limits
    return float(np.maximum(lower - q, q - upper).max())


# --- (a) solvers that fail -------------------------------------------------------------------------------------------


def test_two_hundred_fresh_controllers_give_the_same_torque_bit_by_bit() -> None:
    """A01: nothing is ever read that was not written, whatever the memory held before."""
    torques = set()
    for i in range(200):
        if i % 2:
            scratch = np.full(20000, NAN)
            del scratch
        mask = (1, 1, 0, 1, 0, 1)
        stack = Stack(
            nominal=PostureTask("rest", target=np.full(6, 0.1)),
            strict=[[PoseTask("hand", frame=TOOL)], [PostureTask("posture", target=np.zeros(6), mask=mask)]],
            limits=[TorqueLimits()] if i % 4 < 2 else [],
        )
        torques.add((i % 4 < 2, Controller(r6(), stack).tick(S_A).torque.tobytes()))
    assert len(torques) == 2  # with limits and without
    assert all(np.isfinite(np.frombuffer(torque)).all() for _, torque in torques)


@pytest.mark.parametrize("mask", [np.ones(5), np.ones(7), (1, 0.5, 1, 1, 1, 1)], ids=["5", "7", "half"])
def test_a_mask_that_does_not_fit_is_refused_by_task_and_length(mask: Any) -> None:
    """A01, second half."""
    with pytest.raises(ValueError, match=r"'posture'.*mask"):
        Controller(r6(), Stack(strict=[PostureTask("posture", mask=mask)]))


def test_every_solver_has_caps_and_no_first_order_solver_runs_at_its_default_tolerance() -> None:
    """A02, A04, A06: the caps and accuracies stand in the adapters' settings."""
    from wbc.solvers import daqp, osqp, proxqp, through_qpsolvers

    assert 0 < daqp.SETTINGS["iter_limit"] <= 1000 and daqp.SETTINGS["eps_prox"] == 0.0
    assert 0 < proxqp.MOST_ITERATIONS <= 200 and proxqp.ACCURACY <= 1e-9
    assert 0 < osqp.MOST_ITERATIONS <= 20000 and osqp.ACCURACY <= 1e-8
    caps = {"max_iter", "max_iters", "iter_limit", "time_limit"}
    for name, settings in through_qpsolvers.SETTINGS.items():
        assert caps & set(settings), name


@pytest.mark.parametrize("method", ["auto", "qp"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_no_solver_returns_a_torque_beyond_its_limit(solver: str, method: Any) -> None:
    """A06: 100 N m are wanted on every joint that may give 10; what comes back is 10 exactly, or less."""
    rng = np.random.default_rng(6)
    for _ in range(10):
        state = State(rng.uniform(-2, 2, 6), rng.uniform(-1, 1, 6))
        nominal = TorqueTask("push", target=100.0 * rng.choice((-1.0, 1.0), 6))
        controller = Controller(r6(), Stack(nominal=nominal, limits=[TorqueLimits()]), solver=solver, method=method)
        command = controller.tick(state)
        assert np.abs(command.torque).max() <= 10.0
        assert command.report.clipped <= 10.0 * accuracy(solver)
        assert np.abs(command.torque).max() > 9.999 and command.report.active
        assert command.report.status is not Status.FALLBACK


class Handed:
    """A solver that looks at what it is given."""

    def __init__(self, name: str) -> None:
        self.inner, self.name, self.seen = make_solver(name), name, list[QP]()

    def solve(self, qp: QP) -> Answer:
        self.seen.append(qp)
        return self.inner.solve(qp)

    def reset(self) -> None:
        self.inner.reset()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_limit_that_does_not_exist_reaches_no_solver(solver: str) -> None:
    """A10: joint 1 of C2 has no limits at all; every solver gives the same torque, and no row has an infinite bound."""
    torques = []
    for name in ("daqp", solver):
        push = posture_task([40.0, 60.0])
        stack = Stack(nominal=push, limits=[TorqueLimits(), JointLimits()])
        controller = Controller(c2(), stack, solver=name, method="qp")
        controller._solvers.first = Handed(name)  # type: ignore[assignment]
        torques.append(controller.tick(c2_state(1.0, 0.3, [0.5, -0.5])).torque)
        assert controller._solvers.first.seen
        for qp in controller._solvers.first.seen:
            assert np.isfinite(qp.H).all() and np.isfinite(qp.G).all() and np.isfinite(qp.f).all()
            assert not np.isnan(qp.lower).any() and not np.isnan(qp.upper).any()
            assert (np.isfinite(qp.lower) | np.isfinite(qp.upper)).all()
            for bound in (qp.lower, qp.upper):
                assert (np.abs(bound[np.isfinite(bound)]) < 1e20).all()
    assert np.abs(torques[0] - torques[1]).max() < 1e-6


@pytest.mark.parametrize(("torque", "seconds"), [(2000.0, 5.0), (100.0, 1.5)])
def test_a_sinus_beyond_every_limit_is_followed_inside_the_limits_without_an_exception(
    torque: float, seconds: float
) -> None:
    """A14: 2 ± 2 rad at 2 Hz: 25 rad/s where 10 are allowed, 4 rad where 3.14 are; the joints one radian apart.

    2000 N m are enough: all limits are kept. (Not always: with all joints at 10 rad/s in step the velocity forces
    alone exceed 2000 N m.) 100 N m are not: the torque limit is kept all the same, and whenever a joint crosses a limit
    the tick that lets it said so.
    """
    robot = r6(torque)
    swing = PostureTask("swing", gains=Gains.critical(400.0))
    controller = Controller(robot, Stack(nominal=swing, limits=[TorqueLimits(), JointLimits()]))
    state, before, w = State(np.zeros(6), np.zeros(6)), 0.0, 4.0 * math.pi
    for i in range(round(seconds / 0.001)):
        phase = w * 0.001 * i + np.arange(6)
        swing.target = 2.0 + 2.0 * np.sin(phase)
        swing.target_velocity, swing.target_acceleration = 2.0 * w * np.cos(phase), -2.0 * w**2 * np.sin(phase)
        command = controller.tick(state)
        status = command.report.status
        assert status is not Status.FALLBACK
        assert np.abs(command.torque).max() <= torque
        state = forward(robot, state, command.torque, 0.001)
        beyond = max(outside(robot, state.q), float((np.abs(state.v) - robot.velocity_limits).max()))
        if torque == 2000.0:
            assert status is Status.OPTIMAL
            assert beyond <= 1e-4
        elif beyond > 1e-4 >= before:
            assert status is Status.RELAXED and command.report.relaxed
        before = beyond


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_bad_tick_leaves_nothing_behind_in_a_warm_start(solver: str) -> None:
    """A17: after a state with a NaN, or whose limits contradict each other, the next good tick is right."""
    good = State([0.1], [0.2])
    impossible = State([0.49], [1.0])

    def fresh() -> Controller:
        return Controller(
            p1(1.0), Stack(nominal=posture_task([30.0]), limits=[TorqueLimits(), JointLimits()]), solver=solver
        )

    cold = fresh().tick(good)
    controller = fresh()
    controller.tick(good)
    with pytest.raises(InputError, match=r"q\[0\]"):
        controller.tick(State([NAN], [0.2]))
    assert np.abs(controller.tick(good).torque - cold.torque).max() < 1e-6
    assert controller.tick(impossible).report.status is not Status.OPTIMAL
    after = controller.tick(good)
    assert np.abs(after.torque - cold.torque).max() < 1e-6
    assert after.report.status is cold.report.status


FAILURES = {
    "NaN called solved": checked_answer(np.full(6, NAN), np.zeros(6), "solved", 1, "mock"),
    "out of iterations": checked_answer(None, None, "failed", 7, "mock: maximum iterations"),
    "called infeasible": checked_answer(None, None, "infeasible", 7, "mock: primal infeasible"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_solver_that_fails_is_replaced_and_named(failure: str) -> None:
    """A05, A07, A09: the second solver's answer is used, and the report says what the first one said."""
    stack = Stack(nominal=TorqueTask("push", target=np.full(6, 100.0)), limits=[TorqueLimits()])
    controller = Controller(r6(), stack)
    controller._solvers.first = Scripted(FAILURES[failure])  # type: ignore[assignment]
    expected = Controller(r6(), Stack(nominal=stack["push"], limits=[TorqueLimits()])).tick(S_A).torque
    command = controller.tick(S_A)
    assert np.abs(command.torque - expected).max() < EXACT
    assert "mock" in command.report.explain()
    assert command.report.solver == "nnls" and command.report.status is Status.OPTIMAL


def test_where_no_solver_answers_the_robot_holds_itself_inside_its_limits_and_says_why() -> None:
    """A07: never None, never an exception from deep inside: a fallback with the solver's own words."""
    stack = Stack(nominal=TorqueTask("push", target=np.full(6, 100.0)), limits=[TorqueLimits()])
    controller = Controller(r6(), stack)
    failed = Answer(np.zeros(0), np.zeros(0), "failed", 1, "mock: maximum iterations")
    controller._solvers.first = controller._solvers.second = Scripted(failed)  # type: ignore[assignment]
    command = controller.tick(S_A)
    assert command.report.status is Status.FALLBACK
    assert np.isfinite(command.torque).all() and np.abs(command.torque).max() <= 10.0
    assert "mock: maximum iterations" in command.report.explain()
    assert all(task.because for task in command.report.tasks.values() if task.is_missed) or command.report.tasks


class Scripted:
    """A solver that always says the same."""

    name = "mock"

    def __init__(self, answer: Answer) -> None:
        self.answer = answer

    def solve(self, qp: QP) -> Answer:
        return self.answer

    def reset(self) -> None:
        pass


# --- (c) frames ------------------------------------------------------------------------------------------------------


def test_a_pose_is_reached_from_thirty_random_starts() -> None:
    """C06: exact model, kp 100, kd 20, no limits: below 1 mm and 1 mrad within 2 s, as a critical damper gets there."""
    robot, rng, dt = r6(), np.random.default_rng(0), 0.002
    pairs: list[tuple[np.ndarray, Any]] = []
    while len(pairs) < 30:
        start, goal = rng.uniform(-1.5, 1.5, (2, 6))
        a, b = placement(robot, start), placement(robot, goal)
        if np.linalg.norm(pin.log3(b.rotation @ a.rotation.T)) < 2.5:
            pairs.append((start, b))
    for start, goal in pairs:
        hand = PoseTask("hand", frame=TOOL, gains=Gains(100.0, 20.0))
        hand.target = goal
        controller = Controller(robot, Stack(strict=[hand]), dt=dt)
        state = State(start, np.zeros(6))
        for _ in range(1000):
            state = forward(robot, state, controller.tick(state).torque, dt)
            if np.abs(controller.errors()["hand"]).max() < 5e-4:
                break
        now = placement(robot, state.q)
        assert np.linalg.norm(now.translation - goal.translation) < 1e-3
        assert np.linalg.norm(pin.log3(goal.rotation @ now.rotation.T)) < 1e-3


@pytest.mark.parametrize("limits", [[], [TorqueLimits(), JointLimits()]], ids=["free", "limits"])
def test_a_command_depends_on_the_state_it_is_given_and_on_nothing_before(limits: list[Any]) -> None:
    """C14: the first and the third of three ticks agree bit by bit, and each with a fresh controller's."""
    hand = PositionTask("hand", frame=TOOL)
    hand.target = (0.2, -0.1, 1.6)
    other = State(-S_A.q, 0.5 * S_A.v)

    def fresh() -> Controller:
        return Controller(r6(), Stack(nominal=PostureTask("p", target=np.zeros(6)), strict=[hand], limits=limits))

    controller = fresh()
    first, second, third = (controller.tick(state).torque for state in (S_A, other, S_A))
    assert np.array_equal(first, third)
    assert not np.allclose(first, second)
    assert np.array_equal(first, fresh().tick(S_A).torque)
    assert np.array_equal(second, fresh().tick(other).torque)


def test_the_measured_state_counts_not_the_one_that_was_foreseen() -> None:
    """L05: 0.1 rad off the prediction, the feedback speaks of the measured state: q + dt v + ... starts from there."""
    posture = PostureTask("p", target=np.zeros(6), gains=Gains.critical(100.0))
    controller = Controller(r6(), Stack(nominal=posture))
    first = controller.tick(S_A)
    foreseen = advance(r6(), S_A, first.acceleration, 0.001)
    measured = State(foreseen.q + 0.1, foreseen.v)
    vdot = controller.tick(measured).acceleration
    assert np.abs(vdot - (-100.0 * measured.q - 20.0 * measured.v)).max() < EXACT
    with warnings.catch_warnings():
        warnings.simplefilter("error", ControlWarning)  # one jump is no wrong period
        controller.tick(foreseen)


def test_a_jacobian_before_the_first_state_is_refused_and_later_it_is_the_new_one() -> None:
    """C15: never zeros, never the last state's; frames are compared with a fresh data object."""
    terms = Terms(r6(), 0.001)
    for ask in (lambda: terms.frame(TOOL), lambda: PoseTask("hand", frame=TOOL).kinematics(terms)):
        with pytest.raises(InputError, match="no state yet"):
            ask()
    for state in (S_A, UP, State(-S_A.q, S_A.v)):
        terms.update(state)
        frame = terms.frame(TOOL)
        fresh = r6().model.createData()
        index = r6().model.getFrameId(TOOL)
        J = pin.computeFrameJacobian(r6().model, fresh, state.q, index, pin.LOCAL_WORLD_ALIGNED)
        place = placement(r6(), state.q)
        assert np.abs(frame.J - J).max() < 1e-12  # two routes through the same products
        assert np.abs(frame.position - place.translation).max() < 1e-12
        assert np.abs(frame.rotation - place.rotation).max() < 1e-12


# --- (d) rotations ---------------------------------------------------------------------------------------------------


def orientation_torque(target: Any, state: State = S_A) -> np.ndarray:
    task = OrientationTask("turn", frame=TOOL)
    task.target = target
    return Controller(r6(), Stack(strict=[task])).tick(state).torque


def test_a_quaternion_and_its_negative_ask_for_the_same_turn() -> None:
    """D02: both mean one rotation, and the way there is the short one."""
    Q = pin.Quaternion(pin.exp3(np.array([1.0, -1.2, 0.7])))
    minus = pin.Quaternion(-Q.w, -Q.x, -Q.y, -Q.z)
    assert np.abs(orientation_torque(Q) - orientation_torque(minus)).max() < 1e-12


def test_a_target_that_goes_round_turns_the_torque_once_at_half_a_turn() -> None:
    """D02: yaw from 0 to 2π in 1° steps: the moment about z changes sign once, at π; all is continuous elsewhere."""
    at_rest = State(S_A.q, np.zeros(6))
    here = placement(r6(), S_A.q).rotation
    yaws = np.radians(np.arange(0.5, 360.0, 1.0))
    moments, torques = np.empty(len(yaws)), np.empty((len(yaws), 6))
    task = OrientationTask("turn", frame=TOOL)
    controller = Controller(r6(), Stack(strict=[task]))
    for i, yaw in enumerate(yaws):
        task.target = pin.exp3(np.array([0.0, 0.0, yaw])) @ here
        command = controller.tick(at_rest)
        moments[i], torques[i] = command.report.tasks["turn"].force[2], command.torque
    flips = np.flatnonzero(np.diff(np.sign(moments)))
    assert len(flips) == 1
    assert yaws[flips[0]] < math.pi < yaws[flips[0] + 1]
    assert moments[0] > 0.0
    steps = np.delete(np.abs(np.diff(torques, axis=0)).max(axis=1), flips)
    assert steps.max() < 1.0001 * steps.min()  # the error is linear in the angle: equal steps


def test_a_quaternion_of_another_length_is_refused_and_gives_the_same_torque_once_normalised() -> None:
    """D03: norm 3.6, never 11 rad of error."""
    Q = pin.Quaternion(pin.exp3(np.array([0.4, 0.2, -0.9])))
    long = pin.Quaternion(3.6 * Q.w, 3.6 * Q.x, 3.6 * Q.y, 3.6 * Q.z)
    with pytest.raises(InputError, match=r"norm 3.6, expected 1; call .normalize\(\) on it"):
        orientation_torque(long)
    long.normalize()
    assert np.abs(orientation_torque(long) - orientation_torque(Q)).max() < 1e-12


def rotations_with_round_off() -> dict[str, np.ndarray]:
    step = pin.exp3(np.array([1.0, 2.0, 3.0]) / math.sqrt(14.0) * 2.0 * math.pi / 1e6)
    product = np.eye(3)
    for _ in range(1_000_000):
        product = product.dot(step)
    return {
        "stretched by 1e-10": np.eye(3) * (1.0 + 1e-10),
        "float32": pin.exp3(np.array([1e-4, -2e-4, 1e-4])).astype(np.float32),
        "a million products": product,
    }


def test_round_off_in_a_rotation_is_no_error() -> None:
    """D04: traces slightly above 3 give no NaN, and what is left is smaller than 1e-3 rad."""
    here = placement(r6(), S_A.q).rotation
    for name, nearly in rotations_with_round_off().items():
        task = OrientationTask("turn", frame=TOOL)
        task.target = nearly @ here
        controller = Controller(r6(), Stack(strict=[task]))
        assert np.isfinite(controller.tick(S_A).torque).all(), name
        assert np.linalg.norm(controller.errors()["turn"]) < 1e-3, name


def continuous() -> Robot:
    """One unbounded revolute joint: nq = 2, nv = 1."""
    turning = joint("j", "base", "l", "", kind="continuous", axis="0 0 1")
    return quiet(Robot.from_urdf, f'<robot name="wheel"><link name="base"/>{link("l")}{turning}</robot>')


def test_a_posture_of_continuous_joints_goes_the_short_way_round() -> None:
    """D06: from 3.1 to −3.1 rad is +0.083185, one number, and the torque is positive; C2 has an error of two."""

    def circle(a: float) -> list[float]:
        return [math.cos(a), math.sin(a)]

    controller = Controller(continuous(), Stack(nominal=PostureTask("p", target=circle(-3.1))))
    torque = controller.tick(State(circle(3.1), [0.0])).torque
    assert controller.errors()["p"] == pytest.approx([2 * math.pi - 6.2], abs=1e-12)
    assert controller.errors()["p"] == pytest.approx([0.083185], abs=1e-6)
    assert torque.shape == (1,) and torque[0] > 0.0  # about z: gravity has no part in it
    two = Controller(c2(), Stack(nominal=PostureTask("p", target=[*circle(-3.1), 0.2])))
    two.tick(c2_state(3.1, 0.5))
    assert two.errors()["p"] == pytest.approx([0.083185, -0.3], abs=1e-6)


def test_the_limits_of_cos_and_sin_bound_no_angle() -> None:
    """D07: only joint 2 of C2 has position rows; joint 1 passes 3 rad, and three turns, and no bound acts on it."""
    spin = posture_task([0.0, 0.0])
    limits = JointLimits(velocity=False)
    controller = Controller(c2(), Stack(nominal=spin, limits=[limits]))
    controller.tick(c2_state(3.0, 0.2, [5.0, 0.0]))
    assert controller.as_qp().inequality_names == ("joint j2 upper", "joint j2 lower")
    state = c2_state(0.0, 0.2, [20.0, 0.0])
    for _ in range(1000):  # 20 rad are 3.2 turns
        command = controller.tick(state)
        assert not command.report.active and command.report.route == "closed form"
        state = advance(c2(), state, command.acceleration, 0.001)
    assert abs(state.v[0] - 20.0) < EXACT


def test_only_continuous_joints_take_the_short_way() -> None:
    """D13: a limited joint at +3 rad goes to −3 the long way through 0; a slider at 4 m has 3.5 m to go."""
    start, goal = np.zeros(6), np.zeros(6)
    start[0], goal[0] = 3.0, -3.0
    state = State(start, np.zeros(6))
    arm = Controller(r6(), Stack(nominal=PostureTask("p", target=goal)))
    assert (arm.tick(state).torque - bias(r6(), state))[0] < 0.0
    assert arm.errors()["p"][0] == pytest.approx(-6.0, abs=1e-12)
    rail = Controller(slider(), Stack(nominal=PostureTask("p", target=[0.5])))
    rail.tick(State([4.0], [0.0]))
    assert rail.errors()["p"] == pytest.approx([-3.5], abs=1e-12)


# --- (e) limits ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_joint_pressed_against_its_limit_stays_inside_with_every_solver(solver: str) -> None:
    """E02: 2 s against +3.14 rad: never more than 1e-5 rad beyond, no exception, and the next state is a valid one."""
    robot, dt = r6(100.0), 0.005
    goal = np.zeros(6)
    goal[0] = 3.3  # beyond the limit
    press = PostureTask("press", target=goal, gains=Gains.critical(25.0))
    controller = Controller(robot, Stack(nominal=press, limits=[TorqueLimits(), JointLimits()]), dt=dt, solver=solver)
    q = np.zeros(6)
    q[0] = 3.0
    state = State(q, np.zeros(6))
    for _ in range(400):
        command = controller.tick(state)
        assert command.report.status is not Status.FALLBACK
        state = forward(robot, state, command.torque, dt)
        assert outside(robot, state.q) <= 1e-5
    assert state.q[0] > 3.13  # it got there
    assert any(a.element == "shoulder1_joint" and a.limit == "joint" for a in command.report.active)


def test_limits_hold_after_integration_and_not_only_in_the_qp() -> None:
    """E04: 12 random targets, 200 ticks of 10 ms each: positions to 1e-4, steps to v_max dt + 1e-6."""
    robot, dt = r6(2000.0), 0.01
    rng = np.random.default_rng(2)
    for _ in range(12):
        target = PostureTask("far", target=rng.uniform(-6.0, 6.0, 6), gains=Gains.critical(900.0))
        controller = Controller(robot, Stack(nominal=target, limits=[TorqueLimits(), JointLimits()]), dt=dt)
        state = State(rng.uniform(-2.0, 2.0, 6), np.zeros(6))
        for _ in range(200):
            command = controller.tick(state)
            after = forward(robot, state, command.torque, dt)
            assert outside(robot, after.q) <= 1e-4
            assert (np.abs(after.q - state.q) <= robot.velocity_limits * dt + 1e-6).all()
            state = after


@pytest.mark.parametrize("off", [1e-6, -1e-6])
def test_an_answer_that_rounding_leaves_outside_is_clipped_and_the_report_says_by_how_much(off: float) -> None:
    """E04 and E13, the last gate; what is outside by more than rounding is refused: test_every_tick.py."""
    stack = Stack(nominal=TorqueTask("push", target=np.full(6, 100.0)), limits=[TorqueLimits()])
    controller = Controller(r6(), stack, method="qp")
    controller._solvers.first = Handed("daqp")
    controller.tick(S_A)
    exact = controller._solvers.first.inner.solve(controller._solvers.first.seen[-1])
    loose = Answer(exact.x * (1.0 + off), exact.multipliers, "solved")
    controller._solvers.first = Scripted(loose)  # type: ignore[assignment]
    command = controller.tick(S_A)
    assert command.report.solver == "mock"
    assert np.isfinite(command.torque).all() and np.abs(command.torque).max() <= 10.0
    assert 0.0 < command.report.clipped < 1e-2


def test_a_joint_feedback_beyond_the_torque_limit_is_inside_the_problem_and_reported() -> None:
    """E13: a joint PD term of 50 N m on a limit of 10 gives 10, with the limit named; nothing is added after the QP."""
    at_rest = State(S_A.q, np.zeros(6))
    M = mass_matrix(r6(), S_A.q)
    push = posture_task(np.linalg.solve(M, np.full(6, 50.0)))
    command = Controller(r6(), Stack(nominal=push, limits=[TorqueLimits()])).tick(at_rest)
    assert np.abs(command.torque).max() == pytest.approx(10.0, abs=1e-9)
    assert {a.element for a in command.report.active} <= set(r6().joint_names) and command.report.active
    assert all(a.limit == "torque" and abs(a.bound) == 10.0 for a in command.report.active)
    assert command.report.clipped < 1e-9
    # and without the limit in the stack it does not act
    free = Controller(r6(), Stack(nominal=push)).tick(at_rest)
    assert np.abs(free.torque - (50.0 + bias(r6(), at_rest))).max() < 1e-9


@pytest.mark.parametrize("ms", [1, 2, 5, 10, 20, 50])
def test_every_control_period_keeps_the_limits_and_finds_a_solution(ms: int) -> None:
    """E06: all limits on, a target with two joints near their limits, 2000 N m, 2 s."""
    robot, dt = r6(2000.0), 1e-3 * ms
    goal = np.array([3.13, -1.0, 0.5, -3.13, 0.4, 0.2])
    hand = PoseTask("hand", frame=TOOL, gains=Gains.critical(100.0))
    hand.target = placement(robot, goal)
    stack = Stack(
        nominal=PostureTask("p", target=goal, gains=Gains.critical(100.0)),
        limits=[TorqueLimits(), JointLimits()],
        soft=[(hand, 1.0)],
    )
    controller = Controller(robot, stack, dt=dt)
    state = State(np.array([1.5, 0.5, 0.5, -1.5, 0.4, 0.2]), np.zeros(6))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ControlWarning)  # the period is right
        for _ in range(round(2.0 / dt)):
            command = controller.tick(state)
            assert command.report.status is Status.OPTIMAL
            state = forward(robot, state, command.torque, dt)
            assert outside(robot, state.q) <= 1e-3
            assert (np.abs(state.v) <= robot.velocity_limits + 1e-3).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_limits_that_physics_cannot_reconcile_are_named_and_the_torque_limit_wins(solver: str) -> None:
    """E06, P1w: at 0.49 rad and 1 rad/s, 1 N m allows only 12.8 to 20.5 rad/s², and stopping needs a negative one."""
    robot = p1(1.0)
    for nominal in ((), posture_task([5.0])):
        controller = Controller(robot, Stack(nominal=nominal, limits=[TorqueLimits(), JointLimits()]), solver=solver)
        command = controller.tick(State([0.49], [1.0]))
        assert command.torque == pytest.approx([-1.0], abs=10 * accuracy(solver))
        assert np.abs(command.torque).max() <= 1.0
        assert command.report.status is Status.RELAXED
        (gave,) = command.report.relaxed
        assert (gave.name, gave.element, gave.because) == ("joint", "j", ("limit: torque j",))
        words = command.report.explain()
        assert "'joint' of j" in words and "torque j" in words
        at_bound = 12.8  # rad/s², the least that 1 N m allows here
        assert command.acceleration[0] == pytest.approx(at_bound, abs=0.1)


@pytest.mark.parametrize("real", [0.0012, 0.0008, 0.005])
def test_another_period_than_the_controller_was_told_is_warned_of(real: float) -> None:
    """E06: more than 10 % off for ten ticks: one warning, which says both periods."""
    controller = Controller(r6(), Stack(nominal=PostureTask("p", target=np.ones(6))), dt=0.001)
    state = State(np.zeros(6), np.full(6, 0.1))
    with pytest.warns(ControlWarning, match=f"{real:.3g} s apart.*dt=0.001") as caught:
        for _ in range(40):
            state = advance(r6(), state, controller.tick(state).acceleration, real)
    assert len(caught) == 1


@pytest.mark.parametrize("real", [0.00105, 0.001, 0.00095])
def test_a_period_within_five_per_cent_is_no_reason_for_a_warning(real: float) -> None:
    """E06, the other side: jitter of five per cent, noise of 1e-6 rad, a jump and a standstill stay silent."""
    controller = Controller(r6(), Stack(nominal=PostureTask("p", target=np.ones(6))), dt=0.001)
    rng, state = np.random.default_rng(4), State(np.zeros(6), np.full(6, 0.1))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ControlWarning)
        for i in range(300):
            noisy = State(state.q + rng.normal(0, 1e-6, 6), state.v)
            state = advance(r6(), state, controller.tick(noisy).acceleration, real)
            if i == 150:
                state = State(state.q + 0.5, state.v)
        for _ in range(50):
            controller.tick(State(np.zeros(6), np.zeros(6)))


def test_a_joint_beyond_its_limit_is_driven_back_and_not_merely_held() -> None:
    """E07: P1 at 0.55 rad: the acceleration is negative whatever is asked for, and it comes back monotonically."""
    robot = p1()
    for wish in (0.0, 50.0):
        controller = Controller(robot, Stack(nominal=posture_task([wish]), limits=[TorqueLimits(), JointLimits()]))
        state = State([0.55], [0.0])
        assert controller.tick(state).acceleration[0] < -0.1
        last = state.q[0]
        for _ in range(1000):
            state = forward(robot, state, controller.tick(state).torque, 0.001)
            assert state.q[0] <= last + 1e-12
            assert state.v[0] >= -2.0 - 1e-9
            last = state.q[0]
        assert last <= 0.5 + 1e-6


def test_at_a_limit_a_noisy_joint_rests_and_does_not_hop() -> None:
    """E08: 1 % of inertia, 1e-4 rad of noise: within 1e-3 of the limit, with few changes of the torque's sign."""
    robot, plant, rng = p1(), p1(20.0, 0.01 + 0.01 * 0.26), np.random.default_rng(3)
    press = PostureTask("press", target=[0.6], gains=Gains.critical(400.0))
    controller = Controller(robot, Stack(nominal=press, limits=[TorqueLimits(), JointLimits()]))
    state = State([0.0], [0.0])
    q, torque = np.empty(3000), np.empty(3000)
    for i in range(3000):
        seen = State(state.q + rng.normal(0.0, 1e-4, 1), state.v)
        command = controller.tick(seen)
        state = forward(plant, state, command.torque, 0.001)
        q[i], torque[i] = state.q[0], command.torque[0]
    assert q.max() <= 0.5 + 1e-3
    assert q[2000:].std() < 2e-3
    assert (np.diff(np.sign(torque[2000:])) != 0).sum() < 60
    assert q[2000:].mean() > 0.49  # it is at its limit, not somewhere before


def test_zero_limits_of_a_description_are_placeholders_limits_or_errors_as_the_user_says() -> None:
    """E10, through the controller: without a row, with a torque of exactly zero and a solution, or refused by name."""
    text = c2_text('<limit lower="-1" upper="1" effort="0" velocity="0"/>')
    push = posture_task([1.0, 2.0])
    state = c2_state(0.3, 0.2)

    with pytest.warns(RobotWarning) as caught:
        unlimited = Robot.from_urdf(text)
    said = [str(w.message) for w in caught if "j2" in str(w.message)]
    assert any("effort" in words for words in said) and any("velocity" in words for words in said)
    controller = Controller(unlimited, Stack(nominal=push, limits=[TorqueLimits(), JointLimits(position=False)]))
    controller.tick(state)
    assert controller.as_qp().inequality_names == ()

    zero = quiet(Robot.from_urdf, text, zero_limits="zero")
    controller = Controller(zero, Stack(nominal=push, limits=[TorqueLimits()]))
    command = controller.tick(state)
    assert command.torque[1] == 0.0 and command.report.status is Status.OPTIMAL
    assert {a.element for a in command.report.active} == {"j2"}
    both = Controller(zero, Stack(nominal=push, limits=[TorqueLimits(), JointLimits()])).tick(state)
    assert both.torque[1] == 0.0 and both.report.status is not Status.FALLBACK

    with pytest.raises(RobotError, match="'j2': effort limit is 0"):
        quiet(Robot.from_urdf, text, zero_limits="error")


def test_velocity_limits_do_not_need_position_limits() -> None:
    """E11: C2 with velocity limits only has exactly the rows of joint 2, and they act."""
    wild = posture_task([100.0, 100.0])
    controller = Controller(c2(), Stack(nominal=wild, limits=[JointLimits(position=False)]), metric="identity")
    command = controller.tick(c2_state(0.0, 0.9, [0.0, 2.999]))
    assert controller.as_qp().inequality_names == ("joint j2 upper", "joint j2 lower")
    assert command.acceleration == pytest.approx([100.0, 1.0], abs=1e-9)  # 3 rad/s at the next tick
    no_tag = quiet(Robot.from_urdf, c2_text().replace('type="revolute"', 'type="continuous"'))
    assert np.isinf(no_tag.position_limits).all() and no_tag.velocity_limits[1] == 3.0


def test_a_joint_at_its_limit_leaves_the_rest_of_the_work_to_the_others() -> None:
    """E15: planar 3-link arm, joint 2 held back at 0.5 rad, a point that joints 1 and 3 still reach: below 1 mm."""
    robot, dt = planar_arm(), 0.005
    goal_q = np.array([0.2, 0.5, 0.8])
    goal = placement(robot, goal_q, "tip").translation
    tip = PositionTask("tip", frame="tip", mask=(1, 0, 1), gains=Gains.critical(100.0))
    tip.target = goal
    pull = PostureTask("pull", target=[0.0, 2.0, 0.0], gains=Gains.critical(100.0))  # beyond joint 2's limit
    stack = Stack(nominal=pull, strict=[tip], limits=[TorqueLimits(), JointLimits()])
    controller = Controller(robot, stack, dt=dt)
    state = State([0.0, 0.45, 0.5], np.zeros(3))
    for _ in range(600):
        command = controller.tick(state)
        state = forward(robot, state, command.torque, dt)
        assert outside(robot, state.q) <= 1e-6
    assert np.linalg.norm(placement(robot, state.q, "tip").translation - goal) < 1e-3
    assert state.q[1] == pytest.approx(0.5, abs=1e-3)
    assert command.report.status is Status.OPTIMAL


# --- (h) weights -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("method", ["auto", "closed_form", "qp"])
def test_weights_and_regularisation_mean_what_the_formula_says(solver: str, method: Any) -> None:
    """H02: x* = (Σ w JᵀJ + r I)⁻¹ (Σ w Jᵀa + r x₀) with two weights and x₀ ≠ 0; no factor 2 anywhere."""
    rng = np.random.default_rng(8)
    r, weights, x0 = 0.7, (2.0, 5.0), rng.normal(size=6)
    accelerations = rng.normal(size=(2, 3))
    hand = PositionTask("hand", frame=TOOL, gains=Gains(0.0, 0.0))
    turn = OrientationTask("turn", frame="elbow_joint", gains=Gains(0.0, 0.0))
    hand.target_acceleration, turn.target_acceleration = accelerations
    stack = Stack(nominal=posture_task(x0), soft=[(hand, weights[0]), (turn, weights[1])])
    command = Controller(r6(), stack, method=method, solver=solver, metric=r * np.eye(6)).tick(S_A)
    terms = Terms(r6(), 0.001)
    terms.update(S_A)
    H, g = r * np.eye(6), r * x0
    for frame, rows, weight, wanted in zip(
        (TOOL, "elbow_joint"), (slice(0, 3), slice(3, 6)), weights, accelerations, strict=True
    ):
        J, drift = terms.frame(frame).J[rows], terms.frame(frame).Jdot_v[rows]
        H += weight * J.T @ J
        g += weight * J.T @ (wanted - drift)
    x = np.linalg.solve(H, g)
    assert np.abs(command.acceleration - x).max() < max(1e-8, accuracy(solver))
    qp = Controller(r6(), stack, metric=r * np.eye(6))
    qp.tick(S_A)
    problem = qp.as_qp()
    assert np.abs(np.linalg.solve(problem.P, -problem.q) - x).max() < 1e-8


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("method", ["auto", "closed_form", "qp"])
def test_a_weight_multiplies_the_squared_residual(solver: str, method: Any) -> None:
    """H06: one joint pulled to 0 with weight 1 and to 1 with weight 3 goes to 0.75, and not to 0.9."""
    low, high = (posture_task([a], name) for a, name in ((0.0, "low"), (1.0, "high")))
    controller = Controller(p1(), Stack(strict=[[(low, 1.0), (high, 3.0)]]), method=method, solver=solver)
    command = controller.tick(State([0.1], [0.3]))
    assert command.acceleration == pytest.approx([0.75], abs=accuracy(solver))
    got = command.report.tasks
    assert got["low"].missed == pytest.approx([-0.75], abs=accuracy(solver))
    assert got["high"].missed == pytest.approx([0.25], abs=accuracy(solver))
    # beside the Gauss cost: ½ M (a − a₀)² + ½ (a² + 3 (a − 1)²)
    soft = Stack(nominal=posture_task([2.0]), soft=[(low, 1.0), (high, 3.0)])
    command = Controller(p1(), soft, method=method, solver=solver).tick(State([0.1], [0.3]))
    assert command.acceleration == pytest.approx([(0.26 * 2.0 + 3.0) / (0.26 + 4.0)], abs=max(1e-8, accuracy(solver)))


# --- (i) warm starts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", NATIVE)
def test_pushes_neither_exhaust_a_solver_nor_replace_it(solver: str) -> None:
    """I02: 300 ticks with 30 jumps of velocity: iterations stay far below the caps, every answer is used."""
    robot, rng = r6(), np.random.default_rng(6)
    hand = PoseTask("hand", frame=TOOL)
    stack = Stack(nominal=PostureTask("p", target=S_A.q), strict=[hand], limits=[TorqueLimits(), JointLimits()])
    controller = Controller(robot, stack, solver=solver)
    backend, state = controller._solvers.first, State(S_A.q, np.zeros(6))
    pushes = set(rng.choice(300, 30, replace=False))
    iterations = []
    for i in range(300):
        command = controller.tick(state)
        iterations.append(command.report.iterations)
        assert command.report.status is not Status.FALLBACK
        assert controller._solvers.first is backend
        state = forward(robot, state, command.torque, 0.001)
        if i in pushes:
            state = State(state.q, state.v + rng.normal(0.0, 1.0, 6))
    assert max(iterations) > 0  # limits were active
    most_calls = 30  # levels times repetitions and retries of one tick
    assert max(iterations) < most_calls * {"daqp": 1000, "proxqp": 200, "osqp": 20000}[solver]


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_workspace_that_has_seen_zeros_solves_the_next_problem_like_a_fresh_one(solver: str) -> None:
    """I03, I04: from q = 0, where J is full of exact zeros, to S_A and back, and through changing masks."""
    hand = PositionTask("hand", frame=TOOL, mask=(1, 1, 0))
    hand.target = (0.1, 0.1, 1.7)

    def fresh() -> Controller:
        stack = Stack(nominal=TorqueTask("t"), strict=[hand], limits=[TorqueLimits()])
        return Controller(r6(100.0), stack, solver=solver, method="qp")

    controller = fresh()
    for state, mask in ((UP, (1, 1, 0)), (S_A, (1, 1, 0)), (S_A, (0, 1, 1)), (UP, (1, 0, 1)), (S_A, (1, 1, 0))):
        hand.mask = mask
        warm, cold = controller.tick(state), fresh().tick(state)
        assert np.abs(warm.torque - cold.torque).max() < max(1e-8, 100 * accuracy(solver))


def dense(n: int, m: int, seed: int, equalities: int = 0) -> QP:
    """A problem with unit rows, a unit cost, and a known feasible point."""
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(m, n))
    G /= np.linalg.norm(G, axis=1)[:, None]
    inside = G @ (0.1 * rng.normal(size=n))
    lower, upper = inside - 0.05, inside + 0.05
    lower[:equalities] = upper[:equalities] = inside[:equalities]
    return QP(np.eye(n), rng.normal(size=n), G, lower, upper, "level")


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_persistent_workspace_survives_changing_zeros(solver: str) -> None:
    """I03, I04, at the adapter: entries that become exactly 0.0 and back never leave an old matrix behind."""
    backend = make_solver(solver)
    for step in range(6):
        qp = dense(5, 4, 3)
        if step % 2:
            qp.G[:, 1::2] = 0.0
            qp.G /= np.linalg.norm(qp.G, axis=1)[:, None]
            centre = 0.5 * (qp.lower + qp.upper)
            qp.lower, qp.upper = -np.abs(centre) - 0.05, np.abs(centre) + 0.05
        else:
            qp.H[0, 1] = qp.H[1, 0] = 0.5
        warm, cold = backend.solve(qp), make_solver(solver).solve(qp)
        assert warm.solved and cold.solved
        assert np.abs(warm.x - cold.x).max() < max(1e-9, 10 * accuracy(solver))
        assert qp.violation(warm.x) < max(1e-9, accuracy(solver))


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_solver_takes_no_rows_of_a_kind_and_another_size_at_every_call(solver: str) -> None:
    """I06: no equality rows, no inequality rows, neither, and another dimension, all in one adapter's life."""
    backend = make_solver(solver)
    for n, m, equal in ((3, 2, 0), (3, 2, 2), (3, 0, 0), (5, 3, 1), (3, 2, 0), (4, 2, 1), (1, 1, 0)):
        qp = dense(n, m, 10 * n + m, equal)
        answer = backend.solve(qp)
        assert answer.solved, answer.message
        assert qp.violation(answer.x) < max(1e-9, accuracy(solver))
        gradient = qp.H @ answer.x + qp.f + qp.G.T @ answer.multipliers
        assert np.abs(gradient).max() < max(1e-8, 10 * accuracy(solver))
        assert answer.multipliers.shape == (m,)


# --- (j) versions ----------------------------------------------------------------------------------------------------


def test_the_environment_says_versions_of_everything_that_a_report_needs() -> None:
    """J01, the doctor: Python, pinocchio, eigenpy, boost, numpy and every solver, each with a version."""
    rows = dict(environment())
    for name in ("Python", "pinocchio", "eigenpy", "boost", "numpy", "scipy", "qpsolvers"):
        assert available(rows[name]) and rows[name][0].isdigit(), name
    for name in ("daqp", "proxqp", "osqp"):
        assert available(rows[f"{name} (native)"]), name
    listed = {name.split(" ")[0] for name in rows}
    assert set(SOLVERS) <= listed


# --- (k) signs, axes and feed-forward --------------------------------------------------------------------------------


def test_position_velocity_and_acceleration_of_a_reference_go_where_they_belong() -> None:
    """K04: with gains zero the acceleration is the feed-forward exactly; then kp alone, then kd alone."""
    rng = np.random.default_rng(9)
    q, v, a = rng.normal(size=(3, 6))

    def wanted(kp: float, kd: float) -> np.ndarray:
        task = PostureTask("p", target=q, gains=Gains(kp, kd))
        task.target_velocity, task.target_acceleration = v, a
        return Controller(r6(), Stack(strict=[task])).tick(S_A).report.tasks["p"].asked

    assert np.array_equal(wanted(0.0, 0.0), a)
    assert np.abs(wanted(3.0, 0.0) - (a + 3.0 * (q - S_A.q))).max() < 1e-12
    assert np.abs(wanted(0.0, 3.0) - (a + 3.0 * (v - S_A.v))).max() < 1e-12


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("kind", [OrientationTask, PositionTask])
def test_masks_and_gains_of_one_axis_act_about_that_axis_only(kind: Any, axis: int) -> None:
    """K08: at a pose that is aligned with nothing: mask and gains of x move x of the world and nothing else."""
    only = np.eye(3)[axis]
    at_rest = State(S_A.q, np.zeros(6))
    here = placement(r6(), S_A.q)
    turned = pin.exp3(np.array([0.1, 0.2, -0.15])) @ here.rotation
    goal = turned if kind is OrientationTask else here.translation + np.array((0.1, 0.2, -0.15))
    rows = slice(3, 6) if kind is OrientationTask else slice(0, 3)
    error = np.array([0.1, 0.2, -0.15])
    terms = Terms(r6(), 0.001)
    terms.update(at_rest)
    frame = terms.frame(TOOL)

    by_gain = kind("t", frame=TOOL, gains=Gains(50.0 * only, 0.0))
    by_gain.target = goal
    vdot = Controller(r6(), Stack(strict=[by_gain])).tick(at_rest).acceleration
    assert np.abs(frame.J[rows] @ vdot - 50.0 * error * only).max() < EXACT

    by_mask = kind("t", frame=TOOL, gains=Gains(50.0, 0.0), mask=only)
    by_mask.target = goal
    command = Controller(r6(), Stack(strict=[by_mask])).tick(at_rest)
    assert command.report.tasks["t"].asked == pytest.approx([50.0 * error[axis]], abs=1e-9)
    force = r6().model.createData()
    J = pin.computeFrameJacobian(r6().model, force, S_A.q, r6().model.getFrameId(TOOL), pin.LOCAL_WORLD_ALIGNED)[rows]
    assert (J @ command.acceleration)[axis] == pytest.approx(50.0 * error[axis], abs=1e-9)
    # the torque of the task is one force along, or one moment about, that axis
    pushed = command.torque - bias(r6(), at_rest)
    assert np.abs(pushed - J[axis] * (pushed @ J[axis]) / (J[axis] @ J[axis])).max() < EXACT * np.abs(pushed).max()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_positive_step_turns_and_moves_the_positive_way(axis: int) -> None:
    """K09: +0.1 rad about a world axis is +0.1 ± 0.005 rad about that axis after 1 s; +0.05 m likewise."""
    robot, dt = r6(), 0.002
    along = np.eye(3)[axis]
    for turn, move in ((0.1, 0.0), (0.0, 0.05)):
        start = placement(robot, S_A.q)
        hand = PoseTask("hand", frame=TOOL)
        hand.target = pin.SE3(pin.exp3(turn * along) @ start.rotation, start.translation + move * along)
        controller = Controller(robot, Stack(strict=[hand]), dt=dt)
        state = State(S_A.q, np.zeros(6))
        for _ in range(500):
            state = forward(robot, state, controller.tick(state).torque, dt)
        now = placement(robot, state.q)
        assert np.abs(pin.log3(now.rotation @ start.rotation.T) - turn * along).max() < 0.005
        assert np.abs(now.translation - start.translation - move * along).max() < 0.0025


# --- (l) gravity left to the firmware --------------------------------------------------------------------------------


HORIZONTAL = State([math.pi / 2, 0, 0, 0, 0, 0], np.zeros(6))
FORWARD = State([0, math.pi / 2, 0, 0, 0, 0], np.zeros(6))


@pytest.mark.parametrize("state", [S_A, HORIZONTAL, FORWARD], ids=["S_A", "first joint", "second joint"])
def test_gravity_left_to_the_firmware_is_missing_once_and_exactly(state: State) -> None:
    """L03: the two outputs differ by g(q) and by nothing else, in motion too."""
    hand = PositionTask("hand", frame=TOOL)
    gravity = np.array(pin.computeGeneralizedGravity(r6().model, r6().model.createData(), state.q))
    included, excluded = (
        Controller(r6(), Stack(strict=[hand]), gravity=g).tick(state) for g in ("included", "excluded")
    )
    assert np.abs(included.torque - excluded.torque - gravity).max() < 1e-12
    assert np.array_equal(included.acceleration, excluded.acceleration)


@pytest.mark.parametrize(
    ("state", "numbers"),
    [(HORIZONTAL, (-46.107, 0, 0, 0, -4.905, 0)), (FORWARD, (0, -46.107, 0, -20.601, 0, -4.905))],
    ids=["first joint", "second joint"],
)
def test_the_numbers_of_the_report_on_gravity(state: State, numbers: Any) -> None:
    """L03: lying about its first joint's axis the arm needs 46.107 N m there and 4.905 N m at the fifth."""
    gravity = np.array(pin.computeGeneralizedGravity(r6().model, r6().model.createData(), state.q))
    included, excluded = (Controller(r6(), Stack(), gravity=g).tick(state).torque for g in ("included", "excluded"))
    assert np.abs(included - excluded - gravity).max() < 1e-12
    assert np.abs(gravity - numbers).max() < 1e-3


def test_torque_limits_are_those_of_the_motor_whoever_adds_gravity() -> None:
    """L03: with a limit of 40 N m the arm cannot hold itself; the physical torque is 40, whatever is sent."""
    robot = r6(40.0)
    gravity = np.array(pin.computeGeneralizedGravity(robot.model, robot.model.createData(), FORWARD.q))
    stack = Stack(limits=[TorqueLimits()])
    for mode, added in (("included", 0.0), ("excluded", gravity)):
        command = Controller(robot, stack, gravity=mode).tick(FORWARD)
        physical = command.torque + added
        assert np.abs(physical).max() == pytest.approx(40.0, abs=1e-9)
        (active,) = command.report.active
        assert abs(active.bound) == 40.0


# --- rows of a user's own task ---------------------------------------------------------------------------------------


class Faulty(MotionTask):
    """The height of the tool, with a NaN in one of its numbers once it is told so."""

    dim = 1
    where = ""

    def kinematics(self, terms: Terms) -> Kinematics:
        frame = terms.frame(TOOL)
        numbers = {
            "error": np.array([0.1]),
            "velocity_error": -frame.velocity[2:3],
            "J": frame.J[2:3].copy(),
            "Jdot_v": frame.Jdot_v[2:3].copy(),
        }
        if self.where:
            numbers[self.where].flat[0] = np.nan
        return Kinematics(**numbers)


@pytest.mark.parametrize("where", ["error", "velocity_error", "J", "Jdot_v"])
@pytest.mark.parametrize("place", ["strict", "soft", "soft, by its inertia"])
@pytest.mark.parametrize("limits", [False, True])
def test_a_nan_out_of_a_task_of_ones_own_is_flagged_with_its_name(where: str, place: str, limits: bool) -> None:
    """A09: before any solver is asked; the command stays finite, and the next good tick is as if nothing had been."""
    task = Faulty("own height", weighting="inertia" if "inertia" in place else "identity")
    parts = {"strict": [task]} if place == "strict" else {"soft": [(task, 3.0)]}
    held = [TorqueLimits()] if limits else []
    controller = Controller(r6(), Stack(nominal=PostureTask("p", target=S_A.q), limits=held, **parts))
    good = controller.tick(S_A).torque
    asked = Scripted(Answer(np.zeros(0), np.zeros(0), "failed", 1, "a solver was asked"))
    first = controller._solvers.first
    controller._solvers.first = asked  # type: ignore[assignment]
    task.where = where
    command = controller.tick(S_A)
    controller._solvers.first = first
    assert command.report.status is Status.FALLBACK
    assert np.isfinite(command.torque).all()
    assert "task 'own height': row 0 is not finite" in command.report.explain()
    assert "a solver was asked" not in command.report.trouble
    task.where = ""
    assert np.abs(controller.tick(S_A).torque - good).max() < EXACT
