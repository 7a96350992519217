"""``wbc bench soak``: a million ticks in which everything happens that a controller may meet, and nothing may go wrong.

Blocks of ticks go round the robots; each is seeded by itself, so that a run can be stopped and resumed, and a failure
found again.
"""

from __future__ import annotations

import json as json_module
import os
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from wbc import checks
from wbc.benchmarks.machine import machine, versions
from wbc.benchmarks.soak_checks import FINDINGS, findings
from wbc.benchmarks.soak_scene import LONGEST, SCENES, Scene, advance, begin, happen
from wbc.errors import ControlWarning, InputError, WbcError

BLOCK = 500  # ticks
CERTIFIED = 5  # every so many ticks the KKT conditions are looked at
EXPLAINED = 471  # and the words are asked for, whose linear programs take seconds; blocks of 500 shift the tick
MOST_FILES = 10  # of one kind of failure at one robot
WARM = 4  # blocks of a robot before its memory is looked at
GROWTH = 20.0  # MB since then that count as a leak; the allocator's own breathing stays below

Counts = dict[str, Any]


def run(
    ticks: int = 1_000_000,
    *,
    robots: Sequence[str] = (),
    seed: int = 1,
    resume: str | Path | None = None,
    json: str | Path | None = None,
    failures: str | Path | None = "out/soak",
    console: Console | None = None,
    progress: bool = True,
) -> dict[str, Counts]:
    """Run, and return robot -> counts.

    Args:
        ticks: of all robots together.
        robots: names out of ``SCENES``; all where empty.
        seed: of everything that happens.
        resume: file in which the state of the run is kept; where it exists the run goes on from there.
        json: file for {machine, versions, seed, rows}.
        failures: folder for saved ticks that failed, for ``wbc explain``; ``None`` for none.
        console: where the progress bar goes.
        progress: whether there is a bar.

    Raises:
        InputError: a robot that has no scene, or a state of another run.
    """
    names = [checks.choice(name, tuple(SCENES), "robot") for name in robots or SCENES]
    blocks = max(1, round(ticks / len(names) / BLOCK)) if ticks >= len(names) * BLOCK else 1
    block = min(BLOCK, max(1, ticks // len(names)))
    plan = {"seed": seed, "robots": names, "block": block}
    state = _state(resume, plan)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    out = Console(stderr=True) if console is None else console
    with Progress(*columns, console=out, transient=True, disable=not progress) as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore", ControlWarning)  # states that jump
        done = sum(counts["blocks"] for counts in state["counts"].values())
        task = bar.add_task("", total=blocks * len(names) * block, completed=done * block)
        for index in range(blocks):
            for name in names:
                counts = state["counts"][name]
                if counts["blocks"] > index:
                    continue
                bar.update(task, description=name)
                # a stable number for a name, whatever else is run beside it
                random = np.random.default_rng([seed, list(SCENES).index(name), index])
                _soak(SCENES[name](), random, block, counts, f"{name}-{seed}-{index}", failures)
                counts["blocks"] += 1
                _remember(counts)
                if resume is not None:
                    _write(resume, state)
                bar.advance(task, block)
    if json is not None:
        about = {"machine": machine(), "versions": versions(("daqp",)), "seed": seed}
        rows = [{"robot": name, **state["counts"][name]} for name in names]
        Path(json).write_text(json_module.dumps({**about, "rows": rows}, indent=1) + "\n", encoding="utf-8")
    found: dict[str, Counts] = state["counts"]
    return found


def violations(results: dict[str, Counts]) -> dict[str, int]:
    """What must not happen and did: finding -> how often, over all robots."""
    total = {name: sum(counts["found"].get(name, 0) for counts in results.values()) for name in FINDINGS}
    total["memory"] = sum(counts["grown_mb"] > GROWTH for counts in results.values())
    return {name: count for name, count in total.items() if count}


def print_table(results: dict[str, Counts], console: Console | None = None) -> None:
    """Print the counts."""
    table = Table(title="soak", title_justify="left", title_style="bold")
    heads = ("ticks", "optimal", "relaxed", "fallback", *FINDINGS, "certified", "worst [ms]", "grown [MB]")
    table.add_column("")
    for name in results:
        table.add_column(name, justify="right")
    columns = []
    for counts in results.values():
        n, status, found = max(1, counts["ticks"]), counts["status"], counts["found"]
        columns.append(
            [str(counts["ticks"])]
            + [f"{status.get(key, 0) / n:.2%}" for key in ("OPTIMAL", "RELAXED", "FALLBACK")]
            + [str(found.get(name, 0)) for name in FINDINGS]
            + [str(counts["certified"]), f"{counts['worst_us'] * 1e-3:.1f}", f"{counts['grown_mb']:.1f}"]
        )
    for i, head in enumerate(heads):
        table.add_row(escape(head), *(column[i] for column in columns))
    (Console() if console is None else console).print(table)


def _soak(
    scene: Scene, random: np.random.Generator, ticks: int, counts: Counts, label: str, failures: str | Path | None
) -> None:
    """One block: the life of a new controller, in episodes that begin with a jump."""
    controller, stack, robot = scene.controller, scene.controller.stack, scene.robot
    present = dict.fromkeys(scene.switched, True)
    state, left = None, 0
    status: Counter[str] = Counter(counts["status"])
    found: Counter[str] = Counter(counts["found"])
    for i in range(ticks):
        if state is None or not left:
            state, left = begin(scene, random), int(random.integers(1, LONGEST))
        left -= 1
        happen(scene, state, random, present)
        counts["ticks"] += 1
        try:
            started = time.perf_counter_ns()
            command = controller.tick(state)
            counts["worst_us"] = max(counts["worst_us"], (time.perf_counter_ns() - started) * 1e-3)
            report, certified = command.report, i % CERTIFIED == 0
            limits = stack["torque"].scale * robot.torque_limits
            wrong = findings(command, limits, certified)
            counts["certified"] += certified and report.status.name == "OPTIMAL"
            if counts["ticks"] % EXPLAINED == 1:
                report.explain()
        except Exception as error:  # every exception is a finding, whatever it is
            found["exception"] += 1
            if len(counts["errors"]) < MOST_FILES:
                counts["errors"].append(f"{label}, tick {i}: {type(error).__name__}: {error}")
            state = None
            continue
        status[report.status.name] += 1
        for what in wrong if report.status.name != "FALLBACK" else [*wrong, "fallback"]:
            found[what] += 1
            if failures is not None and found[what] <= MOST_FILES:
                with suppress(WbcError, OSError):  # a full disk does not end the run
                    Path(failures).mkdir(parents=True, exist_ok=True)
                    report.save(Path(failures) / f"{what.replace(' ', '-')}-{label}-{i}.npz")
        state = advance(scene, state, command.acceleration)
    counts["status"], counts["found"] = dict(status), dict(found)


def _remember(counts: Counts) -> None:
    """Resident memory of the process, from the robot's first blocks on."""
    if not Path("/proc/self/statm").exists():
        return
    now = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    counts["warm_blocks"] += 1
    if counts["warm_blocks"] <= WARM:
        counts["memory_mb"] = now
    counts["grown_mb"] = max(0.0, now - counts["memory_mb"])


def _state(resume: str | Path | None, plan: dict[str, Any]) -> dict[str, Any]:
    """The state of a run that goes on, or of a new one."""
    if resume is not None and Path(resume).exists():
        try:
            state: dict[str, Any] = json_module.loads(Path(resume).read_text(encoding="utf-8"))
            before = state["plan"]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{str(resume)!r} is not the state of a soak; give another file") from error
        if before != plan:
            raise InputError(f"{str(resume)!r} belongs to a run with {before}, not {plan}; give another file")
        for counts in state["counts"].values():  # another process has another memory
            counts["warm_blocks"] = 0
        return state
    fresh: Counts = {
        "ticks": 0,
        "blocks": 0,
        "status": {},
        "found": {},
        "certified": 0,
        "worst_us": 0.0,
        "memory_mb": 0.0,
        "grown_mb": 0.0,
        "warm_blocks": 0,
    }
    return {
        "plan": plan,
        "counts": {name: {**fresh, "status": {}, "found": {}, "errors": []} for name in plan["robots"]},
    }


def _write(path: str | Path, state: dict[str, Any]) -> None:
    """Replace the file in one step: whoever stops the run never leaves half a state."""
    beside = Path(f"{path}.new")
    beside.write_text(json_module.dumps(state) + "\n", encoding="utf-8")
    beside.replace(path)
