"""One stack in closed form and as QPs, by every solver, over one recorded motion: what such benchmarks share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from wbc import Robot
from wbc.benchmarks.contenders import Contender, Judge, Tick, Unreduced
from wbc.benchmarks.machine import machine, versions
from wbc.benchmarks.measure import measure
from wbc.benchmarks.measuring import measuring
from wbc.benchmarks.publishing import Files
from wbc.benchmarks.scene import CASES, Moment, Scene, Setting, moments
from wbc.benchmarks.statistics import Row, rows_of
from wbc.benchmarks.table import markdown_text
from wbc.errors import NotInstalledError
from wbc.hierarchy.gauss_coordinates import METRICS
from wbc.robots import load
from wbc.solvers import installed, make_solver
from wbc.solvers.table import IN_THE_EXTRA, NATIVE

BLOCKS, LENGTH, SECONDS = 20, 27, 0.12  # blocks of a run, ticks of a block, and what one contender may take in all
QUICK_BLOCKS, QUICK_LENGTH, QUICK_SECONDS = 3, 8, 0.01


@dataclass(frozen=True, slots=True)
class Subject:
    """What a benchmark is about.

    Attributes:
        section: its name, and that of its part of the README.
        robots, quick_robots: names of the usual robots.
        scene: makes a robot's stack, with limits or without.
        motion: records a robot's motion, as so many blocks of so many moments.
        note: what a reader of the tables needs to know besides what they share.
    """

    section: str
    robots: tuple[str, ...]
    quick_robots: tuple[str, ...]
    scene: Callable[[Robot, bool], Scene]
    motion: Callable[[Robot, int, int], list[list[Moment]]]
    note: str = ""


def compare(
    subject: Subject,
    *,
    quick: bool = False,
    json: str | Path | None = None,
    markdown: str | Path | None = None,
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
        subject: the robots, their stacks and motions.
        quick: fewer robots and ticks; under 20 s, and times that only say that it works.
        json: file for {machine, versions, left_out, rows}.
        markdown: file for the tables.
        readme: Markdown file whose section between ``<!-- bench NAME -->`` and ``<!-- end bench NAME -->`` is replaced.
        robots: names; ``None`` for the usual ones.
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
    wanted = robots if robots is not None else subject.quick_robots if quick else subject.robots
    loaded = _present(wanted, load, "robot", left_out)
    plans = [
        (Setting(robot, subject.scene), metric, case)
        for robot in loaded.values()
        for i, metric in enumerate(metrics)
        for case in cases
        if case != "conflict" or i == 0
    ]
    blocks, length, seconds = (QUICK_BLOCKS, QUICK_LENGTH, QUICK_SECONDS) if quick else (BLOCKS, LENGTH, SECONDS)
    rows: list[Row] = []
    recorded: dict[str, list[list[Moment]]] = {}
    with measuring(out, len(plans) * blocks, shown=progress) as bar:
        for setting, metric, case in plans:
            robot = setting.robot
            bar.says(f"{robot.name}, {metric}, {case}")
            if robot.name not in recorded:
                recorded[robot.name] = subject.motion(robot, blocks, length)
            seen = moments(setting, metric, case, recorded[robot.name])
            judge = Judge(setting, metric, case)
            found = measure(_contenders(setting, metric, case, usable), judge, seen, seconds, bar.advance)
            rows += rows_of(found, robot, metric, case)
    for entry in left_out:
        out.print(f"left out: {entry}", markup=False, highlight=False)
    meta = {"machine": machine(), "versions": versions(usable), "left_out": left_out}
    text = markdown_text(rows, meta, subject.note)
    Files(json, markdown, readme).write(subject.section, rows, meta, text)
    return rows


def _contenders(setting: Setting, metric: str, case: str, solvers: Sequence[str]) -> list[Contender]:
    """Who is measured, the baseline first. In a conflict ``"qp"`` would only find out that there is none."""
    found: list[Contender]
    if case == "idle":  # "auto" asks no solver here: one line is enough
        found = [Tick(setting, metric, "closed_form", "none"), Tick(setting, metric, "auto", "none")]
    else:
        found = [Tick(setting, metric, "auto", solver) for solver in solvers]
    if case != "conflict":
        found += [Tick(setting, metric, "qp", solver) for solver in solvers]
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
