"""Robot: a pinocchio model with its actuation, limits, home configuration and named frames."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from wbc import checks
from wbc.axle import Axle
from wbc.checks import Array
from wbc.description import Description, read_urdf
from wbc.errors import InputError, RobotError, RobotWarning
from wbc.foot import Foot
from wbc.joints import JointOrder, by_axis, joint_names_of, without_motors
from wbc.limits import Limits, ZeroLimits, limits_of, override
from wbc.loading import home_of, lock_joints, refuse_singular_mass_matrix, set_armature

if TYPE_CHECKING:
    from wbc.contact import Contact

ROOTS = ("fixed", "free", "planar")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Robot:
    """A robot as the controller sees it: ``M(q) v̇ + h(q, v) = Sᵀ τ + Jcᵀ f`` with limits and a home.

    Make one with :func:`wbc.robots.load`, :meth:`from_urdf`, :meth:`from_mjcf` or :meth:`from_pinocchio`.

    Attributes:
        name: what the robot is called in messages.
        model: the pinocchio model; not to be changed once the robot exists.
        home: configuration (nq,) that the robot starts from.
        actuated: indices (nu,) of the actuated coordinates of ``v``.
        joint_names: names (nu,) of the actuated coordinates, the order of every torque.
        torque_limits: (nu,) [N m, N], inf where there is none.
        position_limits: lower and upper (2, nv) [rad, m], ∓inf where there is none.
        velocity_limits: (nv,) [rad/s, m/s], inf where there is none.
        description: the text and mesh folders that the model came from; ``None`` for a bare pinocchio model.
        warnings: what was mended or ignored while loading, one sentence each.
        velocity_names: names (nv,) of all coordinates of ``v``.
        footing: where it stands; see :meth:`foot` and :meth:`contact`.
        axles: of wheels that are no joints here but do not slide sideways; :meth:`contact` makes one's contact.
    """

    name: str
    model: Any
    home: Array
    actuated: NDArray[np.intp]
    joint_names: tuple[str, ...]
    torque_limits: Array
    position_limits: Array
    velocity_limits: Array
    description: Description | None = None
    warnings: tuple[str, ...] = ()
    velocity_names: tuple[str, ...] = field(default=())
    footing: tuple[Foot, ...] = ()
    axles: tuple[Axle, ...] = ()

    def __post_init__(self) -> None:
        for name in ("home", "actuated", "torque_limits", "position_limits", "velocity_limits"):
            value = np.array(getattr(self, name))
            value.flags.writeable = False  # a robot is handed to many, and none may change it for the others
            object.__setattr__(self, name, value)

    @property
    def nq(self) -> int:
        """Length of a configuration."""
        return int(self.model.nq)

    @property
    def nv(self) -> int:
        """Length of a velocity."""
        return int(self.model.nv)

    @property
    def nu(self) -> int:
        """Number of actuated coordinates."""
        return len(self.joint_names)

    @property
    def mass(self) -> float:
        """Mass of everything that moves [kg]."""
        return float(sum(inertia.mass for inertia in list(self.model.inertias)[1:]))

    @property
    def weight(self) -> float:
        """Weight of everything that moves [N]."""
        return self.mass * float(np.linalg.norm(self.model.gravity.linear))

    @property
    def feet(self) -> tuple[str, ...]:
        """Names of the feet that the robot's file defines; :meth:`contact` makes one's contact."""
        return tuple(foot.name for foot in self.footing)

    @classmethod
    def from_urdf(
        cls,
        path_or_text: str | Path,
        *,
        root: str = "fixed",
        package_dirs: Sequence[str | Path] = (),
        lock: Iterable[str] | Mapping[str, float] = (),
        home: Any = None,
        name: str | None = None,
        torque_limits: Mapping[str, float] | None = None,
        velocity_limits: Mapping[str, Any] | None = None,
        armature: Mapping[str, float] | float | None = None,
        zero_limits: ZeroLimits = "unlimited",
        passive: Iterable[str] = (),
    ) -> Robot:
        """Read a robot from a URDF file or from the text of one; meshes are not needed and not looked for.

        Args:
            path_or_text: path of the file, or its text.
            root: ``"fixed"``, ``"free"`` (free-flyer) or ``"planar"`` (x, y, yaw).
            package_dirs: folders in which ``package://`` addresses of meshes are looked up when a picture is drawn.
            lock: joints that shall not move: names (locked at home), or name -> position [rad, m].
            home: configuration (nq,), or joint name -> position; where silent, zero moved inside the limits.
            name: name for messages; the description's own name where silent.
            torque_limits: joint name -> limit [N m, N] that replaces the description's.
            velocity_limits: joint name -> limit [rad/s, m/s] that replaces the description's; for the joint of a base,
                such as ``"root_joint"``, a pair (linear, angular) for its twist in its own axes.
            armature: joint name -> reflected rotor inertia [kg m²] (or one number for all joints). It replaces
                whatever the model has, so that saying it twice adds it once.
            zero_limits: what an effort or velocity of 0 means: ``"unlimited"`` (a placeholder, with a warning),
                ``"zero"`` (a joint that may not push) or ``"error"``.
            passive: names of coordinates without a motor, such as ``"root_joint_y"``: they move, but have no torque.

        Raises:
            RobotError: the text is no URDF, or the mass matrix is singular (a moving link without inertia).
            UnknownNameError: a joint that does not exist.
        """
        checks.choice(root, ROOTS, "root")
        model, description, notes = read_urdf(path_or_text, root=root, package_dirs=package_dirs)
        locked = _locked(lock)
        if locked:
            model = lock_joints(model, locked, home, name or model.name)
            notes = [note for note in notes if not any(f"joint {joint!r} mimics" in note for joint in locked)]
            home = {k: v for k, v in home.items() if k not in locked} if isinstance(home, Mapping) else home
        return cls.from_pinocchio(
            model,
            home=home,
            name=name,
            torque_limits=torque_limits,
            velocity_limits=velocity_limits,
            armature=armature,
            zero_limits=zero_limits,
            passive=passive,
            description=description,
            notes=notes,
        )

    @classmethod
    def from_mjcf(
        cls,
        path_or_text: str | Path,
        *,
        lock: Iterable[str] | Mapping[str, float] = (),
        home: Any = None,
        name: str | None = None,
        torque_limits: Mapping[str, float] | None = None,
        velocity_limits: Mapping[str, Any] | None = None,
        armature: Mapping[str, float] | float | None = None,
    ) -> Robot:
        """Read a robot from an MJCF file or from the text of one, as MuJoCo compiles it.

        Inertia, armature, damping, dry friction, position limits, motors with gear and range, sites (as frames) and the
        keyframe ``home`` are carried over. A joint without a motor is an unactuated coordinate. A torque is the torque
        at the joint, whatever the gear; :class:`wbc.simulation.motors.Motors` makes MuJoCo's controls of it.

        Args:
            path_or_text: path of the file, or its text.
            lock: joints that shall not move: names (locked at home), or name -> position [rad, m].
            home: configuration (nq,), or joint name -> position; where silent, the keyframe ``home``, else ``qpos0``.
            name, torque_limits, velocity_limits, armature: as in :meth:`from_urdf`. MJCF has no velocity limits.

        Raises:
            NotInstalledError: MuJoCo is not installed.
            RobotError: MuJoCo refuses the file, or it closes a loop.
            UnknownNameError: a joint that does not exist.
        """
        from wbc.mjcf_reading import read_mjcf  # the simulation package imports this file

        read = read_mjcf(path_or_text)
        locked = _locked(lock)
        if isinstance(home, Mapping):
            read.place({joint: position for joint, position in home.items() if locked.get(joint) is None})
        if locked:
            read.lock(locked)
        return cls.from_pinocchio(
            read.model,
            home=read.home if home is None or isinstance(home, Mapping) else home,
            name=name or read.name,
            torque_limits=read.torque | checks.by_joint(torque_limits, "torque_limits"),
            velocity_limits=velocity_limits,
            armature=armature,
            actuated=read.torque,
            notes=read.notes,
        )

    @classmethod
    def from_pinocchio(
        cls,
        model: Any,
        *,
        home: Any = None,
        name: str | None = None,
        torque_limits: Mapping[str, float] | None = None,
        velocity_limits: Mapping[str, Any] | None = None,
        armature: Mapping[str, float] | float | None = None,
        zero_limits: ZeroLimits = "unlimited",
        actuated: Iterable[str] | None = None,
        passive: Iterable[str] = (),
        description: Description | None = None,
        notes: Sequence[str] = (),
    ) -> Robot:
        """Make a robot of a pinocchio model (copied); arguments and errors as in :meth:`from_urdf`.

        Args:
            actuated: names of the coordinates that have motors; all but a free-flyer's where silent.
            passive: names of coordinates that have none after all.
        """
        model = pin.Model(model)
        label = name or model.name or "robot"
        velocity_names, with_motors = joint_names_of(model)
        if actuated is not None:
            with_motors = sorted(
                velocity_names.index(checks.choice(joint, velocity_names, "joint", f"robot {label!r}"))
                for joint in set(actuated)
            )
        with_motors, motorless = without_motors(with_motors, velocity_names, passive, label)
        joint_names = tuple(velocity_names[i] for i in with_motors)
        velocity_limits = by_axis(model, checks.by_joint(velocity_limits, "velocity_limits"))
        notes = [*notes, *set_armature(model, armature, label)]
        limits: Limits = limits_of(
            model,
            velocity_names,
            with_motors,
            zero_limits,
            motorless | checks.by_joint(torque_limits, "torque_limits"),
            velocity_limits or {},
        )
        torque = override(limits.torque[with_motors], joint_names, torque_limits, "torque_limits", label)
        velocity = override(limits.velocity, velocity_names, velocity_limits, "velocity_limits", label)
        robot = cls(
            name=label,
            model=model,
            home=home_of(model, home, limits.position, label),
            actuated=np.asarray(with_motors, dtype=np.intp),
            joint_names=joint_names,
            torque_limits=torque,
            position_limits=limits.position,
            velocity_limits=velocity,
            description=description,
            warnings=(*notes, *limits.warnings),
            velocity_names=velocity_names,
        )
        refuse_singular_mass_matrix(model, robot.home, label)
        for warning in robot.warnings:
            warnings.warn(f"robot {label!r}: {warning}", RobotWarning, stacklevel=3)
        return robot

    def with_feet(self, *feet: Foot) -> Robot:
        """The same robot, standing on these feet.

        Raises:
            UnknownNameError: a foot's frame does not exist.
            RobotError: two feet have one name.
        """
        names = [foot.name for foot in feet]
        if len(set(names)) < len(names):
            raise RobotError(f"robot {self.name!r}: two feet have one name: {', '.join(names)}")
        for foot in feet:
            self.frame_id(foot.frame)
        return replace(self, footing=tuple(feet))

    def foot(self, name: str) -> Foot:
        """A foot by name: its frame, and the size of its sole or ball.

        Raises:
            UnknownNameError: there is no such foot; the message has close matches.
        """
        checks.choice(name, self.feet, "foot", f"robot {self.name!r}")
        return next(foot for foot in self.footing if foot.name == name)

    def with_axles(self, *axles: Axle) -> Robot:
        """The same robot, on wheels that do not slide along these axles.

        Raises:
            UnknownNameError: an axle's frame does not exist.
            RobotError: an axle's frame is not fixed to a planar base, or two axles have one name.
        """
        names = [axle.name for axle in axles]
        if len({*names, *self.feet}) < len(names) + len(self.feet):
            raise RobotError(f"robot {self.name!r}: two axles or feet have one name: {', '.join([*names, *self.feet])}")
        for axle in axles:
            axle.row(self.model, self.frame_id(axle.frame))
        return replace(self, axles=tuple(axles))

    def contact(self, name: str, **keywords: Any) -> Contact:
        """A new contact for a foot or an axle, such as ``robot.contact("left_foot", friction=0.6)``.

        Args:
            name: one of :attr:`feet` or an axle's, and the name of the contact.
            **keywords: as for the contact itself: friction, normal, min_force, max_force, gains; for axles gains.

        Raises:
            UnknownNameError: there is no such foot or axle; the message has close matches.
        """
        axles = {axle.name: axle for axle in self.axles}
        if axles:
            checks.choice(name, (*self.feet, *axles), "foot or axle", f"robot {self.name!r}")
        return axles[name].make(**keywords) if name in axles else self.foot(name).make(**keywords)

    def scaled(self, *, torque: float = 1.0, velocity: float = 1.0) -> Robot:
        """The same robot with its torque and velocity limits multiplied by positive factors."""
        checks.scalar(torque, "torque", lower=0.0)
        checks.scalar(velocity, "velocity", lower=0.0, strict=True)
        return replace(self, torque_limits=self.torque_limits * torque, velocity_limits=self.velocity_limits * velocity)

    def frame_id(self, frame: str) -> int:
        """Index of a frame by name; joint names are frames too.

        Raises:
            UnknownNameError: there is no such frame; the message has close matches.
        """
        frames = list(self.model.frames)
        checks.choice(frame, [f.name for f in frames if f.name != "universe"], "frame", f"robot {self.name!r}")
        # a URDF may give a joint and a link one name, and pinocchio then refuses the bare name: the link is meant
        same = [i for i, f in enumerate(frames) if f.name == frame]
        return next((i for i in same if frames[i].type == pin.FrameType.BODY), same[0])

    def order(self, names: Sequence[str]) -> JointOrder:
        """Translator between this robot's joint order and another one, such as a motor driver's.

        Raises:
            InputError: a name is missing, unknown or given twice; the message lists them.
        """
        return JointOrder.between(self.joint_names, names)

    def __repr__(self) -> str:
        return f"Robot({self.name!r}, nq={self.nq}, nv={self.nv}, nu={self.nu}, mass={self.mass:.3g} kg)"


def _locked(lock: Iterable[str] | Mapping[str, float]) -> dict[str, float | None]:
    if isinstance(lock, str):
        raise InputError(f"lock: expected a list of joint names, got the text {lock!r}; write lock=({lock!r},)")
    return dict(lock) if isinstance(lock, Mapping) else dict.fromkeys(lock)
