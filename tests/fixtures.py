"""The robots and states that field reports speak of: small, known to the last digit, and full of traps of their own."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
import pinocchio as pin

from wbc import Robot, State
from wbc.errors import RobotWarning
from wbc.robots import load

TOOL = "effector_body"  # the last frame of R6
S_A = State([0.3, -0.4, 0.5, 0.6, -0.7, 0.8], [1.0, -2.0, 1.5, 0.5, -1.0, 2.0])
UP = State(np.zeros(6), np.zeros(6))  # R6 straight up: the task Jacobian has rank 5


def quiet(make: Any, *args: Any, **arguments: Any) -> Robot:
    """Make a robot without the warnings that other tests look at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)
        robot: Robot = make(*args, **arguments)
        return robot


@functools.cache
def r6(torque: float | None = None) -> Robot:
    """R6: pinocchio's sample arm; limits ±3.14 rad, 10 rad/s, and 10 N m unless told otherwise."""
    model = pin.buildSampleModelManipulator()
    limits = None if torque is None else dict.fromkeys(list(model.names)[1:], torque)
    return quiet(Robot.from_pinocchio, model, name="R6", torque_limits=limits)


def pendulum() -> Robot:
    """The double pendulum of the package."""
    return load("double_pendulum")


LINK = (
    '<link name="{name}"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>'
    '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>'
)
JOINT = (
    '<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
    '<origin xyz="{x} 0 0"/><axis xyz="{axis}"/>{limit}</joint>'
)


def link(name: str) -> str:
    """A rod along x: 1 kg at x = 0.5 m, 0.01 kg m² of its own."""
    return LINK.format(name=name)


def joint(
    name: str, parent: str, child: str, limit: str, *, kind: str = "revolute", x: float = 0.0, axis: str = "0 1 0"
) -> str:
    """A joint at ``x`` of its parent."""
    return JOINT.format(name=name, parent=parent, child=child, limit=limit, kind=kind, x=x, axis=axis)


@functools.cache
def p1(effort: float = 20.0, iyy: float = 0.01) -> Robot:
    """P1: one link about y, M = 0.26, −4.905 N m at q = 0, limits ±0.5 rad, 2 rad/s; P1w has an effort of 1 N m."""
    limit = f'<limit lower="-0.5" upper="0.5" effort="{effort}" velocity="2"/>'
    text = f'<robot name="P1"><link name="base"/>{link("l")}{joint("j", "base", "l", limit)}</robot>'
    return quiet(Robot.from_urdf, text.replace('iyy="0.01"', f'iyy="{iyy}"'))


def c2_text(second: str = '<limit lower="-1" upper="1" effort="10" velocity="3"/>') -> str:
    """C2: j1 continuous and without a limit tag, j2 revolute ±1 rad; nq = 3, nv = 2."""
    return (
        f'<robot name="C2"><link name="base"/>{link("l1")}{link("l2")}'
        f"{joint('j1', 'base', 'l1', '', kind='continuous')}{joint('j2', 'l1', 'l2', second, x=1.0)}</robot>"
    )


@functools.cache
def c2() -> Robot:
    """C2 with 10 N m and 3 rad/s at joint 2."""
    return quiet(Robot.from_urdf, c2_text())


def c2_state(angle: float, second: float, v: Any = (0.0, 0.0)) -> State:
    """A state of C2: joint 1 at an angle, joint 2 at a position."""
    return State([np.cos(angle), np.sin(angle), second], v)


@functools.cache
def slider() -> Robot:
    """One prismatic joint along z, ±5 m."""
    limit = '<limit lower="-5" upper="5" effort="1e2" velocity="9"/>'
    rail = joint("rail", "base", "cart", limit, kind="prismatic", axis="0 0 1")
    return quiet(Robot.from_urdf, f'<robot name="slider"><link name="base"/>{link("cart")}{rail}</robot>')


@functools.cache
def planar_arm() -> Robot:
    """Three links of 1 m in a vertical plane, joint 2 free only between −0.5 and 0.5 rad."""
    wide, narrow = (f'<limit lower="-{a}" upper="{a}" effort="500" velocity="5"/>' for a in (3, 0.5))
    return quiet(
        Robot.from_urdf,
        f'<robot name="planar"><link name="base"/>{link("l1")}{link("l2")}{link("l3")}<link name="tip"/>'
        f"{joint('j1', 'base', 'l1', wide)}{joint('j2', 'l1', 'l2', narrow, x=1.0)}"
        f"{joint('j3', 'l2', 'l3', wide, x=1.0)}{joint('tip_joint', 'l3', 'tip', '', kind='fixed', x=1.0)}</robot>",
    )


def advance(robot: Robot, state: State, acceleration: Any, dt: float) -> State:
    """One semi-implicit Euler step of a given acceleration."""
    v = state.v + dt * np.asarray(acceleration)
    return State(pin.integrate(robot.model, state.q, dt * v), v)


def forward(robot: Robot, state: State, torque: Any, dt: float) -> State:
    """One semi-implicit Euler step of the exact model under a torque."""
    vdot = pin.aba(robot.model, _data(robot), state.q, state.v, np.asarray(torque, dtype=float))
    return advance(robot, state, vdot, dt)


@functools.cache
def _data(robot: Robot) -> Any:
    """A robot's own workspace: making one costs more than a tick."""
    return robot.model.createData()
