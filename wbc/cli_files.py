"""Files that the command line writes: recordings, plots, pictures and summaries."""

from __future__ import annotations

import json
import os
from pathlib import Path

from wbc.errors import InputError
from wbc.scenarios import Outcome, measures


def write(outcome: Outcome, what: str, path: Path) -> list[Path]:
    """Write one kind of result; a recording for each run where there are several, the main one under the given name."""
    if what == "summary":
        path.write_text(json.dumps(outcome.summary(), indent=2) + "\n")
        return [path]
    if what == "picture":
        from wbc.simulation.render import render

        scenario, rec = outcome.scenario, outcome.main
        trace = measures.path(scenario.robot, rec, scenario.frame, stride=max(1, len(rec.time) // 200))
        return [render(scenario.robot, rec.q[-1], path, trace=trace)]
    if what == "plot":
        from wbc.scenarios.comparing import plot

        return [plot(outcome, path) if len(outcome.recordings) > 1 else outcome.main.plot(path)]
    return [
        rec.save(path if rec is outcome.main else path.with_name(f"{path.stem}-{name}{path.suffix}"))
        for name, rec in outcome.recordings.items()
    ]


def writable(path: Path | None, option: str, *endings: str) -> None:
    """Refuse a file that cannot be written before a long run, not after it."""
    if path is None:
        return
    if endings and path.suffix.lower() not in endings:
        raise InputError(f"{option} is {str(path)!r}, expected a name that ends in {' or '.join(endings)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"{option}: {str(path)!r} cannot be written")
