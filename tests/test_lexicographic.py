"""2,000 random lexicographic problems against a certificate of optimality and an independent full-space cascade.

``python tests/test_lexicographic.py FIRST LAST`` prints the worst errors and the CPU time per problem.
"""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pytest
from lexicographic_problems import LexicographicProblem, random_problem
from lexicographic_reference import cascade, certify, violation

from wbc.hierarchy.level_qp import InfeasibleError, SolverFailedError
from wbc.hierarchy.lexicographic import Level, solve_levels
from wbc.solvers import make_solver

PROBLEMS, CHUNKS = 2000, 20
VALUE = 1e-7  # of a level's optimal value, relative to 1 + value
STATIONARY = 1e-9  # of a level's gradient, relative to its row length and residual; 2e-10 was seen
KEPT = 1e-9  # hard rows of unit length, relative to the numbers in them; 1e-10 was seen
# A reference whose own certificate is worse does not judge values, the point's certificate alone does: light rows weigh
# little in the gradient of a level with heavy ones, and what they leave undecided comes out in later levels' values.
EXACT = 1e-12
UNDECIDED = 5  # of 100: more often than that the reference must not step back


def solved(problem: LexicographicProblem, solver: str = "daqp") -> np.ndarray:
    """The point that the package finds; by its second solver where the first finds none, as in a controller."""
    try:
        return solved_by(problem, solver)
    except (InfeasibleError, SolverFailedError):
        return solved_by(problem, "nnls")


def solved_by(problem: LexicographicProblem, solver: str) -> np.ndarray:
    """The point that one solver leads to."""
    hard = problem.hard.G.copy(), problem.hard.lower.copy(), problem.hard.upper.copy()
    levels = [
        (
            Level(f"level {k}", level.A.copy(), level.b.copy()),
            (level.asked.G.copy(), level.asked.lower.copy(), level.asked.upper.copy()),
        )
        for k, level in enumerate(problem.levels)
    ]
    return solve_levels(problem.n, hard, levels, make_solver(solver)).z


@dataclass(frozen=True, slots=True)
class Judgement:
    """How a point compares with what judges it.

    Attributes:
        value: largest difference of a level's value from the reference's, relative to 1 + value.
        stationarity: of the level that is solved worst, from the point's certificate.
        outside: by how much the worst hard row is outside.
        reference: stationarity of the reference point, the worst of what it and its certificate know.
    """

    problem: LexicographicProblem
    value: float
    stationarity: float
    outside: float
    reference: float

    @property
    def decided(self) -> bool:
        """Whether the reference is exact enough to judge values."""
        return self.reference < EXACT

    @property
    def passes(self) -> bool:
        """Optimal by its certificate, and by its values wherever the reference is exact itself."""
        certified = self.stationarity < STATIONARY and self.outside < KEPT
        return certified and (self.value < VALUE or not self.decided)

    def __str__(self) -> str:
        p = self.problem
        return (
            f"problem {p.seed} ({p.family}, n {p.n}, {len(p.levels)} levels): value {self.value:.1e}, stationarity "
            f"{self.stationarity:.1e}, hard rows outside {self.outside:.1e}, reference {self.reference:.1e}"
        )


def worst_certificate(problem: LexicographicProblem, z: np.ndarray) -> float:
    return max(certificate.stationarity for certificate in certify(problem, z))


def judge(problem: LexicographicProblem, z: np.ndarray) -> Judgement:
    reference = cascade(problem)
    values = np.array([level.value(z) for level in problem.levels])
    best = np.array(reference.values)
    return Judgement(
        problem,
        float((np.abs(values - best) / (1.0 + best)).max()),
        worst_certificate(problem, z),
        violation(problem, z),
        max(reference.worst, worst_certificate(problem, reference.z)),
    )


@pytest.mark.filterwarnings("ignore::UserWarning")  # other solvers say that they stopped early; their points are judged
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_level_of_random_problems_reaches_its_optimal_value(chunk: int) -> None:
    """Both references agree with the point, and no problem raises; see ``STATIONARY``, ``KEPT`` and ``VALUE``."""
    size = PROBLEMS // CHUNKS
    judgements = []
    for seed in range(chunk * size, (chunk + 1) * size):
        problem = random_problem(seed)
        judgements.append(judge(problem, solved(problem)))
    failed = [str(judgement) for judgement in judgements if not judgement.passes]
    assert not failed, "\n".join(failed)
    assert sum(not judgement.decided for judgement in judgements) <= UNDECIDED


def test_the_problems_are_as_awkward_as_they_say() -> None:
    """Sizes, numbers of levels, conflicts, inequality levels and degenerate vertices all occur, often."""
    problems = [random_problem(seed) for seed in range(210)]
    assert {problem.n for problem in problems} >= {3, 4, 5} and max(problem.n for problem in problems) >= 55
    assert {len(problem.levels) for problem in problems} == {2, 3, 4, 5, 6}
    missed = degenerate = asked = equal = zero = 0
    for problem in problems:
        z, rows = solved(problem), [problem.hard, *(level.asked for level in problem.levels)]
        missed += any(level.value(z) > 1e-3 for level in problem.levels[:-1])
        asked += any(len(level.asked.G) for level in problem.levels)
        equal += any((block.lower == block.upper).any() for block in rows)
        zero += any((np.abs(block.G).max(axis=1, initial=0.0) == 0.0).any() for block in rows)
        at_bound = sum(
            int((np.minimum(block.G @ z - block.lower, block.upper - block.G @ z) < 1e-9).sum()) for block in rows
        )
        degenerate += at_bound > problem.n
    assert min(missed, asked) > 140 and min(degenerate, equal, zero) > 40


def test_the_certificate_refuses_a_point_beside_the_optimum() -> None:
    random = np.random.default_rng(5)
    for seed in range(200):
        problem = random_problem(seed)
        if problem.family in ("scaled", "everything"):
            continue  # there a level may not feel a step of this size
        step = random.normal(size=problem.n)
        z = solved(problem) + 1e-5 * step / np.linalg.norm(step)
        assert worst_certificate(problem, z) > 10.0 * STATIONARY or violation(problem, z) > 10.0 * KEPT, seed


def test_the_certificate_refuses_the_optimum_of_another_order() -> None:
    refused = 0
    for seed in range(200):
        problem = random_problem(seed)
        if len(problem.levels) < 3 or problem.family in ("scaled", "everything"):
            continue
        first, second, *others = problem.levels
        z, other = solved(problem), solved(replace(problem, levels=[second, first, *others]))
        if first.value(other) > first.value(z) + 1e-3:
            refused += 1
            assert worst_certificate(problem, other) > 10.0 * STATIONARY, seed
    assert refused > 30


def report(first: int, last: int) -> None:
    """Print every problem that fails or is undecided, and the worst errors and the time of all."""
    judgements, seconds = [], np.zeros(2)
    for seed in range(first, last):
        problem, before = random_problem(seed), time.process_time()
        try:
            z = solved(problem)
        except Exception as error:  # counted, and the next problem looked at
            print(f"problem {seed} ({problem.family}) raises {error!r}")
            continue
        between = time.process_time()
        judgements.append(judge(problem, z))
        seconds += between - before, time.process_time() - between
        if not (judgements[-1].passes and judgements[-1].decided):
            print("undecided" if judgements[-1].passes else "FAILS", judgements[-1])
    decided = [judgement for judgement in judgements if judgement.decided]
    print(
        f"{last - first} problems, {last - first - len(judgements)} raise, "
        f"{sum(not judgement.passes for judgement in judgements)} fail, "
        f"{len(judgements) - len(decided)} undecided by values; worst value {max(j.value for j in decided):.1e}, "
        f"stationarity {max(j.stationarity for j in judgements):.1e}, "
        f"hard rows outside {max(j.outside for j in judgements):.1e}; "
        f"{1e3 * seconds[0] / len(judgements):.1f} ms a problem, "
        f"{1e3 * seconds[1] / len(judgements):.1f} ms to judge it"
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    report(int(sys.argv[1]), int(sys.argv[2]))
