"""What a physics must provide, and the two that exist, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import pinocchio as pin

from wbc import checks
from wbc.checks import Array
from wbc.errors import InputError
from wbc.robot import Robot
from wbc.state import State

PHYSICS = ("mujoco", "pinocchio")
NO_WRENCHES: Mapping[str, Array] = {}


class Physics(Protocol):
    """Something that moves a robot: torques in, states out."""

    @property
    def state(self) -> State:
        """Where the robot is now; raises InputError once a number in it is no longer finite."""

    def reset(self, state: State) -> None:
        """Put the robot somewhere, forgetting everything that happened."""

    def step(self, torque: Array, dt: float, wrenches: Mapping[str, Array] = NO_WRENCHES) -> None:
        """Hold a torque (nu,) for ``dt`` seconds, while wrenches (6,) push on frames (world axes, at their origin)."""

    def measured_wrenches(self) -> dict[str, Array]:
        """What the ground pushed each foot with in the last step, by foot, as far as this physics has a ground."""


def physics_by_name(name: str, robot: Robot, substeps: int) -> Physics:
    """Make the physics called ``"mujoco"`` or ``"pinocchio"``.

    Raises:
        UnknownNameError: another name.
        NotInstalledError: MuJoCo is not installed (``pip install 'wbc[sim]'``).
    """
    if checks.choice(name, PHYSICS, "physics") == "mujoco":
        from wbc.simulation.world import MujocoWorld

        return MujocoWorld(robot, substeps=substeps)
    from wbc.simulation.integrator import Integrator

    return Integrator(robot, substeps=substeps)


class Pushes:
    """Frames that are pushed on, looked up once, with their wrenches checked at the door."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._frames: dict[str, Any] = {}

    def frame(self, name: str) -> Any:
        """The pinocchio frame called ``name``, on a link that can move."""
        if name not in self._frames:
            frame = self._robot.model.frames[self._robot.frame_id(name)]
            if frame.parentJoint == 0:
                raise InputError(f"disturbance: frame {name!r} is fixed to the world, pushing on it moves nothing")
            self._frames[name] = frame
        return self._frames[name]

    def __call__(self, wrenches: Mapping[str, Any]) -> list[tuple[Any, Array]]:
        """(frame, wrench (6,)) of every push."""
        return [(self.frame(name), checks.vector(w, f"disturbance[{name!r}]", 6)) for name, w in wrenches.items()]


def generalised_force(robot: Robot, torque: Array) -> Array:
    """Sᵀ τ: a torque (nu,) in the places (nv,) of the coordinates it acts on."""
    result = np.zeros(robot.nv)
    result[robot.actuated] = torque
    return result


def checked_state(robot: Robot, state: State) -> State:
    """Refuse a state of another robot: wrong lengths, a quaternion or a (cos, sin) pair that is none."""
    checks.vector(state.q, "q", robot.nq)
    checks.vector(state.v, "v", robot.nv)
    if not pin.isNormalized(robot.model, state.q, checks.UNIT_TOLERANCE):
        raise InputError("q: a quaternion or a (cos, sin) pair in it does not have unit norm")
    return state


def checked_substeps(substeps: int) -> int:
    """A number of physics steps in a control tick."""
    if isinstance(substeps, bool) or not isinstance(substeps, int | np.integer) or substeps < 1:
        raise InputError(f"substeps is {substeps!r}, expected a whole number of at least 1")
    return int(substeps)
