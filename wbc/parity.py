"""Parity: does a simulator, or another library, mean the same robot? Differences of M and h, joint by joint."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from wbc import checks
from wbc.checks import Array
from wbc.errors import InputError
from wbc.robot import Robot
from wbc.state import State


@dataclass(frozen=True, slots=True, eq=False)
class Parity:
    """Largest differences over all states that were compared, simulator minus robot.

    Attributes:
        names: names (nv,) of the velocity coordinates.
        M: largest difference (nv,) in each row of the mass matrix [kg, kg m, kg m²].
        bias: largest difference (nv,) of h(q, v) [N m, N].
        mass: difference of the moving mass [kg]; 0 where none was given.
        tolerance: relative to the largest entry of M, of h and to the mass; what is below it agrees.
        affected: names of the coordinates whose row of M or entry of h differs by more, each moves a link that differs.
    """

    names: tuple[str, ...]
    M: Array
    bias: Array
    mass: float
    tolerance: float
    affected: tuple[str, ...]
    mass_agrees: bool

    @property
    def agrees(self) -> bool:
        """Whether both mean the same robot, to the tolerance."""
        return self.mass_agrees and not self.affected

    def __str__(self) -> str:
        if self.agrees:
            return f"the same robot: M to {self.M.max():.1e}, h to {self.bias.max():.1e}"
        lines = [] if self.mass_agrees else [f"moving mass differs by {self.mass:+.4g} kg"]
        for name, M, bias in zip(self.names, self.M, self.bias, strict=True):
            if name in self.affected:
                lines.append(f"{name}: M differs by {M:.3g}, h by {bias:.3g}")
        return "\n".join(lines)


def compare(
    robot: Robot, states: Iterable[State], M: Any, bias: Any, mass: float | None = None, *, tolerance: float = 1e-9
) -> Parity:
    """Compare a robot with the numbers of a simulator at the same states, in this robot's joint order.

    Use moving, rotated states: at rest and at zero a wrong inertia may hide. A difference in the diagonal of M alone is
    an armature that one side lacks; :meth:`Robot.order` translates the order of joints.

    Args:
        robot: the robot.
        states: T states.
        M: the simulator's mass matrices (T, nv, nv).
        bias: its bias h(q, v) (T, nv): Coriolis, centrifugal and gravity [N m, N].
        mass: its mass of everything that moves [kg]; not compared where silent.
        tolerance: relative difference that still agrees.

    Raises:
        InputError: a wrong shape or length, or a number that is none.
    """
    states = list(states)
    if not states or not all(isinstance(state, State) for state in states):
        raise InputError("states: expected at least one State(q, v)")
    nv, count = robot.nv, len(states)
    M_theirs, bias_theirs = checks.array(M, "M", (count, nv, nv)), checks.array(bias, "bias", (count, nv))
    data = robot.model.createData()
    M_ours, bias_ours = np.empty((count, nv, nv)), np.empty((count, nv))
    for i, state in enumerate(states):
        q = checks.vector(state.q, f"states[{i}].q", robot.nq)
        v = checks.vector(state.v, f"states[{i}].v", nv)
        upper = np.triu(pin.crba(robot.model, data, q))  # crba fills the upper triangle only
        M_ours[i] = upper + np.triu(upper, 1).T
        bias_ours[i] = pin.nonLinearEffects(robot.model, data, q, v)
    M_row = np.abs(M_theirs - M_ours).max(axis=(0, 2))
    bias_row = np.abs(bias_theirs - bias_ours).max(axis=0)
    differs = (M_row > tolerance * np.abs(M_ours).max()) | (bias_row > tolerance * max(1.0, np.abs(bias_ours).max()))
    off = 0.0 if mass is None else checks.scalar(mass, "mass", lower=0.0) - robot.mass
    return Parity(
        names=robot.velocity_names,
        M=M_row,
        bias=bias_row,
        mass=off,
        tolerance=tolerance,
        affected=tuple(name for name, bad in zip(robot.velocity_names, differs, strict=True) if bad),
        mass_agrees=abs(off) <= tolerance * robot.mass,
    )
