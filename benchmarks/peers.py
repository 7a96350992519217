"""``wbc bench peers``: the same ticks by wbc and by other whole-body controllers, in turn, and how far they differ."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from wbc.benchmarks.interleave import Runner, Times, interleave
from wbc.benchmarks.machine import machine, versions
from wbc.benchmarks.measuring import measuring
from wbc.benchmarks.peer_environments import ON_DEMAND, TSID, PeerSpec, interpreter
from wbc.benchmarks.peer_process import WORKERS, PeerError, PeerProcess
from wbc.benchmarks.peer_scene import Case, Scene, follow, scene
from wbc.benchmarks.peers_table import Row, markdown_text, missed, print_table
from wbc.benchmarks.publishing import Files
from wbc.benchmarks.tick import ticker
from wbc.checks import Array
from wbc.errors import NotInstalledError, UnknownNameError

__all__ = ["Peer", "missed", "print_table", "run"]

ROBOTS = ("panda", "anymal_c", "talos")
CASES: tuple[Case, ...] = ("idle", "active")
TICKS, LENGTH, REPEATS = 1000, 100, 5
QUICK_TICKS, QUICK_LENGTH, QUICK_REPEATS = 60, 20, 2


@dataclass(frozen=True, slots=True)
class Peer:
    """Somebody to measure against: a program and the interpreter that runs it."""

    name: str
    python: Path
    worker: Path
    same_work: bool = True
    required: bool = True


def run(
    quick: bool = False,
    json: str | Path | None = None,
    markdown: str | Path | None = None,
    *,
    readme: str | Path | None = None,
    robots: Sequence[str] | None = None,
    cases: Sequence[Case] = CASES,
    peers: Sequence[Peer] | None = None,
    tsid: str | Path | None = None,
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
        peers: who; by default all of ``peer_environments.ON_DEMAND``, each in an environment that is made on demand.
        tsid: a Python that can import tsid, to be used instead of such an environment.
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
    missing: list[str] = []
    if peers is None:
        peers = _usual(out, missing, tsid)
    rows: list[Row] = []
    total = len(names) * len(cases) * repeats * (ticks // length)
    with measuring(out, total, shown=progress) as bar:
        for name in names:
            for case in cases:
                bar.says(f"{name}, {case}")
                made = scene(name, case, ticks)
                with ExitStack() as open_peers:
                    working = _working(peers, made, open_peers, missing)
                    runners: dict[str, Runner] = {"wbc": ticker(made)}
                    runners |= {peer.name: process.run for peer, process in working.items()}
                    times = interleave(runners, ticks, length, repeats, bar.advance)
                    exact = _accelerations(made)
                    rows += [_row(made, times, peer, process, exact) for peer, process in working.items()]
    for entry in missing:
        out.print(f"left out: {entry}", markup=False, highlight=False, soft_wrap=True)
    meta = {"machine": machine(), "versions": versions(("daqp", "numba")), "left_out": missing}
    Files(json, markdown, readme).write("peers", rows, meta, markdown_text(rows, meta))
    return rows


def _working(peers: Sequence[Peer], made: Scene, stack: ExitStack, missing: list[str]) -> dict[Peer, PeerProcess]:
    """A process for every peer that can do this scene; one that is required must."""
    working = {}
    for peer in peers:
        try:
            process = PeerProcess(peer.name, peer.python, peer.worker, made)
        except PeerError as error:
            if peer.required:
                raise
            missing.append(f"{made.robot.name}, {made.case}: {error}")
            continue
        working[peer] = stack.enter_context(process)
    return working


def _usual(out: Console, missing: list[str], tsid: str | Path | None) -> list[Peer]:
    """Those that can be had on demand; PlaCo must be, and a Python that was named must have TSID."""

    def make(spec: PeerSpec) -> Peer:
        if spec is TSID and tsid is not None:
            return Peer(spec.name, Path(tsid).absolute(), WORKERS / spec.worker)
        with out.status(f"{spec.name} ..."):
            python = interpreter(spec, lambda line: out.print(line, markup=False, highlight=False, soft_wrap=True))
        return Peer(spec.name, python, WORKERS / spec.worker, spec.same_work, spec.required)

    found = []
    for spec in ON_DEMAND:
        try:
            found.append(make(spec))
        except NotInstalledError as error:
            if spec.required:
                raise
            missing.append(str(error))
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
