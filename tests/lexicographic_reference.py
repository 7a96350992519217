"""What judges the lexicographic solver: a certificate of optimality, level by level, and a slow full-space cascade.

Lexicographic optimality. Level k minimises f_k(z) = ½ ‖A_k z + b_k‖² + ½ ‖s_k(z)‖², s_k the amounts by which its
inequality rows are outside, over the minimisers of the levels before. The residual A_j z + b_j and the amounts s_j are
unique over the minimisers of level j (least squares over a convex set), so that these are exactly the z with

* A_j z = A_j z*                        (free multipliers),
* g z = g z* for rows that gave way     (free multipliers),
* lower ≤ g z ≤ upper for the others    (multipliers of one sign where active),

and the hard rows. All of it is linear: z is optimal for level k if and only if −∇f_k(z) is a combination of these rows
with multipliers of these signs. If z passes at every level it is the lexicographic optimum.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import qpsolvers
from lexicographic_problems import LevelRows, LexicographicProblem
from scipy.optimize import lsq_linear, nnls

ACTIVE = 1e-8  # of unit rows: this near to its bound a row may hold
GAVE_WAY = 1e-8  # of unit rows: this far outside a row has given way
DEPENDENT = 1e-9  # unit rows with a shorter part outside the others' span depend on them
FELT = 1e-7  # multipliers above this, relative to the gradient, hold the level in every optimum
GOOD = 1e-13  # stationarity of a reference point after which no other solver is asked
SOLVERS = (
    ("piqp", {"eps_abs": 1e-12, "eps_rel": 0.0, "max_iter": 200}),
    ("proxqp", {"eps_abs": 1e-11, "max_iter": 2000}),
    ("clarabel", {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12, "max_iter": 100}),
)


@dataclass(slots=True)
class Region:
    """The minimisers of the levels so far: free = orthonormal directions left by all that is fixed, and unit rows."""

    fixed: np.ndarray
    G: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    free: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.free = complement(self.fixed)

    def distance(self, z: np.ndarray) -> np.ndarray:
        """To the nearest bound of each row, negative outside."""
        value = self.G @ z
        return np.minimum(value - self.lower, self.upper - value)

    def outward(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Active rows by index and their outward directions; −gradient must be in their cone."""
        value = self.G @ z
        at_upper = np.flatnonzero(self.upper - value <= ACTIVE * (1.0 + np.abs(value)))
        at_lower = np.flatnonzero(value - self.lower <= ACTIVE * (1.0 + np.abs(value)))
        return np.concatenate([at_upper, at_lower]), np.vstack([self.G[at_upper], -self.G[at_lower]])

    def fix(self, z: np.ndarray, rows: np.ndarray, asked: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Region:
        """This region with more rows fixed and more inequality rows, all of which z satisfies up to rounding."""
        G, lower, upper = (np.concatenate([a, b]) for a, b in zip((self.G, self.lower, self.upper), asked, strict=True))
        value = G @ z
        return Region(np.vstack([self.fixed, rows]), G, np.minimum(lower, value), np.maximum(upper, value))


@dataclass(frozen=True, slots=True)
class Certificate:
    """How far a point is from optimal at one level.

    Attributes:
        stationarity: ‖∇f + Σ multipliers · rows‖, relative to the level's row length ρ: over ρ (ρ + ‖residual‖).
        multipliers: of the active rows of the region, by row index, in units of the gradient.
    """

    stationarity: float
    multipliers: dict[int, float]


def unit(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of unit length and their lengths; all-zero rows stay (length 1)."""
    lengths = np.linalg.norm(rows, axis=1)
    lengths[lengths == 0.0] = 1.0
    return rows / lengths[:, None], lengths


def complement(rows: np.ndarray) -> np.ndarray:
    """Orthonormal directions (n, r) orthogonal to unit rows."""
    if not len(rows):
        return np.eye(rows.shape[1])
    _, sigma, Vt = np.linalg.svd(rows, full_matrices=True)
    return Vt[int((sigma > DEPENDENT).sum()) :].T


def start(problem: LexicographicProblem) -> Region:
    """The hard rows; equal sides are fixed from the start."""
    hard, n = problem.hard, problem.n
    G, lengths = unit(hard.G)
    lower, upper = hard.lower / lengths, hard.upper / lengths
    equal = lower == upper
    lives = ~equal & (np.abs(G).max(axis=1, initial=0.0) > 0.0) & (np.isfinite(lower) | np.isfinite(upper))
    return Region(G[equal].reshape(-1, n), G[lives], lower[lives], upper[lives])


def after(region: Region, level: LevelRows, z: np.ndarray, held: np.ndarray) -> Region:
    """The region of a level's minimisers, z one of them; rows ``held`` of the region hold in all of them."""
    A, _ = unit(level.A)
    G, lengths = unit(level.asked.G)
    lower, upper = level.asked.lower / lengths, level.asked.upper / lengths
    outside = np.abs(level.asked.violation(z)) / lengths
    gave_way = (outside > GAVE_WAY * (1.0 + np.abs(G @ z))) | (lower == upper)
    kept = ~gave_way & (np.isfinite(lower) | np.isfinite(upper))
    rows = np.vstack([A, G[gave_way], region.G[held]])
    return region.fix(z, rows, (G[kept], lower[kept], upper[kept]))


def stationarity(region: Region, level: LevelRows, z: np.ndarray) -> Certificate:
    """The nonnegative multipliers of active rows that leave the least gradient in the free directions."""
    size = level.size
    if size == 0.0 or not region.free.shape[1]:
        return Certificate(0.0, {})
    residual = np.concatenate([level.A @ z + level.b, level.asked.violation(z)])
    scale = size * (size + float(np.linalg.norm(residual)))
    gradient = region.free.T @ level.gradient(z) / scale
    index, rows = region.outward(z)
    rows = rows @ region.free
    lives = np.linalg.norm(rows, axis=1) > DEPENDENT
    index, rows = index[lives], rows[lives]
    if not len(rows):
        return Certificate(float(np.linalg.norm(gradient)), {})
    multipliers, rest = nonnegative(rows.T, -gradient)
    return Certificate(rest, {int(i): float(m) for i, m in zip(index, multipliers, strict=True) if m > 0.0})


def nonnegative(columns: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, float]:
    """Lawson and Hanson (1974); where that stops early, a bounded least squares of another kind."""
    length = float(np.linalg.norm(target))
    if length < 1e-15:
        return np.zeros(columns.shape[1]), length
    try:
        found, _ = nnls(columns, target / length, maxiter=30 * columns.shape[1] + 100)
    except RuntimeError:
        found = lsq_linear(columns, target / length, (0.0, np.inf), method="bvls", tol=1e-15).x
    found = length * found
    return found, float(np.linalg.norm(columns @ found - target))


def certify(problem: LexicographicProblem, z: np.ndarray) -> list[Certificate]:
    """The certificate of a point at every level, with nothing but the point itself to say what is active."""
    region, certificates = start(problem), []
    for level in problem.levels:
        certificates.append(stationarity(region, level, z))
        region = after(region, level, z, np.zeros(0, dtype=int))
    return certificates


def violation(problem: LexicographicProblem, z: np.ndarray) -> float:
    """By how much the worst hard row is outside, unit rows, relative to the numbers in it."""
    _, lengths = unit(problem.hard.G)
    outside = np.abs(problem.hard.violation(z)) / lengths
    return float((outside / (1.0 + np.abs(problem.hard.G @ z) / lengths)).max(initial=0.0))


@dataclass(slots=True)
class Reference:
    """A full-space cascade.

    Attributes:
        z: its solution.
        values: optimal value of every level.
        worst: stationarity of the level that was solved worst.
    """

    z: np.ndarray
    values: list[float] = field(default_factory=list)
    worst: float = 0.0


def cascade(problem: LexicographicProblem) -> Reference:
    """Every level as a QP in z and the level's residuals, by an interior-point or augmented-Lagrangian solver."""
    region, reference = start(problem), Reference(problem.inside)
    for level in problem.levels:
        best = None
        for solver, options in SOLVERS:
            z = _solve(region, level, reference.z, solver, options)
            for felt in () if z is None else (None, FELT, 0.0):
                point = z if felt is None else _polish(region, level, z, felt)
                quality = _quality(region, level, point)
                if best is None or quality < best[0]:
                    best = quality, point
                if best[0] < GOOD:
                    break
            if best is not None and best[0] < GOOD:
                break
        if best is None:
            raise RuntimeError(f"no reference solver has an answer for problem {problem.seed}")
        reference.worst, reference.z = max(reference.worst, best[0]), best[1]
        reference.values.append(level.value(reference.z))
        multipliers = stationarity(region, level, reference.z).multipliers
        largest = max(multipliers.values(), default=0.0)
        held = np.array([i for i, m in multipliers.items() if m > FELT * max(largest, FELT)], dtype=int)
        region = after(region, level, reference.z, held)
    return reference


def _quality(region: Region, level: LevelRows, z: np.ndarray) -> float:
    outside = max(0.0, -region.distance(z).min(initial=0.0)) / (1.0 + float(np.abs(z).max()))
    return max(stationarity(region, level, z).stationarity, outside)


def _solve(
    region: Region, level: LevelRows, z: np.ndarray, solver: str, options: dict[str, float]
) -> np.ndarray | None:
    """``min ½ Σ w² ρ² + ½ Σ w² t²`` over (d, ρ, t): unit rows ``a d + … = ρ`` and ``lower ≤ g (z + d) + t ≤ upper``."""
    A, wA = unit(level.A)
    G, wG = unit(level.asked.G)
    n, k, m = len(z), len(A), len(G)
    w2 = np.concatenate([wA, wG]) ** 2
    P = np.diag(np.concatenate([np.zeros(n), w2 / w2.max(initial=1e-300)]))
    E = complement(region.free.T).T  # independent rows that span what is fixed
    equal = np.zeros((len(E) + k, n + k + m))
    equal[: len(E), :n] = E
    equal[len(E) :, :n], equal[len(E) :, n : n + k] = A, -np.eye(k)
    right = np.concatenate([np.zeros(len(E)), -(level.A @ z + level.b) / wA])
    rows = np.zeros((len(region.G) + m, n + k + m))
    rows[: len(region.G), :n] = region.G
    rows[len(region.G) :, :n], rows[len(region.G) :, n + k :] = G, np.eye(m)
    value = rows[:, :n] @ z
    lower = np.concatenate([region.lower, level.asked.lower / wG]) - value
    upper = np.concatenate([region.upper, level.asked.upper / wG]) - value
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
    sides = np.vstack([rows[has_upper], -rows[has_lower]])
    ends = np.concatenate([upper[has_upper], -lower[has_lower]])
    qp = qpsolvers.Problem(
        P, np.zeros(n + k + m), sides if len(ends) else None, ends if len(ends) else None,
        equal if len(equal) else None, right if len(equal) else None,
    )  # fmt: skip
    try:
        x = qpsolvers.solve_problem(qp, solver, **options).x
    except Exception:  # whatever another solver raises, the next one is asked
        return None
    return None if x is None or not np.isfinite(x).all() else z + x[:n]


def _polish(region: Region, level: LevelRows, z: np.ndarray, felt: float) -> np.ndarray:
    """Least squares of the rows and of the amounts outside, on the active rows that the certificate names."""
    multipliers = stationarity(region, level, z).multipliers
    largest = max(multipliers.values(), default=0.0)
    held = [i for i, m in multipliers.items() if m > felt * largest]
    value = region.G[held] @ z
    nearest = np.where(
        np.abs(value - region.lower[held]) < np.abs(value - region.upper[held]), region.lower[held], region.upper[held]
    )
    rows = region.G[held] @ region.free
    point = z + region.free @ np.linalg.lstsq(rows, nearest - value, rcond=DEPENDENT)[0] if len(held) else z
    free = region.free @ complement(unit(rows)[0]) if len(held) else region.free
    s = level.asked.violation(point)
    given = np.abs(s) > 0.0
    A = np.vstack([level.A, level.asked.G[given]])
    r = np.concatenate([level.A @ point + level.b, s[given]])
    if not len(A) or not free.shape[1]:
        return point
    lengths = np.linalg.norm(A, axis=1)
    A = A @ free
    A[np.linalg.norm(A, axis=1) < DEPENDENT * lengths] = 0.0  # rounding, which a tolerance relative to A would not drop
    return point - free @ np.linalg.lstsq(A, r, rcond=1e-13)[0]
