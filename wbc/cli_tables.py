"""Tables that the command line prints."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wbc import robots, scenarios, solvers
from wbc.hierarchy.gauss_coordinates import METRICS
from wbc.scenarios import Outcome
from wbc.scenarios.measures import MM, MRAD, rms
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
    """What each run reached and what its ticks took, then what the scenario promises; 80 columns are enough."""
    console.print(_reached(outcome))
    console.print(_ticks(outcome))
    if not outcome.measured:
        return
    table = _table("promise", "at most", "reached")
    for bound, value in outcome.measured:
        reached = "[dim]run too short to say[/]" if value is None else _number(value)
        if value is not None:
            style = "green" if value <= bound.most else "bold red"
            reached = f"[{style}]{reached}[/]"
        table.add_row(bound.what, _with_unit(bound.most, bound.unit), reached)
    console.print(table)


def print_pace(outcome: Outcome, console: Console) -> None:
    """How well each run that the wall clock paced kept its period."""
    heads = ("period\n[us]", "late\nticks", "slow\nticks", "late by\np50 [us]", "p99", "max")
    table = _table("real time", *heads)
    for run in outcome.runs:
        rec = outcome.recordings[run.name]
        late = rec.summary()["late_us"]
        slow = str(int((rec.tick_us > 1e6 * rec.dt).sum()))
        numbers = ("-" if late[key] is None else f"{late[key]:.0f}" for key in ("p50", "p99", "max"))
        table.add_row(run.title, f"{1e6 * rec.dt:.0f}", f"{rec.overruns} of {len(rec.time)}", slow, *numbers)
    table.caption = (
        "late: a tick with its physics and recording had not ended when the next one was due; "
        "slow: the controller alone took longer than the period"
    )
    table.caption_justify = "left"
    console.print(table)


def _reached(outcome: Outcome) -> Table:
    heads = ("error\n[mm]", "max\n[mm]", "turn\n[mrad]", "torque\n/ limit", "ticks\nover", "speed\n/ limit")
    table = _table(f"RMS of {outcome.scenario.hand!r}", *heads)
    for run in outcome.runs:
        rec = outcome.recordings[run.name]
        ratio = outcome.torque_ratio(run.name).max(axis=1)
        speed = f"{rec.speed_ratio.max():.3f}" if rec.speed_ratio.size else "-"
        over = str(int((ratio > 1.0 + 1e-9).sum()))
        table.add_row(run.title, *_errors(rec, outcome.scenario.hand), f"{ratio.max():.3f}", over, speed)
    if outcome.asked:
        table.caption = "where torques are clipped: what the law asked for, before they were cut off"
        table.caption_justify = "left"
    return table


def _ticks(outcome: Outcome) -> Table:
    table = _table("tick [us]", "p50", "p95", "p99", "max", "status")
    for run in outcome.runs:
        rec = outcome.recordings[run.name]
        ticks = rec.summary()["tick_us"]
        numbers = ("-" if ticks[key] is None else f"{ticks[key]:.0f}" for key in ("p50", "p95", "p99", "max"))
        table.add_row(run.title, *numbers, _status(rec))
    return table


def _table(first: str, *heads: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column(escape(first), no_wrap=True)
    for head in heads:
        table.add_column(escape(head), justify="right")
    return table


def _errors(rec: Recording, task: str) -> tuple[str, str, str]:
    error: Any = rec.error.get(task)
    if error is None or not len(error):
        return "-", "-", "-"
    size = np.linalg.norm(error[:, :3], axis=1)
    position = f"{MM * rms(size):.3f}", f"{MM * size.max():.3f}"
    turn = f"{MRAD * rms(np.linalg.norm(error[:, 3:], axis=1)):.3f}" if error.shape[1] == 6 else "-"
    return *position, turn


def _status(rec: Recording) -> str:
    counts = {name: count for name, count in rec.summary()["status"].items() if count}
    if set(counts) == {"OPTIMAL"}:
        return "OPTIMAL"
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _with_unit(value: float, unit: str) -> str:
    return f"{_number(value)} {unit}".rstrip()


def _number(value: float) -> str:
    return f"{value:.3g}"
