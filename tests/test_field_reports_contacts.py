"""What went wrong for people with feet: forces that jump, cones about a wrong axis, results of another tick's size."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from fixtures import advance, quiet
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from wbc import Command, Controller, Gains, Robot, Stack, State, Status
from wbc.cones import point_cone, sole_cone
from wbc.errors import InputError, UnknownNameError
from wbc.tasks import (
    ComTask,
    JointLimits,
    OrientationTask,
    PointContact,
    PoseTask,
    PostureTask,
    SurfaceContact,
    TorqueLimits,
    WrenchTask,
)
from wbc.terms import Terms

RIGHT, LEFT = "rleg_effector_body", "lleg_effector_body"
SOLE = (0.1, 0.05)  # m, half length and half width
WIDE = (0.15, 0.3)  # m, on which the robot stands on one foot
DT = 0.001  # s
SAME = 1e-8  # N m, N
PHYSICS = 1e-6  # rad/s², m/s²


@functools.cache
def humanoid(torque: float | None = None, **velocity: Any) -> Robot:
    """H34, pinocchio's sample humanoid: 15.5 kg, weight 152.055 N; local x of its feet points up."""
    model = pin.buildSampleModelHumanoid()
    limits = None if torque is None else dict.fromkeys(list(model.names)[2:], torque)
    return quiet(Robot.from_pinocchio, model, name="H34", torque_limits=limits, velocity_limits=velocity or None)


def neutral(robot: Robot) -> State:
    return State(pin.neutral(robot.model), np.zeros(robot.nv))


def bent(robot: Robot, seed: int, speed: float = 0.0) -> State:
    """Bent legs and arms at random, any heading, the trunk a little tilted."""
    random = np.random.default_rng(seed)
    step = random.uniform(-0.3, 0.3, robot.nv)
    step[:6] = 0.0
    q = pin.integrate(robot.model, pin.neutral(robot.model), step)
    turn = pin.exp3(np.array([0.0, 0.0, random.uniform(-3.0, 3.0)])) @ pin.exp3(random.normal(0.0, 0.05, 3))
    q[:7] = pin.SE3ToXYZQUAT(pin.SE3(turn, random.normal(size=3)))
    return State(q, speed * random.normal(size=robot.nv))


def sole(frame: str, **more: Any) -> SurfaceContact:
    return SurfaceContact(frame, frame=frame, **{"half_size": SOLE, "forward": (0, 0, 1), **more})


def feet(**more: Any) -> list[SurfaceContact]:
    return [sole(RIGHT, **more), sole(LEFT, **more)]


def terms_at(robot: Robot, state: State) -> Terms:
    terms = Terms(robot, DT)
    terms.update(state)
    return terms


# --- coming and going -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coming", [True, False])
def test_a_foot_takes_up_and_gives_back_its_load_by_small_steps(coming: bool) -> None:
    """G01: over 0.1 s no foot's force changes by more than 1.5 times its even slope, 2.3 N a tick; it leaves empty."""
    robot, over = humanoid(60.0), 0.1
    stack = Stack(
        nominal=PostureTask("posture", target=robot.home), contacts=feet(half_size=WIDE), limits=[TorqueLimits()]
    )
    if coming:
        stack.deactivate(RIGHT)
    controller, state = Controller(robot, stack, dt=DT), neutral(robot)
    vertical, torque, mixed = [], [], []
    for tick in range(160):
        if tick == 20:
            (stack.activate if coming else stack.deactivate)(RIGHT, over=over)
        command = controller.tick(state)
        vertical.append([command.wrenches[foot][2] for foot in (RIGHT, LEFT)])
        torque.append(command.torque)
        mixed.append(command.report.moment.share < 1.0)  # its rows are being faded in or out
    steps = np.abs(np.diff(vertical, axis=0))
    assert steps.max() < 1.5 * robot.weight * DT / over
    assert np.abs(np.diff(torque, axis=0)).max() < steps.max() * 1.0  # m, a lever that no joint has
    loaded, empty = (vertical[-1], vertical[0]) if coming else (vertical[0], vertical[-1])
    assert empty == pytest.approx([0.0, robot.weight], abs=1e-6)
    assert loaded == pytest.approx([robot.weight / 2] * 2, abs=1e-6)
    assert np.array(vertical)[mixed, 0].max() < 1e-6  # N; the report allows 1
    assert sum(mixed) > 40


@pytest.mark.parametrize("coming", [True, False])
def test_a_ramp_of_length_zero_is_a_jump_that_the_report_tells(coming: bool) -> None:
    """G01: with T = 0 the jump is allowed, and reported: at that tick, with the foot's name, and at no other."""
    robot = humanoid(60.0)
    stack = Stack(
        nominal=PostureTask("posture", target=robot.home), contacts=feet(half_size=WIDE), limits=[TorqueLimits()]
    )
    if coming:
        stack.deactivate(RIGHT)
    controller, state = Controller(robot, stack, dt=DT), neutral(robot)
    reports = []
    for tick in range(4):
        if tick == 2:
            (stack.activate if coming else stack.deactivate)(RIGHT, over=0)
        reports.append(controller.tick(state).report)
    assert [report.moment.jumped for report in reports] == [(), (), (RIGHT,), ()]
    assert ["came or went at once" in report.explain() for report in reports] == [False, False, True, False]
    assert f"'{RIGHT}' came or went at once" in reports[2].explain()


def test_results_hold_the_contacts_of_the_tick_and_nothing_of_the_one_before() -> None:
    """G08: flying, two feet, flying, one foot: forces of contacts that stand, zeros of the others, as built afresh."""
    robot = humanoid()
    stack = Stack(nominal=PostureTask("posture", target=robot.home), contacts=feet())
    controller, state = Controller(robot, stack), bent(robot, 1, speed=0.1)
    stack.deactivate(RIGHT), stack.deactivate(LEFT)
    for present in ((), (RIGHT, LEFT), (), (LEFT,)):
        for foot in (RIGHT, LEFT):
            (stack.activate if foot in present else stack.deactivate)(foot, over=0.0)
        command = controller.tick(state)
        fresh_stack = Stack(
            nominal=PostureTask("posture", target=robot.home), contacts=[sole(foot) for foot in present]
        )
        fresh = Controller(robot, fresh_stack).tick(state)
        assert set(command.wrenches) == {RIGHT, LEFT}
        for foot in (RIGHT, LEFT):
            expected = fresh.wrenches[foot] if foot in present else np.zeros(6)
            assert command.wrenches[foot] == pytest.approx(expected, abs=SAME)
        assert command.torque == pytest.approx(fresh.torque, abs=SAME)
        assert (sum(wrench[2] for wrench in command.wrenches.values()) > 1.0) == bool(present)
        with pytest.raises(KeyError, match="middle"):
            command.wrenches["middle"]
        if not present:  # nothing outside but gravity
            com = terms_at(robot, state).com
            assert com.J @ command.acceleration + com.Jdot_v == pytest.approx([0.0, 0.0, -9.81], abs=1e-9)


def test_a_contact_that_comes_goes_and_comes_in_three_ticks_is_as_new() -> None:
    """G05, second half: a name used again starts from nothing."""
    robot = humanoid()
    stack = Stack(nominal=PostureTask("posture", target=robot.home), contacts=feet())
    stack.deactivate(RIGHT)
    controller = Controller(robot, stack)
    controller.tick(bent(robot, 2))
    for seed, present in ((3, True), (4, False), (5, True)):
        (stack.activate if present else stack.deactivate)(RIGHT, over=0.0)
        # the left foot holds another place by now, so that it too comes again
        stack.activate(LEFT, over=0.0)
        state = bent(robot, seed)
        command = controller.tick(state)
        fresh = Controller(
            robot,
            Stack(
                nominal=PostureTask("posture", target=robot.home),
                contacts=feet() if present else [sole(LEFT)],
            ),
        ).tick(state)
        assert command.torque == pytest.approx(fresh.torque, abs=SAME)
        assert command.wrenches[LEFT] == pytest.approx(fresh.wrenches[LEFT], abs=SAME)


def test_a_contact_that_is_absent_is_the_same_as_none_and_leaves_no_row_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A19: no solver sees an all-zero row with a bound, and "removed" and "absent" agree."""
    robot, state = humanoid(8.0), bent(humanoid(), 6)

    def parts(*standing: str) -> dict[str, Any]:
        return {
            "nominal": PostureTask("posture", target=robot.home, gains=Gains.critical(50.0)),
            "contacts": [sole(foot) for foot in standing],
            "limits": [TorqueLimits(), JointLimits()],
        }

    with_both = Stack(**parts(RIGHT, LEFT))
    with_both.deactivate(LEFT)
    absent, removed = Controller(robot, with_both), Controller(robot, Stack(**parts(RIGHT)))
    seen: list[Any] = []
    ask = absent._solvers.first.solve

    def spy(qp: Any) -> Any:
        seen.append(qp)
        return ask(qp)

    monkeypatch.setattr(absent._solvers.first, "solve", spy)
    one, other = absent.tick(state), removed.tick(state)
    assert seen and one.report.active
    for qp in seen:
        assert (np.linalg.norm(qp.G, axis=1) > 1e-6).all() and np.isfinite(qp.G).all()
    assert one.torque == pytest.approx(other.torque, abs=SAME)
    assert one.acceleration == pytest.approx(other.acceleration, abs=SAME)
    assert one.wrenches[RIGHT] == pytest.approx(other.wrenches[RIGHT], abs=SAME)
    problem = absent.as_qp()
    assert (np.linalg.norm(problem.G, axis=1) > 1e-6).all() and (np.linalg.norm(problem.A, axis=1) > 1e-6).all()


# --- cones ------------------------------------------------------------------------------------------------------------


def corner_forces(wrench: np.ndarray, friction: float) -> tuple[np.ndarray, float]:
    """Forces (4, 3) at the corners of the sole, in pyramids, that make a wrench at its middle; and what is left."""
    m = friction / np.sqrt(2.0)
    edges = np.array([[s * m, t * m, 1.0] for s in (1, -1) for t in (1, -1)])
    corners = np.array([[s * SOLE[0], t * SOLE[1], 0.0] for s in (1, -1) for t in (1, -1)])
    columns = np.array([np.r_[edge, np.cross(corner, edge)] for corner in corners for edge in edges]).T
    size = 1.0 + np.linalg.norm(wrench)
    found, left = nnls(columns, wrench / size)
    return (found.reshape(4, 4, 1) * edges).sum(axis=1) * size, left * size


def test_whatever_wrenches_are_asked_for_every_corner_of_a_sole_only_pushes_and_never_slides() -> None:
    """G02: 200 random demands on two feet; corner forces, centre of pressure and the bounds of the total."""
    robot, random, friction, bounds = humanoid(), np.random.default_rng(4), 0.6, (5.0, 140.0)
    contacts = feet(friction=friction, min_force=bounds[0], max_force=bounds[1])
    tasks = [WrenchTask(f"ask {foot}", contact=foot, target=np.zeros(6)) for foot in (RIGHT, LEFT)]
    stack = Stack(nominal=PostureTask("posture", target=robot.home), contacts=contacts, soft=[(t, 1e3) for t in tasks])
    controller, held = Controller(robot, stack), 0
    state = neutral(robot)
    for _ in range(200):
        for task in tasks:
            task.target = random.normal(size=6) * [100.0, 100.0, 200.0, 20.0, 20.0, 20.0]
        command = controller.tick(state)
        assert command.report.status is Status.OPTIMAL
        held += bool(command.report.active)
        f, axes = command.report.contact_forces.reshape(2, 6), command.report.problem.axes
        for foot, local, turn in zip((RIGHT, LEFT), f, axes, strict=True):
            world = command.wrenches[foot]
            assert turn @ local[:3] == pytest.approx(world[:3], abs=1e-9)
            corners, left = corner_forces(local, friction)
            assert left < 1e-6
            assert (corners[:, 2] > -1e-6).all()
            assert (np.linalg.norm(corners[:, :2], axis=1) <= friction * corners[:, 2] + 1e-6).all()
            centre = np.array([-local[4], local[3]]) / local[2]
            assert (np.abs(centre) <= np.array(SOLE) + 1e-6).all()
            assert bounds[0] - 1e-6 <= local[2] <= bounds[1] + 1e-6
    assert held > 100


def test_on_a_slope_the_cone_is_about_the_surface_s_normal() -> None:
    """G05, first half: a surface tilted by 20°, μ = 0.3: the force stays within atan 0.3 of its normal."""
    robot = humanoid()
    tilt = np.radians(20.0)
    normal = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    contacts = feet(friction=0.3, normal=normal, half_size=WIDE)
    stack = Stack(nominal=PostureTask("posture", target=robot.home), contacts=contacts)
    pulled = ComTask("com")
    stack = Stack(nominal=stack.nominal[0], contacts=contacts, soft=[(pulled, 1e3)])
    controller, random, at_edge = Controller(robot, stack), np.random.default_rng(7), 0
    for _ in range(30):
        pulled.target_acceleration = 5.0 * random.normal(size=3)
        command = controller.tick(neutral(robot))
        for foot in (RIGHT, LEFT):
            force = command.wrenches[foot][:3]
            along = force @ normal
            across = np.linalg.norm(force - along * normal)
            assert along > -1e-7 and across <= 0.3 * along + 1e-7 * robot.weight
            at_edge += along > 1.0 and across > 0.2 * along
    assert at_edge > 5
    assert np.degrees(np.arctan(0.3)) < 20.0  # the vertical is outside: about it the cone would be another one


@settings(max_examples=60, deadline=None)
@given(
    friction=st.floats(0.05, 2.0), facets=st.integers(3, 24), seed=st.integers(0, 2**32 - 1), scale=st.floats(1e-2, 1e4)
)
def test_a_pyramid_is_inscribed_in_the_coulomb_cone(friction: float, facets: int, seed: int, scale: float) -> None:
    """G12: what the rows accept is in the cone |f_t| ≤ μ f_n; what is in that of μ cos(π/k) is accepted."""
    random = np.random.default_rng(seed)
    rows = point_cone(friction, facets)
    normal = scale * random.uniform(0.0, 1.0, 1000)
    angle, share = random.uniform(0.0, 2.0 * np.pi, 1000), random.uniform(0.0, 1.5, 1000)
    tangent = friction * normal * share
    forces = np.column_stack([tangent * np.cos(angle), tangent * np.sin(angle), normal])
    accepted = (forces @ rows.T <= 1e-12 * scale).all(axis=1)
    rounding = 1e-9 * scale
    assert (tangent[accepted] <= friction * normal[accepted] + rounding).all()
    assert accepted[tangent <= friction * np.cos(np.pi / facets) * normal - rounding].all()
    assert not (forces[normal > 1e-3 * scale] * [1, 1, -1] @ rows.T <= 0.0).all(axis=1).any()  # no pulling
    assert 0 < accepted.sum() < 1000


@settings(max_examples=60, deadline=None)
@given(friction=st.floats(0.1, 1.5), x=st.floats(0.02, 0.3), y=st.floats(0.02, 0.3), seed=st.integers(0, 2**32 - 1))
def test_a_sole_accepts_what_its_corners_can_make(friction: float, x: float, y: float, seed: int) -> None:
    """G12 for wrenches: every sum of corner forces in their pyramids is accepted, and one beyond a row is not."""
    random = np.random.default_rng(seed)
    m, rows = friction / np.sqrt(2.0), sole_cone(friction, x, y)
    corners = np.array([[s * x, t * y, 0.0] for s in (1, -1) for t in (1, -1)])
    normal = random.exponential(size=(50, 4, 1)) * random.integers(0, 2, size=(50, 4, 1))
    forces = np.concatenate([m * random.uniform(-1.0, 1.0, (50, 4, 2)) * normal, normal], axis=2)
    wrenches = np.concatenate([forces.sum(axis=1), np.cross(corners, forces).sum(axis=1)], axis=1)
    assert (wrenches @ rows.T <= 1e-12).all()
    for row in rows:
        assert (row @ (wrenches[0] + 1e-3 * row) > 0.0) or row @ wrenches[0] < -5e-4 * row @ row


# --- physics ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_accelerations_are_those_that_torque_and_forces_give(seed: int) -> None:
    """G14: base and joints come from the right places of the solution: pinocchio's forward dynamics says the same."""
    robot = humanoid()
    state = bent(robot, 10 + seed, speed=0.3)
    stack = Stack(nominal=PostureTask("posture", target=robot.home, gains=Gains.critical(4.0)), contacts=feet())
    command = Controller(robot, stack).tick(state)
    given_back = forward_dynamics(robot, state, command)
    assert given_back == pytest.approx(command.acceleration, abs=PHYSICS * (1 + np.abs(command.acceleration).max()))
    assert np.abs(command.acceleration[:6]).max() > 1e-2 and np.abs(command.acceleration[6:]).max() > 1e-2


def forward_dynamics(robot: Robot, state: State, command: Command) -> np.ndarray:
    """pinocchio's articulated-body algorithm with the command's torque, and its wrenches on the joints of the feet."""
    model, data = robot.model, robot.model.createData()
    pin.framesForwardKinematics(model, data, state.q)
    external = [pin.Force.Zero() for _ in range(model.njoints)]
    for foot, wrench in command.wrenches.items():
        frame = model.frames[model.getFrameId(foot)]
        at_joint = pin.SE3(data.oMi[frame.parentJoint].rotation, data.oMi[frame.parentJoint].translation)
        here = pin.SE3(np.eye(3), data.oMf[model.getFrameId(foot)].translation)
        external[frame.parentJoint] += at_joint.actInv(here.act(pin.Force(wrench[:3], wrench[3:])))
    forces = pin.StdVec_Force()
    forces.extend(external)
    tau = np.zeros(robot.nv)
    tau[robot.actuated] = command.torque
    return np.array(pin.aba(model, data, state.q, state.v, tau, forces))


def test_a_turn_that_is_asked_of_the_base_stands_in_the_last_of_its_six_accelerations() -> None:
    """G14: linear before angular, in the base's axes."""
    robot = humanoid()
    yaw = OrientationTask("yaw", frame="root_joint")
    still = State(pin.neutral(robot.model), np.zeros(robot.nv))
    place = PointContact("hold", frame="root_joint", friction=None)  # so that it turns on the spot
    yaw.target_acceleration = (0.0, 0.0, 2.0)
    command = Controller(robot, Stack(contacts=[place], strict=[yaw])).tick(still)
    origin = terms_at(robot, still).frame("root_joint").position - still.q[:3]
    expected = np.r_[-np.cross([0.0, 0.0, 2.0], origin), 0.0, 0.0, 2.0]
    # a body that has no motor can turn only against its limbs: what it gets is what it asked for
    assert command.acceleration[:6] == pytest.approx(expected, abs=1e-9)


def test_a_robot_of_fifteen_tons_is_feasible_and_carries_its_weight() -> None:
    """A12: no number stands in for infinity: with 16 facets and 152,055 N the vertical forces are still the weight."""
    model = pin.buildSampleModelHumanoid()
    for i in range(1, model.njoints):
        inertia = model.inertias[i]
        model.inertias[i] = pin.Inertia(1e3 * inertia.mass, inertia.lever, 1e3 * inertia.inertia)
    unlimited = dict.fromkeys(list(model.names)[2:], np.inf)
    robot = quiet(Robot.from_pinocchio, model, name="H34 of lead", torque_limits=unlimited)
    kinds: dict[str, list[Any]] = {
        "soles": feet(),
        "points": [PointContact(foot, frame=foot, facets=16) for foot in (RIGHT, LEFT)],
    }
    for kind, contacts in kinds.items():
        stack = Stack(nominal=PostureTask("posture", target=robot.home), contacts=contacts, limits=[TorqueLimits()])
        for method in ("auto", "qp"):
            controller: Any = Controller(robot, stack, method=method)
            command = controller.tick(neutral(robot))
            vertical = sum(wrench[2] for wrench in command.wrenches.values())
            acceleration = terms_at(robot, neutral(robot)).com.J @ command.acceleration
            assert command.report.status is Status.OPTIMAL
            assert vertical == pytest.approx(robot.mass * (9.81 + acceleration[2]), rel=1e-6)
            if kind == "soles":
                assert vertical == pytest.approx(152055.0, rel=1e-6)
            assert not (np.abs(controller.as_qp().h) == 1000.0).any()


# --- a base with a speed limit ----------------------------------------------------------------------------------------


def test_a_floating_base_keeps_a_twist_limit_that_is_given_by_the_name_of_its_joint() -> None:
    """E11: 0.2 m/s and 0.5 rad/s for ``root_joint``, in the base's axes; without it there is no such row."""
    robot = humanoid(None, root_joint=(0.2, 0.5))
    assert robot.velocity_limits[:6].tolist() == [0.2] * 3 + [0.5] * 3
    go = PoseTask("go", frame="root_joint", gains=Gains.critical(400.0))
    stack = Stack(soft=[(go, 1e3)], limits=[JointLimits()], contacts=feet(friction=None))  # something to push against
    controller, state, fastest = Controller(robot, stack, dt=DT), bent(robot, 8), np.zeros(6)
    now = terms_at(robot, state).frame("root_joint")
    go.target = pin.SE3(now.rotation @ pin.exp3(np.array([0.1, -0.2, 0.3])), now.position + np.array([0.1, 0.0, -0.1]))
    for _ in range(250):
        command = controller.tick(state)
        assert command.report.status is Status.OPTIMAL
        state = advance(robot, state, command.acceleration, DT)
        fastest = np.maximum(fastest, np.abs(state.v[:6]))
    assert (fastest[:3] <= 0.2 + 1e-9).all() and (fastest[3:] <= 0.5 + 1e-9).all()
    assert fastest[:3].max() > 0.199 and fastest[3:].max() > 0.499
    names = controller.as_qp().inequality_names
    assert {name.split()[1] for name in names if "root" in name} == {f"root_joint_{i}" for i in range(6)}
    plain = Controller(humanoid(), Stack(limits=[JointLimits()]))
    plain.tick(bent(humanoid(), 8))
    assert not any("root" in name for name in plain.as_qp().inequality_names)


@pytest.mark.parametrize(
    ("limit", "error", "words"),
    [
        ({"root_joint": 0.2}, InputError, "'root_joint' is the joint of a base: expected a pair"),
        ({"root_joint": (0.2, 0.5, 0.1)}, InputError, "expected a pair"),
        ({"root_joint": (0.2, -0.5)}, InputError, "root_joint_3"),
        ({"root_jiont": (0.2, 0.5)}, UnknownNameError, "root_joint"),
    ],
)
def test_a_twist_limit_that_cannot_be_meant_is_refused(limit: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        quiet(Robot.from_pinocchio, pin.buildSampleModelHumanoid(), velocity_limits=limit)


def test_a_base_without_limits_brings_no_overflow_and_no_row() -> None:
    """D08: H34's unbounded limits are ±1.797e308; none of it reaches a row, nor do limits of base entries."""
    limits = [TorqueLimits(), JointLimits()]
    assert pin.buildSampleModelHumanoid().upperPositionLimit.max() > 1e300
    random_limits = quiet(Robot.from_pinocchio, pin.buildSampleModelHumanoidRandom(), name="random")
    for robot in (humanoid(), random_limits):
        assert np.isinf(robot.position_limits[:, :6]).all() and np.isinf(robot.velocity_limits[:6]).all()
        assert not set(robot.actuated) & set(range(6))
        q = np.array(robot.home)
        q[:7] = bent(humanoid(), 9).q[:7]
        controller = Controller(robot, Stack(nominal=PostureTask("posture"), limits=limits))
        command = controller.tick(State(q, np.full(robot.nv, 0.01)))
        problem = controller.as_qp()
        for block in (problem.P, problem.q, problem.G, problem.h, problem.A, problem.b):
            assert np.isfinite(block).all() and np.abs(block).max() < 1e9
        assert not any("root" in name for name in problem.inequality_names)
        assert np.isfinite(command.torque).all() and command.torque.shape == (robot.nv - 6,)


@pytest.mark.parametrize("solver", ["daqp", "proxqp", "osqp"])
def test_pushes_on_a_floating_base_neither_exhaust_a_solver_nor_replace_it(solver: str) -> None:
    """I02 on H34: pushed again and again on two feet: iterations far below the caps, no fallback, the same backend."""
    robot, random = humanoid(25.0), np.random.default_rng(6)
    stack = Stack(
        nominal=PostureTask("posture", target=robot.home), contacts=feet(), strict=[ComTask("com")],
        limits=[TorqueLimits()],
    )  # fmt: skip
    controller, state = Controller(robot, stack, dt=DT, solver=solver), bent(robot, 3, 0.1)
    backend, iterations = controller._solvers.first, []
    for tick in range(50):
        state = advance(robot, state, np.zeros(robot.nv), DT)
        push = random.normal(0.0, 0.3, robot.nv) if tick % 2 else 0.0
        command = controller.tick(State(state.q, state.v + push))
        iterations.append(command.report.iterations)
        assert command.report.status is not Status.FALLBACK, command.report.trouble
        assert controller._solvers.first is backend
    assert max(iterations) > 0  # limits were active
    assert max(iterations) < 30 * {"daqp": 1000, "proxqp": 200, "osqp": 20000}[solver]
