"""How a tick was solved, besides its rows: what a saved tick needs so that it can be solved again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wbc.checks import Array


@dataclass(frozen=True, slots=True, eq=False)
class Circumstances:
    """What is the same at every tick of a controller.

    Attributes:
        robot: name of the robot.
        joint_names, velocity_names: (nu,) and (nv,), order of torques and of accelerations.
        nominal: names of the nominal tasks.
        dt: control period [s].
        method, solver: as the controller was told.
        metric: a name, or the matrix (nv, nv) that was given.
        sigma0: damping threshold [1/√kg].
    """

    robot: str
    joint_names: tuple[str, ...]
    velocity_names: tuple[str, ...]
    nominal: tuple[str, ...]
    dt: float
    method: Any
    solver: str
    metric: Any
    sigma0: float


@dataclass(slots=True, eq=False)  # frozen would cost every tick 0.6 us more
class Moment:
    """What a tick saw and sent, besides its rows.

    Attributes:
        q, v: the state, (nq,) and (nv,).
        torque: (nu,) what the motors give, gravity included.
        vdot: (nv,) what the torque gives.
        share: share of the reported solution in the command; less than 1 while a part is cross-faded.
        jumped: names of the parts that came or went at this tick at once, with ``over=0``; the torque may jump.
    """

    q: Array
    v: Array
    torque: Array
    vdot: Array
    share: float = 1.0
    jumped: tuple[str, ...] = ()
