"""``wbc bench arm``: the same stacks in closed form and as QPs, for every solver and metric, on arms and chains."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from wbc import Robot
from wbc.benchmarks.arm_scene import CASES, moments, motion
from wbc.benchmarks.contenders import Contender, Judge, Tick, Unreduced
from wbc.benchmarks.machine import machine, quiet, versions
from wbc.benchmarks.measure import measure
from wbc.benchmarks.statistics import Growth, Row, growth, rows_of
from wbc.benchmarks.table import markdown_text, print_table, replace_section, write_json
from wbc.errors import NotInstalledError
from wbc.hierarchy.gauss_coordinates import METRICS
from wbc.robots import load
from wbc.solvers import installed, make_solver
from wbc.solvers.table import IN_THE_EXTRA, NATIVE

__all__ = ["Growth", "Row", "growth", "print_table", "replace_section", "run"]

ROBOTS = ("panda", "ur5", "chain7", "chain14", "chain28", "chain56")
QUICK_ROBOTS = ("panda", "ur5", "chain7", "chain14")
BLOCKS, LENGTH, SECONDS = 20, 27, 0.12  # blocks of a run, ticks of a block, and what one contender may take in all
QUICK_BLOCKS, QUICK_LENGTH, QUICK_SECONDS = 3, 8, 0.01


def run(
    quick: bool = False,
    json: str | Path | None = None,
    markdown: str | Path | None = None,
    *,
    readme: str | Path | None = None,
    robots: Sequence[str] | None = None,
    solvers: Sequence[str] | None = None,
    metrics: Sequence[str] = METRICS,
    cases: Sequence[str] = CASES,
    console: Console | None = None,
    progress: bool = True,
) -> list[Row]:
    """Measure, write what was asked for, and return the rows (see :class:`wbc.benchmarks.statistics.Row`).

    Args:
        quick: fewer robots and ticks; under 20 s, and times that only say that it works.
        json: file for {machine, versions, left_out, rows}.
        markdown: file for the tables.
        readme: Markdown file whose section between ``<!-- bench arm -->`` and ``<!-- end bench arm -->`` is replaced.
        robots: names, ``chainN`` among them; ``None`` for the usual ones.
        solvers: names; ``None`` for every installed one.
        metrics: names of metrics. The case ``"conflict"`` is measured for the first one only.
        cases: ``"idle"``, ``"active"``, ``"conflict"``.
        console: where the progress bar and the names of what is left out go.
        progress: whether there is a bar.
    """
    out = Console(stderr=True) if console is None else console
    left_out: list[str] = []
    named = solvers if solvers is not None else tuple(dict.fromkeys((*installed(), *NATIVE, *IN_THE_EXTRA)))
    usable = tuple(_present(named, make_solver, "solver", left_out))
    wanted = robots if robots is not None else QUICK_ROBOTS if quick else ROBOTS
    loaded = _present(wanted, load, "robot", left_out)
    plans = [
        (robot, metric, case)
        for robot in loaded.values()
        for i, metric in enumerate(metrics)
        for case in cases
        if case != "conflict" or i == 0
    ]
    blocks, length, seconds = (QUICK_BLOCKS, QUICK_LENGTH, QUICK_SECONDS) if quick else (BLOCKS, LENGTH, SECONDS)
    rows: list[Row] = []
    bar = _bar(out, progress)
    with bar, quiet(), _calm():
        task = bar.add_task("", total=len(plans) * blocks)
        for robot, metric, case in plans:
            bar.update(task, description=f"{robot.name}, {metric}, {case}")
            seen = moments(robot, metric, case, motion(robot, blocks, length))
            judge = Judge(robot, metric, case)

            def advance() -> None:
                bar.advance(task)
                bar.refresh()

            found = measure(_contenders(robot, metric, case, usable), judge, seen, seconds, advance)
            rows += rows_of(found, robot.name, robot.nv, metric, case)
    for entry in left_out:
        out.print(f"left out: {entry}", markup=False, highlight=False)
    meta = {"machine": machine(), "versions": versions(usable), "left_out": left_out}
    if json is not None:
        write_json(json, rows, meta)
    if markdown is not None:
        Path(markdown).write_text(markdown_text(rows, meta), encoding="utf-8")
    if readme is not None:
        replace_section(readme, markdown_text(rows, meta), "arm")
    return rows


def _contenders(robot: Robot, metric: str, case: str, solvers: Sequence[str]) -> list[Contender]:
    """Who is measured, the baseline first. In a conflict ``"qp"`` would only find out that there is none."""
    found: list[Contender]
    if case == "idle":  # "auto" asks no solver here: one line is enough
        found = [Tick(robot, metric, "closed_form", "none"), Tick(robot, metric, "auto", "none")]
    else:
        found = [Tick(robot, metric, "auto", solver) for solver in solvers]
    if case != "conflict":
        found += [Tick(robot, metric, "qp", solver) for solver in solvers]
    return found + [Unreduced(solver) for solver in solvers]


def _present(names: Sequence[str], make: Callable[[str], Any], kind: str, left_out: list[str]) -> dict[str, Any]:
    """What can be had of these names; the rest is named in ``left_out`` with the reason."""
    found = {}
    for name in names:
        try:
            with _calm():
                found[name] = make(name)
        except NotInstalledError as error:
            left_out.append(f"{kind} {name}: {error}")
    return found


@contextmanager
def _calm() -> Iterator[None]:
    """Without warnings: missing torque limits and scattered blocks are known here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _bar(console: Console, shown: bool) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # no thread of its own: a redraw in the middle of a tick would be measured
    return Progress(*columns, console=console, transient=True, auto_refresh=False, disable=not shown)
