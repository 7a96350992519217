"""``wbc bench growth``: how a tick grows with the number of joints, and with the number of tasks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from rich.console import Console

from wbc.benchmarks.arm_scene import motion
from wbc.benchmarks.interleave import Runner, Times, interleave, timed
from wbc.benchmarks.machine import machine, versions
from wbc.benchmarks.measuring import measuring
from wbc.benchmarks.publishing import Files, markdown_lines, measured_on, print_lines
from wbc.benchmarks.statistics import exponent, off_the_line
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
    "µs; all sizes of a series are measured in turn. The exponent e is that of time ~ size^e, fitted to the medians of "
    "the whole series, with how far the farthest lies off, and between its last two sizes: a tick costs a constant "
    "too, so that e understates how the largest grow."
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
    off_the_line: float | None  # the farthest median over the fit, or the fit over it, less one
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
    with measuring(out, 2 * repeats * (ticks // length), shown=progress) as bar:
        for case, sizes in (("joints", lengths), ("tasks", counts)):
            bar.says(case)
            made = {str(size): _runner(case, size, ticks, length) for size in sizes}
            rows += _rows(case, sizes, interleave(made, ticks, length, repeats, bar.advance))
    meta = {"machine": machine(), "versions": versions(("daqp", "numba")), "left_out": []}
    Files(json, markdown, readme).write("growth", rows, meta, markdown_text(rows, meta))
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
    tick = Controller(robot, stack).tick
    tick(states[0])
    return timed(tick, states)


def _rows(case: str, sizes: Sequence[int], times: dict[str, Times]) -> list[Row]:
    found = [times[str(size)] for size in sizes]
    p50 = [of.us(50) for of in found]
    fitted = len(sizes) > 1
    whole, last = (exponent(sizes[-k:], p50[-k:]) if fitted else None for k in (len(sizes), 2))
    off = off_the_line(sizes, p50) if fitted else None
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
            off_the_line=off,
            last_exponent=last,
        )
        for size, of in zip(sizes, found, strict=True)
    ]


def markdown_text(rows: Sequence[Row], meta: dict[str, Any]) -> str:
    """The machine, what is measured, and the tables."""
    tables = (markdown_lines(header, lines, words=1) for header, lines in _tables(rows))
    return "\n\n".join((measured_on(meta), NOTE, *tables)) + "\n"


def print_table(rows: Sequence[Row], console: Console | None = None) -> None:
    """Print the results."""
    for header, lines in _tables(rows):
        print_lines("", header, lines, 1, Console() if console is None else console, bare=True)


def _tables(rows: Sequence[Row]) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    found = []
    for case in dict.fromkeys(row["case"] for row in rows):
        of = [row for row in rows if row["case"] == case]
        whole, off, last = of[0]["exponent"], of[0]["off_the_line"], of[0]["last_exponent"]
        tail = ("" if whole is None else f"{whole:.2f}", "" if off is None else f"{100.0 * off:.0f} %",
                "" if last is None else f"{last:.2f}")  # fmt: skip
        header = (f"{case} [µs]", *(str(row["size"]) for row in of), "e", "off", "e, last two")
        lines = [
            ("p50", *(f"{row['p50_us']:.0f}" for row in of), *tail),
            ("own p99", *(f"{row['own_p99_us']:.0f}" for row in of), "", "", ""),
        ]
        found.append((header, lines))
    return found
