"""One QP where every strict level can be met under the limits: the closed form, moved just so far as the limits ask."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wbc.checks import Array
from wbc.kernels import inside
from wbc.problem import Problem
from wbc.solvers import QP, Solver

# weights of internal forces beside the motion, only to find the rows that are active; with dependent rows a light one
# makes feasible problems look infeasible
PROXIMAL = (1e-6, 1e-3, 1.0)
ABSURD = 1e12  # no rounding is left to decide anything
MOST_CHANGES = 30  # of a solver's active set, until the KKT conditions hold
FEW_CHANGES = 8  # of the last tick's: beyond, a solver is quicker


@dataclass(slots=True, eq=False)
class Free:
    """What the strict levels leave free: v̇ moves by V u, f by (F, N)(u, λ), and ½ ‖u‖² ≻ ½ ‖λ‖² is what that costs.

    Attributes:
        V: motions (nv, n_u).
        force: (F, N) (nf, n_u + n_λ).
        rows: inequality rows (n_in, n_u + n_λ).
    """

    V: Array
    force: Array
    rows: Array


@dataclass(slots=True, eq=False)
class Moved:
    """Where the limits let the robot be.

    Attributes:
        out: v̇ (nv,), f (nf,) and torque (nu,), one behind the other.
        side: the active rows (n_in,): 1 at the upper side, −1 at the lower.
        price, level: prices (n_in,), and 0 where it is a price of motion, 1 of forces, −1 of nothing.
        iterations: of the solver.
        clipped: by how much torques had to be put inside their limits.
        solver: who found the active rows.
    """

    out: Array
    side: Array
    price: Array
    level: NDArray[np.intp]
    iterations: int
    clipped: float
    solver: str


def one_qp(problem: Problem, at: Array, free: Free, solver: Solver, guess: Array | None) -> Moved | None:
    """``min ½ ‖u‖² ≻ min ½ ‖λ‖²`` under all limits; ``None`` where that has no solution that passes the KKT conditions.

    Args:
        problem: this tick's rows.
        at: v̇, f and torque of the closed form, best for every level where there are no limits.
        free: what may move.
        solver: who finds the active rows where ``guess`` does not lead to them.
        guess: the active rows of the tick before (n_in,), mended in place; ``None`` where there are none.
    """
    layout = problem.layout
    places = layout.places(inside.BLOCKS)
    m, n = free.rows.shape
    G, lower, upper, norms = np.empty((m, n)), np.empty(m), np.empty(m), np.empty(m)
    if not inside.unit_rows(problem.record, places, layout.sizes, at, free.rows, G, lower, upper, norms):
        return None
    out, price, level = np.empty(len(at)), np.empty(m), np.empty(m, dtype=np.int64)

    def move(side: Array, most_changes: int) -> tuple[int, float]:
        found: tuple[int, float] = inside.move_inside(
            problem.record, places, layout.sizes, layout.motors, at, free.V, free.force, G, lower, upper,
            norms, side, most_changes, out, price, level,
        )  # fmt: skip
        return found

    if guess is not None:
        looked_at, clipped = move(guess, FEW_CHANGES)
        if looked_at:
            return Moved(out, guess, price, level, looked_at, clipped, "last active set")
    real = np.flatnonzero((lower > -np.inf) | (upper < np.inf))
    # solvers have absolute tolerances: the bound that is exceeded most counts as one
    size = max(1e-9, float(np.maximum(lower[real], -upper[real]).max(initial=0.0)))
    if not len(real) or not size < ABSURD:
        return None
    n_u = free.V.shape[1]
    H = np.eye(n)
    for weight in PROXIMAL if n > n_u else PROXIMAL[:1]:
        H[n_u:, n_u:] = weight * np.eye(n - n_u)
        answer = solver.solve(QP(H, np.zeros(n), G[real], lower[real] / size, upper[real] / size, "one"))
        if answer.solved:
            break
    else:
        return None
    strength, side = np.abs(answer.multipliers), np.zeros(m)
    side[real] = np.sign(answer.multipliers) * (strength > 1e-9 * max(1e-9, strength.max()))
    looked_at, clipped = move(side, MOST_CHANGES)
    return Moved(out, side, price, level, answer.iterations, clipped, solver.name) if looked_at else None
