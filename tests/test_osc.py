"""The textbook controllers of `wbc.osc`: against the derivation, a KKT system, and the physics of pinocchio.

The arm has a fixed base, the humanoid a floating one (here with a motor in every coordinate, as the formulas assume);
both are in turned and moving states.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wbc import gauss, osc
from wbc.errors import InputError

ROUNDING = 1e-10  # random arrays: entries of order one, condition numbers up to 1e4
ROBOT_ROUNDING = 1e-10  # robots clear of singularities: below 1e-11 on all 24 states
KKT = 1e-8  # an oracle that squares the condition number
MOTION = 1e-6  # a central difference of a velocity over some 1e-6 s: rounding 1e-16 divided by the step, and curvature
VISIBLE = 1e-3  # a wrong formula misses by this much or more, seven digits above ROUNDING
CLEAR_OF_SINGULARITY = 1e-2  # ratio of singular values of J in Gauss coordinates: no rank decision is in doubt above

LAWS = [
    osc.operational_space_control,
    osc.compensated_operational_space_control,
    osc.resolved_acceleration_control,
]
ROBOTS = {
    "arm": (pin.buildSampleModelManipulator, "effector_body"),
    "humanoid": (pin.buildSampleModelHumanoid, "larm_effector_body"),
}
TASKS = {"position": [0, 1, 2], "height": [2], "pose": [0, 1, 2, 3, 4, 5], "twice": [0, 1, 2, 0, 1, 2]}


def gap(a: np.ndarray | float, b: np.ndarray | float) -> float:
    """The largest difference of two arrays."""
    return float(np.max(np.abs(np.subtract(a, b)), initial=0.0))


class Arrays:
    """A random task: `xi_dot_r` can be reached, whatever the rank of J."""

    def __init__(self, n: int, p: int, rank: int, seed: int = 0) -> None:
        random = np.random.default_rng([seed, n, p, rank])
        root = random.normal(size=(n, n))
        self.M = root @ root.T / n + 0.5 * np.eye(n)
        self.J = np.linalg.qr(random.normal(size=(p, rank)))[0] @ random.normal(size=(rank, n))
        self.h, self.tau0, self.vdot0, wish = random.normal(size=(4, n))
        self.Jdot_v = self.J @ random.normal(size=n)
        self.xi_dot_r = self.J @ wish + self.Jdot_v
        self.given = (self.M, self.h, self.J, self.Jdot_v, self.xi_dot_r)
        self.b = self.Jdot_v - self.xi_dot_r  # J v̇ + b = 0

    def task_acceleration(self, u: np.ndarray) -> np.ndarray:
        return self.J @ np.linalg.solve(self.M, u - self.h) + self.Jdot_v


class Moving(Arrays):
    """A frame of a robot in a turned and moving state that is clear of singularities."""

    def __init__(self, robot: str, task: str, seed: int) -> None:
        build, self.frame = ROBOTS[robot]
        self.model, self.rows = build(), TASKS[task]
        self.data = self.model.createData()
        random = np.random.default_rng([seed, len(robot), len(task)])
        for _ in range(100):
            self.q = pin.integrate(self.model, pin.neutral(self.model), random.uniform(-1.5, 1.5, self.model.nv))
            self.v = random.uniform(-1.0, 1.0, self.model.nv)
            self.M = pin.crba(self.model, self.data, self.q).copy()
            self.M = np.triu(self.M) + np.triu(self.M, 1).T
            self.J = self.jacobian()
            sigma = np.linalg.svd(self.J @ np.linalg.inv(np.linalg.cholesky(self.M)).T, compute_uv=False)
            rank = len(set(self.rows))
            if sigma[rank - 1] > CLEAR_OF_SINGULARITY * sigma[0]:
                break
        else:
            raise RuntimeError("no state that is clear of singularities was found")
        self.h = pin.nonLinearEffects(self.model, self.data, self.q, self.v).copy()
        pin.forwardKinematics(self.model, self.data, self.q, self.v, 0.0 * self.v)
        drift = pin.getFrameClassicalAcceleration(
            self.model, self.data, self.model.getFrameId(self.frame), pin.LOCAL_WORLD_ALIGNED
        )
        self.Jdot_v = drift.vector[self.rows]
        self.xi_dot_r = self.Jdot_v + self.J @ random.normal(size=self.model.nv)
        self.tau0, self.vdot0 = random.normal(size=(2, self.model.nv))
        self.given = (self.M, self.h, self.J, self.Jdot_v, self.xi_dot_r)
        self.b = self.Jdot_v - self.xi_dot_r

    def jacobian(self) -> np.ndarray:
        frame = self.model.getFrameId(self.frame)
        return pin.computeFrameJacobian(self.model, self.data, self.q, frame, pin.LOCAL_WORLD_ALIGNED)[self.rows]

    def velocity(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        pin.forwardKinematics(self.model, self.data, q, v)
        frame = self.model.getFrameId(self.frame)
        return pin.getFrameVelocity(self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED).vector[self.rows]


SIZES = [(2, 1, 1), (3, 3, 3), (7, 6, 6), (30, 9, 9), (4, 3, 2), (7, 6, 4), (6, 9, 5), (30, 12, 7)]


@pytest.fixture(params=SIZES, ids=lambda size: "n{}-p{}-rank{}".format(*size))
def arrays(request: pytest.FixtureRequest) -> Arrays:
    return Arrays(*request.param)


@pytest.fixture(
    params=[(r, t, s) for r in ROBOTS for t in TASKS for s in range(3)], ids=lambda p: "-".join(map(str, p))
)
def moving(request: pytest.FixtureRequest) -> Moving:
    return Moving(*request.param)


def by_kkt(metric: np.ndarray, J: np.ndarray, b: np.ndarray, vdot0: np.ndarray) -> np.ndarray:
    """The acceleration nearest to v̇₀ in a metric with J v̇ + b = 0 (or as near to it as can be): one linear system."""
    n, gram = len(metric), J.T @ J
    kkt = np.block([[metric, gram], [gram, np.zeros((n, n))]])
    return np.linalg.lstsq(kkt, np.concatenate([metric @ vdot0, -J.T @ b]), rcond=1e-12)[0][:n]


# --- each law against the physics of a moving robot -------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
def test_under_its_torque_pinocchio_gives_the_task_the_acceleration_that_was_asked(moving: Moving, law) -> None:
    vdot = pin.aba(moving.model, moving.data, moving.q, moving.v, law(*moving.given))
    assert gap(moving.J @ vdot + moving.Jdot_v, moving.xi_dot_r) < ROBOT_ROUNDING


@pytest.mark.parametrize("law", LAWS)
def test_under_its_torque_the_velocity_of_the_frame_changes_as_was_asked(moving: Moving, law) -> None:
    vdot = pin.aba(moving.model, moving.data, moving.q, moving.v, law(*moving.given)).copy()
    step = 1e-5 / (1.0 + np.abs(vdot).max() ** 0.5)  # the same curvature for slow and for violent motions

    def after(time: float) -> np.ndarray:
        q = pin.integrate(moving.model, moving.q, time * moving.v + 0.5 * time**2 * vdot)
        return moving.velocity(q, moving.v + time * vdot)

    difference = (after(step) - after(-step)) / (2.0 * step)
    assert gap(difference, moving.xi_dot_r) < MOTION


def test_osc_and_least_constraint_give_the_same_torque_on_a_moving_robot(moving: Moving) -> None:
    u = osc.operational_space_control(*moving.given, tau0=moving.tau0)
    tau_c, vdot_c = gauss.least_constraint(moving.M, moving.h, moving.J, moving.b, moving.tau0)
    assert gap(u, tau_c) < ROBOT_ROUNDING
    assert gap(pin.aba(moving.model, moving.data, moving.q, moving.v, u), vdot_c) < ROBOT_ROUNDING


def test_compensated_osc_and_least_constraint_give_the_same_torque_on_a_moving_robot(moving: Moving) -> None:
    u = osc.compensated_operational_space_control(*moving.given, vdot0=moving.vdot0)
    tau0 = moving.M @ moving.vdot0 + moving.h
    assert gap(u, gauss.least_constraint(moving.M, moving.h, moving.J, moving.b, tau0)[0]) < ROBOT_ROUNDING


# --- the numbered equations -------------------------------------------------------------------------------------------


def test_eq_13_is_eq_7_with_minus_the_jacobian_as_the_constraint(arrays: Arrays) -> None:
    M, h, J, Jdot_v, xi_dot_d = arrays.given
    u = osc.operational_space_control(M, h, J, Jdot_v, xi_dot_d, tau0=arrays.tau0)
    assert gap(u, gauss.least_constraint(M, h, -J, xi_dot_d - Jdot_v, arrays.tau0)[0]) < ROUNDING  # (12): A = -J
    assert gap(u, gauss.least_constraint(M, h, J, Jdot_v - xi_dot_d, arrays.tau0)[0]) < ROUNDING


def test_eq_14_is_the_force_of_the_kkt_system(arrays: Arrays) -> None:
    u = osc.operational_space_control(*arrays.given, tau0=arrays.tau0)
    vdot = by_kkt(arrays.M, arrays.J, arrays.b, np.linalg.solve(arrays.M, arrays.tau0 - arrays.h))
    assert gap(u, arrays.M @ vdot + arrays.h) < KKT


def test_eqs_13_and_14_agree_with_the_formula_term_by_term(arrays: Arrays) -> None:
    M, h, J, Jdot_v, xi_dot_d = arrays.given
    Lambda, P = gauss.effective_mass(J, M), gauss.nullspace_projector(J, M)
    formula = J.T @ Lambda @ (J @ np.linalg.solve(M, h) + xi_dot_d - Jdot_v) + P.T @ arrays.tau0
    assert gap(osc.operational_space_control(*arrays.given, tau0=arrays.tau0), formula) < ROUNDING


def test_eq_15_makes_the_task_error_obey_the_equation_of_a_spring_and_a_damper(arrays: Arrays) -> None:
    random = np.random.default_rng(1)
    kp, kd = 100.0, 20.0
    n, p = len(arrays.M), len(arrays.J)
    dx, dxi, xi_dot_d = (arrays.J @ random.normal(size=n) for _ in range(3))
    Jdot_v = arrays.J @ random.normal(size=n)
    u = osc.operational_space_control(arrays.M, arrays.h, arrays.J, Jdot_v, kp * dx + kd * dxi + xi_dot_d)
    ddx = xi_dot_d - (arrays.J @ np.linalg.solve(arrays.M, u - arrays.h) + Jdot_v)
    assert gap(ddx + kd * dxi + kp * dx, np.zeros(p)) < 1e3 * ROUNDING  # accelerations of 1e3


def test_eq_16_is_osc_that_starts_from_the_gravity_and_velocity_forces(arrays: Arrays) -> None:
    M, h, J, Jdot_v, xi_dot_r = arrays.given
    u = osc.compensated_operational_space_control(*arrays.given)
    assert gap(u, J.T @ gauss.effective_mass(J, M) @ (xi_dot_r - Jdot_v) + h) < ROUNDING
    assert gap(u, osc.operational_space_control(*arrays.given, tau0=h)) < ROUNDING
    assert gap(u, M @ by_kkt(M, J, arrays.b, np.zeros(len(M))) + h) < KKT


def test_the_law_before_eq_16_is_osc_with_the_torque_of_the_nominal_acceleration(arrays: Arrays) -> None:
    M, h, J, _, _ = arrays.given
    u = osc.compensated_operational_space_control(*arrays.given, vdot0=arrays.vdot0)
    assert gap(u, osc.operational_space_control(*arrays.given, tau0=M @ arrays.vdot0 + h)) < ROUNDING  # (3)
    assert gap(u, M @ by_kkt(M, J, arrays.b, arrays.vdot0) + h) < KKT


@pytest.mark.parametrize("nominal", [False, True])
def test_eq_17_is_the_acceleration_nearest_in_the_euclidean_norm(arrays: Arrays, nominal: bool) -> None:
    M, h, J, Jdot_v, xi_dot_r = arrays.given
    vdot0 = arrays.vdot0 if nominal else np.zeros(len(M))
    u = osc.resolved_acceleration_control(*arrays.given, vdot0=vdot0)
    assert gap(u, M @ by_kkt(np.eye(len(M)), J, arrays.b, vdot0) + h) < KKT
    J_pinv = np.linalg.pinv(J, rcond=1e-10)
    assert gap(u, M @ (J_pinv @ (xi_dot_r - Jdot_v) + vdot0 - J_pinv @ J @ vdot0) + h) < ROUNDING


def test_eq_17_equals_eq_16_for_a_unit_mass_matrix_and_not_otherwise(arrays: Arrays) -> None:
    _, *rest = arrays.given
    unit = np.eye(len(arrays.M))
    resolved = osc.resolved_acceleration_control(unit, *rest, vdot0=arrays.vdot0)
    assert gap(resolved, osc.compensated_operational_space_control(unit, *rest, vdot0=arrays.vdot0)) < ROUNDING
    if np.linalg.matrix_rank(arrays.J, tol=1e-8) < len(unit):
        resolved = osc.resolved_acceleration_control(*arrays.given)
        assert gap(resolved, osc.compensated_operational_space_control(*arrays.given)) > VISIBLE


def test_resolved_acceleration_control_constrains_the_motion_more_than_osc(moving: Moving) -> None:
    def constraint(u: np.ndarray) -> float:
        return 0.5 * (u - moving.h) @ np.linalg.solve(moving.M, u - moving.h)  # v̇₀ = 0

    least = constraint(osc.compensated_operational_space_control(*moving.given))
    assert constraint(osc.resolved_acceleration_control(*moving.given)) >= least * (1.0 - ROBOT_ROUNDING)


# --- what all laws have in common -------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
def test_every_law_reaches_a_reachable_acceleration_at_any_rank(arrays: Arrays, law) -> None:
    assert gap(arrays.task_acceleration(law(*arrays.given)), arrays.xi_dot_r) < ROUNDING


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 8), st.integers(1, 8), st.integers(1, 8), st.integers(0, 10_000))
def test_no_nominal_torque_or_acceleration_disturbs_the_task(n: int, p: int, rank: int, seed: int) -> None:
    task = Arrays(n, p, min(n, p, rank), seed)
    condition = np.linalg.svd(task.J, compute_uv=False)
    tolerance = ROUNDING * (condition[0] / condition[min(n, p, rank) - 1]) ** 2
    laws_with_nominals = [
        osc.operational_space_control(*task.given, tau0=10.0 * task.tau0),
        osc.compensated_operational_space_control(*task.given, vdot0=10.0 * task.vdot0),
        osc.resolved_acceleration_control(*task.given, vdot0=10.0 * task.vdot0),
    ]
    for u in laws_with_nominals:
        assert gap(task.task_acceleration(u), task.xi_dot_r) < tolerance


@pytest.mark.parametrize("law", LAWS)
def test_an_acceleration_out_of_reach_is_missed_by_the_least_distance(law) -> None:
    task = Arrays(7, 6, 4)
    out_of_reach = np.random.default_rng(2).normal(size=6)
    u = law(task.M, task.h, task.J, task.Jdot_v, out_of_reach)
    residual = task.task_acceleration(u) - out_of_reach
    assert gap(task.J.T @ residual, 0.0) < ROUNDING
    assert np.abs(residual).max() > VISIBLE


@pytest.mark.parametrize("law", LAWS)
def test_a_singular_arm_keeps_a_finite_torque_in_the_directions_that_are_left(law) -> None:
    model = pin.buildSampleModelManipulator()
    data, frame, q = model.createData(), model.getFrameId("effector_body"), pin.neutral(model)  # stretched
    J = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)
    assert np.linalg.matrix_rank(J, tol=1e-9) < 6
    M = pin.crba(model, data, q).copy()
    M = np.triu(M) + np.triu(M, 1).T
    asked = J @ np.random.default_rng(3).normal(size=model.nv)
    u = law(M, np.zeros(model.nv), J, np.zeros(6), asked)
    assert gap(J @ np.linalg.solve(M, u), asked) < ROBOT_ROUNDING


def test_a_number_as_nominal_means_the_same_for_every_joint() -> None:
    task = Arrays(7, 3, 3)
    ones = np.ones(7)
    for law, name in zip(LAWS, ("tau0", "vdot0", "vdot0"), strict=True):
        assert np.array_equal(law(*task.given), law(*task.given, **{name: 0.0 * ones}))
        assert np.array_equal(law(*task.given, **{name: 2}), law(*task.given, **{name: 2.0 * ones}))


# --- the slips of the printed text ------------------------------------------------------------------------------------


def test_slip_the_null_space_torque_of_eqs_13_to_15_needs_the_transpose(moving: Moving) -> None:
    M, h, J, Jdot_v, xi_dot_r = moving.given
    Lambda, P = gauss.effective_mass(J, M), gauss.nullspace_projector(J, M)
    task = J.T @ Lambda @ (J @ np.linalg.solve(M, h) + xi_dot_r - Jdot_v)
    tau0 = h + moving.tau0
    printed, corrected = task + P @ tau0, task + P.T @ tau0
    assert gap(osc.operational_space_control(*moving.given, tau0=tau0), corrected) < ROBOT_ROUNDING
    assert gap(moving.task_acceleration(corrected), xi_dot_r) < ROBOT_ROUNDING
    if len(M) > np.linalg.matrix_rank(J, tol=1e-8):  # else there is no null space
        assert gap(moving.task_acceleration(printed), xi_dot_r) > VISIBLE


def test_slip_the_law_before_eq_16_needs_the_transpose(moving: Moving) -> None:
    M, h, J, Jdot_v, xi_dot_r = moving.given
    P = gauss.nullspace_projector(J, M)
    task = J.T @ gauss.effective_mass(J, M) @ (xi_dot_r - Jdot_v) + h
    printed, corrected = task + P @ M @ moving.vdot0, task + P.T @ M @ moving.vdot0
    u = osc.compensated_operational_space_control(*moving.given, vdot0=moving.vdot0)
    assert gap(u, corrected) < ROBOT_ROUNDING
    assert gap(moving.task_acceleration(corrected), xi_dot_r) < ROBOT_ROUNDING
    if len(M) > np.linalg.matrix_rank(J, tol=1e-8):
        assert gap(moving.task_acceleration(printed), xi_dot_r) > VISIBLE


def test_slips_the_transposes_matter_for_random_arrays_too_to_ten_digits(arrays: Arrays) -> None:
    M, h, J, Jdot_v, xi_dot_r = arrays.given
    Lambda, P = gauss.effective_mass(J, M), gauss.nullspace_projector(J, M)
    eq_15 = J.T @ Lambda @ (J @ np.linalg.solve(M, h) + xi_dot_r - Jdot_v)
    before_16 = J.T @ Lambda @ (xi_dot_r - Jdot_v) + h
    free = len(M) > np.linalg.matrix_rank(J, tol=1e-8)
    for task, nominal in ((eq_15, arrays.tau0), (before_16, M @ arrays.vdot0)):
        assert gap(arrays.task_acceleration(task + P.T @ nominal), xi_dot_r) < ROUNDING
        assert not free or gap(arrays.task_acceleration(task + P @ nominal), xi_dot_r) > VISIBLE


# --- the door ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ["M", "h", "J", "Jdot_v", "xi_dot_r", "nominal"])
def test_bad_input_is_refused_by_the_name_of_the_argument(law, name: str) -> None:
    task = Arrays(4, 3, 3)
    nominal = "tau0" if law is osc.operational_space_control else "vdot0"
    good = dict(zip(("M", "h", "J", "Jdot_v", "xi_dot_r"), task.given, strict=True)) | {nominal: task.tau0}
    name = nominal if name == "nominal" else name
    law(**good)
    with_nan, with_inf = good[name].copy(), good[name].copy()
    with_nan.flat[-1], with_inf.flat[0] = np.nan, np.inf
    one_too_many = np.hstack([good[name], good[name][..., :1]])
    for bad in (with_nan, with_inf, one_too_many, good[name][None], np.nan, None, "numbers", [[1.0], [2.0, 3.0]]):
        with pytest.raises(InputError, match=rf"^{name}\b"):
            law(**{**good, name: bad})


@pytest.mark.parametrize("law", LAWS)
def test_a_mass_matrix_that_is_not_positive_definite_is_refused(law) -> None:
    task = Arrays(4, 3, 3)
    rest = task.given[1:]
    for M in (np.diag([1.0, 1.0, 1.0, -1.0]), np.ones((4, 4)), np.zeros((4, 4))):
        with pytest.raises(InputError, match=r"^M is not positive definite"):
            law(M, *rest)
    with pytest.raises(InputError, match=r"^M is not symmetric"):
        law(np.triu(task.M), *rest)


@pytest.mark.parametrize("law", LAWS)
def test_arguments_are_left_as_they_were(law) -> None:
    task = Arrays(4, 3, 3)
    before = [value.copy() for value in task.given]
    law(*task.given)[:] = 0.0
    assert all(np.array_equal(old, new) for old, new in zip(before, task.given, strict=True))


def test_the_textbook_laws_share_no_code_with_what_they_judge() -> None:
    ours = {value.__module__ for value in vars(osc).values() if getattr(value, "__module__", "").startswith("wbc")}
    assert ours <= {"wbc.osc", "wbc.errors"}
    assert not hasattr(osc, "gauss")
