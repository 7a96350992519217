"""Terms: the only file that runs pinocchio algorithms in a tick; M, h, frames and drifts, each once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any
from weakref import WeakMethod

import numpy as np
import pinocchio as pin

from wbc import checks
from wbc.centroidal import ComTerms, MomentumTerms
from wbc.checks import Array
from wbc.errors import InputError
from wbc.frames import FrameTable, FrameTerms
from wbc.robot import Robot
from wbc.state import State


class Terms:
    """The dynamics of a robot at one state, ``M v̇ + h = Sᵀ τ``, and what tasks need of it, memoised per tick.

    Attributes:
        robot: whose terms these are.
        dt: the control period [s].
        q, v: the state of this tick.
        M: mass matrix (nv, nv), symmetric bit by bit.
        h: gravity, Coriolis and centrifugal forces (nv,).
        identity: the identity (nv, nv); ``joint_identity`` with zeros for the six coordinates of a floating base, for
            tasks on joints; ``identity_torque`` (nu, nu) for rows on torques.
        zero_velocity, zero_torque: zeros (nv,) and (nu,).
        frames: the frames in use.
        errors: position-level error of each motion task, filled by the tasks.
    """

    def __init__(self, robot: Robot, dt: float) -> None:
        self.robot = robot
        self.dt = dt
        self._model = robot.model
        self._data = self._model.createData()
        self._rest = np.zeros(robot.nv)
        self.frames = FrameTable(self._model, self._data)
        self._places: dict[str, int] = {}
        self._moved = False
        self._com: ComTerms | None = None
        self._momentum: MomentumTerms | None = None
        self._held: dict[str, dict[str, Array]] = {}
        self._releases: list[WeakMethod[Callable[[str | None], None]]] = []
        self._unit_norm = robot.nq != robot.nv
        self._fresh = False
        self.identity, self.identity_torque = np.eye(robot.nv), np.eye(robot.nu)
        self.joint_identity = _without_floating_base(robot, self.identity)
        self.zero_velocity, self.zero_torque = np.zeros(robot.nv), np.zeros(robot.nu)
        for constant in (
            self.identity,
            self.joint_identity,
            self.identity_torque,
            self.zero_velocity,
            self.zero_torque,
        ):
            constant.flags.writeable = False
        self._angle_index = _angle_index(robot.model)
        self.errors: dict[str, Array] = {}
        self.M = np.zeros((robot.nv, robot.nv))
        self.h = np.zeros(robot.nv)
        self.q = np.array(robot.home)
        self.v = np.zeros(robot.nv)

    def write_to(self, M: Array, h: Array) -> None:
        """Compute M and h into these arrays from now on, so that nobody has to copy them."""
        self.M, self.h = M, h

    def update(self, state: State) -> None:
        """Compute everything for a new state.

        Raises:
            InputError: q or v has a wrong length, or a NaN or inf since the state was made, or a quaternion or
                (cos, sin) pair in q has not unit norm.
        """
        if not isinstance(state, State):
            raise InputError(f"expected State(q, v), got {type(state).__name__}")
        model, data, q, v = self._model, self._data, state.q, state.v
        if len(q) != model.nq or len(v) != model.nv:
            raise InputError(
                f"the state does not fit robot {self.robot.name!r}: q has length {len(q)}, expected nq={model.nq}; "
                f"v has length {len(v)}, expected nv={model.nv}"
            )
        if not math.isfinite(q.dot(q) + v.dot(v)):  # State looked once, but its arrays can be written to
            checks.finite(q, "q"), checks.finite(v, "v")
        if self._unit_norm and not pin.isNormalized(model, q, checks.UNIT_TOLERANCE):
            raise InputError("q: a quaternion (xyzw) or a (cos, sin) pair in it does not have unit norm")
        self.q, self.v = q, v
        self._com = self._momentum = None
        self._moved = self.frames.is_filled = False
        self._fresh = True
        # the binding mirrors the upper triangle, which crba alone would not; it leaves the joints' twist columns too.
        # Column by column is row by row then, and one copy of memory
        self.M[:] = pin.crba(model, data, q, pin.Convention.WORLD).T
        self.h[:] = pin.nonLinearEffects(model, data, q, v)

    def frame(self, name: str) -> FrameTerms:
        """Placement, velocity, Jacobian and drift of a frame at this tick.

        Raises:
            UnknownNameError: there is no such frame.
            InputError: no state has been given yet.
        """
        frames, place = self.frames, self._places.get(name)
        if place is None:
            place = self._places[name] = frames.add(self.robot.frame_id(name))
        if not frames.is_filled:
            self._need_state()
            frames.fill(self.q, self.v)
        return frames.terms[place]

    def _move(self) -> None:
        """Velocities and accelerations of all bodies at v̇ = 0, for what is asked of the centre of mass."""
        self._need_state()
        if not self._moved:
            pin.forwardKinematics(self._model, self._data, self.q, self.v, self._rest)
            self._moved = True

    @property
    def com(self) -> ComTerms:
        """Position, velocity, Jacobian and drift of the centre of mass at this tick."""
        if self._com is None:
            self._move()
            self._com = ComTerms(self._model, self._data)
        return self._com

    @property
    def momentum(self) -> MomentumTerms:
        """Momentum about the centre of mass, its matrix and drift at this tick."""
        if self._momentum is None:
            self._move()
            self._momentum = MomentumTerms(self._model, self._data, self.q)
        return self._momentum

    def difference(self, q_from: Array, q_to: Array) -> Array:
        """The velocity (nv,) that leads from one configuration to the other in unit time."""
        result: Array = pin.difference(self._model, q_from, q_to)
        return result

    def joint_positions(self) -> Array:
        """Position (nv,) of each coordinate that has one number for it; where it has not, a filler."""
        return self.q if self._angle_index is None else self.q[self._angle_index]

    def gravity(self) -> Array:
        """Gravity forces g(q) (nv,), that is h at rest."""
        result: Array = pin.computeGeneralizedGravity(self._model, self._model.createData(), self.q).copy()
        return result

    def held(self, task: str, value: Array, *, what: str = "target") -> Array:
        """What ``task`` saw at its first tick; ``value`` is remembered where it has seen nothing yet."""
        holds = self._held.setdefault(task, {})
        seen = holds.get(what)
        if seen is None:
            seen = holds[what] = np.array(value)
        return seen

    def forget(self, task: str) -> None:
        """What ``task`` saw counts no more, since it was given a target."""
        self._held.pop(task, None)

    def seen(self, task: str, *, what: str = "target") -> Array | None:
        """What ``task`` holds, or ``None`` where it has seen nothing yet; for values that cost something to make."""
        return self._held.get(task, {}).get(what)

    def _need_state(self) -> None:
        if not self._fresh:
            raise InputError("the terms have no state yet: call update(State(q, v)) first")

    @property
    def has_state(self) -> bool:
        """Whether a state has been given yet."""
        return self._fresh

    def release(self, *, task: str | None = None) -> None:
        """Forget what one task holds, or every task, so that the next tick captures it anew."""
        if task is None:
            self._held.clear()
        else:
            self._held.pop(task, None)
        for reference in self._releases:
            release = reference()
            if release is not None:
                release(task)

    def on_release(self, release: Callable[[str | None], None]) -> None:
        """Whom else to tell that a task, or every one (``None``), forgets what it holds; a method, kept weakly."""
        self._releases.append(WeakMethod(release))  # a circle would live until the next collection


def _without_floating_base(robot: Robot, identity: Array) -> Array:
    """The identity, with a zero for every coordinate of a free-flyer; the identity itself where there is none."""
    root = robot.model.joints[1] if robot.model.njoints > 1 else None
    if root is None or root.shortname() != "JointModelFreeFlyer":
        return identity
    joints = identity.copy()
    joints[range(root.nv), range(root.nv)] = 0.0
    return joints


def _angle_index(model: Any) -> Any:
    """For each entry of v the entry of q that is its position; ``None`` where both orders are the same."""
    if model.nq == model.nv:
        return None
    index = np.zeros(model.nv, dtype=np.intp)
    for joint in list(model.joints)[1:]:
        if joint.nq == joint.nv:
            index[joint.idx_v : joint.idx_v + joint.nv] = range(joint.idx_q, joint.idx_q + joint.nq)
    return index
