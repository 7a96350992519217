"""Strict levels, soft tasks and limits against independent references, and what must hold whatever is asked."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
import qpsolvers
from arms import ARMS, arm, clear_states, from_text, gap, hand, random_state, terms_at, tight
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_matrix

from wbc import Controller, Gains, Kinematics, MotionTask, Robot, Stack, State, Status
from wbc.hierarchy.damping import threshold
from wbc.solvers.table import installed
from wbc.tasks import JointLimits, PoseTask, PositionTask, PostureTask, TorqueLimits, TorqueTask

STRICT = 1e-9  # m/s², rad/s²: what a lower level may change in a higher one
REFERENCE = 1e-8  # N m, an SVD cascade with pseudoinverses of its own
KEPT = 1e-9  # N m, torques inside their limits
KKT = 1e-7  # relative: multipliers are recovered by least squares from torques that are exact to 1e-10
HALF = 0.3  # panda and xarm7: active in about half of the random states
NEVER = 1e3


class RowsTask(MotionTask):
    """Any rows ``A v̇ = want``, as a user may write them."""

    dim = None

    def __init__(self, name: str, A: np.ndarray, want: np.ndarray) -> None:
        self.dim = len(A)
        super().__init__(name, gains=Gains(0.0, 0.0))
        self.A, self.want = A, want

    def kinematics(self, terms: object) -> Kinematics:
        zero = np.zeros(len(self.A))
        return Kinematics(zero, zero, self.A, -self.want)


def conflicting(random: np.random.Generator, nv: int, sizes: list[int]) -> list[RowsTask]:
    """Random tasks, of which every second shares a direction with the one before and asks for something else there."""
    tasks: list[RowsTask] = []
    for k, size in enumerate(sizes):
        A = random.normal(size=(size, nv))
        if k % 2:
            A[0] = tasks[-1].A[0] * random.uniform(-2.0, 2.0)
        tasks.append(RowsTask(f"task {k}", A, random.uniform(-5.0, 5.0, size)))
    return tasks


def residuals(command: object) -> dict[str, np.ndarray]:
    return {name: report.missed for name, report in command.report.tasks.items()}


def projected_sigma(terms: object, tasks: list[RowsTask]) -> float:
    """The smallest singular value that any level has in the space that the earlier ones leave, absent ones apart."""
    C = np.linalg.cholesky(terms.M).T
    N, smallest = np.eye(len(C)), np.inf
    for task in tasks:
        P = np.linalg.solve(C.T, task.A.T).T @ N
        sigma = np.linalg.svd(P, compute_uv=False)
        smallest = min([smallest, *sigma[sigma > 1e-9]])
        N = N - pinv_on(P, np.eye(len(C))) @ P
    return smallest


# strict levels


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("method", ["auto", "qp"])
def test_a_lower_level_changes_nothing_above(name: str, method: str) -> None:
    random = np.random.default_rng([1, len(name)])
    for state in clear_states(name, 25, seed=31):
        tasks = conflicting(random, arm(name).nv, [2, 2, 3, 2])
        full = residuals(Controller(arm(name), Stack(strict=list(tasks)), method=method).tick(state))
        for k in range(1, len(tasks)):
            short = residuals(Controller(arm(name), Stack(strict=tasks[:k]), method=method).tick(state))
            for above in tasks[:k]:
                assert gap(full[above.name], short[above.name]) < STRICT


@pytest.mark.parametrize("name", ARMS)
def test_a_lower_level_changes_nothing_above_under_active_torque_limits(name: str) -> None:
    """A level's residual is unique in size and direction: least squares over a convex set."""
    random, active = np.random.default_rng([2, len(name)]), 0
    robot = tight(name)
    for state in clear_states(name, 25, seed=32):
        tasks = conflicting(random, robot.nv, [2, 2, 2])
        command = Controller(robot, Stack(strict=list(tasks), limits=[TorqueLimits()])).tick(state)
        assert command.report.status is not Status.FALLBACK
        active += bool(command.report.active)
        full = residuals(command)
        for k in range(1, len(tasks)):
            stack = Stack(strict=tasks[:k], limits=[TorqueLimits()])
            short = residuals(Controller(robot, stack).tick(state))
            for above in tasks[:k]:
                assert gap(full[above.name], short[above.name]) < STRICT
    assert active >= 10


@pytest.mark.parametrize("name", ARMS)
def test_a_soft_task_changes_nothing_above(name: str) -> None:
    random, robot = np.random.default_rng(3), tight(name)
    for state in clear_states(name, 15, seed=33):
        tasks = conflicting(random, robot.nv, [2, 2])
        soft = [(RowsTask("soft", random.normal(size=(3, robot.nv)), random.uniform(-9.0, 9.0, 3)), 1e3)]
        for limits in ([], [TorqueLimits()]):
            full = residuals(Controller(robot, Stack(strict=list(tasks), limits=limits, soft=soft)).tick(state))
            short = residuals(Controller(robot, Stack(strict=list(tasks), limits=limits)).tick(state))
            for above in tasks:
                assert gap(full[above.name], short[above.name]) < STRICT


def pinv_on(B: np.ndarray, N: np.ndarray) -> np.ndarray:
    """The pseudoinverse of B N; what is short against the rows of B is not there: it may be all rounding."""
    U, sigma, Vt = np.linalg.svd(B @ N, full_matrices=False)
    keep = sigma > 1e-9 * np.linalg.norm(B, axis=1).max()
    return (Vt[keep].T / sigma[keep]) @ U[:, keep].T


def svd_cascade(terms: object, levels: list[tuple[np.ndarray, np.ndarray]], vdot0: np.ndarray) -> np.ndarray:
    """Siciliano and Slotine (1991) in Gauss coordinates, with plain pseudoinverses."""
    C = np.linalg.cholesky(terms.M).T
    y, N = np.zeros(len(C)), np.eye(len(C))
    for A, want in levels:
        B = np.linalg.solve(C.T, A.T).T
        inverse = pinv_on(B, N)
        y = y + inverse @ (want - A @ vdot0 - B @ y)
        N = N - inverse @ (B @ N)
    return terms.M @ (vdot0 + np.linalg.solve(C, y)) + terms.h


@pytest.mark.parametrize("name", ARMS)
def test_strict_levels_equal_an_svd_null_space_cascade(name: str) -> None:
    """Where no projected direction is damped; a reference that squares nothing still loses digits near σ₀."""
    random, compared = np.random.default_rng([4, len(name)]), 0
    robot = arm(name)
    posture = PostureTask("posture", target=robot.home, gains=Gains(3.0, 2.0))
    for state in clear_states(name, 120, seed=34):
        sizes = list(random.integers(1, 4, size=random.integers(1, 5)))
        tasks, terms = conflicting(random, robot.nv, sizes), terms_at(robot, state)
        if projected_sigma(terms, tasks) < threshold(robot.mass):
            continue
        compared += 1
        vdot0 = 3.0 * terms.difference(state.q, robot.home) - 2.0 * state.v
        expected = svd_cascade(terms, [(t.A, t.want) for t in tasks], vdot0)
        for method in ("auto", "qp"):
            torque = Controller(robot, Stack(strict=list(tasks), nominal=posture), method=method).tick(state).torque
            assert gap(torque, expected) < REFERENCE
    assert compared >= 60


# soft tasks


@pytest.mark.parametrize("solver", installed())
def test_h06_the_weight_multiplies_half_the_squared_residual(solver: str) -> None:
    """Two scalar tasks pull a joint to 0 and to 1 with weights 1 and 3, as large as Gauss's own cost is small: 0.75."""
    robot = one_joint(effort=1e9)
    M = terms_at(robot, State([0.0], [0.0])).M[0, 0]
    big = 1e7
    soft = [(RowsTask("to 0", np.eye(1), np.zeros(1)), big), (RowsTask("to 1", np.eye(1), np.ones(1)), 3.0 * big)]
    vdot = Controller(robot, Stack(soft=soft), method="qp", solver=solver).tick(State([0.0], [0.0])).acceleration[0]
    assert vdot == pytest.approx(3.0 * big / (4.0 * big + M), abs=1e-7)
    assert vdot == pytest.approx(0.75, abs=1e-7)


def test_weights_inside_a_strict_level_share_as_soft_weights_do() -> None:
    robot = one_joint()
    level = [(RowsTask("to 0", np.eye(1), np.zeros(1)), 1.0), (RowsTask("to 1", np.eye(1), np.ones(1)), 3.0)]
    for method in ("auto", "qp"):
        command = Controller(robot, Stack(strict=[level]), method=method).tick(State([0.0], [0.0]))
        assert command.acceleration[0] == pytest.approx(0.75, abs=1e-12)
        assert command.report.tasks["to 0"].because == ("task: to 1",)


@pytest.mark.parametrize("solver", installed())
def test_h02_soft_tasks_are_the_weighted_least_squares_solution(solver: str) -> None:
    """v̇ = (Σ w JᵀJ + M)⁻¹ (Σ w Jᵀ a + M v̇₀) on R6 with a non-zero v̇₀, on every backend."""
    loose = {"daqp", "quadprog", "proxqp", "osqp"}
    tolerance = 1e-8 if solver in loose else 1e-5  # interior-point and first-order solvers: their own accuracy
    robot, random = replace(arm("R6"), torque_limits=np.full(6, np.inf)), np.random.default_rng(5)
    nominal = PostureTask("nominal", target=np.full(6, 0.4), gains=Gains(2.0, 0.0))
    for _ in range(5):
        state = random_state(robot, random)
        a, b = RowsTask("a", random.normal(size=(3, 6)), random.normal(size=3)), RowsTask(
            "b", random.normal(size=(2, 6)), random.normal(size=2)
        )  # fmt: skip
        terms = terms_at(robot, state)
        vdot0 = 2.0 * (0.4 - state.q)
        H = terms.M + 2.0 * a.A.T @ a.A + 7.0 * b.A.T @ b.A
        expected = np.linalg.solve(H, terms.M @ vdot0 + 2.0 * a.A.T @ a.want + 7.0 * b.A.T @ b.want)
        stack = Stack(nominal=nominal, soft=[(a, 2.0), (b, 7.0)])
        for method in ("auto", "qp"):
            found = Controller(robot, stack, method=method, solver=solver).tick(state).acceleration
            assert gap(found, expected) < (tolerance if method == "qp" else 1e-9)


# the exact shortcut


@pytest.mark.parametrize("name", ARMS)
def test_the_shortcut_equals_the_qp_that_is_always_solved(name: str) -> None:
    """Limits that are near, some active, most not: where the equalities alone satisfy them they are the optimum."""
    random, robot = np.random.default_rng(6), tight(name, 2.0)
    routes: dict[str, int] = {}
    for state in clear_states(name, 60, seed=36):
        tasks = conflicting(random, robot.nv, [2, 1])
        for task in tasks:
            task.want *= 0.2
        soft = [(RowsTask("soft", random.normal(size=(2, robot.nv)), random.normal(size=2)), 5.0)]
        stack = Stack(strict=list(tasks), soft=soft, limits=[TorqueLimits(), JointLimits()])
        auto, qp = (Controller(robot, stack, method=method).tick(state) for method in ("auto", "qp"))
        routes[auto.report.route] = routes.get(auto.report.route, 0) + 1
        assert gap(auto.torque, qp.torque) < 1e-8
    assert 5 <= routes["closed form"] <= 55, routes


# torque limits, whatever is asked

HARD = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("solver", installed())
@HARD
@given(seed=st.integers(0, 10**6), size=st.sampled_from([1.0, 1e2, 1e4, 1e6]), joint=st.booleans())
def test_every_torque_is_inside_its_limit_whatever_is_asked(solver: str, seed: int, size: float, joint: bool) -> None:
    random = np.random.default_rng(seed)
    name = ARMS[seed % len(ARMS)]
    robot = arm(name).scaled(torque=random.uniform(0.1, 1.0))
    task = PoseTask("hand", frame=hand(name), gains=Gains.critical(400.0))
    limits = [TorqueLimits(), JointLimits()] if joint else [TorqueLimits()]
    soft = [(PostureTask("soft", gains=Gains(50.0, 1.0)), 2.0)]
    stack = Stack(strict=[task], nominal=PostureTask("posture", target=robot.home), soft=soft, limits=limits)
    controller = Controller(robot, stack, solver=solver)
    for _ in range(3):  # jumping targets, warm starts kept
        task.target_acceleration = random.uniform(-size, size, 6)
        command = controller.tick(random_state(robot, random, speed=3.0))
        assert np.isfinite(command.torque).all()
        assert (np.abs(command.torque) <= robot.torque_limits + KEPT).all()


@pytest.mark.parametrize("name", ARMS)
def test_the_fallback_is_never_needed_for_a_hard_demand(name: str) -> None:
    random, robot = np.random.default_rng(7), tight(name)
    task = PoseTask("hand", frame=hand(name))
    controller = Controller(robot, Stack(strict=[task], limits=[TorqueLimits(), JointLimits()]))
    for _ in range(100):
        task.target_acceleration = random.uniform(-1e3, 1e3, 6)
        report = controller.tick(random_state(robot, random, speed=2.0)).report
        assert report.status is not Status.FALLBACK, report.trouble


# KKT certificates


def certificate(G: np.ndarray, value: np.ndarray, lower: np.ndarray, upper: np.ndarray, gradient: np.ndarray) -> float:
    """How far −gradient is from the cone of the active rows, relative: non-negative least squares."""
    from scipy.optimize import nnls

    at_upper, at_lower = value > upper - 1e-8 * (1 + abs(upper)), value < lower + 1e-8 * (1 + abs(lower))
    cone = np.vstack([G[at_upper], -G[at_lower]]).T
    if not cone.shape[1]:
        return float(np.linalg.norm(gradient) / (1.0 + np.linalg.norm(gradient)))
    scale = np.linalg.norm(cone, axis=0)
    _, distance = nnls(cone / scale, -gradient)
    return float(distance / (1.0 + np.linalg.norm(gradient)))


@pytest.mark.parametrize("name", ARMS)
def test_one_limited_level_satisfies_its_kkt_conditions(name: str) -> None:
    """½ ‖J v̇ − a‖² over the torque box, in torques: the gradient lies in the cone of the active bounds."""
    random, robot, active = np.random.default_rng(8), tight(name), 0
    rows = RowsTask("rows", np.eye(robot.nv), np.zeros(robot.nv))
    controller = Controller(robot, Stack(strict=[rows], limits=[TorqueLimits()]))
    for state in clear_states(name, 60, seed=37):
        terms = terms_at(robot, state)
        rows.A, rows.want = random.normal(size=(robot.nv, robot.nv)), random.uniform(-20.0, 20.0, robot.nv)
        C = np.linalg.cholesky(terms.M).T
        sigma = np.linalg.svd(np.linalg.solve(C.T, rows.A.T).T, compute_uv=False)
        if sigma[-1] < threshold(robot.mass):
            continue
        command = controller.tick(state)
        active += bool(command.report.active)
        reach = np.linalg.solve(terms.M, rows.A.T).T  # d(A v̇)/dτ
        gradient = reach.T @ (rows.A @ command.acceleration - rows.want)
        bound = robot.torque_limits
        assert certificate(np.eye(robot.nu), command.torque, -bound, bound, gradient) < KKT
    assert active >= 20


def slow_cascade(terms: object, tasks: list[RowsTask], bound: np.ndarray) -> list[float]:
    """The optimal ½ ‖residual‖² of each level by clarabel, each frozen by a cone-free equality on its residual.

    Independent of the library: variables are the torques themselves, levels are frozen by the residual vector, which is
    unique over a convex set.
    """
    if "clarabel" not in installed():
        pytest.skip("clarabel is not installed")
    n = len(bound)
    Minv = np.linalg.inv(terms.M)
    E, e, values = np.zeros((0, n)), np.zeros(0), []
    for task in tasks:
        B = task.A @ Minv
        r0 = -B @ terms.h - task.want
        # unit torques: variables scaled by the limits
        S = np.diag(bound)
        Bs = B @ S
        P = Bs.T @ Bs + 1e-13 * np.trace(Bs.T @ Bs) * np.eye(n)
        Es = E @ S
        if len(Es):
            U, sigma, Vt = np.linalg.svd(Es, full_matrices=False)
            keep = sigma > 1e-9 * sigma[0]
            A, rhs = Vt[keep], (U.T @ e)[keep] / sigma[keep]
        else:
            A, rhs = None, None
        A = None if A is None else csc_matrix(A)
        with warnings.catch_warnings():  # an answer that is almost as good as asked for is not found, and not used
            warnings.filterwarnings("ignore", "Clarabel.rs terminated with status")
            solution = qpsolvers.solve_problem(
                qpsolvers.Problem(csc_matrix(P), Bs.T @ r0, A=A, b=rhs, lb=-np.ones(n), ub=np.ones(n)),
                "clarabel", tol_feas=1e-12, tol_gap_abs=1e-13, tol_gap_rel=1e-13,
            )  # fmt: skip
        if not solution.found:
            break
        tau = S @ solution.x
        residual = B @ tau + r0
        values.append(0.5 * float(residual @ residual))
        E, e = np.vstack([E, B]), np.concatenate([e, B @ tau])
    return values


@pytest.mark.parametrize("name", ARMS)
def test_limited_levels_are_as_good_as_a_slow_independent_cascade(name: str) -> None:
    random, robot = np.random.default_rng(9), tight(name)
    compared, active = 0, 0
    for state in clear_states(name, 60, seed=38):
        tasks, terms = conflicting(random, robot.nv, [2, 2, 2]), terms_at(robot, state)
        if projected_sigma(terms, tasks) < threshold(robot.mass):
            continue
        command = Controller(robot, Stack(strict=list(tasks), limits=[TorqueLimits()])).tick(state)
        active += bool(command.report.active)
        for task, expected in zip(tasks, slow_cascade(terms, tasks, robot.torque_limits), strict=False):
            missed = command.report.tasks[task.name].missed
            value = 0.5 * float(missed @ missed)
            # an interior-point cascade is good to 1e-6 relative on its second and third level: its own freezing
            assert abs(value - expected) < 1e-5 * (1.0 + expected), task.name
            compared += 1
    assert compared >= 60
    assert active >= 20


@pytest.mark.parametrize("name", ARMS)
def test_the_last_level_under_limits_satisfies_the_kkt_conditions_of_gauss(name: str) -> None:
    """Strict levels at the values that they reached, limits, and ½ ‖v̇ − v̇₀‖²_M + soft: a certificate in torques."""
    random, robot, active = np.random.default_rng(10), tight(name), 0
    for state in clear_states(name, 40, seed=39):
        tasks, terms = conflicting(random, robot.nv, [2]), terms_at(robot, state)
        tasks[0].want *= 0.3
        soft = RowsTask("soft", random.normal(size=(2, robot.nv)), random.normal(size=2))
        stack = Stack(strict=list(tasks), limits=[TorqueLimits()], soft=[(soft, 4.0)])
        command = Controller(robot, stack).tick(state)
        if np.abs(command.report.tasks["task 0"].missed).max() > 1e-9:
            continue  # then the level itself holds rows, which the certificate would need too
        active += bool(command.report.active)
        vdot, Minv = command.acceleration, np.linalg.inv(terms.M)
        gradient = Minv @ (terms.M @ vdot + 4.0 * soft.A.T @ (soft.A @ vdot - soft.want))
        G = np.vstack([np.eye(robot.nu), tasks[0].A @ Minv])
        value = np.concatenate([command.torque, tasks[0].want])
        bound = robot.torque_limits
        lower, upper = np.concatenate([-bound, tasks[0].want]), np.concatenate([bound, tasks[0].want])
        assert certificate(G, value, lower, upper, gradient) < KKT
    assert active >= 5


# clashing limits

P1 = """<robot name="p1"><link name="base"/><link name="arm"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-0.5" upper="0.5" effort="{effort}" velocity="2"/></joint></robot>"""


def one_joint(effort: float = 20.0) -> Robot:
    """P1 of the field reports: M = 0.26 kg m², gravity −4.905 N m at q = 0."""
    return from_text(P1.format(effort=effort))


@pytest.mark.parametrize("method", ["auto", "qp"])
@pytest.mark.parametrize("solver", ["daqp", "quadprog", "proxqp", "osqp"])
def test_e06_a_joint_that_cannot_stop_keeps_its_torque_limit_and_says_so(method: str, solver: str) -> None:
    robot = one_joint(effort=1.0)
    stack = Stack(limits=[TorqueLimits(), JointLimits()])
    command = Controller(robot, stack, method=method, solver=solver).tick(State([0.49], [1.0]))
    report = command.report
    assert command.torque[0] == pytest.approx(-1.0, abs=KEPT)
    assert command.acceleration[0] == pytest.approx(12.8, abs=0.1)
    assert report.status is Status.RELAXED
    (gave,) = report.relaxed
    assert (gave.name, gave.element, gave.because) == ("joint", "j", ("limit: torque j",))
    assert gave.by > 12.8
    sentence = report.explain()
    assert "torque" in sentence and "joint" in sentence and " j" in sentence


@pytest.mark.parametrize("name", ARMS)
def test_clashing_limits_give_way_by_no_more_than_they_must(name: str) -> None:
    """Against a bounded least-squares reference: min ½ Σ slack² over the torque box."""
    from scipy.optimize import lsq_linear

    random, robot, clashes = np.random.default_rng(11), tight(name), 0
    limits = JointLimits(acceleration=3.0)
    for state in clear_states(name, 40, seed=40):
        state = State(state.q, 2.5 * state.v)
        command = Controller(robot, Stack(limits=[TorqueLimits(), limits])).tick(state)
        assert (np.abs(command.torque) <= robot.torque_limits + KEPT).all()
        if not command.report.relaxed:
            continue
        clashes += 1
        terms = terms_at(robot, state)
        rows = limits.rows(terms)
        # variables: torques and, per joint, an acceleration inside its interval; minimise their distance
        Minv, n = np.linalg.inv(terms.M), robot.nv
        scale = robot.torque_limits
        inside_l, inside_u = np.maximum(rows.lower, -1e6), np.minimum(rows.upper, 1e6)
        found = lsq_linear(
            np.hstack([Minv * scale, -np.eye(n)]), Minv @ terms.h,
            (np.concatenate([-np.ones(n), inside_l]), np.concatenate([np.ones(n), inside_u + 1e-9])),
            method="bvls", tol=1e-14, max_iter=500,
        )  # fmt: skip
        outside = np.maximum(rows.lower - command.acceleration, command.acceleration - rows.upper).clip(min=0.0)
        assert 0.5 * outside @ outside <= found.cost * (1.0 + 1e-5) + 1e-7
        names = {gave.element: gave.by for gave in command.report.relaxed}
        for element, by in zip(robot.velocity_names, outside, strict=True):
            assert names.get(element, 0.0) == pytest.approx(by, abs=1e-6)
    del random
    assert clashes >= 5


# prices


@pytest.mark.parametrize("name", ["panda", "ur5", "z1"])
def test_a_price_is_what_the_level_gains_from_a_wider_bound(name: str) -> None:
    """Against central differences of the level's value with the bound moved by ±ε."""
    random, robot = np.random.default_rng(12), tight(name, 0.35)
    checked, levels = 0, set()
    for state in clear_states(name, 16, seed=41):
        tasks = conflicting(random, robot.nv, [2, 2])
        base = robot.torque_limits

        def tick(bounds: np.ndarray, tasks: list = tasks, state: State = state) -> object:
            return Controller(
                replace(robot, torque_limits=bounds), Stack(strict=list(tasks), limits=[TorqueLimits()])
            ).tick(state)

        def value(command: object, level: str, state: State = state, tasks: list = tasks) -> float:
            if level == "gauss":
                M = command.report.problem.M
                return 0.5 * float(command.acceleration @ M @ command.acceleration)
            missed = command.report.tasks[tasks[int(level.split()[1]) - 1].name].missed
            return 0.5 * float(missed @ missed)

        for limit in tick(base).report.active:
            i, step = robot.joint_names.index(limit.element), 1e-5
            ends = []
            for sign in (1.0, -1.0):
                bounds = base.copy()
                bounds[i] += sign * step
                ends.append(tick(bounds))
            same = [{a.element for a in end.report.active} for end in ends]
            if same[0] != same[1]:
                continue  # the active set changes inside the difference: one-sided there
            slope = -(value(ends[0], limit.level) - value(ends[1], limit.level)) / (2.0 * step)
            # the price speaks of σ-damped rows too; differences resolve 1e-9/1e-5
            assert limit.price == pytest.approx(slope, rel=1e-4, abs=2e-4), limit
            checked += 1
            levels.add(limit.level)
    assert checked >= 15
    assert {"strict 1", "strict 2"} <= levels


# degenerate stacks


@pytest.mark.parametrize("method", ["auto", "qp"])
@pytest.mark.parametrize("scale", [NEVER, HALF])
def test_a_duplicate_task_changes_nothing(method: str, scale: float) -> None:
    robot = arm("panda").scaled(torque=scale)
    state = clear_states("panda", 1, seed=42)[0]
    want = np.array([1.0, -2.0, 0.5])

    def task(name: str) -> PositionTask:
        made = PositionTask(name, frame=hand("panda"), gains=Gains(0.0, 1.0))
        made.target_acceleration = want
        return made

    limits = [TorqueLimits()]
    once = Controller(robot, Stack(strict=[task("a")], limits=limits), method=method).tick(state)
    for levels in ([[task("a"), task("b")]], [[task("a")], [task("b")]]):
        twice = Controller(robot, Stack(strict=levels, limits=limits), method=method).tick(state)
        assert gap(once.torque, twice.torque) < 1e-9
        assert gap(twice.report.tasks["a"].missed, twice.report.tasks["b"].missed) < 1e-9


@pytest.mark.parametrize("method", ["auto", "qp"])
def test_opposite_tasks_meet_in_the_middle_or_the_higher_one_wins(method: str) -> None:
    robot, state = arm("panda"), clear_states("panda", 1, seed=43)[0]
    A = np.random.default_rng(13).normal(size=(2, 7))
    up, down = RowsTask("up", A, np.ones(2)), RowsTask("down", A, -np.ones(2))
    shared = Controller(robot, Stack(strict=[[up, down]]), method=method).tick(state)
    assert gap(A @ shared.acceleration, 0.0) < 1e-9
    ranked = Controller(robot, Stack(strict=[[up], [down]]), method=method).tick(state)
    assert gap(A @ ranked.acceleration, 1.0) < 1e-9
    assert ranked.report.tasks["down"].because == ("task: up",)
    assert ranked.report.status is Status.OPTIMAL


@pytest.mark.parametrize("method", ["auto", "qp"])
@pytest.mark.parametrize("limits", [[], [TorqueLimits()]])
def test_rows_of_zeros_are_missed_and_disturb_nothing(method: str, limits: list) -> None:
    robot, state = arm("panda").scaled(torque=HALF), clear_states("panda", 1, seed=44)[0]
    A = np.random.default_rng(14).normal(size=(2, 7))
    task, zero = RowsTask("task", A, np.ones(2)), RowsTask("zero", np.zeros((3, 7)), np.ones(3))
    mixed = RowsTask("mixed", np.vstack([A, np.zeros((1, 7))]), np.ones(3))
    alone = Controller(robot, Stack(strict=[[task]], limits=limits), method=method).tick(state)
    for strict in ([[zero], [task]], [[task], [zero]], [[task, zero]], [[mixed]]):
        command = Controller(robot, Stack(strict=strict, limits=limits), method=method).tick(state)
        assert gap(command.torque, alone.torque) < 1e-9


@pytest.mark.parametrize("name", ARMS)
def test_a_level_with_more_rows_than_joints_is_a_least_squares_fit(name: str) -> None:
    random, robot = np.random.default_rng(15), arm(name)
    for state in clear_states(name, 10, seed=45):
        task = RowsTask("many", random.normal(size=(12, robot.nv)), random.normal(size=12))
        expected = np.linalg.lstsq(task.A, task.want, rcond=None)[0]
        for method in ("auto", "qp"):
            command = Controller(robot, Stack(strict=[task]), method=method).tick(state)
            assert gap(command.acceleration, expected) < 1e-8
        limited = Controller(tight(name), Stack(strict=[task], limits=[TorqueLimits()])).tick(state)
        assert (np.abs(limited.torque) <= tight(name).torque_limits + KEPT).all()


def test_an_empty_stack_holds_the_robot_against_gravity_and_bias() -> None:
    for name in ARMS:
        state = clear_states(name, 1, seed=46)[0]
        command = Controller(arm(name), Stack()).tick(state)
        assert gap(command.torque, terms_at(arm(name), state).h) < 1e-12
        assert gap(command.acceleration, 0.0) == 0.0


# a robot without motors in its base


def flying() -> Robot:
    from wbc.robots.chain import urdf

    inertia = '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.15"/>'
    base = '<link name="base"><inertial><mass value="6"/>' + inertia
    return from_text(urdf(5).replace('<link name="base"/>', base + "</inertial></link>"), root="free", name="flying")


def flying_state(robot: Robot, random: np.random.Generator) -> State:
    import pinocchio as pin

    step = np.concatenate([random.uniform(-1.0, 1.0, 6), random.uniform(-2.0, 2.0, robot.nv - 6)])
    return State(pin.integrate(robot.model, pin.neutral(robot.model), step), random.uniform(-1.0, 1.0, robot.nv))


@pytest.mark.parametrize("method", ["auto", "qp"])
@pytest.mark.parametrize("limits", [[], [TorqueLimits(scale=0.01)]])
def test_the_base_of_a_flying_robot_gets_no_torque(method: str, limits: list) -> None:
    random, robot = np.random.default_rng(16), flying()
    task = PositionTask("tip", frame="tip", gains=Gains(0.0, 0.0))
    nominal = TorqueTask("free")
    controller = Controller(robot, Stack(strict=[task], nominal=nominal, limits=limits), method=method)
    active = 0
    for _ in range(30):
        state = flying_state(robot, random)
        task.target_acceleration = random.uniform(-10.0, 10.0, 3)
        command = controller.tick(state)
        terms = terms_at(robot, state)
        full = terms.M @ command.acceleration + terms.h
        assert command.torque.shape == (5,)
        assert gap(full[:6], 0.0) < 1e-9
        assert gap(full[6:], command.torque) < 1e-9
        active += bool(command.report.active)
        if limits:
            assert (np.abs(command.torque) <= 0.01 * robot.torque_limits + KEPT).all()
    assert active >= 10 if limits else active == 0


def test_a_flying_robot_moves_its_tip_against_its_own_inertia() -> None:
    """The reference: base accelerations eliminated by hand, ½ ‖v̇ − v̇₀‖²_M subject to both row blocks."""
    random, robot = np.random.default_rng(17), flying()
    task = PositionTask("tip", frame="tip", gains=Gains(0.0, 0.0))
    controller = Controller(robot, Stack(strict=[task], nominal=TorqueTask("free")))
    for _ in range(20):
        state = flying_state(robot, random)
        task.target_acceleration = random.uniform(-3.0, 3.0, 3)
        terms = terms_at(robot, state)
        frame = terms.frame("tip")
        A = np.vstack([terms.M[:6], frame.J[:3]])
        b = np.concatenate([terms.h[:6], frame.Jdot_v[:3] - task.target_acceleration])
        C = np.linalg.cholesky(terms.M).T
        B = np.linalg.solve(C.T, A.T).T
        inner = B[6:] @ (np.eye(robot.nv) - np.linalg.pinv(B[:6]) @ B[:6])
        if np.linalg.svd(inner, compute_uv=False)[-1] < threshold(robot.mass):
            continue
        vdot0 = np.linalg.solve(terms.M, -terms.h)
        vdot = vdot0 - np.linalg.solve(C, np.linalg.pinv(B) @ (b + A @ vdot0))
        assert gap(controller.tick(state).acceleration, vdot) < 1e-8
