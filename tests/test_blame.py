"""Which constraints are to blame, and how much more of a limit is needed, where the answer is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from arms import arm, clear_states, terms_at, tight
from fixtures import p1
from scipy.optimize import lsq_linear
from test_hierarchy import RowsTask, conflicting

from wbc import Controller, Stack, State
from wbc.blame import CLASHES
from wbc.outcome import MISSED
from wbc.replay import load
from wbc.robots import load as load_robot
from wbc.scenarios import legged
from wbc.tasks import ComTask, JointLimits, TorqueLimits

EXACT = 1e-5  # N m: bounds are found with requests met to 1e-7 of what is asked


def blame_of(command, request):
    return {blame.request: blame for blame in command.report.blame()}[request]


def test_a_joint_that_cannot_stop_is_held_by_its_motor_and_the_torque_that_would_stop_it_is_named():
    robot, state = p1(effort=1.0), State([0.49], [1.0])
    command = Controller(robot, Stack(limits=[TorqueLimits(), JointLimits()])).tick(state)
    blame = blame_of(command, "limit: joint j")
    assert blame.rows == ("limit: torque j",)
    (needed,) = blame.alone
    terms = terms_at(robot, state)
    upper = JointLimits().rows(terms).upper[0]
    assert needed.bound == pytest.approx(-1.0, abs=1e-6)
    assert needed.wider == pytest.approx(terms.M[0, 0] * upper + terms.h[0], abs=1e-4)  # 1e-7 of 63 rad/s², over 0.26
    assert f"{needed.by:.4g} more of torque j" in command.report.explain()


def test_a_task_on_all_joints_is_held_by_the_torques_that_it_exceeds():
    """Where v̇ is fixed by the task, so is τ = M v̇ + h: each joint beyond its limit is to blame alone."""
    robot, state = arm("panda"), clear_states("panda", 1, seed=50)[0]
    terms = terms_at(robot, state)
    want = np.array([3.0, -4.0, 2.0, 5.0, -1.0, 2.0, 3.0])
    torque = np.abs(terms.M @ want + terms.h)
    for beyond in ([2], [1, 4]):
        bounds = 1.5 * torque + 1.0
        bounds[beyond] = 0.7 * torque[beyond]
        limited = replace(robot, torque_limits=bounds)
        stack = Stack(strict=[RowsTask("all", np.eye(7), want)], limits=[TorqueLimits()])
        blame = blame_of(Controller(limited, stack).tick(state), "task: all")
        names = {f"limit: torque {robot.joint_names[i]}": i for i in beyond}
        assert len(blame.rows) == 1 and blame.rows[0] in names
        found = blame.alone if len(beyond) == 1 else blame.together
        assert {needed.limit for needed in found} == set(names)
        for needed in found:
            assert abs(needed.wider) == pytest.approx(torque[names[needed.limit]], abs=EXACT)


def test_a_request_becomes_possible_with_what_is_needed_and_not_with_less():
    robot, state, checked = arm("ur5"), clear_states("ur5", 1, seed=51)[0], 0
    for seed in range(12):
        (task,) = conflicting(np.random.default_rng(seed), 6, [2])
        task.want *= 40.0
        bounds = 0.12 * robot.torque_limits
        command = Controller(replace(robot, torque_limits=bounds), Stack(strict=[task], limits=[TorqueLimits()])).tick(
            state
        )
        if not command.report.tasks["task 0"].is_missed:
            continue
        for needed in blame_of(command, "task: task 0").alone:
            i = robot.joint_names.index(needed.limit.removeprefix("limit: torque "))
            for share, met in ((1.0, True), (0.98, False)):
                wider = bounds.copy()
                wider[i] += share * needed.by
                again = Controller(replace(robot, torque_limits=wider), Stack(strict=[task], limits=[TorqueLimits()]))
                missed = np.abs(again.tick(state).report.tasks["task 0"].missed).max()
                assert bool(missed < 2.0 * MISSED * (1.0 + np.abs(task.want).max())) is met
                checked += 1
    assert checked >= 6


@pytest.mark.parametrize("name", ["panda", "ur5"])
def test_the_rows_clash_and_none_of_them_can_be_left_out(name):
    """By bounded least squares on torques, which know nothing of linear programs: A M⁻¹ (τ − h) + b = 0 in a box."""
    robot, checked, larger = tight(name), 0, 0
    for k, state in enumerate(clear_states(name, 25, seed=52)):
        (task,) = conflicting(np.random.default_rng(k), robot.nv, [3])
        task.want *= 60.0
        command = Controller(robot, Stack(strict=[task], limits=[TorqueLimits()])).tick(state)
        if not command.report.tasks["task 0"].is_missed:
            continue
        terms = terms_at(robot, state)
        A = task.A @ np.linalg.inv(terms.M)

        def miss(rows, A=A, task=task, terms=terms):
            bound = np.full(robot.nu, np.inf)
            for row in rows:
                i = robot.joint_names.index(row.removeprefix("limit: torque "))
                bound[i] = robot.torque_limits[i]
            found = lsq_linear(A, A @ terms.h + task.want, (-bound, bound), method="bvls", tol=1e-15, max_iter=1000)
            return np.abs(A @ (found.x - terms.h) - task.want).max()

        blame = blame_of(command, "task: task 0")
        tolerance = CLASHES * (1.0 + np.abs(task.want).max())
        assert miss(blame.rows) > tolerance
        for row in blame.rows:
            assert miss([other for other in blame.rows if other != row]) < 1.01 * tolerance
        checked += 1
        larger += len(blame.rows) > 1
    assert checked >= 8 and larger >= 1


def test_tasks_that_contradict_are_named_and_others_are_not():
    """c = a + b + 1 where a and b are higher: both are to blame, a third one is not."""
    robot, state = arm("panda"), clear_states("panda", 1, seed=53)[0]
    random = np.random.default_rng(3)
    rows, other = random.normal(size=(2, 7)), random.normal(size=(1, 7))
    a, b, beside = (RowsTask(name, A, np.ones(1)) for name, A in (("a", rows[:1]), ("b", rows[1:]), ("o", other)))
    c = RowsTask("c", rows.sum(axis=0, keepdims=True), np.array([3.0]))
    command = Controller(robot, Stack(strict=[[a, beside], [b], [c]], limits=[TorqueLimits()])).tick(state)
    assert set(blame_of(command, "task: c").rows) == {"task: a", "task: b"}
    against = RowsTask("against a", rows[:1], np.array([5.0]))
    command = Controller(robot, Stack(strict=[[a, against, beside]])).tick(state)
    assert blame_of(command, "task: a").rows == ("task: against a",)
    assert blame_of(command, "task: against a").rows == ("task: a",)


def test_what_the_pose_does_not_allow_is_singular():
    robot, state = arm("panda"), clear_states("panda", 1, seed=54)[0]
    rows = np.random.default_rng(4).normal(size=(1, 7))
    task = RowsTask("twice", np.vstack([rows, 2.0 * rows]), np.array([1.0, 1.0]))
    command = Controller(robot, Stack(strict=[task], limits=[TorqueLimits()])).tick(state)
    assert blame_of(command, "task: twice").rows == ("singular",)


def test_feet_that_would_slip_are_to_blame_for_a_centre_of_mass_that_asks_too_much(tmp_path):
    robot = load_robot("talos")
    com = ComTask("strict com")
    stack = legged.stand(robot, strict=[com])
    com.target_acceleration = (0.0, 9.0, 0.0)
    command = Controller(robot, stack).tick(State(robot.home, np.zeros(robot.nv)))
    blame = blame_of(command, "task: strict com")
    assert blame.rows and all("foot" in row for row in blame.rows)
    assert load(command.report.save(tmp_path / "tick.npz")).blame() == command.report.blame()


def test_a_base_that_nothing_carries_falls_for_want_of_a_motor():
    robot = load_robot("anymal_c")
    com = ComTask("com")
    com.target = (0.0, 0.0, 1.0)
    stack = Stack(strict=[com], limits=[TorqueLimits()])
    command = Controller(robot, stack).tick(State(robot.home, np.zeros(robot.nv)))
    assert blame_of(command, "task: com").rows == ("no motor",)


def test_nobody_is_to_blame_where_all_is_had():
    robot = arm("panda")
    command = Controller(robot, Stack(limits=[TorqueLimits()])).tick(State(robot.home, np.zeros(7)))
    assert command.report.blame() == ()
