"""Problem: all rows of one tick on x = [v̇; f], in one flat record; the value that closed form, QP and solvers read."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wbc.checks import Array
from wbc.layout import Layout


class Problem:
    """One tick's rows, as views into one flat record.

    ``M v̇ + h = Sᵀ τ + Jᵀ f``; equalities ``A v̇ + b = 0``; inequalities ``lower ≤ G · + offset ≤ upper`` on
    accelerations, with G_wrench on contact forces, with G_torque on torques.

    Attributes:
        layout: what stands where.
        record: the flat record; one copy of it keeps the whole problem.
        M, h, nominal: mass matrix, bias forces and nominal acceleration v̇₀.
        A, b, drift: equality rows, and the J̇v that is contained in b.
        A_task, b_task: in task units the rows of soft tasks whose A and b are multiplied by a factor of their inertia.
        J, axes: contact Jacobian and surface axes, in whose directions f is counted.
        on: 1 for each equality row that counts, 0 for those of absent parts.
        soft_share: factor on the weight of each soft row.
        active: 1 for each force of a contact that stands, 0 for one that does not.
        f0, root_weight_f: the wrench that internal forces tend to, and the roots of its weights R.
        A_wrench, A_torque, b_force: rows ``A_wrench f + A_torque τ + b`` of the soft tasks on forces.
        force_share: factor on the weight of each of these rows.
        G, G_wrench, G_torque, offset, lower, upper: inequality rows.
        workspace: what the closed form keeps between ticks; ``None`` until it is asked.
    """

    __slots__ = (
        "A",
        "A_task",
        "A_torque",
        "A_wrench",
        "G",
        "G_torque",
        "G_wrench",
        "J",
        "M",
        "active",
        "axes",
        "b",
        "b_force",
        "b_task",
        "drift",
        "everything_on",
        "f0",
        "force_share",
        "h",
        "layout",
        "lower",
        "nominal",
        "offset",
        "on",
        "record",
        "root_weight_f",
        "soft_share",
        "upper",
        "workspace",
    )  # fmt: skip
    M: Array
    h: Array
    nominal: Array
    A: Array
    b: Array
    drift: Array
    A_task: Array
    b_task: Array
    J: Array
    axes: Array
    everything_on: bool
    on: Array
    soft_share: Array
    active: Array
    f0: Array
    root_weight_f: Array
    A_wrench: Array
    A_torque: Array
    b_force: Array
    force_share: Array
    G: Array
    G_wrench: Array
    G_torque: Array
    offset: Array
    lower: Array
    upper: Array
    workspace: Any

    def __init__(self, layout: Layout, record: Array | None = None) -> None:
        self.layout = layout
        blocks = layout.blocks()
        sizes = [math.prod(shape) for shape in blocks.values()]
        self.record = np.zeros(sum(sizes)) if record is None else record
        start = 0
        for (name, shape), size in zip(blocks.items(), sizes, strict=True):
            setattr(self, name, self.record[start : start + size].reshape(shape))
            start += size
        self.workspace = None
        if record is None:
            self.on[:], self.active[:], self.soft_share[:], self.force_share[:] = 1.0, 1.0, 1.0, 1.0
        self.everything_on = bool(self.on.all() and self.active.all() and (self.soft_share == 1.0).all())

    def copy(self) -> Problem:
        """A problem on its own record."""
        return Problem(self.layout, self.record.copy())

    def in_task_units(self, A: Array, b: Array) -> tuple[Array, Array]:
        """Put the rows (n_eq, nv), (n_eq,) of tasks that are weighted by their inertia back as the task gave them."""
        at = 0
        for part in self.layout.weighted:
            end = at + part.stop - part.start
            A[part.rows], b[part.rows] = self.A_task[at:end], self.b_task[at:end]
            at = end
        return A, b

    def keep_task_units(self) -> None:
        """Remember these rows as they are now."""
        at = 0
        for part in self.layout.weighted:
            end = at + part.stop - part.start
            self.A_task[at:end], self.b_task[at:end] = self.A[part.rows], self.b[part.rows]
            at = end

    def task_rows(self) -> tuple[Array, Array]:
        """A and b in the units of the tasks, whatever the weighting."""
        if not self.layout.weighted:
            return self.A, self.b
        return self.in_task_units(self.A.copy(), self.b.copy())

    def torque(self, vdot: Array, f: Array) -> Array:
        """``τ = S (M v̇ + h − Jᵀ f)``."""
        tau = self.M.dot(vdot)
        tau += self.h
        if self.layout.nf:
            tau -= f.dot(self.J)
        return tau if self.layout.nu == self.layout.nv else tau[self.layout.actuated]

    def force_rows(self, f: Array, tau: Array) -> Array:
        """What the rows of soft tasks on forces take: ``A_wrench f + A_torque τ + b``."""
        values: Array = self.A_wrench @ f + self.A_torque @ tau + self.b_force
        return values

    def limit_values(self, vdot: Array, f: Array, tau: Array) -> Array:
        """What the inequality rows take at a solution."""
        layout = self.layout
        n_acc, n_tau = layout.n_acc, layout.n_in - layout.n_tau
        values = np.empty(layout.n_in)
        np.dot(self.G, vdot, out=values[:n_acc])
        if layout.n_cone:
            np.dot(self.G_wrench, f, out=values[n_acc:n_tau])
        np.dot(self.G_torque, tau, out=values[n_tau:])
        values += self.offset
        return values
