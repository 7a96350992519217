"""What is looked at in every tick of the soak."""

from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag
from scipy.optimize import nnls

from wbc.checks import Array
from wbc.controller import Command
from wbc.hierarchy import closed_form
from wbc.hierarchy.closed_form import soft_cost
from wbc.hierarchy.gauss_coordinates import GaussRows
from wbc.outcome import Status
from wbc.report import Report

TORQUE = 1e-9  # N m beyond a limit
KKT = 1e-7  # relative residual of an optimal answer
AT_BOUND = 1e-5  # relative: rows this near to a bound may hold the answer back; their gap counts as complementarity

FINDINGS = ("exception", "non-finite", "torque violation", "unexplained miss", "unexplained relaxation", "KKT")


def findings(command: Command, limits: Array, certified: bool) -> list[str]:
    """What is wrong with a command: names out of ``FINDINGS``, empty where all is well.

    Args:
        command: the command.
        limits: torque limits of this tick (nu,).
        certified: whether the KKT conditions are looked at too, which costs more than the tick.
    """
    report = command.report
    if not (np.isfinite(command.torque).all() and np.isfinite(command.acceleration).all()):
        return ["non-finite"]
    found = []
    if (np.abs(command.torque) > limits + TORQUE).any():
        found.append("torque violation")
    strict = [part.name for _, part in report.strict_parts()]
    if any(report.tasks[name].is_missed and not report.tasks[name].because for name in strict):
        found.append("unexplained miss")
    if not all(gave.because for gave in report.relaxed):
        found.append("unexplained relaxation")
    if certified and report.status is Status.OPTIMAL and report.moment.share == 1.0 and kkt_residual(report) > KKT:
        found.append("KKT")
    return found


def kkt_residual(report: Report) -> float:
    """How far an optimal answer is from the KKT conditions of Gauss and soft cost, relative to the cost's gradient.

    Strict levels stand at what they reach without limits, so that only the directions that they leave free count:
    ``Fᵀ (∇ + G_activeᵀ μ) = 0`` with multipliers μ of the right signs, found by non-negative least squares; internal
    forces cost nothing at this level.
    """
    solution, problem = report.solution, report.problem
    if solution is None:
        return np.inf
    rows = GaussRows(problem, report.circumstances.metric)
    y = rows.C @ (report.vdot - problem.nominal)
    H, f = soft_cost(rows, np.zeros(rows.n), np.eye(rows.n))
    gradient = H @ y + f
    # its terms are far larger than their sum where a soft task asks for much
    size = 1.0 + float(np.linalg.norm(H) * np.linalg.norm(y) + np.linalg.norm(f))
    G, _ = rows.inequalities()
    free = block_diag(closed_form.solve(rows, 0.0).free, np.eye(G.shape[1] - rows.n))
    values = report.limit_values
    unit = 1.0 + np.abs(values)
    cones = slice(problem.layout.n_acc, problem.layout.n_in - problem.layout.n_tau)
    forces = np.concatenate([report.contact_forces, problem.f0])  # f₀ carries the weight
    unit[cones] = 1.0 + np.abs(forces).max(initial=0.0)
    above, below = (problem.upper - values) / unit, (values - problem.lower) / unit
    outside = float(np.maximum(-above, -below).max(initial=0.0))
    near = np.concatenate([above[above <= AT_BOUND], below[below <= AT_BOUND]])
    holding = np.vstack([G[above <= AT_BOUND], -G[below <= AT_BOUND]]) @ free
    lengths = np.linalg.norm(holding, axis=1)
    lives = lengths > 1e-9
    holding, near = holding[lives] / lengths[lives, None], near[lives]
    wanted = -free.T @ np.concatenate([gradient, np.zeros(G.shape[1] - rows.n)])
    left, complementarity = float(np.linalg.norm(wanted)), 0.0
    if len(holding) and left > KKT * size:
        multipliers, left = nnls(holding.T, wanted, maxiter=50 * len(holding) + 50)
        complementarity = float((multipliers * np.abs(near)).max(initial=0.0))
    return max(left / size, complementarity / size, outside)
