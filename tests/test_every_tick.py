"""A command every tick: whatever a solver does, or a sensor says, the torque is finite and inside its limits."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from tests.fixtures import S_A, TOOL, p1, r6
from wbc import Command, Controller, Robot, Stack, State, Status
from wbc.errors import InputError
from wbc.fallback import STOP, gravity_compensation
from wbc.robots import load
from wbc.solvers import QP, Answer, make_solver
from wbc.solvers.guarded import MOST_CALLS, Guarded
from wbc.solvers.in_turn import LEFT_OUT
from wbc.tasks import ComTask, JointLimits, PoseTask, PostureTask, TorqueLimits, TorqueTask

NAN, INF = float("nan"), float("inf")
EXACT = 1e-9  # N m, relative to torques of 1 to 100: two solvers' rounding
DEADLINE = 0.8e-3


@pytest.fixture(autouse=True)
def every_tick_asks_its_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the active rows of the last tick lead to the solution, no solver is asked, and none can fail."""
    monkeypatch.setattr("wbc.hierarchy.one_qp.FEW_CHANGES", 0)


def solved(qp: QP) -> Answer:
    return make_solver("daqp").solve(qp)


def raising(qp: QP) -> Any:
    raise RuntimeError("mock: boom")


def sleeping(qp: QP) -> Any:
    time.sleep(0.02)
    return solved(qp)


FAULTS: dict[str, Callable[[QP], Any]] = {
    "raises": raising,
    "NaN as success": lambda qp: Answer(np.full(qp.f.shape, NAN), np.zeros(qp.lower.shape), "solved"),
    "NaN prices as success": lambda qp: Answer(solved(qp).x, np.full(qp.lower.shape, NAN), "solved"),
    "outside its bounds": lambda qp: Answer(solved(qp).x + 1e3, np.zeros(qp.lower.shape), "solved"),
    "no optimum": lambda qp: Answer(np.zeros(qp.f.shape), np.ones(qp.lower.shape), "solved"),
    "None": lambda qp: None,
    "a bare array": lambda qp: np.zeros(qp.f.shape),
    "wrong length": lambda qp: Answer(np.zeros(len(qp.f) + 1), np.zeros(qp.lower.shape), "solved"),
    "wrong status": lambda qp: Answer(solved(qp).x, solved(qp).multipliers, "perhaps"),
    "no x": lambda qp: Answer(None, None, "solved"),  # type: ignore[arg-type]
    "infeasible": lambda qp: Answer(np.zeros(0), np.zeros(0), "infeasible", 1, "mock: primal infeasible"),
    "out of iterations": lambda qp: Answer(np.zeros(0), np.zeros(0), "failed", 1, "mock: maximum iterations"),
}
MENDED = ("outside its bounds", "no optimum")


class Faulty:
    """A solver that does as it is told, tick by tick."""

    name = "mock"

    def __init__(self, fault: Callable[[QP], Any]) -> None:
        self.fault, self.calls, self.resets = fault, 0, 0

    def solve(self, qp: QP) -> Any:
        self.calls += 1
        return self.fault(qp)

    def reset(self) -> None:
        self.resets += 1


def arm(**arguments: Any) -> Controller:
    """R6 asked for ten times the torque that it may give: a limit is active at every tick."""
    push = TorqueTask("push", target=np.full(6, 100.0))
    return Controller(r6(), Stack(nominal=push, limits=[TorqueLimits()]), **arguments)


def humanoid(**arguments: Any) -> Controller:
    """Talos on two feet whose CoM shall move faster than friction and motors allow."""
    robot = load("talos")
    com = ComTask("com")
    com.target_acceleration = (0.0, 8.0, 0.0)
    contacts = [robot.contact(foot, friction=0.6) for foot in robot.feet]
    stack = Stack(nominal=PostureTask("posture"), contacts=contacts, limits=[TorqueLimits()], soft=[(com, 100.0)])
    return Controller(robot, stack, **arguments)


pytestmark = [
    pytest.mark.faults,
    pytest.mark.filterwarnings("ignore::wbc.errors.ControlWarning"),  # the same state again and again
    pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning"),  # numbers that a faulty solver made up
]


def moving(robot: Robot) -> State:
    """A rotated state in motion; the feet stay where they are when the base is not free."""
    if robot.nq == robot.nv:
        return S_A
    rng = np.random.default_rng(4)
    v = 0.05 * rng.standard_normal(robot.nv)
    q = pin.integrate(robot.model, robot.home, 0.02 * rng.standard_normal(robot.nv))
    return State(q, v)


ROBOTS = {"fixed": arm, "floating": humanoid}
on_both = pytest.mark.parametrize("make", ROBOTS.values(), ids=ROBOTS)


def replaced(controller: Controller, first: Any, second: Any = None) -> Controller:
    controller._solvers.first = first
    if second is not None:
        controller._solvers.second = second
    return controller


def is_safe(controller: Controller, command: Command) -> bool:
    """Finite, and inside the motors' limits."""
    finite = np.isfinite(command.torque).all() and np.isfinite(command.acceleration).all()
    return bool(finite and (np.abs(command.torque) <= controller.robot.torque_limits).all())


# --- one solver fails -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", FAULTS)
@on_both
def test_a_solver_that_fails_in_any_way_is_replaced_by_the_second_one(make: Any, fault: str) -> None:
    """A02, A07, A09: the second solver's answer is the right one, and the words name the first."""
    controller = make()
    state = moving(controller.robot)
    expected = make().tick(state).torque
    command = replaced(controller, Faulty(FAULTS[fault])).tick(state)
    assert command.report.status is not Status.FALLBACK, command.report.trouble
    assert is_safe(controller, command)
    assert np.abs(command.torque - expected).max() < 1e3 * EXACT * (1.0 + np.abs(expected).max())
    assert controller.failures == 0
    if command.report.solver == "mock":  # from a wrong point the exact solve on an active set may find the right one
        assert fault in MENDED
    else:
        assert command.report.solver == "nnls" and "mock" in command.report.trouble
        assert "mock" in command.report.explain()


@pytest.mark.parametrize("fault", ["outside its bounds", "NaN as success", "None"])
def test_the_answer_to_the_whole_stack_as_one_qp_is_looked_at_too(fault: str) -> None:
    """With ``method="qp"`` nothing is polished; a point outside its bounds is no answer all the same."""
    controller = replaced(arm(method="qp"), Faulty(FAULTS[fault]))
    command = controller.tick(S_A)
    assert np.abs(command.torque - arm().tick(S_A).torque).max() < 1e-6  # method "qp" is as exact as its solver
    assert command.report.clipped < 1e-6
    assert fault in MENDED or "mock" in command.report.trouble


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault not in MENDED])
@on_both
def test_where_every_solver_fails_the_command_is_safe_and_says_why(make: Any, fault: str) -> None:
    controller = make()
    broken = Faulty(FAULTS[fault])
    command = replaced(controller, broken, broken).tick(moving(controller.robot))
    assert command.report.status is Status.FALLBACK and is_safe(controller, command)
    assert "mock" in command.report.trouble and "brakes" in command.report.explain()
    assert controller.failures == command.report.failures == 1 and broken.resets > 0


def test_words_of_a_failure_begin_with_what_the_solver_said_first() -> None:
    """A05, A07: what comes last often only follows from it."""
    broken = Faulty(FAULTS["infeasible"])
    assert "primal infeasible" in replaced(arm(), broken, broken).tick(S_A).report.explain()
    broken = Faulty(raising)
    assert "RuntimeError: mock: boom" in replaced(arm(), broken, broken).tick(S_A).report.explain()


def test_ctrl_c_is_not_swallowed() -> None:
    """A02."""

    def interrupted(qp: QP) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replaced(arm(), Faulty(interrupted)).tick(S_A)


def test_a_mistake_in_a_task_of_the_users_own_is_not_hidden() -> None:
    class Wrong:
        name = "wrong"
        yields = False

        def elements(self, robot: Any) -> tuple[str, ...]:
            return tuple(robot.joint_names)

        def rows(self, terms: Any) -> Any:
            if terms.q[0] != 0.0:
                raise ZeroDivisionError("a bug")
            return TorqueLimits().rows(terms)

    controller = Controller(r6(), Stack(limits=[Wrong()]))
    controller.tick(State(np.zeros(6), np.zeros(6)))
    with pytest.raises(ZeroDivisionError, match="a bug"):
        controller.tick(S_A)


# --- failing ticks in a run -----------------------------------------------------------------------------------


@pytest.mark.parametrize("most_stale", [0, 2, 10])
@on_both
def test_three_failing_ticks_in_a_run_are_held_then_damped_and_counted(make: Any, most_stale: int) -> None:
    """A15, A16: ages never exceed ``most_stale``; the first good tick is the one of a controller that is new."""
    ticks, failing = (100, (50, 51, 52)) if make is arm else (30, (15, 16, 17))
    controller = make(most_stale=most_stale)
    robot, good, backup = controller.robot, controller._solvers.first, controller._solvers.second
    q, v = moving(robot).q, moving(robot).v
    for k in range(ticks):
        state = State(pin.integrate(robot.model, q, 1e-4 * k * v), v * np.cos(0.01 * k))
        broken = Faulty(raising)
        replaced(controller, *((broken, broken) if k in failing else (good, backup)))
        held = controller._last
        command = controller.tick(state)
        assert is_safe(controller, command)
        report, age = command.report, k - failing[0] + 1
        if k not in failing:
            assert report.status is not Status.FALLBACK and report.stale_ticks == report.failures == 0
            assert controller.failures == 0
            if k == failing[-1] + 1:
                fresh = make()
                fresh.tick(State(q, v))  # what tasks and contacts hold is what they saw at the first tick
                fresh._solvers.first.reset()
                assert np.abs(command.torque - fresh.tick(state).torque).max() < 1e-6  # A17's own tolerance
            continue
        assert report.status is Status.FALLBACK and report.failures == controller.failures == age
        assert report.stale_ticks == (age if age <= most_stale else 0) <= most_stale
        if age <= most_stale:
            assert held is not None and np.array_equal(command.torque, held.torque)
            assert f"{age} ticks old" in report.explain()
        else:
            assert "brakes" in report.explain()
            assert (STOP in report.trouble) == (most_stale > 0)


def test_reset_forgets_the_last_command_and_the_failures() -> None:
    controller = arm()
    controller.tick(S_A)
    broken = Faulty(raising)
    replaced(controller, broken, broken).tick(S_A)
    controller.reset()
    assert controller.failures == 0
    assert controller.tick(S_A).report.stale_ticks == 0


def test_a_held_command_obeys_a_limit_that_was_lowered_since() -> None:
    limit = TorqueLimits()
    controller = Controller(r6(), Stack(nominal=TorqueTask("push", target=np.full(6, 100.0)), limits=[limit]))
    assert np.abs(controller.tick(S_A).torque).max() > 9.0
    limit.scale = 0.5
    broken = Faulty(raising)
    command = replaced(controller, broken, broken).tick(S_A)
    assert command.report.stale_ticks == 1 and np.abs(command.torque).max() == pytest.approx(5.0, abs=1e-12)


# --- gravity compensation -------------------------------------------------------------------------------------


def test_on_two_feet_the_contacts_carry_the_weight_and_the_robot_stays() -> None:
    """At rest: base and joints have no acceleration, and the feet push up with the whole weight."""
    controller = humanoid(most_stale=0)
    robot = controller.robot
    broken = Faulty(raising)
    command = replaced(controller, broken, broken).tick(State(robot.home, np.zeros(robot.nv)))
    assert np.abs(command.acceleration).max() < 1e-8  # m/s², of 9.81 without contact forces
    up = [wrench[2] for wrench in command.wrenches.values()]
    assert min(up) > 0.0 and sum(up) == pytest.approx(robot.weight, rel=1e-9)


def test_a_foot_in_the_air_carries_nothing_in_a_fallback() -> None:
    """The pose of two feet on one foot: the other carries what it can, in the least-squares sense, and never pulls."""
    controller = humanoid(most_stale=0)
    robot = controller.robot
    left, right = (contact.name for contact in controller.stack.contacts)
    state = State(robot.home, np.zeros(robot.nv))
    controller.tick(state)
    controller.stack.deactivate(right, over=0.0)
    broken = Faulty(raising)
    command = replaced(controller, broken, broken).tick(state)
    assert not command.wrenches[right].any()
    assert command.wrenches[left][2] > 0.5 * robot.weight
    assert is_safe(controller, command)


def test_contacts_never_pull_in_a_fallback() -> None:
    """Random poses, many with the CoM far outside the feet, where a least-norm share would pull at one of them."""
    controller = humanoid(most_stale=0)
    robot, rng = controller.robot, np.random.default_rng(2)
    broken = Faulty(raising)
    replaced(controller, broken, broken)
    shifted = 0
    for _ in range(20):
        step = np.concatenate([np.zeros(3), 0.8 * rng.standard_normal(3), 0.5 * rng.standard_normal(robot.nv - 6)])
        q = pin.integrate(robot.model, robot.home, step)
        command = controller.tick(State(q, rng.standard_normal(robot.nv)))
        assert is_safe(controller, command)
        pushes = [wrench[2] for wrench in command.wrenches.values()]
        assert min(pushes) >= -EXACT
        shifted += min(pushes) == 0.0
    assert shifted > 0


def test_damping_takes_energy_out_and_gravity_is_carried() -> None:
    """On a fixed base without limits that bind, τ − g = −k M v: the motion decays and nothing falls."""
    robot = r6(2000.0)
    controller = Controller(robot, Stack(limits=[TorqueLimits()]), most_stale=0)
    controller._solve = lambda problem: (None, "mock")  # type: ignore[method-assign]
    command = controller.tick(S_A)
    data = robot.model.createData()
    M = pin.crba(robot.model, data, S_A.q)
    g = pin.computeGeneralizedGravity(robot.model, data, S_A.q)
    assert np.abs(command.torque - (g - 10.0 * M @ S_A.v)).max() < EXACT
    assert S_A.v @ (command.torque - g) < 0.0


# --- deadlines ------------------------------------------------------------------------------------------------


@on_both
def test_a_solver_that_oversleeps_gives_a_late_command_and_is_left_out(make: Any) -> None:
    """A02: 20 ms against 0.8 ms: a valid command, flagged; the second solver does the next 100 ticks."""
    controller = make(deadline=DEADLINE)
    state = moving(controller.robot)
    expected = make().tick(state).torque
    lazy = Faulty(sleeping)
    command = replaced(controller, lazy).tick(state)
    assert command.report.deadline_missed and command.report.status is not Status.FALLBACK
    assert np.abs(command.torque - expected).max() < 1e3 * EXACT * (1.0 + np.abs(expected).max())
    assert "deadline" in command.report.explain() or "no time left" in command.report.trouble
    calls = lazy.calls
    assert calls <= 2  # no further call begins after ten deadlines
    # a busy machine may make the second solver late too, and the one that is back first is always asked
    controller._solvers._note_time = lambda slot: None  # type: ignore[method-assign]
    for _ in range(LEFT_OUT if make is arm else 3):
        command = controller.tick(state)
        assert command.report.status is not Status.FALLBACK and is_safe(controller, command)
    assert lazy.calls == calls and "left out" in command.report.trouble
    if make is arm:
        controller.tick(state)
        assert lazy.calls > calls


def test_a_late_solver_is_no_trouble_while_no_solver_is_needed() -> None:
    """With ``"auto"`` and no active limit nobody is asked, so nobody is left out, and the words say nothing."""
    limits = [TorqueLimits()]
    controller = Controller(r6(2000.0), Stack(nominal=PostureTask("rest"), limits=limits), deadline=DEADLINE)
    controller._solvers.back_at = [10**6, 0]
    report = controller.tick(S_A).report
    assert report.solver == "closed form" and not report.trouble


def test_where_both_solvers_are_late_one_is_asked_all_the_same() -> None:
    """A late solution is better than none."""
    controller = arm(deadline=DEADLINE)
    replaced(controller, Faulty(sleeping), Faulty(sleeping))
    for _ in range(3):
        assert controller.tick(S_A).report.status is not Status.FALLBACK


def test_one_solve_has_a_bound_on_calls_and_on_time() -> None:
    qp = QP(np.eye(2), np.ones(2), np.eye(2), -np.ones(2), np.ones(2), "level")
    guard, counted = Guarded(None), Faulty(solved)
    guard.begin(counted)
    statuses = [guard.solve(qp).status for _ in range(MOST_CALLS + 3)]
    assert counted.calls == MOST_CALLS and statuses[-1] == "failed" and statuses[0] == "solved"
    guard, lazy = Guarded(1e-3), Faulty(sleeping)
    guard.begin(lazy)
    assert guard.solve(qp).solved  # late and valid
    assert "no time left" in guard.solve(qp).message and lazy.calls == 1


@pytest.mark.parametrize("name", ["daqp", "osqp"])
def test_solvers_that_can_be_told_stop_at_their_time_cap(name: str) -> None:
    """A02: the cap is 1 s, and ten deadlines where there is one; a cap of nothing stops at once."""
    rng = np.random.default_rng(0)
    n, m = 60, 300
    G = rng.standard_normal((m, n))
    G /= np.linalg.norm(G, axis=1)[:, None]
    qp = QP(np.eye(n), 100.0 * rng.standard_normal(n), G, -np.ones(m), np.ones(m), "big")
    assert make_solver(name, 60.0).solve(qp).solved  # s; on a busy machine osqp takes more than its 1 s
    assert make_solver(name, 1e-7).solve(qp).status == "failed"


@pytest.mark.parametrize("solver", ["daqp", "proxqp", "osqp", "nnls"])
@pytest.mark.parametrize("rows", [0, 1])
def test_a_problem_without_rows_that_bind_is_solved_by_every_solver(solver: str, rows: int) -> None:
    """scipy's nnls ends the process on a matrix without columns."""
    qp = QP(np.eye(2), np.array([1.0, -2.0]), np.ones((rows, 2)), np.full(rows, -9.0), np.full(rows, 9.0), "free")
    answer = make_solver(solver).solve(qp)
    assert answer.solved and np.abs(answer.x - (-1.0, 2.0)).max() < 1e-8  # osqp stops at 1e-9


# --- crossed bounds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["daqp", "proxqp", "osqp", "nnls"])
def test_crossed_bounds_reach_no_solver(solver: str) -> None:
    """A04: P = I, lb = (1, 0), ub = (0, 1): refused with its row, where proxqp alone took 23.7 s."""
    guard, counted = Guarded(None), Faulty(make_solver(solver).solve)
    guard.begin(counted)
    answer = guard.solve(QP(np.eye(2), np.zeros(2), np.eye(2), np.array([1.0, 0.0]), np.array([0.0, 1.0]), "box"))
    assert answer.status == "infeasible" and counted.calls == 0
    assert "row 0" in answer.message and "at least 1 and at most 0" in answer.message


@pytest.mark.parametrize("solver", ["daqp", "proxqp", "osqp"])
@pytest.mark.parametrize("method", ["auto", "qp"])
def test_limits_of_a_joint_that_cross_are_named_and_never_handed_to_a_solver(solver: str, method: Any) -> None:
    """A04: position and motor of P1w's joint leave no room: the joint is named, and every row handed on is possible."""
    controller = Controller(p1(1.0), Stack(limits=[TorqueLimits(), JointLimits()]), solver=solver, method=method)
    handed: list[QP] = []
    inner = controller._solvers.first

    def looking(qp: QP) -> Answer:
        handed.append(qp)
        return inner.solve(qp)

    report = replaced(controller, Faulty(looking)).tick(State([0.49], [1.0])).report
    assert report.status is Status.RELAXED and {relaxed.element for relaxed in report.relaxed} == {"j"}
    assert all((qp.lower <= qp.upper).all() for qp in handed)


# --- states that cannot be used -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("vector", "entry", "value", "words"),
    [
        ("q", 3, NAN, r"q\[3\] \(joint panda_joint4\) is nan"),
        ("v", 0, INF, r"v\[0\] \(joint panda_joint1\) is inf"),
        ("v", 6, -INF, r"v\[6\] \(joint panda_joint7\) is -inf"),
    ],
)
def test_a_bad_entry_of_the_state_is_named_with_its_joint(vector: str, entry: int, value: float, words: str) -> None:
    robot = load("panda")
    parts = {"q": robot.home.copy(), "v": np.zeros(robot.nv)}
    parts[vector][entry] = value
    with pytest.raises(InputError, match=words):
        Controller(robot, Stack()).tick(State.unchecked(**parts))


@pytest.mark.parametrize(("entry", "joint"), [(1, "root_joint"), (5, "root_joint"), (7, "leg_left_1_joint")])
def test_entries_of_a_floating_base_are_named_as_what_they_are(entry: int, joint: str) -> None:
    robot = load("talos")
    q = robot.home.copy()
    q[entry] = NAN
    with pytest.raises(InputError, match=rf"q\[{entry}\] \(joint {joint}\) is nan"):
        Controller(robot, Stack()).tick(State.unchecked(q, np.zeros(robot.nv)))


@on_both
def test_with_on_bad_state_fallback_a_lost_sensor_holds_then_carries_the_weight(make: Any) -> None:
    """Held for ``most_stale`` ticks, then gravity compensation at the last good state, without stale damping."""
    controller = make(on_bad_state="fallback", most_stale=2)
    robot, state = controller.robot, moving(controller.robot)
    good = controller.tick(state)
    q = state.q.copy()
    q[-1] = NAN
    for age in (1, 2, 3, 4):
        command = controller.tick(State.unchecked(q, state.v))
        report = command.report
        assert report.status is Status.FALLBACK and is_safe(controller, command)
        assert "the state could not be used" in report.explain() and f"q[{robot.nq - 1}]" in report.explain()
        assert report.failures == age and report.stale_ticks == (age if age <= 2 else 0)
        if age <= 2:
            assert np.array_equal(command.torque, good.torque)
    terms, problem = controller._terms, controller._assembler.problem
    still, _ = gravity_compensation(terms, problem, moving=False)
    limits = robot.torque_limits
    assert np.abs(command.torque - np.clip(still, -limits, limits)).max() < EXACT * (1.0 + np.abs(still).max())
    after = controller.tick(state)
    assert after.report.status is good.report.status and controller.failures == 0
    assert np.abs(after.torque - make().tick(state).torque).max() < 1e-6  # A17's own tolerance


@on_both
def test_a_bad_state_at_the_first_tick_gives_gravity_compensation_at_home(make: Any) -> None:
    controller = make(on_bad_state="fallback")
    robot = controller.robot
    command = controller.tick(State.unchecked(np.full(robot.nq, NAN), np.zeros(robot.nv)))
    assert command.report.status is Status.FALLBACK and is_safe(controller, command)
    assert command.report.explain() and command.report.stale_ticks == 0
    state = moving(robot)
    assert np.abs(controller.tick(state).torque - make().tick(state).torque).max() < 1e-6


def test_a_bad_state_at_the_first_tick_loads_the_feet_with_the_whole_weight() -> None:
    """Nothing was assembled before: without the contacts' rows a humanoid would be let fall."""
    controller = humanoid(on_bad_state="fallback")
    robot = controller.robot
    command = controller.tick(State.unchecked(np.full(robot.nq, NAN), np.zeros(robot.nv)))
    assert np.abs(command.acceleration).max() < 1e-8  # m/s², of 9.81 without contact forces
    up = [wrench[2] for wrench in command.wrenches.values()]
    assert min(up) > 0.0 and sum(up) == pytest.approx(robot.weight, rel=1e-9)


def test_a_bad_state_at_the_first_tick_obeys_the_limits_of_the_stack() -> None:
    robot = load("panda")
    controller = Controller(robot, Stack(limits=[TorqueLimits(scale=0.05)]), on_bad_state="fallback")
    command = controller.tick(State.unchecked(np.full(robot.nq, NAN), np.zeros(robot.nv)))
    bound = 0.05 * robot.torque_limits
    assert (np.abs(command.torque) <= bound).all() and (np.abs(command.torque) == bound).any()


def test_a_bad_state_at_the_first_tick_is_not_what_a_task_holds() -> None:
    """A target that was never set is what the first good tick shows, not what home shows."""

    def fresh() -> Controller:
        return Controller(r6(2000.0), Stack(strict=[PoseTask("hand", frame=TOOL)]), on_bad_state="fallback")

    controller = fresh()
    controller.tick(State.unchecked(np.full(6, NAN), np.zeros(6)))
    assert np.abs(controller.tick(S_A).torque - fresh().tick(S_A).torque).max() < EXACT
    assert np.abs(controller.errors()["hand"]).max() < EXACT


def test_a_quaternion_that_is_none_counts_as_a_bad_state() -> None:
    controller = humanoid(on_bad_state="fallback")
    q = controller.robot.home.copy()
    q[3:7] = 0.0
    report = controller.tick(State(q, np.zeros(controller.robot.nv))).report
    assert report.status is Status.FALLBACK and "unit norm" in report.explain()


def test_a_state_of_another_robot_is_a_mistake_and_raises_always() -> None:
    with pytest.raises(InputError, match="nq=6"):
        arm(on_bad_state="fallback").tick(State(np.zeros(7), np.zeros(6)))


@pytest.mark.parametrize("speed", [1e120, 1e200])
@on_both
def test_absurd_speeds_give_a_safe_command(make: Any, speed: float) -> None:
    """1e200 is finite, and its centrifugal forces are not."""
    controller = make()
    state = moving(controller.robot)
    with np.errstate(all="ignore"):
        command = controller.tick(State(state.q, np.full(controller.robot.nv, speed)))
    assert command.report.status is Status.FALLBACK and is_safe(controller, command)


# --- the door -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        {"deadline": 0.0},
        {"deadline": -1e-3},
        {"deadline": NAN},
        {"deadline": "soon"},
        {"most_stale": -1},
        {"most_stale": 1.5},
        {"most_stale": True},
        {"on_bad_state": "ignore"},
    ],
    ids=str,
)
def test_arguments_that_cannot_be_meant_are_refused_by_name(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(arguments))):
        arm(**arguments)
