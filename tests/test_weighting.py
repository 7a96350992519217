"""A soft task weighted by its inertia closes w/(1 + w) of its gap, whatever its units; and how weights scale."""

from __future__ import annotations

import copy
import functools
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import qpsolvers
from arms import arm, clear_states, gap, hand
from fixtures import quiet

from wbc import Controller, Gains, Kinematics, MotionTask, Robot, Stack, State, Terms
from wbc.errors import InputError, UnknownNameError
from wbc.gauss import effective_mass
from wbc.tasks import ComTask, OrientationTask, PoseTask, PositionTask, PostureTask, SurfaceContact, TorqueLimits

LAW = 1e-9  # relative to the gap: closed forms, and QPs without an active limit
SAME = 1e-8  # N m, two routes; torques are up to some hundred
METHODS = ("auto", "qp")
FEET = ("lleg_effector_body", "rleg_effector_body")


class Scaled(MotionTask):
    """The rows of another task in other units, row by row, and as often as is asked: [E A; E A; ...]."""

    def __init__(self, inner: MotionTask, scale: Any, name: str = "hand", repeat: int = 1, **options: Any) -> None:
        self._inner, self._scale = inner, np.tile(np.broadcast_to(np.asarray(scale, dtype=float), inner.dim), repeat)
        self.dim = inner.dim * repeat
        self._repeat = repeat
        super().__init__(name, gains=inner.gains, **options)

    def kinematics(self, terms: Terms) -> Kinematics:
        k, r, E = self._inner.kinematics(terms), self._repeat, self._scale
        return Kinematics(
            E * np.tile(k.error, r),
            E * np.tile(k.velocity_error, r),
            E[:, None] * np.tile(k.J, (r, 1)),
            E * np.tile(k.Jdot_v, r),
        )


@functools.cache
def humanoid() -> Robot:
    """H34, floating, without limits on torque."""
    return quiet(Robot.from_pinocchio, pin.buildSampleModelHumanoid(), name="H34")


def flying(robot: Robot, seed: int) -> State:
    """Any place and orientation, in motion."""
    random = np.random.default_rng(seed)
    q = pin.integrate(robot.model, pin.neutral(robot.model), random.uniform(-0.4, 0.4, robot.nv))
    turn = pin.exp3(random.normal(size=3))
    q[:7] = pin.SE3ToXYZQUAT(pin.SE3(turn, random.normal(size=3)))
    return State(q, random.normal(0.0, 0.5, robot.nv))


def soles() -> list[SurfaceContact]:
    return [
        SurfaceContact(name, frame=name, half_size=(0.1, 0.05), normal=(0.0, 0.0, 1.0), friction=None) for name in FEET
    ]


@functools.cache
def cases() -> dict[str, tuple[Robot, State, str, str]]:
    """Robot, moving rotated state, frame of the task, and what is strict above it."""
    robot = humanoid()
    return {
        "arm": (arm("panda"), clear_states("panda", 1, 3)[0], hand("panda"), ""),
        "arm below a strict task": (arm("panda"), clear_states("panda", 1, 4)[0], hand("panda"), "strict"),
        "floating in the air": (robot, flying(robot, 5), "rarm_effector_body", ""),
        "floating on two feet": (robot, flying(robot, 6), "rarm_effector_body", "contacts"),
    }


def posed(task: Any, state: State, robot: Robot, frame: str) -> Any:
    """A target some way off in position and turn."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, state.q)
    place = data.oMf[robot.model.getFrameId(frame)]
    away = pin.SE3(
        place.rotation @ pin.exp3(np.array([0.3, -0.2, 0.4])), place.translation + np.array([0.1, -0.2, 0.15])
    )
    task.target = away.translation if isinstance(task, PositionTask) else away
    return task


def stack_of(case: str, soft: list[Any], limits: list[Any] | None = None) -> Stack:
    robot, _, frame, above = cases()[case]
    strict = [[OrientationTask("turn", frame=frame, gains=Gains(0.0, 3.0))]] if above == "strict" else []
    nominal = PostureTask("posture", target=robot.home, gains=Gains.critical(25.0))
    contacts = soles() if above == "contacts" else []
    return Stack(nominal=nominal, strict=strict, soft=soft, contacts=contacts, limits=limits or [])


def tick(case: str, soft: list[Any], limits: list[Any] | None = None, **options: Any) -> Any:
    robot, state, _, _ = cases()[case]
    return Controller(robot, stack_of(case, soft, limits), **options).tick(state)


def task_for(case: str, weighting: str = "inertia", mask: Any = None) -> PositionTask:
    robot, state, frame, _ = cases()[case]
    return posed(PositionTask("hand", frame=frame, mask=mask, weighting=weighting), state, robot, frame)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", ["arm", "arm below a strict task", "floating in the air", "floating on two feet"])
def test_a_lone_soft_task_closes_w_over_1_plus_w_of_its_gap(case: str, method: str) -> None:
    """Row by row: asked − got is 1/(1 + w) of what it is with weight zero."""
    weights = (1e-3, 0.3, 10.0, 1e4)
    nothing = tick(case, [(task_for(case), 0.0)], method=method).report.problem
    for weight in weights:
        command = tick(case, [(task_for(case), weight)], method=method)
        found = command.report.tasks["hand"]
        rest = Controller(cases()[case][0], stack_of(case, []), method=method).tick(cases()[case][1])
        A, b = nothing.task_rows()
        rows = nothing.layout.soft_rows
        before = -(A[rows] @ rest.acceleration + b[rows])
        assert gap(found.missed, before / (1.0 + weight)) < LAW * np.abs(before).max()
        assert found.closed == pytest.approx(weight / (1.0 + weight), rel=1e-7)


@pytest.mark.parametrize("metric", ["identity", "inertia_squared", "given"])
def test_another_metric_has_its_own_inertia(metric: str) -> None:
    robot = arm("panda")
    X = np.random.default_rng(1).normal(size=(robot.nv, robot.nv))
    chosen: Any = X @ X.T + np.eye(robot.nv) if metric == "given" else metric
    for method in METHODS:
        found = tick("arm", [(task_for("arm"), 4.0)], metric=chosen, method=method).report.tasks["hand"]
        assert found.closed == pytest.approx(0.8, rel=1e-7)


def test_the_weight_matrix_is_the_task_space_inertia() -> None:
    """The command is the least of ½ ‖v̇ − v̇₀‖²_M + ½ w ‖A v̇ + b‖²_Λ with Λ = (A M⁻¹ Aᵀ)⁻¹, written out."""
    p = tick("arm", [(task_for("arm"), 2.0)]).report.problem
    A, b = p.task_rows()
    Lambda = effective_mass(A, p.M)
    expected = np.linalg.solve(p.M + 2.0 * A.T @ Lambda @ A, p.M @ p.nominal - 2.0 * A.T @ Lambda @ b)
    assert gap(tick("arm", [(task_for("arm"), 2.0)]).acceleration, expected) < 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize("case", ["arm", "floating on two feet"])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3, (1e-3, 1.0, 1e3)])
def test_units_do_not_matter(case: str, scale: Any) -> None:
    expected = tick(case, [(task_for(case), 3.0)]).torque
    for method in METHODS:
        command = tick(case, [(Scaled(task_for(case), scale, weighting="inertia"), 3.0)], method=method)
        assert gap(command.torque, expected) < SAME * np.abs(expected).max()
        assert command.report.tasks["hand"].closed == pytest.approx(0.75, rel=1e-7)
    with_units = tick(case, [(Scaled(task_for(case), 1e3), 3.0)]).torque
    assert gap(with_units, expected) > 1e-3  # the identity does know units


@pytest.mark.parametrize("case", ["arm", "floating on two feet"])
@pytest.mark.parametrize("method", METHODS)
def test_rows_that_stand_twice_count_once(case: str, method: str) -> None:
    """Rank-deficient rows, each set in other units."""
    expected = tick(case, [(task_for(case), 3.0)], method=method).torque
    task = Scaled(task_for(case), 1.0, repeat=3, weighting="inertia")
    task._scale[3:6] = 50.0
    command = tick(case, [(task, 3.0)], method=method)
    assert gap(command.torque, expected) < SAME * np.abs(expected).max()
    assert command.report.tasks["hand"].closed == pytest.approx(0.75, rel=1e-7)


@pytest.mark.parametrize("case", ["arm", "floating on two feet"])
@pytest.mark.parametrize("weighting", ["identity", "inertia"])
def test_rows_of_zeros_change_nothing(case: str, weighting: str) -> None:
    """Alone or beside others, with every method: nothing can move them."""
    for method in METHODS:
        without = tick(case, [], method=method).torque
        lone = tick(case, [(Scaled(task_for(case), 0.0, weighting=weighting), 5.0)], method=method)
        assert gap(lone.torque, without) < SAME * np.abs(without).max()
        beside = Scaled(task_for(case), (1.0, 0.0, 1.0), weighting=weighting)
        two = task_for(case, weighting, mask=(1, 0, 1))
        expected = tick(case, [(two, 5.0)], method=method).torque
        assert gap(tick(case, [(beside, 5.0)], method=method).torque, expected) < SAME * np.abs(expected).max()


@pytest.mark.parametrize("case", ["arm", "floating on two feet"])
@pytest.mark.parametrize("method", METHODS)
def test_limits_do_not_care_which_route_is_taken(case: str, method: str) -> None:
    """Torque limits idle and active: the same answer, which is that of the unreduced QP."""
    robot, state, _, _ = cases()[case]
    reach = float(np.abs(tick(case, [(task_for(case), 20.0)]).torque).max())
    for share in (10.0, 0.8):
        limited = Robot.from_pinocchio(
            robot.model, name="limited", torque_limits=dict.fromkeys(robot.joint_names, share * reach)
        )
        controller = Controller(limited, stack_of(case, [(task_for(case), 20.0)], [TorqueLimits()]), method=method)
        command = controller.tick(state)
        assert bool(command.report.active) == (share < 1.0)
        problem = controller.as_qp()
        solved = qpsolvers.solve_problem(problem, solver="daqp")
        assert gap(solved.x[: robot.nv], command.acceleration) < 1e-5 * np.abs(command.acceleration).max()
    assert command.report.tasks["hand"].closed < 20.0 / 21.0


def test_the_report_speaks_in_the_units_of_the_task() -> None:
    for case in ("arm", "floating on two feet"):
        command, plain = (tick(case, [(task_for(case, weighting), 3.0)]) for weighting in ("inertia", "identity"))
        found, other = command.report.tasks["hand"], plain.report.tasks["hand"]
        assert gap(found.asked, other.asked) < 1e-9
        assert gap(found.asked - found.got, found.missed) == 0.0
        assert found.because == ("weight",)
        assert "Soft task 'hand', weight 3, gets 75 % of what it asks." in command.report.explain()


def test_ticks_after_the_first_have_the_same_weights() -> None:
    """Constant rows are written into the problem once; their factor is not multiplied in twice."""
    robot, state = arm("panda"), clear_states("panda", 1, 3)[0]
    posture = PostureTask("arms", target=robot.home, weighting="inertia")
    controller = Controller(robot, Stack(soft=[(posture, 3.0)], nominal=TorqueFree("free")))
    first = controller.tick(state).torque
    for _ in range(3):
        assert gap(controller.tick(state).torque, first) < SAME


class TorqueFree(MotionTask):
    """A nominal that wants no acceleration."""

    dim = None

    def kinematics(self, terms: Terms) -> Kinematics:
        zero = np.zeros(terms.robot.nv)
        return Kinematics(zero, zero, np.eye(terms.robot.nv), zero)


def test_a_task_near_a_singularity_fades_out_without_a_jump() -> None:
    """A straightening arm: torque stays bounded and its steps small, where the inertia itself grows endlessly."""
    robot = arm("ur5")
    task = PositionTask("hand", frame="tool0", weighting="inertia")
    controller = Controller(robot, Stack(soft=[(task, 5.0)]))
    largest, steps, last = 0.0, [], None
    for bend in np.concatenate([np.linspace(0.4, 1e-3, 150), np.linspace(1e-3, -1e-3, 100)]):
        q = np.array([0.3, -1.0, bend, 0.4, 0.0, 0.2])
        task.target = (2.0, 1.0, 1.0)
        torque = controller.tick(State(q, np.zeros(6))).torque
        largest = max(largest, float(np.abs(torque).max()))
        if last is not None:
            steps.append(float(np.abs(torque - last).max()))
        last = torque
    assert largest < 1e5
    assert max(steps) < 0.1 * largest


@pytest.mark.parametrize("case", ["arm", "floating on two feet"])
def test_in_a_strict_level_the_inertia_says_how_conflicts_are_shared(case: str) -> None:
    """Two tasks of one level want the hand in two places: with Λ, the mean by weights, in any units."""
    robot, state, frame, _ = cases()[case]
    weights, asked = (1.0, 3.0), []
    for weighting in ("inertia",):
        for scale in (1.0, 1e2):
            first, second = task_for(case), PositionTask("other", frame=frame, weighting=weighting)
            second.target = np.array(first.target) + np.array([-0.3, 0.1, 0.2])
            pair = [(Scaled(first, scale, weighting=weighting), weights[0]), (second, weights[1])]
            contacts = soles() if case != "arm" else []
            for method in METHODS:
                stack = Stack(strict=[pair], contacts=contacts)
                found = Controller(robot, stack, method=method).tick(state).report.tasks
                mean = (found["hand"].asked / scale + 3.0 * found["other"].asked) / 4.0
                if case == "arm":
                    assert gap(found["other"].got, mean) < 1e-8 * np.abs(mean).max()
                asked.append(found["other"].got)
    assert all(gap(one, asked[0]) < 1e-8 * np.abs(asked[0]).max() for one in asked)


@pytest.mark.parametrize("case", ["arm", "floating on two feet"])
@pytest.mark.parametrize("weighting", ["identity", "inertia"])
@pytest.mark.parametrize("limits", [False, True])
def test_a_duplicate_task_is_the_task_with_twice_the_weight(case: str, weighting: str, limits: bool) -> None:
    for method in METHODS:
        once = task_for(case, weighting)
        again = copy.deepcopy(once)
        again._name = "again"
        robot, state, _, _ = cases()[case]
        reach = 0.8 * float(np.abs(tick(case, [(once, 4.0)]).torque).max())
        limited = Robot.from_pinocchio(robot.model, name="l", torque_limits=dict.fromkeys(robot.joint_names, reach))
        held = [TorqueLimits()] if limits else []
        two = Controller(limited, stack_of(case, [(once, 2.0), (again, 2.0)], held), method=method).tick(state)
        one = Controller(limited, stack_of(case, [(task_for(case, weighting), 4.0)], held), method=method).tick(state)
        assert bool(one.report.active) == limits
        assert gap(one.torque, two.torque) < 1e-7 * np.abs(one.torque).max()


@pytest.mark.parametrize("case", ["arm", "floating on two feet"])
@pytest.mark.parametrize("weighting", ["identity", "inertia"])
def test_opposite_tasks_of_the_same_weight_hold_the_middle(case: str, weighting: str) -> None:
    """+a and −a: the same as one task of both weights that asks for nothing."""
    frame = cases()[case][2]
    for method in METHODS:
        soft = []
        for name, a in (("plus", 5.0), ("minus", -5.0), ("middle", 0.0)):
            task = PositionTask(name, frame=frame, gains=Gains(0.0, 0.0), weighting=weighting)
            task.target_acceleration = (a, -a, 0.5 * a)
            soft.append(task)
        both = tick(case, [(soft[0], 3.0), (soft[1], 3.0)], method=method)
        middle = tick(case, [(soft[2], 6.0)], method=method)
        assert gap(both.torque, middle.torque) < SAME * np.abs(middle.torque).max()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", ["arm", "floating on two feet"])
def test_weights_of_a_strict_level_scaled_together_mean_the_same(case: str, method: str) -> None:
    robot, state, frame, _ = cases()[case]
    answers = []
    for factor in (1e-6, 1e-3, 1.0, 1e3, 1e6):
        first, second = task_for(case, "identity"), PositionTask("other", frame=frame)
        second.target = np.array(first.target) + np.array([-0.3, 0.1, 0.2])
        contacts = soles() if case != "arm" else []
        stack = Stack(strict=[[(first, factor), (second, 3.0 * factor)]], contacts=contacts)
        answers.append(Controller(robot, stack, method=method).tick(state).torque)
    size = np.abs(answers[2]).max()
    assert max(gap(answer, answers[2]) for answer in answers) < SAME * size


@pytest.mark.parametrize("method", METHODS)
def test_weights_of_soft_tasks_and_the_metric_scaled_together_mean_the_same(method: str) -> None:
    """Only the ratio of weights and metric counts: M → c M and w → c w."""
    answers = []
    robot, state = arm("panda"), clear_states("panda", 1, 3)[0]
    M = tick("arm", []).report.problem.M
    for factor in (1e-6, 1e-3, 1.0, 1e3, 1e6):
        soft = [(task_for("arm", "identity"), 3.0 * factor), (ComTask("com"), factor)]
        answers.append(Controller(robot, stack_of("arm", soft), metric=factor * M, method=method).tick(state).torque)
    assert max(gap(answer, answers[2]) for answer in answers) < SAME * np.abs(answers[2]).max()


def test_a_weighting_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises((InputError, UnknownNameError), match="inertia"):
        PoseTask("hand", frame="tool0", weighting="inertial")
    with pytest.raises(InputError, match="weighting"):
        task = task_for("arm")
        Controller(arm("panda"), Stack(soft=[(task, 1.0)]))
        task.weighting = "identity"


def test_a_task_can_be_copied() -> None:
    task = PositionTask("hand", frame="tool0", gains=Gains((1.0, 2.0, 3.0), 4.0), weighting="inertia")
    twin = copy.deepcopy(task)
    assert twin.gains is not task.gains
    assert (twin.gains.kp == task.gains.kp).all()
    assert (twin.name, twin.weighting, twin.gains.kd) == ("hand", "inertia", 4.0)
