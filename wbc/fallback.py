"""What the robot does when no solver answer can be used: hold the last good command, then hold itself up and brake."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from wbc.checks import Array
from wbc.problem import Problem
from wbc.robot import Robot
from wbc.state import State
from wbc.terms import Terms

BRAKING_RATE = 10.0  # 1/s; speeds decay with a time constant of 0.1 s
STOP = "stop the robot"


@dataclass(slots=True, eq=False)
class Rescue:
    """A command without a solution.

    Attributes:
        torque: (nu,), finite and inside all torque limits.
        vdot: (nv,) what it gives together with ``f``.
        f: contact forces (nf,) that it counts on.
        stale_ticks: age of the command that is held, 0 where the robot holds itself up.
    """

    torque: Array
    vdot: Array
    f: Array
    stale_ticks: int


class Fallback:
    """Remembers the last good command and counts the ticks since.

    Args:
        most_stale: ticks for which the last good command is held; 0 to brake at once.

    Attributes:
        failures: consecutive ticks without a usable solution, up to and including the last one.
    """

    def __init__(self, most_stale: int) -> None:
        self.most_stale = most_stale
        self.failures = 0
        self._torque: Array | None = None
        self._f: Array | None = None

    def good(self, torque: Array, f: Array) -> None:
        """A tick was solved."""
        self.failures = 0
        self._torque, self._f = torque, f

    def rescue(self, terms: Terms, problem: Problem, *, moving: bool = True) -> Rescue:
        """The command of one more tick without a solution.

        Args:
            terms, problem: the dynamics and contacts at the last good state.
            moving: whether the velocity is known, so that it may be braked.
        """
        self.failures += 1
        with np.errstate(all="ignore"):  # speeds of 1e200 are states too; what is not finite is replaced
            if self._torque is not None and self._f is not None and self.failures <= self.most_stale:
                torque, f, age = self._torque, self._f * problem.active, self.failures
            else:
                torque, f = gravity_compensation(terms, problem, moving=moving)
                age = 0
            torque = _inside(torque, problem, terms.robot)
            return Rescue(torque, _acceleration(terms, problem, torque, f), f, age)


def gravity_compensation(terms: Terms, problem: Problem, *, moving: bool = True) -> tuple[Array, Array]:
    """``τ = S (g − k M v − Jᵀ f)`` with the least-norm f that carries what has no motor; (nu,) and (nf,), not clipped.

    Forces share the load in the metric R of the force level. A contact that would have to pull is left out, and the
    others share again; what no contact carries is not carried.
    """
    force = terms.gravity()
    if moving:
        braking = BRAKING_RATE * (terms.M @ terms.v)
        force = force - (braking if np.isfinite(braking).all() else 0.0)
    layout = problem.layout
    f = np.zeros(layout.nf)
    if len(layout.unactuated) and layout.nf and np.isfinite(problem.J).all():
        f = _carrying(problem, force[layout.unactuated])
        force = force - f @ problem.J
    return np.asarray(force[layout.actuated]), f


def _carrying(problem: Problem, load: Array) -> Array:
    """``min ‖R^½ f‖`` with ``J_bᵀ f = load``, least squares where the contacts cannot, over contacts that push."""
    layout, f = problem.layout, np.zeros(problem.layout.nf)
    cones = {part.name.removeprefix("contact ") for part in layout.limits if part.name.startswith("contact ")}
    standing = [part for part in layout.contacts if problem.active[part.rows].all()]
    while standing:
        columns = np.concatenate([np.arange(part.start, part.stop) for part in standing])
        scale = 1.0 / problem.root_weight_f[columns]
        B = (problem.J[np.ix_(columns, layout.unactuated)] * scale[:, None]).T
        f[:] = 0.0
        f[columns] = scale * np.linalg.lstsq(B, load, rcond=1e-9)[0]
        pushing = [part for part in standing if part.name not in cones or f[part.start + 2] >= 0.0]
        if len(pushing) == len(standing):
            return f
        standing = pushing
    return np.zeros(layout.nf)


def _inside(torque: Array, problem: Problem, robot: Robot) -> Array:
    """Finite, inside the stack's rows that speak of one torque alone, and inside the robot's limits."""
    torque = np.nan_to_num(torque, nan=0.0, posinf=0.0, neginf=0.0)
    first = problem.layout.n_in - problem.layout.n_tau
    for k, row in enumerate(problem.G_torque):
        joints = np.flatnonzero(row)
        if len(joints) == 1:
            j = joints[0]
            ends = [(bound[first + k] - problem.offset[first + k]) / row[j] for bound in (problem.lower, problem.upper)]
            low, high = min(ends), max(ends)
            if low <= high:  # not so where one is a NaN
                torque[j] = min(max(torque[j], low), high)
    clipped: Array = np.clip(torque, -robot.torque_limits, robot.torque_limits)
    return clipped


def _acceleration(terms: Terms, problem: Problem, torque: Array, f: Array) -> Array:
    """``M⁻¹ (Sᵀ τ + Jᵀ f − h)``; zero where that is not finite."""
    applied = -terms.h
    applied[problem.layout.actuated] += torque
    applied += f @ problem.J
    try:
        vdot = np.linalg.solve(terms.M, applied).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        vdot = np.zeros(terms.robot.nv)
    return vdot if np.isfinite(vdot).all() else np.zeros(terms.robot.nv)


def bad_row(problem: Problem, nominal: tuple[str, ...]) -> str:
    """Whose rows hold a NaN or an inf, in words; empty where all are finite."""
    A, b, layout = problem.A, problem.b, problem.layout
    size = np.vdot(A, A) + np.vdot(b, b) + np.vdot(problem.nominal, problem.nominal)
    size += np.vdot(problem.G, problem.G) + np.vdot(problem.G_torque, problem.G_torque)
    size += np.vdot(problem.offset, problem.offset)
    bounded = not layout.n_in or (problem.lower.max() < math.inf and problem.upper.min() > -math.inf)
    if math.isfinite(size) and bounded:
        return ""
    rows = problem.on > 0.0
    A, b = problem.task_rows()
    for part in (*layout.contacts, *(part for level in layout.levels for part in level), *layout.soft):
        for label, values in (("J or A", A), ("its error, gains, J̇v or reference", b)):
            bad = rows[part.rows] & ~np.isfinite(values[part.rows].reshape(part.stop - part.start, -1)).all(axis=1)
            if bad.any():
                kind = "contact" if part in layout.contacts else "task"
                return f"{kind} {part.name!r}: row {int(np.argmax(bad))} is not finite ({label})"
    if not np.isfinite(problem.nominal).all():
        return f"nominal acceleration of {', '.join(map(repr, nominal))}: not finite"
    first, last = layout.n_acc, layout.n_in - layout.n_tau
    with np.errstate(invalid="ignore"):
        matrix = np.concatenate([problem.G.sum(axis=1), np.zeros(last - first), problem.G_torque.sum(axis=1)])
    looked_at = (
        ("A", "not finite", ~np.isfinite(matrix)),
        ("b", "not finite", ~np.isfinite(problem.offset)),
        ("lower", "no lower bound", ~(problem.lower < math.inf)),
        ("upper", "no upper bound", ~(problem.upper > -math.inf)),
    )
    for part in layout.limits:
        for label, what, wrong in looked_at:
            if wrong[part.rows].any():
                element = part.elements[int(np.argmax(wrong[part.rows]))]
                return f"limit {part.name!r}: {label} of {element!r} is {what}"
    return ""  # rows so large that their squares are not


def bad_entry(robot: Robot, state: State) -> str:
    """The first entry of a state that is NaN or inf, with its joint, in words; empty where there is none."""
    for name, values, starts in (
        ("q", state.q, [joint.idx_q for joint in robot.model.joints]),
        ("v", state.v, [joint.idx_v for joint in robot.model.joints]),
    ):
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            entry = int(bad[0])
            # the last joint that starts at or before the entry; joint 0 is the universe
            joint = max((k for k in range(1, len(starts)) if starts[k] <= entry), key=lambda k: starts[k])
            return f"{name}[{entry}] (joint {robot.model.names[joint]}) is {values[entry]}, expected a finite number"
    return ""
