"""Polish: the exact solution on the active set that a solver found, checked against the KKT conditions."""

from __future__ import annotations

import numpy as np

from wbc.solvers import QP, Answer

FEASIBLE = 1e-10  # rows have unit norm
RIGHT_SIGN = 1e-10  # relative to the largest multiplier
DEPENDENT = 1e-10  # active rows below this singular value, relative, depend on others
MOST_CHANGES = 30


def polish(qp: QP, answer: Answer) -> Answer:
    """Solve the equality-constrained problem on the active set, mending the set where the KKT conditions ask for it.

    Level QPs have a diagonal Hessian, which this relies on.

    The active rows come from the multipliers. Where the exact solution violates a row, the worst one joins; where a
    multiplier has the wrong sign, the worst one leaves; at most ``MOST_CHANGES`` times. If no set passes, the solver's
    own answer is returned, which is then the best that is known.
    """
    m = len(qp.G)
    equal = qp.equalities
    scale = max(1.0, float(np.abs(answer.multipliers).max(initial=0.0)))
    side = np.sign(answer.multipliers) * (np.abs(answer.multipliers) > 1e-9 * scale)
    side[equal] = 1.0
    root = np.sqrt(np.diagonal(qp.H))
    free = -qp.f / root**2  # the minimum without any row
    half = qp.G / root  # rows where the cost is Euclidean
    seen: set[bytes] = set()
    for _ in range(MOST_CHANGES):
        key = side.tobytes()
        if key in seen:
            break
        seen.add(key)
        active = np.flatnonzero(side)
        bound = np.where(side[active] > 0.0, qp.upper[active], qp.lower[active])
        U, sigma, Vt = np.linalg.svd(half[active], full_matrices=False)
        keep = sigma > DEPENDENT * sigma.max(initial=0.0)
        U, sigma, Vt = U[:, keep], sigma[keep], Vt[keep]
        w = Vt.T @ ((U.T @ (bound - qp.G[active] @ free)) / sigma)  # least norm: the shortest way onto the active rows
        x = free + w / root
        multipliers = np.zeros(m)
        multipliers[active] = -U @ ((Vt @ w) / sigma)
        value = qp.G @ x
        above, below = value - qp.upper, qp.lower - value
        worst = int(np.argmax(np.maximum(above, below))) if m else 0
        if m and max(above[worst], below[worst]) > FEASIBLE * max(1.0, abs(value[worst])):
            if side[worst]:
                break
            side[worst] = 1.0 if above[worst] > below[worst] else -1.0
            continue
        wrong = np.where(equal, 0.0, -side * multipliers)
        if m and wrong.max() > RIGHT_SIGN * max(1.0, float(np.abs(multipliers).max())):
            side[int(np.argmax(wrong))] = 0.0
            continue
        return Answer(x, multipliers, "solved", answer.iterations, answer.message)
    return answer
