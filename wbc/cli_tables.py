"""Tables that the command line prints."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from wbc import robots, scenarios, solvers
from wbc.hierarchy.gauss_coordinates import METRICS
from wbc.scenarios import Outcome
from wbc.scenarios.measures import MM, MRAD
from wbc.simulation import Recording


def print_names(console: Console) -> None:
    """Scenarios with a line each, then robots, solvers and metrics."""
    table = Table("scenario", "what happens", box=None, pad_edge=False, header_style="bold")
    for name in scenarios.names():
        table.add_row(name, scenarios.line(name))
    console.print(table)
    console.print()
    for what, names in (
        ("robots", (*robots.names(), "chainN")),
        ("solvers", solvers.installed()),
        ("metrics", METRICS),
    ):
        console.print(f"[bold]{what}[/]: {', '.join(names)}", soft_wrap=True)


def print_outcome(outcome: Outcome, console: Console) -> None:
    """A row for each run, then what the scenario promises."""
    console.print(_runs(outcome))
    if any(value is not None for _, value in outcome.measured):
        table = Table("promise", "at most", "measured", box=None, pad_edge=False, header_style="bold")
        for bound, value in outcome.measured:
            if value is None:
                table.add_row(bound.what, _with_unit(bound.most, bound.unit), "[dim]run too short to say[/]")
                continue
            color = "green" if value <= bound.most else "bold red"
            table.add_row(bound.what, _with_unit(bound.most, bound.unit), f"[{color}]{_number(value)}[/]")
        console.print(table)


def _runs(outcome: Outcome) -> Table:
    task = outcome.scenario.hand
    table = Table(header_style="bold", pad_edge=False)
    table.add_column("run", overflow="fold")
    for head in (
        "position RMS\n/ max [mm]", "orientation\nRMS [mrad]", "torque\n/ limit", "ticks\nover", "speed\n/ limit",
        "tick p50 / p95 / p99 / max\n[us]", "status",
    ):  # fmt: skip
        table.add_column(head, justify="right")
    for run in outcome.runs:
        rec = outcome.recordings[run.name]
        ratio = outcome.torque_ratio(run.name).max(axis=1)
        position, turn = _errors(rec, task)
        ticks = rec.summary()["tick_us"]
        table.add_row(
            run.title,
            position,
            turn,
            f"{ratio.max():.3f}",
            str(int((ratio > 1.0 + 1e-9).sum())),
            f"{rec.speed_ratio.max():.3f}" if rec.speed_ratio.size else "-",
            " / ".join(f"{ticks[k]:.0f}" for k in ("p50", "p95", "p99", "max")),
            _status(rec),
        )
    return table


def _errors(rec: Recording, task: str) -> tuple[str, str]:
    error: Any = rec.error.get(task)
    if error is None:
        return "-", "-"
    size = np.linalg.norm(error[:, :3], axis=1)
    position = f"{MM * np.sqrt(np.mean(size**2)):.3f} / {MM * size.max():.3f}"
    if error.shape[1] < 6:
        return position, "-"
    turn = np.linalg.norm(error[:, 3:], axis=1)
    return position, f"{MRAD * np.sqrt(np.mean(turn**2)):.3f}"


def _status(rec: Recording) -> str:
    counts = {name: count for name, count in rec.summary()["status"].items() if count}
    if set(counts) == {"OPTIMAL"}:
        return "OPTIMAL"
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _with_unit(value: float, unit: str) -> str:
    return f"{_number(value)} {unit}".rstrip()


def _number(value: float) -> str:
    return f"{value:.3g}"
