"""One stack, solved on every route, gives one torque: closed form, QPs, the textbook laws, and the unreduced QP.

States are random, turned and moving, anywhere inside the position limits, with σ ≥ σ₀ for all six directions of the
hand (rotation rows times 0.2 m): no task is damped there. Demands are what a controller meets, |ξ̇_r| up to some 40
m/s² or rad/s². Rounding grows in proportion to the torque, and a torque of 1e4 N m can be compared to 1e-9 N m by
nobody; 1e-9 N m on torques around 100 N m is 1e-11 relative, and leaves three digits to the textbook laws.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
import qpsolvers
from arms import ARMS, arm, clear_poses, clear_states, gap, hand, terms_at, tight

from wbc import Controller, Gains, Stack, State, Status, osc
from wbc.solvers.table import installed
from wbc.tasks import (
    JointLimits,
    OrientationTask,
    PoseTask,
    PositionTask,
    PostureTask,
    TorqueLimits,
    TorqueTask,
    UprightTask,
)

# the textbook forms J M⁻¹Jᵀ and is no judge where that takes more than six digits: there the stack is right to
# 3e-13 N m, as rational arithmetic says, and the textbook to 1e-9
JUDGE = 1e6
EXACT = 1e-9  # N m, what the issue asks of exact solvers; measured 1e-12 and below
FIRST_ORDER = 1e-6  # N m, osqp, which stops at its own accuracy of 1e-9; with its polishing on, measured 1e-11
STOPS_EARLY = 1e-6  # N m, interior-point methods: they stop inside, at a duality gap of 1e-11; measured 3e-9
UNREDUCED = 1e-9  # N m, without active limits; measured 1e-12
HELD = 1e-6  # N m, with them: as_qp puts limits 1e-11 behind the command, over levers up to 4e4 (3.5e-7 measured)
STATES = 1000
NEVER = 1e3  # factor on the torque limits: rows that are there and never active
HAND_GAINS = Gains(4.0, 3.0)
CALM_GAINS = Gains(1.0, 1.5)  # for the textbook laws, which square the condition number: |ξ̇_r| up to some 20
BODY_GAINS = Gains(2.0, 3.0)

QUICK = {"daqp": EXACT, "quadprog": EXACT, "proxqp": EXACT, "osqp": FIRST_ORDER}
SLOW = {"clarabel": STOPS_EARLY, "piqp": STOPS_EARLY}
ELBOW = {"panda": "panda_link4", "ur5": "forearm_link", "xarm7": "link4", "z1": "link03", "kinova": "j2s6s200_link_3"}


def pose_stack(name: str) -> Stack:
    """Hand pose over a posture: all of a 6-joint arm, all but one direction of a 7-joint arm."""
    task = PoseTask("hand", frame=hand(name), gains=HAND_GAINS)
    return Stack(
        nominal=PostureTask("posture", target=arm(name).home, gains=BODY_GAINS),
        limits=[TorqueLimits()],
        strict=[[task]],
    )


def levels_stack(name: str) -> Stack:
    """Two strict levels, and the height of the elbow as a soft task in what they leave free."""
    return Stack(
        nominal=PostureTask("posture", target=arm(name).home, gains=BODY_GAINS),
        limits=[TorqueLimits()],
        strict=[
            PositionTask("hand", frame=hand(name), gains=HAND_GAINS),
            UprightTask("tray", frame=hand(name), direction=(0.2, -0.1, -1.0), gains=HAND_GAINS),
        ],
        soft=[(PositionTask("elbow", frame=ELBOW[name], mask=(0, 0, 1), gains=HAND_GAINS), 10.0)],
    )


def passive_stack(name: str) -> Stack:
    """The hand's orientation; everything else falls freely, with a soft pull on the height of the hand."""
    return Stack(
        nominal=TorqueTask("passive"),
        limits=[TorqueLimits()],
        strict=[OrientationTask("hand", frame=hand(name), gains=HAND_GAINS)],
        soft=[(PositionTask("height", frame=hand(name), mask=(0, 0, 1), gains=HAND_GAINS), 3.0)],
    )


STACKS = {"pose": pose_stack, "levels": levels_stack, "passive": passive_stack}


def aim(stack: Stack, pose: pin.SE3, random: np.random.Generator) -> None:
    """Give every task of a stack a target near a pose, and a feed-forward."""
    for task in stack.motion_tasks:
        if isinstance(task, PoseTask):
            task.target = pose
            task.target_velocity, task.target_acceleration = random.normal(size=(2, 6))
        elif isinstance(task, OrientationTask):
            task.target = pose.rotation
            task.target_velocity, task.target_acceleration = random.normal(size=(2, 3))
        elif isinstance(task, PositionTask):
            task.target = pose.translation
            task.target_velocity, task.target_acceleration = random.normal(size=(2, 3))


def torques(name: str, kind: str, method: str, solver: str, count: int) -> tuple[np.ndarray, set[str], float]:
    """The torques of one route over random states and targets, the routes that were taken, and the largest demand."""
    controller = Controller(arm(name).scaled(torque=NEVER), STACKS[kind](name), method=method, solver=solver)
    random = np.random.default_rng(7)
    found, routes, largest = [], set(), 0.0
    states, targets = clear_states(name, STATES, seed=1), clear_poses(name, STATES, seed=2)
    for state, pose in zip(states[:count], targets[:count], strict=True):
        aim(controller.stack, pose, random)
        command = controller.tick(state)
        found.append(command.torque)
        routes.add(command.report.route)
        problem = command.report.problem
        largest = max(largest, float(np.abs(problem.drift - problem.b).max()))
    return np.array(found), routes, largest


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize(("kind", "count"), [("pose", STATES), ("levels", STATES // 10), ("passive", STATES // 10)])
def test_closed_form_and_every_quick_qp_give_the_same_torque(name: str, kind: str, count: int) -> None:
    reference, routes, asked = torques(name, kind, "auto", "daqp", count)
    assert routes == {"closed form"}
    assert 3.0 < asked < 60.0  # the demands are neither trivial nor absurd
    for solver, tolerance in QUICK.items():
        if solver not in installed():
            continue
        some = count if solver in ("daqp", "quadprog") else count // 5
        found, routes, _ = torques(name, kind, "qp", solver, some)
        assert routes == {"qp"}
        assert gap(found, reference[:some]) < tolerance, solver


@pytest.mark.parametrize("solver", SLOW)
@pytest.mark.parametrize("kind", STACKS)
def test_closed_form_and_every_slow_qp_give_the_same_torque(solver: str, kind: str) -> None:
    if solver not in installed():
        pytest.skip(f"{solver} is not installed")
    reference, _, _ = torques("panda", kind, "auto", "daqp", 60)
    found, routes, _ = torques("panda", kind, "qp", solver, 60)
    assert routes == {"qp"}
    assert gap(found, reference) < SLOW[solver]


@pytest.mark.parametrize("name", ARMS)
def test_method_closed_form_equals_method_auto(name: str) -> None:
    without = Stack(strict=[PoseTask("hand", frame=hand(name))], nominal=PostureTask("posture", target=arm(name).home))
    plain = Controller(arm(name), without, method="closed_form")
    auto = Controller(arm(name), without, method="auto")
    for state in clear_states(name, 20, seed=3):
        assert gap(plain.tick(state).torque, auto.tick(state).torque) == 0.0


# the textbook laws


def asked_of(controller: Controller, state: State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """J, J̇v and ξ̇_r of the only strict task at the last tick, recomputed from its kinematics and gains."""
    task = controller.stack.strict[0][0][0]
    kinematics = task.kinematics(terms_at(controller.robot, state))
    xi_dot_r = task.gains.kp * kinematics.error + task.gains.kd * kinematics.velocity_error + task.target_acceleration
    return kinematics.J, kinematics.Jdot_v, xi_dot_r


def one_task(name: str, kind: str) -> PoseTask | PositionTask:
    if kind == "pose":
        return PoseTask("hand", frame=hand(name), gains=CALM_GAINS)
    return PositionTask("hand", frame=hand(name), gains=CALM_GAINS)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("kind", ["pose", "position"])
@pytest.mark.parametrize("law", ["compensated", "operational space", "resolved acceleration"])
def test_one_equality_task_is_the_textbook_law(name: str, kind: str, law: str) -> None:
    robot, random, count = arm(name), np.random.default_rng(5), 200 if kind == "pose" else 100
    task = one_task(name, kind)
    metric = "identity" if law == "resolved acceleration" else "inertia"
    posture = PostureTask("posture", target=robot.home, gains=BODY_GAINS)
    free = TorqueTask("free")
    nominal = free if law == "operational space" else posture
    controller = Controller(robot, Stack(nominal=nominal, strict=[task]), metric=metric, method="closed_form")
    worst, judged = 0.0, 0
    for state, pose in zip(clear_states(name, count, seed=4), clear_poses(name, count, seed=6), strict=True):
        aim(controller.stack, pose, random)
        free.target = tau0 = random.uniform(-5.0, 5.0, robot.nu)
        torque = controller.tick(state).torque
        terms = terms_at(robot, state)
        given = (terms.M, terms.h, *asked_of(controller, state))
        vdot0 = BODY_GAINS.kp * pin.difference(robot.model, state.q, robot.home) - BODY_GAINS.kd * state.v
        if law == "compensated":
            textbook = osc.compensated_operational_space_control(*given, vdot0=vdot0)
        elif law == "operational space":
            textbook = osc.operational_space_control(*given, tau0=tau0)
        else:
            textbook = osc.resolved_acceleration_control(*given, vdot0=vdot0)
        J = given[2]
        if np.linalg.cond(J @ np.linalg.solve(terms.M, J.T)) < JUDGE:
            judged += 1
            worst = max(worst, gap(torque, textbook))
    assert worst < EXACT and judged >= 0.95 * count


# metrics


def kkt(W: np.ndarray, c: np.ndarray, A: np.ndarray, r: np.ndarray) -> np.ndarray:
    """min ½ ‖x − c‖²_W subject to A x = r, from its KKT system, refined with residuals in extended precision."""
    n, p = len(c), len(r)
    K = np.block([[W, A.T], [A, np.zeros((p, p))]])
    rhs = np.concatenate([W @ c, r])
    long, solution = K.astype(np.longdouble), np.zeros(n + p, dtype=np.longdouble)
    exact = np.concatenate([W.astype(np.longdouble) @ c.astype(np.longdouble), r.astype(np.longdouble)])
    assert gap(rhs, exact) < 1e-6 * (1.0 + np.abs(rhs).max())
    for _ in range(6):
        solution = solution + np.linalg.solve(K, np.asarray(exact - long @ solution, dtype=float))
    return np.asarray(solution[:n], dtype=float)


@pytest.mark.parametrize("name", ["panda", "ur5", "xarm7", "kinova"])
@pytest.mark.parametrize("method", ["auto", "qp"])
@pytest.mark.parametrize("metric", ["inertia", "identity", "inertia_squared", "matrix"])
def test_each_metric_is_its_own_constrained_minimum(name: str, method: str, metric: str) -> None:
    robot, random = arm(name), np.random.default_rng(8)
    root = random.normal(size=(robot.nv, robot.nv))
    matrix = root @ root.T + np.eye(robot.nv)
    task = PositionTask("hand", frame=hand(name), gains=HAND_GAINS)
    posture = PostureTask("posture", target=robot.home, gains=BODY_GAINS)
    controller = Controller(
        robot, Stack(nominal=posture, strict=[task]), method=method, metric=matrix if metric == "matrix" else metric
    )
    count = 200 if method == "auto" else 50
    for state, pose in zip(clear_states(name, count, seed=9), clear_poses(name, count, seed=10), strict=True):
        aim(controller.stack, pose, random)
        torque = controller.tick(state).torque
        terms = terms_at(robot, state)
        J, Jdot_v, xi_dot_r = asked_of(controller, state)
        W = {"inertia": terms.M, "identity": np.eye(robot.nv), "inertia_squared": terms.M @ terms.M, "matrix": matrix}
        vdot0 = BODY_GAINS.kp * pin.difference(robot.model, state.q, robot.home) - BODY_GAINS.kd * state.v
        vdot = kkt(W[metric], vdot0, J, xi_dot_r - Jdot_v)
        assert gap(torque, terms.M @ vdot + terms.h) < EXACT


@pytest.mark.parametrize("name", ["panda", "ur5", "kinova"])
@pytest.mark.parametrize("kind", ["pose", "position"])
def test_inertia_squared_without_nominal_torque_is_the_least_torque_of_peters(name: str, kind: str) -> None:
    """Peters et al. (2008), N = M⁻²: min ½ ‖τ‖² subject to J M⁻¹ (τ − h) + J̇v = ξ̇_r, written in torques."""
    robot, random, task = arm(name), np.random.default_rng(11), one_task(name, kind)
    controller = Controller(robot, Stack(nominal=TorqueTask("none"), strict=[task]), metric="inertia_squared")
    gravity = Controller(robot, Stack(strict=[task]), metric="inertia_squared")
    for state, pose in zip(clear_states(name, 200, seed=12), clear_poses(name, 200, seed=13), strict=True):
        aim(controller.stack, pose, random)
        torque = controller.tick(state).torque
        terms = terms_at(robot, state)
        J, Jdot_v, xi_dot_r = asked_of(controller, state)
        reached = np.linalg.solve(terms.M, J.T).T  # J M⁻¹
        least = kkt(np.eye(robot.nu), np.zeros(robot.nu), reached, xi_dot_r - Jdot_v + reached @ terms.h)
        assert gap(torque, least) < EXACT
        assert np.linalg.norm(torque) <= np.linalg.norm(gravity.tick(state).torque) + EXACT


def test_the_metric_changes_the_torque_where_a_direction_is_free() -> None:
    robot, state = arm("panda"), clear_states("panda", 1, seed=14)[0]
    stack = pose_stack("panda")
    found = [Controller(robot, stack, metric=m).tick(state).torque for m in ("inertia", "identity", "inertia_squared")]
    assert min(gap(found[0], found[1]), gap(found[0], found[2]), gap(found[1], found[2])) > 1e-2


# the unreduced QP

OPTIONS = {"daqp": {"primal_tol": 1e-10, "dual_tol": 1e-12, "eps_prox": 0.0}, "quadprog": {}}


def solved(problem: qpsolvers.Problem, solver: str) -> np.ndarray:
    solution = qpsolvers.solve_problem(problem, solver, **OPTIONS[solver])
    assert solution.found
    return np.asarray(solution.x)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("kind", STACKS)
@pytest.mark.parametrize("solver", OPTIONS)
def test_the_unreduced_qp_without_active_limits_gives_the_command(name: str, kind: str, solver: str) -> None:
    random = np.random.default_rng(15)
    controller = Controller(arm(name).scaled(torque=NEVER), STACKS[kind](name))
    for state, pose in zip(clear_states(name, 20, seed=16), clear_poses(name, 20, seed=17), strict=True):
        aim(controller.stack, pose, random)
        command = controller.tick(state)
        assert command.report.active == ()
        problem = controller.as_qp()
        vdot = solved(problem, solver)
        terms = terms_at(arm(name), state)
        assert gap(terms.M @ vdot + terms.h, command.torque) < UNREDUCED


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("kind", STACKS)
@pytest.mark.parametrize("solver", OPTIONS)
def test_the_unreduced_qp_with_active_limits_gives_the_command(name: str, kind: str, solver: str) -> None:
    random = np.random.default_rng(18)
    robot = tight(name)
    stack = STACKS[kind](name)
    stack = Stack(
        nominal=stack.nominal[0], limits=[TorqueLimits(), JointLimits()], strict=[[t for t, _ in level] for level in
        stack.strict], soft=stack.soft,
    )  # fmt: skip
    controller, active = Controller(robot, stack), 0
    for state, pose in zip(clear_states(name, 40, seed=19), clear_poses(name, 40, seed=20), strict=True):
        aim(controller.stack, pose, random)
        command = controller.tick(state)
        assert command.report.status is not Status.FALLBACK
        active += bool(command.report.active)
        vdot = solved(controller.as_qp(), solver)
        terms = terms_at(robot, state)
        assert gap(terms.M @ vdot + terms.h, command.torque) < HELD
    assert active >= 4


def test_the_rows_of_the_unreduced_qp_have_names() -> None:
    controller = Controller(arm("panda"), levels_stack("panda"))
    controller.tick(clear_states("panda", 1, seed=21)[0])
    problem = controller.as_qp()
    assert problem.equality_names == ("hand 0", "hand 1", "hand 2", "tray 0", "tray 1")
    assert len(problem.equality_names) == len(problem.A)
    assert len(problem.inequality_names) == len(problem.G) == 14
    assert problem.inequality_names[0] == "torque panda_joint1 upper"
    assert problem.inequality_names[7] == "torque panda_joint1 lower"
