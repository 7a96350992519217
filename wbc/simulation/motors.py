"""Torques for somebody else's MuJoCo model: actuators found by the joint they turn, gears and ranges minded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wbc import checks
from wbc.checks import Array
from wbc.errors import InputError


@dataclass(frozen=True, slots=True)
class Motor:
    """One actuator of a simulator.

    Attributes:
        joint: name of the joint that it turns.
        gear: torque at the joint for a control of one.
        lower, upper: range of its control; ∓inf where it has none.
        kind: ``"motor"`` for a plain torque motor; anything else is refused.
    """

    joint: str
    gear: float = 1.0
    lower: float = -np.inf
    upper: float = np.inf
    kind: str = "motor"


class Motors:
    """Translator of a torque (nu,) in the robot's joint order to a simulator's controls.

    Args:
        joint_names: the robot's joints, in the order of every torque (``robot.joint_names``).
        motors: the simulator's actuators, in its own order.

    Raises:
        InputError: a joint without a motor or with two, a motor of an unknown joint, a gear of zero, or an actuator
            that is no torque motor (a position servo would take a torque for an angle).
    """

    def __init__(self, joint_names: Sequence[str], motors: Sequence[Motor]) -> None:
        driven = [motor.joint for motor in motors]
        problems = [
            f"{what}: {', '.join(which)}"
            for what, which in (
                ("joints without a motor", [name for name in joint_names if name not in driven]),
                ("joints with several motors", sorted({name for name in driven if driven.count(name) > 1})),
                ("motors of unknown joints", [name for name in driven if name not in joint_names]),
                ("no plain torque motors", [f"{m.joint} ({m.kind})" for m in motors if m.kind != "motor"]),
                ("gears of zero", [m.joint for m in motors if m.gear == 0.0]),
            )
            if which
        ]
        if problems:
            raise InputError(f"the simulator's actuators do not fit the robot ({'; '.join(problems)})")
        self.joint_names = tuple(joint_names)
        self.motors = tuple(motors)
        self._from_joint = np.array([self.joint_names.index(name) for name in driven], dtype=np.intp)
        self._gear = np.array([motor.gear for motor in motors])
        self._lower = np.array([motor.lower for motor in motors])
        self._upper = np.array([motor.upper for motor in motors])

    def control(self, torque: Any) -> Array:
        """Controls in the simulator's order for a torque (nu,), unclipped: torque over gear."""
        return checks.vector(torque, "torque", len(self.joint_names))[self._from_joint] / self._gear

    def clipped(self, torque: Any) -> tuple[str, ...]:
        """Names of the joints whose motors would clip this torque at the end of their range."""
        control = self.control(torque)
        outside = (control < self._lower) | (control > self._upper)
        return tuple(self.motors[i].joint for i in np.flatnonzero(outside))

    def torque(self, control: Any) -> Array:
        """The torque (nu,) that controls of the simulator mean."""
        values = checks.vector(control, "control", len(self.motors)) * self._gear
        result = np.empty_like(values)
        result[self._from_joint] = values
        return result


def motors_of(mj_model: Any) -> list[Motor]:
    """The actuators of a MuJoCo model; those that are no plain torque motors say what they are."""
    motors = []
    for i in range(mj_model.nu):
        actuator = mj_model.actuator(i)
        on_joint = int(actuator.trntype[0]) == 0
        plain = (
            on_joint
            and int(actuator.dyntype[0]) == 0
            and int(actuator.gaintype[0]) == 0
            and int(actuator.biastype[0]) == 0
        )
        limited = bool(actuator.ctrllimited[0])
        motors.append(
            Motor(
                joint=mj_model.joint(int(actuator.trnid[0])).name if on_joint else actuator.name,
                gear=float(actuator.gear[0] * (actuator.gainprm[0] if plain else 1.0)),
                lower=float(actuator.ctrlrange[0]) if limited else -np.inf,
                upper=float(actuator.ctrlrange[1]) if limited else np.inf,
                kind="motor" if plain else "position or velocity servo" if on_joint else "not on a joint",
            )
        )
    return motors
