"""Layout: what stands where in a problem; fixed for the life of a controller."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wbc.checks import Array

CONTACT_MOTION, MINIMUM_FORCE = "contact motion", "minimum force"  # what yields besides limits, as a ladder names it
ROTATION_LENGTH = 0.2  # m; a rotation row counts as the motion of a point this far from the axis


@dataclass(frozen=True, slots=True)
class Part:
    """Where a task's or limit's rows stand: rows ``start`` to ``stop`` of the equalities or of the inequalities."""

    name: str
    start: int
    stop: int
    weight: float = 1.0
    elements: tuple[str, ...] = ()
    weighting: str = "identity"

    @property
    def rows(self) -> slice:
        """The rows as a slice."""
        return slice(self.start, self.stop)


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
        level_limits: names of the limits that each strict level asks for.
        ladder: what gives way where limits clash, in ranks: the first rank yields last. Cones and motors' torque limits
            stand in no rank: they never yield.
        n_eq: number of equality rows; n_acc, n_cone, n_tau: inequality rows on accelerations, wrenches and torques.
        lengths: (n_eq,) 1 for a linear row, 0.2 m for a rotation row.
        root_weights: (n_eq,) square roots of the weights.
        root_weights_force: square roots of the weights of the rows of ``forces``.
        slices: rows of the contacts' motion (where there are any) and of each strict level.
        labels: what reports call these levels.
        base: the unactuated coordinates, as a slice where they come first: a view instead of a copy.
        soft_rows: rows of the soft tasks.
        weighted: the soft tasks that are weighted by their inertia.
        sizes: nv, nf, n_acc, n_cone, n_tau, nu; motors, passive: actuated and unactuated, for compiled code.
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
    level_limits: tuple[tuple[str, ...], ...]
    ladder: tuple[tuple[str, ...], ...]
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
    weighted: tuple[Part, ...] = field(init=False)
    sizes: NDArray[np.int64] = field(init=False)
    motors: NDArray[np.int64] = field(init=False)
    passive: NDArray[np.int64] = field(init=False)
    _places: dict[tuple[str, ...], NDArray[np.int64]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        rows = [slice(0, self.nf)] if self.nf else []
        levels, at = [], self.nf
        for level in self.levels:  # a level of limits alone has no equality rows
            levels.append(slice(at, level[-1].stop if level else at))
            at = levels[-1].stop
        labels = [f"strict {k + 1}" for k in range(len(levels))]
        leading = np.array_equal(self.unactuated, np.arange(len(self.unactuated)))
        object.__setattr__(self, "base", slice(0, len(self.unactuated)) if leading else self.unactuated)
        object.__setattr__(self, "labels", (*(["contacts"] * len(rows)), *labels))
        soft = slice(self.soft[0].start if self.soft else self.n_eq, self.n_eq)
        object.__setattr__(self, "slices", (*rows, *levels))
        object.__setattr__(self, "soft_rows", soft)
        object.__setattr__(self, "weighted", tuple(part for part in self.soft if part.weighting == "inertia"))
        sizes = (self.nv, self.nf, self.n_acc, self.n_cone, self.n_tau, self.nu)
        object.__setattr__(self, "sizes", np.array(sizes, dtype=np.int64))
        object.__setattr__(self, "motors", np.array(self.actuated, dtype=np.int64))
        object.__setattr__(self, "passive", np.array(self.unactuated, dtype=np.int64))

    @property
    def n_in(self) -> int:
        """Number of inequality rows."""
        return self.n_acc + self.n_cone + self.n_tau

    @property
    def n_force(self) -> int:
        """Number of rows of soft tasks on forces."""
        return len(self.root_weights_force)

    @property
    def n_weighted(self) -> int:
        """Number of rows of soft tasks that are weighted by their inertia."""
        return sum(part.stop - part.start for part in self.weighted)

    def starts(self) -> dict[str, int]:
        """Where each block starts in the flat record."""
        starts, at = {}, 0
        for name, shape in self.blocks().items():
            starts[name] = at
            at += math.prod(shape)
        return starts

    def places(self, names: tuple[str, ...]) -> NDArray[np.int64]:
        """Where these blocks start in the flat record, for compiled code."""
        places = self._places.get(names)
        if places is None:
            starts = self.starts()
            places = self._places[names] = np.array([starts[name] for name in names], dtype=np.int64)
        return places

    def blocks(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of every block of the flat record."""
        return {
            "M": (self.nv, self.nv),
            "h": (self.nv,),
            "nominal": (self.nv,),
            "A": (self.n_eq, self.nv),
            "b": (self.n_eq,),
            "drift": (self.n_eq,),
            "A_task": (self.n_weighted, self.nv),
            "b_task": (self.n_weighted,),
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
