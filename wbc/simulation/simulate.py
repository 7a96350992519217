"""simulate: a controller and a physics, tick by tick, and what came of it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
import pinocchio as pin

from wbc import checks
from wbc.checks import Array
from wbc.errors import InputError
from wbc.robot import Robot
from wbc.simulation.falling import Falling
from wbc.simulation.pacing import WallClock
from wbc.simulation.physics import NO_WRENCHES, Physics, physics_by_name
from wbc.simulation.recorder import Recorder
from wbc.simulation.recording import Recording
from wbc.state import State

RUNAWAY = 1e4  # rad/s, m/s: no machine moves so fast, so that the run has blown up

Reference = Callable[[float, Any], Any]
Disturbance = Callable[[float], Mapping[str, Any]]


class Tickable(Protocol):
    """What a run needs of a controller; :class:`wbc.Controller` has it, and so may a wrapper around one.

    Used where they exist as well: ``stack`` (handed to ``reference``), ``errors()`` and ``reset()``.
    """

    @property
    def robot(self) -> Robot:
        """The robot that the torques are for."""

    @property
    def dt(self) -> float:
        """The control period [s]; the run has no other."""

    def tick(self, state: State) -> Any:
        """A command with ``torque`` (nu,), and ``report`` and ``wrenches`` where there are any."""


def simulate(
    controller: Tickable,
    duration: float,
    *,
    physics: str | Physics = "mujoco",
    substeps: int = 4,
    start: State | None = None,
    reference: Reference | None = None,
    disturbance: Disturbance | None = None,
    progress: bool = True,
    realtime: bool = False,
    scenario: str = "",
) -> Recording:
    """Let a controller drive a robot for a while.

    The period is ``controller.dt``. The controller is reset first, so that two runs from one start are equal. Where it
    leaves gravity to the robot's firmware (``gravity="excluded"``), the run plays the firmware and adds g(q).
    A run ends early, with ``finished`` False and a ``reason``, when a number in state or torque is not finite or
    a joint moves faster than 1e4 rad/s, or when a robot with feet has fallen: its base below half of its height at the
    start, or tilted by more than 60°.

    Args:
        controller: anything with ``robot``, ``dt`` and ``tick(state)``.
        duration: how long [s].
        physics: ``"mujoco"``, ``"pinocchio"``, or a physics that you made and that may know more (friction, stops,
            another mass than the controller believes in).
        substeps: physics steps in a tick; of no effect on a physics that you made.
        start: where the robot starts; at home and at rest if None.
        reference: called as ``reference(t, stack)`` before each tick, to move targets.
        disturbance: called as ``disturbance(t)`` before each tick; returns frame -> wrench (6,) [N, N m] that pushes
            on the robot during the tick, world axes, at the frame's origin.
        progress: show a progress bar.
        realtime: pace the run by the wall clock; ticks that came late are counted in ``overruns``, how late each began
            is in ``late_us``. :func:`wbc.realtime` keeps the loop on time.
        scenario: a name for the recording.

    Raises:
        InputError: a duration below one period, a start that is none of this robot's, a wrench of a wrong length.
        UnknownNameError: a physics or a frame that does not exist.
        NotInstalledError: MuJoCo is not installed.
    """
    if not hasattr(controller, "tick"):
        raise InputError(f"controller: expected a Controller, got {controller!r}")
    for argument, function in (("reference", reference), ("disturbance", disturbance)):
        if function is not None and not callable(function):
            raise InputError(f"{argument}: expected a function of time, got {function!r}")
    if start is not None and not isinstance(start, State):
        raise InputError(f"start: expected State(q, v), got {type(start).__name__}")
    robot, dt = controller.robot, checks.scalar(controller.dt, "controller.dt", lower=0.0, strict=True)
    ticks = round(checks.scalar(duration, "duration", lower=0.0, strict=True) / dt)
    if ticks < 1:
        raise InputError(f"duration is {duration:g} s, expected at least one control period of {dt:g} s")
    checks.flag(progress, "progress"), checks.flag(realtime, "realtime")
    world = physics_by_name(physics, robot, substeps) if isinstance(physics, str) else physics
    start = State(robot.home, np.zeros(robot.nv)) if start is None else start
    world.reset(start)
    falling = Falling(robot, start)
    if hasattr(controller, "reset"):
        controller.reset()
    stack = getattr(controller, "stack", None)
    errors: Callable[[], Mapping[str, Array]] = getattr(controller, "errors", dict)

    recorder, reason = Recorder(robot, ticks, dt), ""
    clock = WallClock(dt) if realtime else None
    firmware = _gravity(robot) if getattr(controller, "gravity", "included") == "excluded" else None
    with _bar(scenario or robot.name, ticks, progress) as advance:
        for i in range(ticks):
            t = i * dt
            try:
                state = world.state
            except InputError as error:
                reason = f"the state is not finite any more at {t:.3f} s: {error}"
                break
            if (speed := float(np.abs(state.v).max(initial=0.0))) > RUNAWAY:
                reason = f"the robot blew up: a joint moves at {speed:.3g} rad/s or m/s at {t:.3f} s"
                break
            if fallen := falling.reason(state):
                reason = f"{fallen} at {t:.3f} s"
                break
            if reference is not None:
                reference(t, stack)
            push = disturbance(t) if disturbance is not None else NO_WRENCHES
            if not isinstance(push, Mapping):
                raise InputError(f"disturbance({t:g}) is {push!r}, expected {{frame: wrench (6,)}}; {{}} for no push")
            begin = time.perf_counter()
            command = controller.tick(state)
            tick_us = 1e6 * (time.perf_counter() - begin)
            torque = command.torque if firmware is None else command.torque + firmware(state)
            recorder.add(state, torque, command, errors(), tick_us)
            if not math.isfinite(float(np.sum(torque))):
                reason = f"the controller returned a torque that is not finite at {t:.3f} s"
                break
            world.step(torque, dt, push)
            recorder.add_measured(world.measured_wrenches())
            advance()
            if clock is not None:
                clock.wait()
    return recorder.finish(scenario=scenario, finished=not reason, reason=reason, clock=clock)


def _gravity(robot: Robot) -> Callable[[State], Array]:
    """What a robot's own firmware adds to every torque: g(q) of the actuated coordinates."""
    data = robot.model.createData()
    return lambda state: np.array(pin.computeGeneralizedGravity(robot.model, data, state.q))[robot.actuated]


@contextmanager
def _bar(label: str, ticks: int, show: bool) -> Iterator[Callable[[], None]]:
    """A function to call after each tick; it draws a progress bar where one is wanted."""
    if not show:
        yield lambda: None
        return
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    stride, done = max(1, ticks // 200), 0
    with Progress(*columns) as bar:
        task = bar.add_task(label, total=ticks)

        def advance() -> None:
            nonlocal done
            done += 1
            if done % stride == 0 or done == ticks:  # an update costs 20 us, a tick 100
                bar.update(task, completed=done)

        yield advance
