"""What a task and a limit must provide, and what every motion task shares: gains, feed-forward, mask, rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wbc import checks
from wbc.attributes import Attributes
from wbc.checks import Array
from wbc.errors import InputError
from wbc.rows import Gains, InNumbers, Kinematics, Rows, motion_rows
from wbc.target import Target, fit_targets, text
from wbc.terms import Terms

WEIGHTINGS = ("identity", "inertia")


def _weighting(value: Any, name: str) -> str:
    return checks.choice(value, WEIGHTINGS, name)


@runtime_checkable
class Task(Protocol):
    """Something with rows ``A v̇ + b = 0`` (or on torques); it knows its error, not how it is enforced."""

    name: str

    def rows(self, terms: Terms) -> Rows:
        """The rows of this tick."""


@runtime_checkable
class Limit(Protocol):
    """Inequality rows ``lower ≤ A · + b ≤ upper``, as many at every tick, with a name for each."""

    name: str

    def rows(self, terms: Terms) -> Rows:
        """The rows of this tick."""

    def elements(self, robot: Any) -> tuple[str, ...]:
        """The name of each row, such as the joint's."""


class MotionTask(Attributes):
    """A task on motion, ``ξ = J v``: give ``dim`` and :meth:`kinematics`; everything else is here.

    ``A = J``, ``b = J̇v − ξ̇_r``, ``ξ̇_r = kp Δx + kd Δξ + ξ̇_d``.

    Args:
        name: the task's name in the stack, the report and the recording.
        gains: feedback gains; critically damped at 100 1/s² by default.
        mask: zeros and ones (dim,) that select the task's rows; all by default.
        mask_frame: ``"world"``, or the frame in whose axes rows, errors, gains and mask are counted, as it stands at
            each tick; only for tasks whose three or six rows are vectors in world axes.
        weighting: the norm in ``½ w ‖A v̇ + b‖²``: ``"identity"``, every row in its own units, or ``"inertia"``, the
            task-space inertia ``Λ = (A M⁻¹ Aᵀ)⁺``, with which a lone soft task closes w/(1 + w) of its gap whatever its
            units. In a strict level it says how tasks share what they cannot all have. The controller's metric is in
            the place of M. See :mod:`wbc.hierarchy.weighting`.

    Attributes:
        dim: number of rows before the mask; ``None`` where it is the robot's nv.
        angular: whether the rows are rotations, for all or one by one (dim,); a length of 0.2 m makes them
            comparable to linear ones near a singularity.
        in_world_axes: whether the rows are one or two vectors in world axes, so that ``mask_frame`` can turn them.
        of_velocity: whether the task is about ξ itself and has no Δx, so that its error is Δξ.
    """

    dim: int | None
    angular: bool | tuple[bool, ...] = False
    in_world_axes: ClassVar[bool] = False
    of_velocity: ClassVar[bool] = False

    weighting: Any = Target(_weighting, "weighting", required=True, fixed=True)
    _mask_frame: str
    mask_frame: Any = Target(text, "name of a frame", required=True, fixed=True)

    def __init__(
        self,
        name: str,
        *,
        gains: Gains | None = None,
        mask: Any = None,
        mask_frame: str = "world",
        weighting: str = "identity",
    ) -> None:
        self._name = text(name, "a task's name")
        self._sizes: dict[str, Any] = {}
        self._rows: NDArray[np.intp] | None = None
        self.gains = Gains.critical(100.0) if gains is None else gains
        self.mask = mask
        if mask_frame != "world" and not self.in_world_axes:
            raise InputError(f"task {name!r}: mask_frame: the rows of a {type(self).__name__} are not in world axes")
        self.mask_frame = mask_frame
        self.weighting = weighting

    @abstractmethod
    def kinematics(self, terms: Terms) -> Kinematics:
        """Error, velocity error, Jacobian and J̇v of all ``dim`` rows at this tick."""

    def in_numbers(self, terms: Terms) -> InNumbers | None:
        """What the task asks where compiled code knows its kind; ``None`` where :meth:`kinematics` has to be asked."""
        return None

    @property
    def name(self) -> str:
        """The task's name."""
        return self._name

    @property
    def gains(self) -> Gains:
        """Feedback gains."""
        return self._gains

    @gains.setter
    def gains(self, value: Gains) -> None:
        if not isinstance(value, Gains):
            raise InputError(f"task {self._name!r}: gains: expected Gains(kp, kd), got {value!r}")
        for label, gain in (("kp", value.kp), ("kd", value.kd)):
            dim = self._sizes.get("nv") if self.dim is None else self.dim
            if dim is not None and isinstance(gain, np.ndarray) and len(gain) != dim:
                raise InputError(f"task {self._name!r}: gains.{label} has length {len(gain)}, expected {dim}")
        self._gains = value

    @property
    def mask(self) -> Any:
        """Zeros and ones (dim,) that select rows, or ``None`` for all."""
        return self._mask

    @mask.setter
    def mask(self, value: Any) -> None:
        label, dim = f"task {self._name!r}: mask", self._sizes.get("nv") if self.dim is None else self.dim
        rows = None if value is None else checks.mask(value, label, np.size(value) if dim is None else dim)
        if self._sizes:  # the rows have their places in a problem
            before, after = (dim if kept is None else len(kept) for kept in (self._rows, rows))
            if before != after:
                raise InputError(f"{label} keeps {after} rows, the controller was made for {before}; make a new task")
        self._rows = rows
        self._mask = None if value is None else tuple(float(entry) for entry in value)

    _target: Any = None
    _target_velocity: Array | None = None
    _target_acceleration: Array | None = None

    def held(self, terms: Terms, seen: Array) -> Array:
        """The target, or, where there is none, what the task saw at the first tick without one."""
        target = self._target
        return terms.held(self._name, seen) if target is None else target

    def velocity_gap(self, velocity: Array) -> Array:
        """``Δξ = ξ_target − ξ``; the target velocity is zero where none was set."""
        target = self._target_velocity
        gap: Array = -velocity if target is None else target - velocity
        return gap

    def rows(self, terms: Terms) -> Rows:
        """The rows ``J v̇ + J̇v − ξ̇_r = 0`` of this tick."""
        if self._target is not None:  # without it again, the task holds what it then sees
            terms.forget(self._name)
        kinematics, acceleration = self.kinematics(terms), self._target_acceleration
        if self._mask_frame != "world":
            kinematics, acceleration = _turned(kinematics, acceleration, terms.frame(self._mask_frame).rotation)
        A, b = motion_rows(kinematics, self._gains, acceleration)
        terms.errors[self._name] = kinematics.velocity_error if self.of_velocity else kinematics.error
        keep = self._rows
        if keep is None:
            return Rows(A, b, drift=kinematics.Jdot_v)
        return Rows(A[keep], b[keep], drift=kinematics.Jdot_v[keep])

    @property
    def angular_rows(self) -> Any:
        """Which rows, after the mask, are rotations."""
        angular = self.angular
        return angular if self._rows is None or isinstance(angular, bool) else np.asarray(angular)[self._rows]

    def check(self, terms: Terms) -> None:
        """Refuse kinematics that do not fit each other, the task's ``dim`` or the robot, once, when it is placed."""
        nv = terms.robot.nv
        if self._mask is not None and self.dim is None and len(self._mask) != nv:
            raise InputError(f"task {self._name!r}: mask has length {len(self._mask)}, expected {nv}")
        sizes = fit_targets(self, terms.robot)
        kinematics = self.kinematics(terms)
        dim = nv if self.dim is None else self.dim
        expected = {"error": (dim,), "velocity_error": (dim,), "J": (dim, nv), "Jdot_v": (dim,)}
        for label, shape in expected.items():
            value = getattr(kinematics, label)
            if np.shape(value) != shape:
                raise InputError(f"task {self._name!r}: {label} has shape {np.shape(value)}, expected {shape}")
        for label, value in (("velocity", self._target_velocity), ("acceleration", self._target_acceleration)):
            if value is not None and len(value) != dim:
                raise InputError(f"task {self._name!r}: target_{label} has length {len(value)}, expected {dim}")
        for label, gain in (("kp", self._gains.kp), ("kd", self._gains.kd)):
            if isinstance(gain, np.ndarray) and len(gain) != dim:
                raise InputError(f"task {self._name!r}: gains.{label} has length {len(gain)}, expected {dim}")
        self._sizes = sizes

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r})"


def _turned(kinematics: Kinematics, acceleration: Array | None, R: Array) -> tuple[Kinematics, Array | None]:
    """Vectors in the axes R of a frame; rows are accelerations, so that turning them at this tick adds no term."""

    def turn(rows: Array) -> Array:
        return np.concatenate([R.T.dot(rows[start : start + 3]) for start in range(0, len(rows), 3)])

    k = kinematics
    turned = Kinematics(turn(k.error), turn(k.velocity_error), turn(k.J), turn(k.Jdot_v))
    return turned, None if acceleration is None else turn(acceleration)
