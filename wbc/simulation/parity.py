"""Do two sources agree on a robot's dynamics? Names the joints where they do not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from wbc import checks
from wbc.checks import Array
from wbc.robot import Robot
from wbc.state import State


@dataclass(frozen=True, slots=True, eq=False)
class Parity:
    """Largest differences between a simulator's dynamics and the robot's, over all states that were compared.

    Attributes:
        names: (nv,) names of the velocity coordinates.
        M: (nv,) largest difference in each row of the mass matrix, relative to M's largest entry.
        h: (nv,) largest difference in each entry of the bias force, relative to h's largest entry.
        mass: simulator's total mass minus the robot's [kg].
    """

    names: tuple[str, ...]
    M: Array
    h: Array
    mass: float

    def joints(self, tolerance: float = 1e-9) -> tuple[str, ...]:
        """Names of the coordinates that differ by more than ``tolerance``, the worst first."""
        worst = np.maximum(self.M, self.h)
        return tuple(self.names[i] for i in np.argsort(-worst) if worst[i] > tolerance)

    def agrees(self, tolerance: float = 1e-9) -> bool:
        """Whether nothing differs by more than ``tolerance``."""
        return not self.joints(tolerance) and abs(self.mass) <= tolerance * max(1.0, abs(self.mass))


def compare(
    robot: Robot, dynamics: Callable[[State], tuple[Array, Array]], mass: float, states: Iterable[State]
) -> Parity:
    """Compare a simulator with the controller's model, at the states given.

    Args:
        robot: what the controller believes.
        dynamics: M (nv, nv) and h (nv,) of the simulator at a state, in pinocchio's order; for MuJoCo this is
            :meth:`wbc.simulation.world.MujocoWorld.dynamics`.
        mass: total mass of the simulator's robot [kg].
        states: where to compare; moving, rotated ones, because at rest in the zero pose most mistakes are invisible.
    """
    model, data = robot.model, robot.model.createData()
    worst_M, worst_h = np.zeros(robot.nv), np.zeros(robot.nv)
    for state in states:
        M = np.triu(pin.crba(model, data, state.q))
        M = M + np.triu(M, 1).T
        h = np.array(pin.nonLinearEffects(model, data, state.q, state.v))
        their_M, their_h = dynamics(state)
        their_M = checks.array(their_M, "M of the simulator", (robot.nv, robot.nv))
        their_h = checks.vector(their_h, "h of the simulator", robot.nv)
        worst_M = np.maximum(worst_M, np.abs(their_M - M).max(axis=1) / np.abs(M).max())
        worst_h = np.maximum(worst_h, np.abs(their_h - h) / max(np.abs(h).max(), np.finfo(float).tiny))
    return Parity(robot.velocity_names, worst_M, worst_h, float(mass) - robot.mass)


def random_states(robot: Robot, count: int, rng: np.random.Generator, *, speed: float = 1.0) -> list[State]:
    """Moving states, turned in every joint: angles and base turns within ±2 rad, positions within ±2 m."""
    zero = pin.neutral(robot.model)
    return [
        State(pin.integrate(robot.model, zero, rng.uniform(-2.0, 2.0, robot.nv)), speed * rng.standard_normal(robot.nv))
        for _ in range(count)
    ]
