"""``wbc bench growth``: how a tick grows with the number of joints, and with the number of tasks."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from wbc.benchmarks.arm_scene import motion
from wbc.benchmarks.interleave import Runner, Times, interleave
from wbc.benchmarks.machine import machine, quiet, versions
from wbc.benchmarks.statistics import exponent
from wbc.benchmarks.table import markdown_lines, replace_section, write_json
from wbc.checks import Array
from wbc.controller import Controller
from wbc.robot import Robot
from wbc.robots import load
from wbc.rows import Gains
from wbc.stack import Stack
from wbc.tasks import PoseTask, PositionTask, PostureTask, TorqueLimits

__all__ = ["print_table", "run"]

JOINTS, TASKS = (7, 14, 28, 56, 112), (1, 2, 4, 8, 16, 32, 64)
QUICK_JOINTS, QUICK_TASKS = (7, 14), (1, 4)
CHAIN = 64  # joints of the chain that has many tasks: one link for each of the most
TICKS, LENGTH, REPEATS = 300, 30, 5
QUICK_TICKS, QUICK_LENGTH, QUICK_REPEATS = 24, 12, 2
HEIGHT = (0.0, 0.0, 1.0)  # the direction of a task in the second series: one row each
NOTE = (
    "Generated chains with torque limits that are never active. joints: hand pose strict, posture nominal. tasks: a "
    f"chain of {CHAIN} joints with the height of as many of its links as soft tasks, one row each. p50 and own p99 in "
    "µs; all sizes of a series are measured in turn. The exponent e is that of time ~ size^e, fitted over the whole "
    "series, and between its last two sizes."
)


class Row(TypedDict):
    """One size of one series; times in µs."""

    robot: str
    case: str  # "joints" or "tasks"
    method: str
    solver: str
    size: int
    ticks: int
    p50_us: float
    p95_us: float
    p99_us: float
    max_us: float
    own_p99_us: float
    exponent: float | None  # of the whole series; None for a series of one
    last_exponent: float | None  # between its last two sizes


def run(
    quick: bool = False,
    json: str | Path | None = None,
    markdown: str | Path | None = None,
    *,
    readme: str | Path | None = None,
    joints: Sequence[int] | None = None,
    tasks: Sequence[int] | None = None,
    console: Console | None = None,
    progress: bool = True,
) -> list[Row]:
    """Measure, write what was asked for, and return the rows.

    Args:
        quick: few sizes and ticks; times that only say that it works.
        json: file for {machine, versions, left_out, rows}.
        markdown: file for the table.
        readme: Markdown file whose section between ``<!-- bench growth -->`` and its end is replaced.
        joints: lengths of the chains.
        tasks: numbers of tasks, up to 64.
        console: where the progress bar goes.
        progress: whether there is a bar.
    """
    lengths = tuple(joints if joints is not None else QUICK_JOINTS if quick else JOINTS)
    counts = tuple(tasks if tasks is not None else QUICK_TASKS if quick else TASKS)
    ticks, length, repeats = (QUICK_TICKS, QUICK_LENGTH, QUICK_REPEATS) if quick else (TICKS, LENGTH, REPEATS)
    out = Console(stderr=True) if console is None else console
    rows: list[Row] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, console=out, transient=True, auto_refresh=False, disable=not progress)
    with bar, quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        task = bar.add_task("", total=2 * repeats * (ticks // length))

        def advance() -> None:
            bar.advance(task)
            bar.refresh()

        for case, sizes in (("joints", lengths), ("tasks", counts)):
            bar.update(task, description=case)
            made = {str(size): _runner(case, size, ticks, length) for size in sizes}
            rows += _rows(case, sizes, interleave(made, ticks, length, repeats, advance))
    meta = {"machine": machine(), "versions": versions(("daqp", "numba")), "left_out": []}
    text = markdown_text(rows, meta)
    if json is not None:
        write_json(json, rows, meta)
    if markdown is not None:
        Path(markdown).write_text(text, encoding="utf-8")
    if readme is not None:
        replace_section(readme, text, "growth")
    return rows


def chain_stack(robot: Robot) -> Stack:
    """The hand's pose as a strict task, the posture as the nominal."""
    return Stack(
        nominal=PostureTask("posture", target=robot.home, gains=Gains.critical(25.0)),
        limits=[TorqueLimits()],
        strict=[[PoseTask("hand", frame="tip")]],
    )


def many_tasks(robot: Robot, count: int) -> Stack:
    """The height of ``count`` links, spread evenly over the chain, as soft tasks of one row each."""
    links = np.linspace(robot.nv, 1, count).round().astype(int)
    return Stack(
        nominal=PostureTask("posture", target=robot.home, gains=Gains.critical(25.0)),
        limits=[TorqueLimits()],
        soft=[(PositionTask(f"link {i}", frame=f"link{i}", mask=HEIGHT), 10.0) for i in links],
    )


def _runner(case: str, size: int, ticks: int, length: int) -> Runner:
    robot = load(f"chain{size if case == 'joints' else CHAIN}")
    stack = chain_stack(robot) if case == "joints" else many_tasks(robot, size)
    states = [moment.state for block in motion(robot, ticks // length, length) for moment in block]
    tick, now = Controller(robot, stack).tick, time.perf_counter_ns
    tick(states[0])

    def go(first: int, stop: int) -> Array:
        ns = np.empty(stop - first)
        for i in range(first, stop):
            state = states[i]
            started = now()
            tick(state)
            ns[i - first] = now() - started
        return ns

    return go


def _rows(case: str, sizes: Sequence[int], times: dict[str, Times]) -> list[Row]:
    found = [times[str(size)] for size in sizes]
    p50 = [of.us(50) for of in found]
    whole, last = (exponent(sizes[-k:], p50[-k:]) if len(sizes) > 1 else None for k in (len(sizes), 2))
    return [
        Row(
            robot=f"chain{size if case == 'joints' else CHAIN}",
            case=case,
            method="auto",
            solver="none",
            size=size,
            ticks=int(of.ns.size),
            p50_us=of.us(50),
            p95_us=of.us(95),
            p99_us=of.us(99),
            max_us=of.us(100),
            own_p99_us=of.own_us(99),
            exponent=whole,
            last_exponent=last,
        )
        for size, of in zip(sizes, found, strict=True)
    ]


def markdown_text(rows: Sequence[Row], meta: dict[str, Any]) -> str:
    """The machine, what is measured, and the tables."""
    m = meta["machine"]
    told = f"Measured on {m['cpu']}, {m['cores']} cores, {m['os']}, threads: {m['threads']}."
    tables = (markdown_lines(header, lines, words=1) for header, lines in _tables(rows))
    return "\n\n".join((told, NOTE, *tables)) + "\n"


def print_table(rows: Sequence[Row], console: Console | None = None) -> None:
    """Print the results."""
    out = Console() if console is None else console
    for header, lines in _tables(rows):
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for i, name in enumerate(header):
            table.add_column(name, justify="right" if i else "left")
        for line in lines:
            table.add_row(*line)
        out.print(table)


def _tables(rows: Sequence[Row]) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    found = []
    for case in dict.fromkeys(row["case"] for row in rows):
        of = [row for row in rows if row["case"] == case]
        tail = of[0]["exponent"], of[0]["last_exponent"]
        header = (f"{case} [µs]", *(str(row["size"]) for row in of), "e", "e, last two")
        lines = [
            ("p50", *(f"{row['p50_us']:.0f}" for row in of), *("" if e is None else f"{e:.2f}" for e in tail)),
            ("own p99", *(f"{row['own_p99_us']:.0f}" for row in of), "", ""),
        ]
        found.append((header, lines))
    return found
