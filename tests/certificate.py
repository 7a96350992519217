"""A tick judged by its rows and its answer alone: levels on x = [v̇; f], nothing eliminated; their KKT residuals."""

from __future__ import annotations

import numpy as np
from lexicographic_problems import Bounds, LevelRows, LexicographicProblem
from lexicographic_reference import after, start, stationarity

from wbc import Command, Robot
from wbc.layout import CONTACT_MOTION, MINIMUM_FORCE


def unreduced(command: Command, *, ranked: bool = False) -> LexicographicProblem:
    """The tick as levels: hard, contacts, strict levels, Gauss and soft, forces.

    Args:
        command: of a tick in the metric M; how strict levels are damped is the tick's own decision.
        ranked: whether hard rows give way as the ladder says: then only dynamics, cones without minimum forces and
            motors are hard, and the ranks are the first levels. Bounds that cross ask for the middle, twice: the sum
            of both squares has its least there.
    """
    p, solution = command.report.problem, command.report.solution
    assert solution is not None
    layout = p.layout
    nv, nf, actuated, base = layout.nv, layout.nf, layout.actuated, layout.unactuated
    G = np.vstack(
        [
            np.hstack([p.G, np.zeros((layout.n_acc, nf))]),
            np.hstack([np.zeros((layout.n_cone, nv)), p.G_wrench]),
            p.G_torque @ np.hstack([p.M[actuated], -p.J[:, actuated].T]),
        ]
    )
    offset = p.offset.copy()
    offset[len(offset) - layout.n_tau :] += p.G_torque @ p.h[actuated]
    lower, upper = p.lower - offset, p.upper - offset
    hard = np.ones(len(G), dtype=bool)
    nothing = Bounds(np.zeros((0, nv + nf)), np.zeros(0), np.zeros(0))

    def level(A: np.ndarray, b: np.ndarray, asked: Bounds = nothing) -> LevelRows:
        return LevelRows(A, b, asked)

    def motion(A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.hstack([A, np.zeros((len(A), nf))]), b

    weight = layout.root_weights * p.on
    C = np.linalg.cholesky(p.M[::-1, ::-1])[::-1, ::-1].T  # lower triangular, CᵀC = M, as in Gauss coordinates
    damping = [split.tikhonov @ C for split in solution.closed.splits[-len(layout.slices) or len(p.A) :]]

    def damped(rows: slice, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        A, b = weight[rows, None] * p.A[rows], weight[rows] * p.b[rows]
        return motion(np.vstack([A, T]), np.concatenate([b, -T @ p.nominal]))

    strict = [damped(rows, T) for rows, T in zip(layout.slices, damping, strict=True)]
    contacts = strict.pop(0) if nf else motion(np.zeros((0, nv)), np.zeros(0))
    levels = []
    if ranked:
        of_limit = {part.name: np.arange(part.start, part.stop) for part in layout.limits}
        cones = [of_limit[f"contact {part.name}"][-1] for part in layout.contacts if f"contact {part.name}" in of_limit]
        minima = np.array([row for row in cones if p.lower[row] > 0.0], dtype=int)
        asked_of = (lower[minima].copy(), np.full(len(minima), np.inf))
        lower[minima] -= p.lower[minima]
        for names in layout.ladder:
            rows = [of_limit[name] for name in names if name not in (CONTACT_MOTION, MINIMUM_FORCE)]
            index = np.concatenate([np.zeros(0, dtype=int), *rows])
            hard[index] = False
            wanted, low, high = G[index], lower[index], upper[index]
            if MINIMUM_FORCE in names:
                wanted = np.vstack([wanted, G[minima]])
                low, high = np.concatenate([low, asked_of[0]]), np.concatenate([high, asked_of[1]])
            crossed = low > high
            middle = 0.5 * (low[crossed] + high[crossed])
            A, b = contacts if CONTACT_MOTION in names else motion(np.zeros((0, nv)), np.zeros(0))
            A = np.vstack([A, np.sqrt(2.0) * wanted[crossed]])
            b = np.concatenate([b, -np.sqrt(2.0) * middle])
            levels.append(level(A, b, Bounds(wanted[~crossed], low[~crossed], high[~crossed])))
    elif nf:
        levels.append(level(*contacts))
    levels += [level(*rows) for rows in strict]
    soft = layout.soft_rows
    A, b = motion(np.vstack([C, weight[soft, None] * p.A[soft]]), np.r_[-C @ p.nominal, weight[soft] * p.b[soft]])
    levels.append(level(A, b))
    if nf:
        levels.append(level(np.hstack([np.zeros((nf, nv)), np.diag(p.root_weight_f)]), -p.root_weight_f * p.f0))
    dynamics = np.hstack([p.M[base], -p.J[:, base].T])
    bounds = Bounds(np.vstack([dynamics, G[hard]]), np.r_[-p.h[base], lower[hard]], np.r_[-p.h[base], upper[hard]])
    x = np.concatenate([command.acceleration, solution.f])
    return LexicographicProblem(0, "tick", nv + nf, x, bounds, levels)


def kkt_residuals(
    problem: LexicographicProblem, robot: Robot, *, contacts: bool = True, violent: bool = False
) -> list[float]:
    """Stationarity of every level with the best multipliers; generalised forces over the weight in the last two.

    Nothing of how the tick was solved goes in: only its rows and its x.

    Strict levels ask for accelerations: there it is relative to the length of their rows and to what they leave.
    Without ``contacts`` Gauss is the last level. Where motion is ``violent``, as where hard rows clash at thousands of
    rad/s², Gauss's residual is relative to its own forces where these are larger than the weight: of numbers of 1e5 N
    no solver has more digits.
    """
    x, region, residuals = problem.inside, start(problem), []
    gauss = len(problem.levels) - (2 if contacts else 1)
    for k, level in enumerate(problem.levels):
        found = stationarity(region, level, x).stationarity
        if k >= gauss:
            left = float(np.linalg.norm(level.A @ x + level.b))
            found *= level.size * (level.size + left)
            found /= max(robot.weight, level.size * left) if violent and k == gauss else robot.weight
            if k > gauss:
                found *= robot.mass  # R is over the mass: R (f − f₀) in N again
        residuals.append(found)
        region = after(region, level, x, np.zeros(0, dtype=int))
    return residuals
