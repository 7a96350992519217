"""``wbc bench peers``: the same ticks by wbc and by other whole-body controllers, in turn, and how far they differ."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from wbc.benchmarks.interleave import Runner, Times, interleave
from wbc.benchmarks.machine import machine, quiet, versions
from wbc.benchmarks.peer_environments import ON_DEMAND, PeerSpec, interpreter
from wbc.benchmarks.peer_process import WORKERS, PeerError, PeerProcess
from wbc.benchmarks.peer_scene import Case, Scene, follow, scene
from wbc.benchmarks.table import markdown_lines, replace_section, write_json
from wbc.benchmarks.tick import ticker
from wbc.checks import Array
from wbc.errors import NotInstalledError, UnknownNameError

__all__ = ["Peer", "missed", "print_table", "run"]

ROBOTS = ("panda", "anymal_c", "talos")
CASES: tuple[Case, ...] = ("idle", "active")
TICKS, LENGTH, REPEATS = 1000, 100, 5
QUICK_TICKS, QUICK_LENGTH, QUICK_REPEATS = 60, 20, 2
# what `--check` asks for: the median over PlaCo's
MOST_OVER_PLACO = {
    ("panda", "idle"): 1.2, ("anymal_c", "idle"): 0.4, ("talos", "idle"): 0.35, ("talos", "active"): 0.6,
}  # fmt: skip
SAME = 1e-6  # m/s², rad/s²: accelerations that differ by less are those of the same problem
NOTE = (
    "A tick: from the state that is set to the torque; setting states and targets is in nobody's time. The same robots "
    "(joints, inertias and limits from one file), tasks, gains, weights, contacts, torque limits and states; every "
    "peer in a process of its own, in turn with wbc in blocks of the motion. p50 and p99 in µs (p99 of every tick's "
    "median over its repeats); p50 / and p99 /: wbc over the peer, the first from medians of the same block. Δv̇: "
    "largest difference of an acceleration in a tick (m/s², rad/s²), median and maximum over the ticks that both solve "
    "and in which no yaw friction row is active, which PlaCo's soles do not have; what is left comes from the "
    "regularisation of both sides, 1e-7 of what posture weighs here."
)


@dataclass(frozen=True, slots=True)
class Peer:
    """Somebody to measure against: a program and the interpreter that runs it."""

    name: str
    python: Path
    worker: Path
    same_work: bool = True


class Row(TypedDict):
    """wbc and one peer on one robot and case; times in µs; differences ``None`` where nothing can be compared."""

    robot: str
    joints: int
    case: str
    method: str
    solver: str
    peer: str
    peer_versions: dict[str, str]
    same_work: bool
    ticks: int
    p50_us: float
    p95_us: float
    p99_us: float
    max_us: float
    own_p99_us: float
    peer_p50_us: float
    peer_p95_us: float
    peer_p99_us: float
    peer_max_us: float
    peer_own_p99_us: float
    ratio_p50: float
    ratio_p99: float  # of own p99
    peer_solved: float  # share of the ticks
    compared: float  # share of the ticks
    acceleration_difference: float | None
    acceleration_difference_max: float | None


def run(
    quick: bool = False,
    json: str | Path | None = None,
    markdown: str | Path | None = None,
    *,
    readme: str | Path | None = None,
    robots: Sequence[str] | None = None,
    cases: Sequence[Case] = CASES,
    peers: Sequence[Peer] | None = None,
    console: Console | None = None,
    progress: bool = True,
) -> list[Row]:
    """Measure, write what was asked for, and return the rows.

    Args:
        quick: few ticks; times that only say that it works.
        json: file for {machine, versions, left_out, rows}.
        markdown: file for the table.
        readme: Markdown file whose section between ``<!-- bench peers -->`` and its end is replaced.
        robots: names out of ``ROBOTS``; ``None`` for all.
        cases: ``"idle"``, ``"active"``.
        peers: who; by default PlaCo, in an environment that is made on demand.
        console: where the progress bar and the names of what is left out go.
        progress: whether there is a bar.

    Raises:
        UnknownNameError: there is no such robot here.
        NotInstalledError: PlaCo cannot be had.
        PeerError: a peer's program does not do what it should.
    """
    names = ROBOTS if robots is None else tuple(robots)
    for name in names:
        if name not in ROBOTS:
            raise UnknownNameError(f"bench peers has no robot {name!r}; it has {', '.join(ROBOTS)}")
    ticks, length, repeats = (QUICK_TICKS, QUICK_LENGTH, QUICK_REPEATS) if quick else (TICKS, LENGTH, REPEATS)
    out = Console(stderr=True) if console is None else console
    left_out: list[str] = []
    if peers is None:
        peers = _usual(out, left_out)
    rows: list[Row] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, console=out, transient=True, auto_refresh=False, disable=not progress)
    with bar, quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        task = bar.add_task("", total=len(names) * len(cases) * repeats * (ticks // length))

        def advance() -> None:
            bar.advance(task)
            bar.refresh()

        for name in names:
            for case in cases:
                bar.update(task, description=f"{name}, {case}")
                bar.refresh()
                made = scene(name, case, ticks)
                with ExitStack() as open_peers:
                    working = {}
                    for peer in peers:
                        try:
                            process = PeerProcess(peer.name, peer.python, peer.worker, made)
                        except PeerError as error:
                            if peer.same_work:
                                raise
                            left_out.append(f"{name}: {error}")
                            continue
                        working[peer] = open_peers.enter_context(process)
                    runners: dict[str, Runner] = {"wbc": ticker(made)}
                    runners |= {peer.name: process.run for peer, process in working.items()}
                    times = interleave(runners, ticks, length, repeats, advance)
                    exact = _accelerations(made)
                    rows += [_row(made, times, peer, process, exact) for peer, process in working.items()]
    for entry in left_out:
        out.print(f"left out: {entry}", markup=False, highlight=False, soft_wrap=True)
    meta = {"machine": machine(), "versions": versions(("daqp", "numba")), "left_out": left_out}
    text = markdown_text(rows, meta)
    if json is not None:
        write_json(json, rows, meta)
    if markdown is not None:
        Path(markdown).write_text(text, encoding="utf-8")
    if readme is not None:
        replace_section(readme, text, "peers")
    return rows


def _usual(out: Console, left_out: list[str]) -> list[Peer]:
    """Those that can be had on demand; PlaCo must be."""

    def make(spec: PeerSpec) -> Peer:
        with out.status(f"{spec.name} ..."):
            python = interpreter(spec, lambda line: out.print(line, markup=False, highlight=False, soft_wrap=True))
        return Peer(spec.name, python, WORKERS / spec.worker, spec.same_work)

    found = []
    for spec in ON_DEMAND:
        try:
            found.append(make(spec))
        except NotInstalledError as error:
            if spec.same_work:
                raise
            left_out.append(str(error))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Exact:
    """wbc's own accelerations (ticks, nv), and the ticks (ticks,) whose problem the peers have too."""

    vdot: Array
    comparable: Any


def _accelerations(made: Scene) -> _Exact:
    controller, vdot, comparable = made.controller(), [], []
    for state, reference in zip(made.states, made.references, strict=True):
        follow(controller.stack, made.tasks, reference)
        command = controller.tick(state)
        vdot.append(command.acceleration.copy())
        report = command.report
        solution, p = report.solution, report.problem
        if solution is None or solution.price is None:
            comparable.append(solution is not None)
            continue
        n_acc, n_cone = p.layout.n_acc, p.layout.n_cone
        price = solution.price[n_acc : n_acc + n_cone]
        yaw = np.abs(p.G_wrench[:, 5::6]).max(axis=1, initial=0.0) > 0.0 if _soles(made) else np.zeros(n_cone, bool)
        comparable.append(not (price[yaw] > 0.0).any())
    return _Exact(np.array(vdot), np.array(comparable))


def _soles(made: Scene) -> bool:
    return any(foot.half_size is not None for foot in made.robot.footing)


def _row(made: Scene, times: dict[str, Times], peer: Peer, process: PeerProcess, exact: _Exact) -> Row:
    mine, theirs = times["wbc"], times[peer.name]
    differences = np.zeros(0)
    if peer.same_work:
        gap = np.abs(process.accelerations() - exact.vdot).max(axis=1)
        differences = gap[exact.comparable & np.isfinite(gap)]
    return Row(
        robot=made.robot.name,
        joints=made.robot.nv,
        case=made.case,
        method="auto",
        solver="daqp",
        peer=peer.name,
        peer_versions=process.versions,
        same_work=peer.same_work,
        ticks=int(mine.ns.size),
        p50_us=mine.us(50),
        p95_us=mine.us(95),
        p99_us=mine.us(99),
        max_us=mine.us(100),
        own_p99_us=mine.own_us(99),
        peer_p50_us=theirs.us(50),
        peer_p95_us=theirs.us(95),
        peer_p99_us=theirs.us(99),
        peer_max_us=theirs.us(100),
        peer_own_p99_us=theirs.own_us(99),
        ratio_p50=mine.over(theirs),
        ratio_p99=mine.own_us(99) / theirs.own_us(99),
        peer_solved=float(process.solved.mean()),
        compared=len(differences) / len(made.states),
        acceleration_difference=float(np.median(differences)) if len(differences) else None,
        acceleration_difference_max=float(differences.max()) if len(differences) else None,
    )


def missed(rows: Sequence[Row]) -> list[str]:
    """What is promised against PlaCo and was not kept, one sentence each."""
    found = []
    for row in rows:
        if row["peer"] != "placo":
            continue
        where, most = f"{row['robot']}, {row['case']}", MOST_OVER_PLACO.get((row["robot"], row["case"]))
        if most is not None and row["ratio_p50"] > most:
            found.append(f"{where}: wbc over PlaCo is {row['ratio_p50']:.2f}, at most {most}")
        gap = row["acceleration_difference"]
        if gap is None or (row["case"] == "idle" and gap > SAME):
            found.append(f"{where}: the accelerations differ by {gap}, at most {SAME}: not the same problem")
    return found


def markdown_text(rows: Sequence[Row], meta: dict[str, Any]) -> str:
    """The machine, what is measured, and the table."""
    m = meta["machine"]
    theirs = {name: number for row in rows for name, number in row["peer_versions"].items() if name == row["peer"]}
    used = meta["versions"] | theirs
    told = (
        f"Measured on {m['cpu']}, {m['cores']} cores, {m['os']}, threads: {m['threads']}; "
        + ", ".join(f"{name} {number}" for name, number in used.items())
        + "."
    )
    parts = [told, NOTE]
    if meta["left_out"]:
        parts.append("Left out: " + "; ".join(meta["left_out"]) + ".")
    return "\n\n".join((*parts, markdown_lines(HEADER, _cells(rows), words=3))) + "\n"


def print_table(rows: Sequence[Row], console: Console | None = None) -> None:
    """Print the results."""
    title = "wbc and its peers: one tick [µs], ratios wbc over peer"
    table = Table(
        title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True
    )
    for i, name in enumerate(HEADER):
        table.add_column(name.replace(" ", "\n"), justify="left" if i < 3 else "right", no_wrap=True)
    for line in _cells(rows):
        table.add_row(*line)
    (Console() if console is None else console).print(table)


HEADER = ("robot", "case", "peer", "wbc p50", "p99", "peer p50", "p99", "p50 /", "p99 /", "Δv̇", "max")


def _cells(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    return [
        (
            row["robot"],
            row["case"],
            row["peer"] + ("" if row["same_work"] else "*"),
            *(
                f"{us:.1f}" if us < 100.0 else f"{us:.0f}"
                for us in (row["p50_us"], row["own_p99_us"], row["peer_p50_us"], row["peer_own_p99_us"])
            ),
            f"{row['ratio_p50']:.2f}",
            f"{row['ratio_p99']:.2f}",
            _small(row["acceleration_difference"]),
            _small(row["acceleration_difference_max"]),
        )
        for row in rows
    ]


def _small(value: float | None) -> str:
    return "" if value is None else f"{value:.0e}"
