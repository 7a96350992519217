"""Recorder: collects a run tick by tick and becomes a Recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wbc.checks import Array
from wbc.robot import Robot
from wbc.simulation.pacing import WallClock
from wbc.simulation.recording import Recording
from wbc.state import State


class Recorder:
    """Room for ``ticks`` ticks of a robot, filled from the front; parts appear when they are first seen."""

    def __init__(self, robot: Robot, ticks: int, dt: float) -> None:
        self._robot, self._dt, self._room = robot, dt, ticks
        self.ticks = 0
        self._q, self._v = np.empty((ticks, robot.nq)), np.empty((ticks, robot.nv))
        self._torque, self._tick_us = np.empty((ticks, robot.nu)), np.empty(ticks)
        self._status: list[str] = []
        self._error: dict[str, Array] = {}
        self._wrenches: dict[str, Array] = {}
        self._measured: dict[str, Array] = {}

    def add(
        self,
        state: State,
        torque: Array,
        command: Any,
        errors: Mapping[str, Array],
        tick_us: float,
    ) -> None:
        """One tick: the state given, the motors' torque, the command and the errors by name."""
        i = self.ticks
        self._q[i], self._v[i], self._torque[i], self._tick_us[i] = state.q, state.v, torque, tick_us
        report = getattr(command, "report", None)
        self._status.append(report.status.name if report is not None else "OPTIMAL")
        self._fill(self._error, errors, i)
        self._fill(self._wrenches, getattr(command, "wrenches", {}), i)
        self.ticks += 1

    def add_measured(self, wrenches: Mapping[str, Array]) -> None:
        """What the physics measured during the last tick added."""
        self._fill(self._measured, wrenches, self.ticks - 1)

    def finish(self, *, scenario: str, finished: bool, reason: str, clock: WallClock | None) -> Recording:
        """The recording of all ticks so far."""
        n = self.ticks
        return Recording(
            time=self._dt * np.arange(n, dtype=np.float64),
            q=self._q[:n].copy(),
            v=self._v[:n].copy(),
            torque=self._torque[:n].copy(),
            error={name: table[:n].copy() for name, table in self._error.items()},
            wrenches={name: table[:n].copy() for name, table in self._wrenches.items()},
            measured_wrenches={name: table[:n].copy() for name, table in self._measured.items()},
            status=np.array(self._status, dtype=np.str_),
            tick_us=self._tick_us[:n].copy(),
            dt=self._dt,
            joint_names=self._robot.joint_names,
            torque_limits=self._robot.torque_limits.copy(),
            velocity_names=self._robot.velocity_names,
            velocity_limits=self._robot.velocity_limits.copy(),
            robot=self._robot.name,
            scenario=scenario,
            finished=finished,
            reason=reason,
            overruns=clock.overruns if clock else 0,
            late_us=np.array(clock.late_us if clock else [], dtype=np.float64),
        )

    def _fill(self, tables: dict[str, Array], values: Mapping[str, Array], i: int) -> None:
        for name, value in values.items():
            if name not in tables:
                tables[name] = np.full((self._room, np.size(value)), np.nan)
            tables[name][i] = value
