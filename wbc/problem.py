"""Problem: all rows of one tick on x = [v̇; f], in one flat record; the value that closed form, QP and solvers read."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wbc.checks import Array

ROTATION_LENGTH = 0.2  # m; a rotation row counts as the motion of a point this far from the axis


@dataclass(frozen=True, slots=True)
class Part:
    """Where a task's or limit's rows stand: rows ``start`` to ``stop`` of the equalities or of the inequalities."""

    name: str
    start: int
    stop: int
    weight: float = 1.0
    elements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Sizes and places of everything in a problem; fixed for the life of a controller.

    Equality rows stand in the order contact motion, strict levels, soft tasks; inequality rows in the order
    accelerations, wrenches, torques. Soft tasks on forces have rows of their own: they share the load, motion decided.

    Attributes:
        nv, nu, nf: numbers of velocities, torques and contact forces.
        actuated, unactuated: indices of the coordinates with and without a motor.
        contacts: the contacts, with their columns of f; their motion rows are the equality rows of the same numbers.
        levels: the tasks of each strict level.
        soft: the soft tasks on motion.
        forces: the soft tasks on wrenches and torques, where there are contacts; their rows are counted on their own.
        limits: the limits, acceleration rows first; then the contacts' cones; then limits on torques.
        n_eq: number of equality rows; n_acc, n_cone, n_tau: inequality rows on accelerations, wrenches and torques.
        lengths: (n_eq,) 1 for a linear row, 0.2 m for a rotation row.
        root_weights: (n_eq,) square roots of the weights.
        root_weights_force: square roots of the weights of the rows of ``forces``.
        slices: rows of the contacts' motion (where there are any) and of each strict level.
        labels: what reports call these levels.
        base: the unactuated coordinates, as a slice where they come first: a view instead of a copy.
        soft_rows: rows of the soft tasks.
    """

    nv: int
    nu: int
    nf: int
    actuated: NDArray[np.intp]
    unactuated: NDArray[np.intp]
    contacts: tuple[Part, ...]
    levels: tuple[tuple[Part, ...], ...]
    soft: tuple[Part, ...]
    forces: tuple[Part, ...]
    limits: tuple[Part, ...]
    n_eq: int
    n_acc: int
    n_cone: int
    n_tau: int
    lengths: Array
    root_weights: Array
    root_weights_force: Array
    slices: tuple[slice, ...] = field(init=False)
    labels: tuple[str, ...] = field(init=False)
    base: slice | NDArray[np.intp] = field(init=False)
    soft_rows: slice = field(init=False)

    def __post_init__(self) -> None:
        rows = [slice(0, self.nf)] if self.nf else []
        levels = [slice(level[0].start, level[-1].stop) for level in self.levels if level]
        labels = [f"strict {k + 1}" for k, level in enumerate(self.levels) if level]
        leading = np.array_equal(self.unactuated, np.arange(len(self.unactuated)))
        object.__setattr__(self, "base", slice(0, len(self.unactuated)) if leading else self.unactuated)
        object.__setattr__(self, "labels", (*(["contacts"] * len(rows)), *labels))
        soft = slice(self.soft[0].start if self.soft else self.n_eq, self.n_eq)
        object.__setattr__(self, "slices", (*rows, *levels))
        object.__setattr__(self, "soft_rows", soft)

    @property
    def n_in(self) -> int:
        """Number of inequality rows."""
        return self.n_acc + self.n_cone + self.n_tau

    @property
    def n_force(self) -> int:
        """Number of rows of soft tasks on forces."""
        return len(self.root_weights_force)

    def blocks(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of every block of the flat record."""
        return {
            "M": (self.nv, self.nv),
            "h": (self.nv,),
            "nominal": (self.nv,),
            "A": (self.n_eq, self.nv),
            "b": (self.n_eq,),
            "drift": (self.n_eq,),
            "J": (self.nf, self.nv),
            "on": (self.n_eq,),
            "soft_share": (self.n_eq - self.soft_rows.start,),
            "axes": (len(self.contacts), 3, 3),
            "active": (self.nf,),
            "f0": (self.nf,),
            "root_weight_f": (self.nf,),
            "A_wrench": (self.n_force, self.nf),
            "A_torque": (self.n_force, self.nu),
            "b_force": (self.n_force,),
            "force_share": (self.n_force,),
            "G": (self.n_acc, self.nv),
            "G_wrench": (self.n_cone, self.nf),
            "G_torque": (self.n_tau, self.nu),
            "offset": (self.n_in,),
            "lower": (self.n_in,),
            "upper": (self.n_in,),
        }


class Problem:
    """One tick's rows, as views into one flat record.

    ``M v̇ + h = Sᵀ τ + Jᵀ f``; equalities ``A v̇ + b = 0``; inequalities ``lower ≤ G · + offset ≤ upper`` on
    accelerations, with G_wrench on contact forces, with G_torque on torques.

    Attributes:
        layout: what stands where.
        record: the flat record; one copy of it keeps the whole problem.
        M, h, nominal: mass matrix, bias forces and nominal acceleration v̇₀.
        A, b, drift: equality rows, and the J̇v that is contained in b.
        J, axes: contact Jacobian and surface axes, in whose directions f is counted.
        on: 1 for each equality row that counts, 0 for those of absent parts.
        soft_share: factor on the weight of each soft row.
        active: 1 for each force of a contact that stands, 0 for one that does not.
        f0, root_weight_f: the wrench that internal forces tend to, and the roots of its weights R.
        A_wrench, A_torque, b_force: rows ``A_wrench f + A_torque τ + b`` of the soft tasks on forces.
        force_share: factor on the weight of each of these rows.
        G, G_wrench, G_torque, offset, lower, upper: inequality rows.
    """

    __slots__ = (
        "A",
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
    )  # fmt: skip
    M: Array
    h: Array
    nominal: Array
    A: Array
    b: Array
    drift: Array
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

    def __init__(self, layout: Layout, record: Array | None = None) -> None:
        self.layout = layout
        blocks = layout.blocks()
        sizes = [int(np.prod(shape)) for shape in blocks.values()]
        self.record = np.zeros(sum(sizes)) if record is None else record
        start = 0
        for (name, shape), size in zip(blocks.items(), sizes, strict=True):
            setattr(self, name, self.record[start : start + size].reshape(shape))
            start += size
        if record is None:
            self.on[:], self.active[:], self.soft_share[:], self.force_share[:] = 1.0, 1.0, 1.0, 1.0
        self.everything_on = bool(self.on.all() and self.active.all() and (self.soft_share == 1.0).all())

    def copy(self) -> Problem:
        """A problem on its own record."""
        return Problem(self.layout, self.record.copy())

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
