"""What a scenario is: a robot, controllers for it, one motion for all of them, and the bounds it states for itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from wbc.controller import Controller
from wbc.robot import Robot
from wbc.simulation import Recording
from wbc.simulation.simulate import Disturbance, Tickable
from wbc.stack import Stack
from wbc.state import State

Recordings = Mapping[str, Recording]


@dataclass(frozen=True, slots=True)
class Choice:
    """What a user may choose in any scenario; an empty ``method`` or ``metric`` leaves the scenario's own.

    Attributes:
        method: ``"auto"``, ``"closed_form"``, ``"qp"`` or empty.
        solver: name of a solver.
        metric: ``"inertia"``, ``"identity"``, ``"inertia_squared"`` or empty.
    """

    method: str = ""
    solver: str = "daqp"
    metric: str = ""

    def controller(self, robot: Robot, stack: Stack, *, method: Any = "auto", dt: float = 0.001) -> Controller:
        """A controller of the user's choice; ``method`` is the scenario's own, where the user has none."""
        chosen: Any = self.method or method  # a text that the controller checks
        return Controller(robot, stack, dt=dt, method=chosen, solver=self.solver, metric=self.metric or "inertia")


@dataclass(frozen=True, slots=True)
class Run:
    """One controller that is sent along the scenario's motion.

    Attributes:
        name: short, the key of its recording and part of file names.
        title: what a table calls it.
        controller: makes a new controller.
        law: makes the controller whose torque, before any clipping, is judged against the limits; ``None`` where that
            is the recorded torque itself.
    """

    name: str
    title: str
    controller: Callable[[], Tickable]
    law: Callable[[], Tickable] | None = None


@dataclass(frozen=True, slots=True)
class Bound:
    """A number that a scenario promises to stay at or below.

    Attributes:
        what: in words.
        most: the largest value that is still good.
        unit: of both, may be empty.
        measure: recordings by run -> value, or ``None`` where the run was too short to say.
        runs: names of the runs that it speaks of; without one of them the bound is not looked at.
    """

    what: str
    most: float
    unit: str
    measure: Callable[[Recordings], float | None]
    runs: tuple[str, ...] = ("stack",)


@dataclass(frozen=True, slots=True, eq=False)
class Scenario:
    """A ready-made scene.

    Attributes:
        name, line: as in the table of names.
        robot: the robot with its own limits.
        start: where it starts.
        move: ``move(t, stack)`` sets the targets of a time [s].
        plan: the runs for a user's choice; the one named ``main`` stands for the scenario.
        bounds: what the scenario promises.
        duration: of a whole run [s].
        dt: control period [s].
        substeps: physics steps in a tick.
        hand: the motion task whose error the tables show.
        frame: the frame whose path is drawn.
        disturbance: ``disturbance(t)`` pushes on frames, as in :func:`wbc.simulate`.
    """

    name: str
    line: str
    robot: Robot
    start: State
    move: Callable[[float, Any], None]
    plan: Callable[[Choice], tuple[Run, ...]]
    bounds: tuple[Bound, ...]
    frame: str
    duration: float
    dt: float = 0.001
    substeps: int = 4
    hand: str = "hand"
    main: str = "stack"
    disturbance: Disturbance | None = None
