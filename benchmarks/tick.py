"""``wbc bench tick``: what a tick costs, in the median and at worst, and where the time goes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from rich.console import Console

from wbc.benchmarks.interleave import Runner, Times, interleave, timed
from wbc.benchmarks.machine import machine, versions
from wbc.benchmarks.measuring import measuring
from wbc.benchmarks.peer_scene import ROBOTS, Case, Scene, follow, scene
from wbc.benchmarks.phases import PHASES, floor_us, phases
from wbc.benchmarks.publishing import Files, markdown_lines, measured_on, print_lines
from wbc.checks import Array
from wbc.errors import NotInstalledError, UnknownNameError

__all__ = ["missed", "print_table", "run"]

CASES: tuple[Case, ...] = ("idle", "active")
TICKS, LENGTH, REPEATS = 1000, 100, 5
QUICK_TICKS, QUICK_LENGTH, QUICK_REPEATS = 60, 20, 2
CLOSED_FORM = "closed_form"  # the baseline of the ratios
# what `--check` asks for
MOST_OVER_CLOSED_FORM = 1.15  # of auto, no limit active
MOST_P99 = {"idle": 2.0, "active": 2.5}  # over p50, of ticks whose repeats agree
CHECKED = ("panda", "anymal_c", "talos")
NOTE = (
    "A tick: a state in, a command with its report out; setting targets is not in it. One level of soft tasks (arms: "
    "hand pose and posture; quadrupeds: base pose and posture on four points; humanoids: centre of mass, torso, hand "
    "and posture on two soles), torque limits and friction cones. Idle: no limit is active. Active: a fast motion and "
    "torque limits that hold on nearly every tick; rows: how many (median). Times in µs; own p99 counts every tick of "
    "the motion by the median of its repeats, which leaves out what else the machine did. over: median against the "
    "closed form without limits on the same states, in the same block of an interleaved run. terms to report: medians "
    "of the stages, in a run of their own; floor: what pinocchio alone takes for M, h and Jacobians."
)


class Row(TypedDict):
    """One method on one robot and case; times in µs."""

    robot: str
    joints: int
    case: str
    method: str
    solver: str
    ticks: int
    active_rows: float  # median over the ticks
    p50_us: float
    p95_us: float
    p99_us: float
    max_us: float
    own_p50_us: float
    own_p99_us: float
    own_max_us: float
    ratio_p50: float  # over the closed form
    floor_p50_us: float
    phases_us: dict[str, float]


def run(
    quick: bool = False,
    json: str | Path | None = None,
    markdown: str | Path | None = None,
    *,
    readme: str | Path | None = None,
    robots: Sequence[str] | None = None,
    cases: Sequence[Case] = CASES,
    console: Console | None = None,
    progress: bool = True,
) -> list[Row]:
    """Measure, write what was asked for, and return the rows.

    Args:
        quick: few ticks; times that only say that it works.
        json: file for {machine, versions, left_out, rows}.
        markdown: file for the table.
        readme: Markdown file whose section between ``<!-- bench tick -->`` and ``<!-- end bench tick -->`` is replaced.
        robots: names out of ``ROBOTS``; ``None`` for all.
        cases: ``"idle"``, ``"active"``.
        console: where the progress bar and the names of what is left out go.
        progress: whether there is a bar.

    Raises:
        UnknownNameError: there is no such robot here.
    """
    names = ROBOTS if robots is None else tuple(robots)
    for name in names:
        if name not in ROBOTS:
            raise UnknownNameError(f"bench tick has no robot {name!r}; it has {', '.join(ROBOTS)}")
    ticks, length, repeats = (QUICK_TICKS, QUICK_LENGTH, QUICK_REPEATS) if quick else (TICKS, LENGTH, REPEATS)
    out = Console(stderr=True) if console is None else console
    rows: list[Row] = []
    left_out: list[str] = []
    total = len(names) * len(cases) * repeats * (ticks // length)
    with measuring(out, total, shown=progress) as bar:
        for name in names:
            for case in cases:
                bar.says(f"{name}, {case}")
                try:
                    made = scene(name, case, ticks)
                except NotInstalledError as error:
                    left_out.append(f"robot {name}: {error}")
                    break
                runners = {method: ticker(made, method) for method in ("auto", CLOSED_FORM)}
                times = interleave(runners, ticks, length, repeats, bar.advance)
                rows += _rows(made, times, 1 if quick else 2)
    for entry in left_out:
        out.print(f"left out: {entry}", markup=False, highlight=False)
    meta = {"machine": machine(), "versions": versions(("daqp", "numba")), "left_out": left_out}
    Files(json, markdown, readme).write("tick", rows, meta, markdown_text(rows, meta))
    return rows


def ticker(made: Scene, method: str = "auto") -> Runner:
    """A controller of a scene, timed tick by tick; one tick is made before, for what is only done once."""
    controller = made.controller(method)
    stack, references = controller.stack, made.references
    follow(stack, made.tasks, references[0])
    controller.tick(made.states[0])
    return timed(controller.tick, made.states, lambda i: follow(stack, made.tasks, references[i]))


def active_rows(made: Scene) -> Array:
    """How many limit rows hold the solution back at each tick."""
    controller, found = made.controller(), []
    for state, reference in zip(made.states, made.references, strict=True):
        follow(controller.stack, made.tasks, reference)
        found.append(len(controller.tick(state).report.active))
    return np.array(found)


def _rows(made: Scene, times: dict[str, Times], repeats: int) -> list[Row]:
    floor, active = floor_us(made, repeats), float(np.median(active_rows(made)))
    return [
        Row(
            robot=made.robot.name,
            joints=made.robot.nv,
            case=made.case,
            method=method,
            solver="daqp" if method == "auto" else "none",
            ticks=int(of.ns.size),
            active_rows=active if method == "auto" else 0.0,
            p50_us=of.us(50),
            p95_us=of.us(95),
            p99_us=of.us(99),
            max_us=of.us(100),
            own_p50_us=of.own_us(50),
            own_p99_us=of.own_us(99),
            own_max_us=of.own_us(100),
            ratio_p50=of.over(times[CLOSED_FORM]),
            floor_p50_us=floor,
            phases_us=phases(made, method, repeats),
        )
        for method, of in times.items()
    ]


def missed(rows: Sequence[Row]) -> list[str]:
    """What is promised of a tick and was not kept, one sentence each."""
    found = []
    for row in rows:
        if row["method"] != "auto" or row["robot"] not in CHECKED:
            continue
        where, tail = f"{row['robot']}, {row['case']}", row["own_p99_us"] / row["own_p50_us"]
        if row["case"] == "idle" and row["ratio_p50"] > MOST_OVER_CLOSED_FORM:
            found.append(f"{where}: auto over closed form is {row['ratio_p50']:.2f}, at most {MOST_OVER_CLOSED_FORM}")
        if tail > MOST_P99[row["case"]]:
            found.append(f"{where}: p99 over p50 is {tail:.2f}, at most {MOST_P99[row['case']]}")
    return found


def markdown_text(rows: Sequence[Row], meta: dict[str, Any]) -> str:
    """The machine, what is measured, and the table."""
    tables = (markdown_lines(header, lines, words=3) for header, lines in (_times(rows), _stages(rows)))
    return "\n\n".join((measured_on(meta), NOTE, *tables)) + "\n"


def print_table(rows: Sequence[Row], console: Console | None = None) -> None:
    """Print the results."""
    out = Console() if console is None else console
    print_lines("one tick [µs]", *_times(rows), 3, out, bare=True)
    print_lines("where it goes [µs]", *_stages(rows), 3, out, bare=True)


_Table = tuple[tuple[str, ...], list[tuple[str, ...]]]


def _times(rows: Sequence[Row]) -> _Table:
    header = ("robot", "case", "method", "rows", "p50", "p95", "p99", "max", "own p99", "over")
    return header, [
        (
            *_who(row),
            f"{row['active_rows']:.0f}" if row["method"] != CLOSED_FORM else "",
            *(_us(us) for us in (row["p50_us"], row["p95_us"], row["p99_us"], row["max_us"], row["own_p99_us"])),
            f"{row['ratio_p50']:.2f}",
        )
        for row in rows
    ]


def _stages(rows: Sequence[Row]) -> _Table:
    header = ("robot", "case", "method", *PHASES, "floor")
    return header, [
        (*_who(row), *(_us(row["phases_us"][phase]) for phase in PHASES), _us(row["floor_p50_us"])) for row in rows
    ]


def _who(row: Row) -> tuple[str, str, str]:
    return row["robot"], row["case"], "closed" if row["method"] == CLOSED_FORM else row["method"]


def _us(value: float) -> str:
    return f"{value:.1f}" if value < 100.0 else f"{value:.0f}"
