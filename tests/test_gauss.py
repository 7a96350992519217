"""Every equation of the derivation in `wbc.gauss`, against a route that shares no code with it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.linalg import cholesky, null_space

from wbc import gauss
from wbc.errors import InputError

ROUNDING = 1e-10  # entries of order one, condition numbers up to 1e4: thousands of roundings of 1e-16, with a margin
KKT = 1e-8  # an oracle that squares the condition number (normal equations in the KKT matrix)
SLOPE = 1e-6  # central differences of a quadratic: exact but for rounding divided by the step
VISIBLE = 1e-3  # a wrong formula misses by this much or more, seven digits above ROUNDING

# (velocities n, rows p, rank of A): square, wide, one row, tall, and each of them short of rank
FULL_RANK = [(2, 1, 1), (3, 3, 3), (7, 3, 3), (7, 6, 6), (12, 6, 6), (30, 12, 12)]
RANK_DEFICIENT = [(3, 2, 1), (4, 4, 2), (7, 6, 4), (6, 9, 5), (12, 6, 1), (30, 15, 9)]
SIZES = FULL_RANK + RANK_DEFICIENT


def gap(a: np.ndarray | float, b: np.ndarray | float) -> float:
    """The largest difference of two arrays."""
    return float(np.max(np.abs(np.subtract(a, b)), initial=0.0))


class System:
    """A random system in motion; `reachable` can be satisfied, `inconsistent` cannot where the rank is low."""

    def __init__(self, n: int, p: int, rank: int, seed: int = 0) -> None:
        random = np.random.default_rng([seed, n, p, rank])

        def spread(rows: int, columns: int, low: float, high: float) -> np.ndarray:
            """A matrix whose singular values are spread from low to high."""
            U, _, Vt = np.linalg.svd(random.normal(size=(rows, columns)), full_matrices=False)
            return (U * np.geomspace(high, low, min(rows, columns))) @ Vt

        root = spread(n, n, 0.3, 3.0)
        self.n, self.p, self.rank = n, p, rank
        self.M = root.T @ root
        self.A = spread(p, rank, 0.5, 2.0) @ spread(rank, n, 0.5, 2.0)
        self.h, self.tau0, self.vdot0 = random.normal(size=(3, n))
        self.v = random.normal(size=n)
        self.reachable = self.A @ random.normal(size=n)
        self.inconsistent = random.normal(size=p)
        self.random = random


@pytest.fixture(params=SIZES, ids=lambda size: "n{}-p{}-rank{}".format(*size))
def system(request: pytest.FixtureRequest) -> System:
    return System(*request.param)


def nearest_by_kkt(A: np.ndarray, b: np.ndarray, y: np.ndarray, M: np.ndarray) -> np.ndarray:
    """The oracle of (10): stationarity and the normal equations AᵀA x = Aᵀb (consistent for every b) in one matrix."""
    n = len(M)
    gram = A.T @ A
    kkt = np.block([[M, gram], [gram, np.zeros((n, n))]])
    return np.linalg.lstsq(kkt, np.concatenate([M @ y, A.T @ b]), rcond=1e-12)[0][:n]


def nearest_in_gauss_coordinates(A: np.ndarray, b: np.ndarray, y: np.ndarray, M: np.ndarray) -> np.ndarray:
    """The oracle of (10) with the symmetric root of M, and numpy's least-norm least squares."""
    eigenvalues, vectors = np.linalg.eigh(M)
    root_inverse = (vectors / np.sqrt(eigenvalues)) @ vectors.T
    return y + root_inverse @ np.linalg.lstsq(A @ root_inverse, b - A @ y, rcond=1e-10)[0]


def left_null_space(A: np.ndarray) -> np.ndarray:
    return null_space(A.T, rcond=1e-10)


# --- equations 5 to 8 -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", ["reachable", "inconsistent"])
def test_eqs_5_to_8_least_constraint_is_the_solution_of_the_kkt_system(system: System, offset: str) -> None:
    b = getattr(system, offset)
    tau_c, vdot_c = gauss.least_constraint(system.M, system.h, system.A, b, system.tau0)
    vdot0 = np.linalg.solve(system.M, system.tau0 - system.h)
    assert gap(vdot_c, nearest_by_kkt(system.A, -b, vdot0, system.M)) < KKT
    assert gap(vdot_c, nearest_in_gauss_coordinates(system.A, -b, vdot0, system.M)) < ROUNDING
    assert gap(tau_c, system.M @ vdot_c + system.h) < ROUNDING


def test_eq_5_the_force_satisfies_the_constraint_and_no_step_along_it_lowers_the_cost(system: System) -> None:
    tau_c, _ = gauss.least_constraint(system.M, system.h, system.A, system.reachable, system.tau0)
    A_Minv = np.linalg.solve(system.M, system.A.T).T
    assert gap(A_Minv @ (tau_c - system.h) + system.reachable, 0.0) < ROUNDING

    def cost(tau: np.ndarray) -> float:
        return 0.5 * (tau - system.tau0) @ np.linalg.solve(system.M, tau - system.tau0)

    for along in null_space(A_Minv, rcond=1e-10).T:
        step = 1e-3
        slope = (cost(tau_c + step * along) - cost(tau_c - step * along)) / (2.0 * step)
        assert abs(slope) < SLOPE
        assert cost(tau_c + step * along) > cost(tau_c)


def test_eqs_6_and_7_the_force_differs_from_the_free_one_by_multipliers_of_the_rows(system: System) -> None:
    tau_c, _ = gauss.least_constraint(system.M, system.h, system.A, system.reachable, system.tau0)
    mobility = system.A @ np.linalg.inv(system.M) @ system.A.T
    Lambda = np.linalg.pinv(mobility, rcond=1e-10, hermitian=True)
    multipliers = Lambda @ (system.A @ np.linalg.inv(system.M) @ (system.tau0 - system.h) + system.reachable)
    assert gap(tau_c, system.tau0 - system.A.T @ multipliers) < ROUNDING
    second_line = system.A.T @ Lambda @ (system.A @ np.linalg.inv(system.M) @ system.h - system.reachable)
    second_line += gauss.nullspace_projector(system.A, system.M).T @ system.tau0
    assert gap(tau_c, second_line) < ROUNDING


def test_eq_8_is_the_minus_pseudoinverse_of_b_plus_the_projected_free_acceleration(system: System) -> None:
    vdot_c = gauss.constrained_acceleration(system.M, system.A, system.reachable, system.vdot0)
    tau0 = system.M @ system.vdot0 + system.h  # (3)
    tau_c, expected = gauss.least_constraint(system.M, system.h, system.A, system.reachable, tau0)
    assert gap(vdot_c, expected) < ROUNDING
    assert gap(vdot_c, np.linalg.solve(system.M, tau_c - system.h)) < ROUNDING
    P = gauss.nullspace_projector(system.A, system.M)
    formula = -gauss.weighted_pseudoinverse(system.A, system.M) @ system.reachable + P @ system.vdot0
    assert gap(vdot_c, formula) < ROUNDING


def test_an_inconsistent_constraint_is_missed_by_its_least_squares_residual(system: System) -> None:
    _, vdot_c = gauss.least_constraint(system.M, system.h, system.A, system.inconsistent, system.tau0)
    left = left_null_space(system.A)
    residual = system.A @ vdot_c + system.inconsistent
    assert gap(residual, left @ (left.T @ system.inconsistent)) < ROUNDING


def test_a_free_acceleration_that_satisfies_the_constraint_needs_no_force(system: System) -> None:
    tau0 = system.M @ system.vdot0 + system.h
    tau_c, vdot_c = gauss.least_constraint(system.M, system.h, system.A, -system.A @ system.vdot0, tau0)
    assert gap(tau_c, tau0) < ROUNDING
    assert gap(vdot_c, system.vdot0) < ROUNDING


# --- equation 9, the projector, the generalised inverse, the effective mass ------------------------------------------


def test_eq_9_the_weighted_pseudoinverse_is_the_ordinary_one_in_gauss_coordinates(system: System) -> None:
    C = cholesky(system.M)
    expected = np.linalg.inv(C) @ np.linalg.pinv(system.A @ np.linalg.inv(C), rcond=1e-10)
    pseudoinverse = gauss.weighted_pseudoinverse(system.A, system.M)
    assert gap(pseudoinverse, expected) < ROUNDING
    Lambda = gauss.effective_mass(system.A, system.M)
    assert gap(pseudoinverse, np.linalg.solve(system.M, system.A.T @ Lambda)) < ROUNDING


def test_the_weighted_pseudoinverse_is_a_generalised_inverse_at_any_rank(system: System) -> None:
    G = gauss.weighted_pseudoinverse(system.A, system.M)
    assert gap(system.A @ G @ system.A, system.A) < ROUNDING
    assert gap(G @ system.A @ G, G) < ROUNDING
    assert np.linalg.matrix_rank(G, tol=1e-8) == system.rank


def test_the_weighted_pseudoinverse_with_a_unit_metric_is_the_one_of_moore_and_penrose(system: System) -> None:
    unit = np.eye(system.n)
    assert gap(gauss.weighted_pseudoinverse(system.A, unit), np.linalg.pinv(system.A, rcond=1e-10)) < ROUNDING
    basis = null_space(system.A, rcond=1e-10)
    assert gap(gauss.nullspace_projector(system.A, unit), basis @ basis.T) < ROUNDING


def test_the_projector_keeps_the_null_space_and_removes_what_is_orthogonal_to_it_in_the_metric(system: System) -> None:
    P = gauss.nullspace_projector(system.A, system.M)
    basis = null_space(system.A, rcond=1e-10)
    assert gap(P @ basis, basis) < ROUNDING
    assert gap(np.linalg.solve(system.M, system.A.T).T @ P.T, 0.0) < ROUNDING
    assert gap(P @ np.linalg.solve(system.M, system.A.T), 0.0) < ROUNDING
    assert gap(np.trace(P), system.n - system.rank) < ROUNDING


def test_the_effective_mass_is_the_pseudoinverse_of_the_mobility(system: System) -> None:
    mobility = system.A @ np.linalg.inv(system.M) @ system.A.T
    expected = np.linalg.pinv(mobility, rcond=1e-10, hermitian=True)
    assert gap(gauss.effective_mass(system.A, system.M), expected) < ROUNDING


def test_the_effective_mass_of_a_point_mass_is_its_mass() -> None:
    assert gauss.effective_mass(np.array([[0.6, 0.8, 0.0]]), 2.5 * np.eye(3)) == pytest.approx(np.array([[2.5]]))


# --- equation 10 ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("right", ["reachable", "inconsistent"])
def test_eq_10_is_the_nearest_of_all_solutions(system: System, right: str) -> None:
    b, y = getattr(system, right), system.vdot0
    x = gauss.weighted_least_squares(system.A, b, y, system.M)
    assert gap(x, nearest_by_kkt(system.A, b, y, system.M)) < KKT
    assert gap(x, nearest_in_gauss_coordinates(system.A, b, y, system.M)) < ROUNDING
    P = gauss.nullspace_projector(system.A, system.M)
    assert gap(x, gauss.weighted_pseudoinverse(system.A, system.M) @ b + P @ y) < ROUNDING


def test_eq_10_any_other_solution_is_farther_in_the_metric(system: System) -> None:
    x = gauss.weighted_least_squares(system.A, system.reachable, system.vdot0, system.M)
    distance = (x - system.vdot0) @ system.M @ (x - system.vdot0)
    for along in null_space(system.A, rcond=1e-10).T:
        other = x + 0.1 * along - system.vdot0
        assert other @ system.M @ other > distance


# --- the least kinetic energy -----------------------------------------------------------------------------------------


def test_the_least_kinetic_energy_is_that_of_the_slowest_motion_with_this_task_velocity(system: System) -> None:
    xi = system.A @ system.v
    slowest = nearest_by_kkt(system.A, xi, np.zeros(system.n), system.M)
    energy = gauss.minimum_kinetic_energy(system.A, system.M, xi)
    assert gap(energy, 0.5 * slowest @ system.M @ slowest) < KKT
    assert gap(energy, 0.5 * xi @ gauss.effective_mass(system.A, system.M) @ xi) < ROUNDING
    assert energy <= 0.5 * system.v @ system.M @ system.v + ROUNDING


@pytest.mark.parametrize("size", RANK_DEFICIENT)
def test_no_kinetic_energy_is_given_for_a_velocity_that_nothing_reaches(size: tuple[int, int, int]) -> None:
    system = System(*size)
    with pytest.raises(InputError, match=r"^xi is not in the range of A"):
        gauss.minimum_kinetic_energy(system.A, system.M, system.inconsistent)


# --- the slips of the printed text: each printed form misses visibly, each corrected one does not ---------------------


def test_slip_the_sign_that_eq_8_prints_does_not_satisfy_the_constraint(system: System) -> None:
    pseudoinverse = gauss.weighted_pseudoinverse(system.A, system.M)
    free = gauss.nullspace_projector(system.A, system.M) @ system.vdot0
    printed = pseudoinverse @ system.reachable + free
    corrected = -pseudoinverse @ system.reachable + free
    assert gap(system.A @ printed + system.reachable, 0.0) > VISIBLE
    assert gap(system.A @ corrected + system.reachable, 0.0) < ROUNDING


@pytest.mark.parametrize("size", RANK_DEFICIENT)
def test_slip_the_projector_of_the_appendix_has_the_size_of_the_rows(size: tuple[int, int, int]) -> None:
    system = System(*size)
    Lambda = gauss.effective_mass(system.A, system.M)
    range_of_Lambda = np.linalg.pinv(Lambda, rcond=1e-10, hermitian=True) @ Lambda
    corrected = np.eye(system.p) - range_of_Lambda
    assert gap(corrected @ system.A, 0.0) < ROUNDING
    if system.p != system.n:
        with pytest.raises(ValueError, match="broadcast"):
            np.eye(system.n) - range_of_Lambda  # as printed


def test_slip_the_effective_mass_grows_before_a_singularity_and_drops_to_zero_at_it() -> None:
    M = np.diag([2.0, 3.0])
    lost = [gauss.effective_mass(np.diag([1.0, small]), M)[1, 1] for small in (1e-1, 1e-3, 1e-6, 0.0)]
    assert lost[:3] == pytest.approx([3e2, 3e6, 3e12])
    assert lost[3] == 0.0
    assert gauss.effective_mass(np.diag([1.0, 0.0]), M)[0, 0] == pytest.approx(2.0)


@pytest.mark.parametrize("size", RANK_DEFICIENT)
def test_slip_the_energy_formula_speaks_of_another_velocity_where_the_range_is_left(size: tuple[int, int, int]) -> None:
    system = System(*size)
    pseudoinverse = gauss.weighted_pseudoinverse(system.A, system.M)
    printed = pseudoinverse @ system.inconsistent  # whose energy ½ ξᵀΛξ is finite, though nothing moves at ξ
    corrected = pseudoinverse @ system.reachable
    assert np.isfinite(system.inconsistent @ gauss.effective_mass(system.A, system.M) @ system.inconsistent)
    assert gap(system.A @ printed - system.inconsistent, 0.0) > VISIBLE
    assert gap(system.A @ corrected - system.reachable, 0.0) < ROUNDING


# --- properties -------------------------------------------------------------------------------------------------------

# whole numbers make rows and columns exactly dependent, and keep the others far from dependent
whole_rows = st.tuples(st.integers(1, 5), st.integers(1, 5)).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=st.integers(-3, 3).map(float))
)


def metric(n: int, seed: int) -> np.ndarray:
    root = np.random.default_rng(seed).normal(size=(n, n))
    return root @ root.T + np.eye(n)


@settings(deadline=None, max_examples=100)
@given(A=whole_rows, seed=st.integers(0, 10_000))
def test_the_projector_is_idempotent_and_symmetric_in_the_metric(A: np.ndarray, seed: int) -> None:
    M = metric(A.shape[1], seed)
    P = gauss.nullspace_projector(A, M)
    assert gap(P @ P - P, 0.0) < ROUNDING
    assert gap(M @ P - P.T @ M, 0.0) < ROUNDING
    assert gap(A @ P, 0.0) < ROUNDING


@settings(deadline=None, max_examples=100)
@given(A=whole_rows, seed=st.integers(0, 10_000))
def test_the_four_conditions_of_penrose_hold_in_the_metric(A: np.ndarray, seed: int) -> None:
    M = metric(A.shape[1], seed)
    G = gauss.weighted_pseudoinverse(A, M)
    assert gap(A @ G @ A - A, 0.0) < ROUNDING
    assert gap(G @ A @ G - G, 0.0) < ROUNDING
    assert gap(A @ G - (A @ G).T, 0.0) < ROUNDING
    assert gap(M @ G @ A - (M @ G @ A).T, 0.0) < ROUNDING


@settings(deadline=None, max_examples=100)
@given(A=whole_rows, seed=st.integers(0, 10_000))
def test_the_motion_does_not_depend_on_the_coordinates_of_the_joints(A: np.ndarray, seed: int) -> None:
    n = A.shape[1]
    M, T = metric(n, seed), metric(n, seed + 1)  # v = T w
    h, tau0, free = np.random.default_rng(seed).normal(size=(3, n))
    tau, vdot = gauss.least_constraint(M, h, A, A @ free, tau0)
    tau_w, wdot = gauss.least_constraint(T.T @ M @ T, T.T @ h, A @ T, A @ free, T.T @ tau0)
    assert gap(T @ wdot - vdot, 0.0) < KKT  # T multiplies the condition number of M by its own, squared
    assert gap(np.linalg.solve(T.T, tau_w) - tau, 0.0) < KKT


@settings(deadline=None, max_examples=100)
@given(A=whole_rows, seed=st.integers(0, 10_000))
def test_a_row_that_is_said_twice_changes_nothing(A: np.ndarray, seed: int) -> None:
    M = metric(A.shape[1], seed)
    h, tau0, free = np.random.default_rng(seed).normal(size=(3, A.shape[1]))
    twice = np.vstack([A, A[:1]])
    once = gauss.least_constraint(M, h, A, A @ free, tau0)
    again = gauss.least_constraint(M, h, twice, twice @ free, tau0)
    assert gap(again[0] - once[0], 0.0) < ROUNDING
    assert gap(again[1] - once[1], 0.0) < ROUNDING


@settings(deadline=None, max_examples=100)
@given(A=whole_rows, seed=st.integers(0, 10_000))
def test_no_motion_has_less_kinetic_energy_than_the_least(A: np.ndarray, seed: int) -> None:
    M = metric(A.shape[1], seed)
    v = np.random.default_rng(seed).normal(size=A.shape[1])
    assert -ROUNDING <= gauss.minimum_kinetic_energy(A, M, A @ v) <= 0.5 * v @ M @ v + ROUNDING


def test_a_constraint_without_rows_leaves_the_free_motion() -> None:
    system = System(3, 2, 2)
    nothing, empty = np.zeros((0, 3)), np.zeros(0)
    tau_c, vdot_c = gauss.least_constraint(system.M, system.h, nothing, empty, system.tau0)
    assert tau_c == pytest.approx(system.tau0)
    assert vdot_c == pytest.approx(np.linalg.solve(system.M, system.tau0 - system.h))
    assert gauss.nullspace_projector(nothing, system.M) == pytest.approx(np.eye(3))


def test_close_to_dependent_rows_are_satisfied_where_an_explicit_inverse_misses_them() -> None:
    system = System(6, 1, 1)
    A = np.vstack([system.A, system.A + 1e-6 * system.random.normal(size=(1, 6))])
    b = system.random.normal(size=2)
    _, vdot_c = gauss.least_constraint(system.M, system.h, A, b, system.tau0)
    Minv = np.linalg.inv(system.M)
    multipliers = np.linalg.inv(A @ Minv @ A.T) @ (A @ Minv @ (system.tau0 - system.h) + b)
    explicit = Minv @ (system.tau0 - A.T @ multipliers - system.h)
    size = np.abs(vdot_c).max()  # about 1e6, as the two rows ask for different things
    assert gap(A @ vdot_c, -b) < ROUNDING * size
    assert gap(A @ explicit, -b) > 1e3 * gap(A @ vdot_c, -b)


# --- the door ---------------------------------------------------------------------------------------------------------

GOOD = System(4, 3, 3)
ARGUMENTS = {
    "M": GOOD.M, "h": GOOD.h, "A": GOOD.A, "b": GOOD.reachable, "tau0": GOOD.tau0, "vdot0": GOOD.vdot0,
    "y": GOOD.vdot0, "xi": GOOD.reachable,
}  # fmt: skip
TAKES = {
    gauss.least_constraint: ("M", "h", "A", "b", "tau0"),
    gauss.constrained_acceleration: ("M", "A", "b", "vdot0"),
    gauss.weighted_least_squares: ("A", "b", "y", "M"),
    gauss.weighted_pseudoinverse: ("A", "M"),
    gauss.nullspace_projector: ("A", "M"),
    gauss.effective_mass: ("A", "M"),
    gauss.minimum_kinetic_energy: ("A", "M", "xi"),
}
CASES = [
    pytest.param(function, name, id=f"{function.__name__}-{name}") for function in TAKES for name in TAKES[function]
]


@pytest.mark.parametrize(("function", "name"), CASES)
def test_bad_input_is_refused_by_the_name_of_the_argument(function, name: str) -> None:
    good = {argument: ARGUMENTS[argument] for argument in TAKES[function]}
    function(**good)
    with_nan, with_inf = good[name].copy(), good[name].copy()
    with_nan.flat[-1], with_inf.flat[0] = np.nan, np.inf
    wrong_shape = np.zeros(tuple(k + 1 for k in good[name].shape))
    wrong_shape = wrong_shape[:-1] if good[name].ndim == 2 else wrong_shape  # one column too many, one entry too many
    for bad in (with_nan, with_inf, wrong_shape, good[name][None], 1.0, None, "numbers", [[1.0], [2.0, 3.0]]):
        with pytest.raises(InputError, match=rf"^{name}\b"):
            function(**{**good, name: bad})


@pytest.mark.parametrize("function", TAKES)
def test_a_metric_that_is_not_positive_definite_is_refused(function) -> None:
    good = {argument: ARGUMENTS[argument] for argument in TAKES[function]}
    bad_metrics = {
        "positive definite": [np.diag([1.0, 1.0, 1.0, -1.0]), np.ones((4, 4)), np.zeros((4, 4)), -np.eye(4)],
        "symmetric": [np.triu(GOOD.M), GOOD.M + np.eye(4, k=1)],
    }
    for reason, metrics in bad_metrics.items():
        for M in metrics:
            with pytest.raises(InputError, match=rf"^M is not {reason}"):
                function(**{**good, "M": M})


def test_arguments_are_left_as_they_were_and_lists_are_accepted() -> None:
    before = {name: value.copy() for name, value in ARGUMENTS.items()}
    arguments = [ARGUMENTS[name] for name in TAKES[gauss.least_constraint]]
    tau_c, vdot_c = gauss.least_constraint(*arguments)
    from_lists = gauss.least_constraint(*[value.tolist() for value in arguments])
    assert np.array_equal(tau_c, from_lists[0])
    assert np.array_equal(vdot_c, from_lists[1])
    tau_c[:] = vdot_c[:] = 0.0
    assert all(np.array_equal(before[name], value) for name, value in ARGUMENTS.items())
