"""play: a scenario's runs one after the other, and whether it kept what it promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wbc.checks import Array
from wbc.scenarios import measures
from wbc.scenarios.scenario import Bound, Choice, Run, Scenario
from wbc.simulation import Recording, simulate
from wbc.simulation.simulate import Tickable
from wbc.state import State


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What came of a scenario.

    Attributes:
        scenario: which one.
        runs: those that were made.
        recordings: run name -> recording.
        asked: run name -> torques (T, nu) [N m] that a law asked for before they were clipped.
        measured: (bound, value); ``None`` where the run was too short to say.
    """

    scenario: Scenario
    runs: tuple[Run, ...]
    recordings: dict[str, Recording]
    asked: dict[str, Array]
    measured: tuple[tuple[Bound, float | None], ...]

    @property
    def main(self) -> Recording:
        """The recording that stands for the scenario."""
        return self.recordings.get(self.scenario.main) or next(iter(self.recordings.values()))

    @property
    def failures(self) -> tuple[str, ...]:
        """Why the run failed, one sentence each; empty where it did not."""
        found = [f"{name}: {rec.reason}" for name, rec in self.recordings.items() if not rec.finished]
        for name, rec in self.recordings.items():
            if fallbacks := int((rec.status == "FALLBACK").sum()):
                first = rec.time[rec.status == "FALLBACK"][0]
                found.append(f"{name}: {fallbacks} FALLBACK ticks, the first at {first:.3f} s")
        for bound, value in self.measured:
            if value is not None and not value <= bound.most:
                found.append(f"{bound.what}: {value:.4g} {bound.unit}".rstrip() + f", promised at most {bound.most:g}")
        return tuple(found)

    def summary(self) -> dict[str, Any]:
        """The main run in a few numbers, with every run, the bounds and the failures; ready for JSON."""
        return self.main.summary() | {
            "bounds": [
                {"what": b.what, "unit": b.unit, "most": b.most, "value": v, "met": None if v is None else v <= b.most}
                for b, v in self.measured
            ],
            "failures": list(self.failures),
            "runs": {n: rec.summary() | self._hand(rec) | self._asked(n) for n, rec in self.recordings.items()},
        }

    def torque_ratio(self, name: str) -> Array:
        """(T, nu) |torque| over its limit in a run, as asked for where the run clips."""
        rec = self.recordings[name]
        return np.abs(self.asked.get(name, rec.torque)) / rec.torque_limits

    def _hand(self, rec: Recording) -> dict[str, Any]:
        """Position and orientation apart, which one norm of a pose error mixes."""
        task = self.scenario.hand
        if task not in rec.error or rec.error[task].shape[1] != 6:
            return {}
        position, turn = measures.norms(rec, task, slice(0, 3)), measures.norms(rec, task, slice(3, 6))
        return {
            "position_mm": {"rms": measures.MM * measures.rms(position), "max": measures.MM * float(position.max())},
            "orientation_mrad": {"rms": measures.MRAD * measures.rms(turn), "max": measures.MRAD * float(turn.max())},
        }

    def _asked(self, name: str) -> dict[str, Any]:
        if name not in self.asked:
            return {}
        ratio = self.torque_ratio(name).max(axis=1)
        return {"asked_torque_ratio_max": float(ratio.max()), "asked_violations": int((ratio > 1.0 + 1e-9).sum())}


def play(
    scenario: Scenario,
    choice: Choice = Choice(),  # noqa: B008  (a frozen value)
    *,
    duration: float | None = None,
    physics: str = "mujoco",
    progress: bool = True,
    realtime: bool = False,
) -> Outcome:
    """Run a scenario.

    Args:
        scenario: which one.
        choice: method, solver and metric.
        duration: of each run [s]; the scenario's own where left out.
        physics: ``"mujoco"`` or ``"pinocchio"``.
        progress: show a progress bar for each run.
        realtime: pace the runs by the wall clock.

    Raises:
        WbcError: a duration, physics, method, solver or metric that cannot be meant or is not installed.
    """
    runs = scenario.plan(choice)
    controllers = [run.controller() for run in runs]  # all of them first: a wrong choice is refused before any run
    recordings, asked = {}, {}
    for run, controller in zip(runs, controllers, strict=True):
        several = len(runs) > 1
        recording = simulate(
            controller,
            scenario.duration if duration is None else duration,
            physics=physics,
            substeps=scenario.substeps,
            start=scenario.start,
            reference=scenario.move,
            disturbance=scenario.disturbance,
            progress=progress,
            realtime=realtime,
            scenario=f"{scenario.name}: {run.title}" if several else scenario.name,
        )
        # a controller may keep a reserve below the robot's own speed limits, which are what a run is judged by
        limits = scenario.robot.velocity_limits
        recordings[run.name] = replace(recording, scenario=scenario.name, velocity_limits=limits)
        if run.law is not None:
            asked[run.name] = torques(run.law(), scenario.move, recording)
    spoken_of = [bound for bound in scenario.bounds if set(bound.runs) <= set(recordings)]
    values = [bound.measure(recordings) for bound in spoken_of]
    measured = tuple((b, None if v is None else float(v)) for b, v in zip(spoken_of, values, strict=True))
    return Outcome(scenario, runs, recordings, asked, measured)


def torques(controller: Tickable, move: Callable[[float, Any], None], recording: Recording) -> Array:
    """(T, nu) the torque of a controller at every state of a recording, on the same reference."""
    stack = getattr(controller, "stack", None)
    result = np.empty_like(recording.torque)
    for i, (t, q, v) in enumerate(zip(recording.time, recording.q, recording.v, strict=True)):
        move(float(t), stack)
        result[i] = controller.tick(State(q, v)).torque
    return result
