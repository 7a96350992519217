"""Whole-body control: one stack of tasks, solved in closed form, as a QP and as a strict hierarchy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wbc import gauss, osc
from wbc.controller import Command, Controller
from wbc.errors import WbcError
from wbc.realtime import realtime
from wbc.report import Report, Status
from wbc.robot import Robot
from wbc.rows import Gains, Kinematics, Rows
from wbc.stack import Stack
from wbc.state import State
from wbc.task import MotionTask
from wbc.terms import Terms

if TYPE_CHECKING:
    from wbc.simulation import Recording, simulate

__version__ = "0.1.0"

__all__ = [
    "Command",
    "Controller",
    "Gains",
    "Kinematics",
    "MotionTask",
    "Recording",
    "Report",
    "Robot",
    "Rows",
    "Stack",
    "State",
    "Status",
    "Terms",
    "WbcError",
    "gauss",
    "osc",
    "realtime",
    "simulate",
]


def __getattr__(name: str) -> Any:
    # what needs MuJoCo or matplotlib is loaded when it is first asked for
    if name in ("simulate", "Recording"):
        from wbc import simulation

        return getattr(simulation, name)
    raise AttributeError(f"module 'wbc' has no attribute {name!r}")
