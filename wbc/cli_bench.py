"""The command line: wbc bench arm | humanoid | push | tick | peers | growth | soak."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from wbc.cli_words import FAILED, in_words

bench = typer.Typer(
    help="Measure and compare.\n\nExample: [bold]wbc bench arm --quick --json out/bench.json[/]",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Json = Annotated[Path | None, typer.Option(help="Write machine, versions and rows here.")]
Markdown = Annotated[Path | None, typer.Option(help="Write the tables here.")]
Readme = Annotated[Path | None, typer.Option(help="Replace this benchmark's section of this file.")]
Check = Annotated[bool, typer.Option(help="Exit status 1 where a promised ratio is missed.")]


@bench.command("arm")
@in_words
def bench_arm(
    quick: Annotated[bool, typer.Option(help="Fewer robots and ticks, to see that it works.")] = False,
    json: Json = None,
    markdown: Markdown = None,
    readme: Readme = None,
) -> None:
    """Closed form against QP, every installed solver and metric, and the unreduced QP, on arms and chains.

    Example: [bold]wbc bench arm --quick[/]
    """
    from wbc.benchmarks import arm

    console = Console()
    rows = arm.run(quick=quick, json=json, markdown=markdown, readme=readme)
    arm.print_table(rows, console)


@bench.command("humanoid")
@in_words
def bench_humanoid(
    quick: Annotated[bool, typer.Option(help="One robot and fewer ticks, to see that it works.")] = False,
    robot: Annotated[list[str] | None, typer.Option(help="A robot with feet; may be repeated.")] = None,
    json: Json = None,
    markdown: Markdown = None,
    readme: Readme = None,
) -> None:
    """Closed form with contacts that may pull against QP by every installed solver and strict levels, on feet.

    Example: [bold]wbc bench humanoid --robot go2 --robot solo12 --json out/bench.json[/]
    """
    from wbc.benchmarks import humanoid

    console = Console()
    rows = humanoid.run(quick=quick, robots=robot or None, json=json, markdown=markdown, readme=readme)
    humanoid.print_table(rows, console)


@bench.command("push")
@in_words
def bench_push(
    quick: Annotated[bool, typer.Option(help="The smallest robot and a coarse answer.")] = False,
    json: Json = None,
    markdown: Markdown = None,
    readme: Readme = None,
) -> None:
    """The largest push that legged robots survive with feet planted, with limits and cones and without.

    Example: [bold]wbc bench push --quick[/]
    """
    from wbc.benchmarks import push

    console = Console()
    rows = push.run(quick=quick, json=json, markdown=markdown, readme=readme)
    push.print_table(rows, console)


@bench.command("tick")
@in_words
def bench_tick(
    quick: Annotated[bool, typer.Option(help="Few ticks, to see that it works.")] = False,
    robot: Annotated[list[str] | None, typer.Option(help="Only this robot; may be repeated.")] = None,
    json: Json = None,
    markdown: Markdown = None,
    readme: Readme = None,
    check: Check = False,
) -> None:
    """What a tick costs: median, worst ticks, and where the time goes, with limits idle and active.

    Example: [bold]wbc bench tick --robot panda --check[/]
    """
    from wbc.benchmarks import tick

    console = Console()
    rows = tick.run(quick=quick, json=json, markdown=markdown, readme=readme, robots=robot)
    tick.print_table(rows, console)
    if check:
        _judge(tick.missed(rows), console)


@bench.command("peers")
@in_words
def bench_peers(
    quick: Annotated[bool, typer.Option(help="Few ticks, to see that it works.")] = False,
    robot: Annotated[list[str] | None, typer.Option(help="panda, anymal_c or talos; may be repeated.")] = None,
    tsid: Annotated[
        Path | None,
        typer.Option(help="A Python that imports tsid, instead of an environment made for it.", metavar="PYTHON"),
    ] = None,
    json: Json = None,
    markdown: Markdown = None,
    readme: Readme = None,
    check: Check = False,
) -> None:
    """The same ticks by wbc, PlaCo and TSID; for scale, inverse kinematics by Pink and mink.

    Each runs in an environment of its own, which is made when it is not there.

    Example: [bold]wbc bench peers --robot talos --check[/]
    """
    from wbc.benchmarks import peers

    console = Console()
    rows = peers.run(quick=quick, json=json, markdown=markdown, readme=readme, robots=robot, tsid=tsid)
    peers.print_table(rows, console)
    if check:
        _judge(peers.missed(rows), console)


@bench.command("growth")
@in_words
def bench_growth(
    quick: Annotated[bool, typer.Option(help="Few sizes and ticks, to see that it works.")] = False,
    json: Json = None,
    markdown: Markdown = None,
    readme: Readme = None,
) -> None:
    """How a tick grows: chains of 7 to 112 joints, and 1 to 64 tasks, with the fitted exponent.

    Example: [bold]wbc bench growth --quick[/]
    """
    from wbc.benchmarks import growth

    console = Console()
    rows = growth.run(quick=quick, json=json, markdown=markdown, readme=readme)
    growth.print_table(rows, console)


def _judge(missed: list[str], console: Console) -> None:
    """Say what a benchmark missed, and exit with status 1 where it did."""
    for sentence in missed:
        console.print(f"[bold red]missed:[/] {escape(sentence)}", soft_wrap=True)
    if missed:
        raise typer.Exit(FAILED)
    console.print("[green]Every ratio that is promised was reached.[/]")


@bench.command("soak")
@in_words
def bench_soak(
    ticks: Annotated[int, typer.Option(help="Ticks of all robots together.", min=1)] = 1_000_000,
    robot: Annotated[list[str] | None, typer.Option(help="A robot, may be repeated; all of them by default.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything that happens.", min=0)] = 1,
    resume: Annotated[Path | None, typer.Option(help="Keep the run's state here, and go on from it.")] = None,
    json: Json = None,
    failures: Annotated[Path, typer.Option(help="Folder for ticks that failed, to `wbc explain`.")] = Path("out/soak"),
    progress: Annotated[bool, typer.Option(help="Show a progress bar.")] = True,
) -> None:
    """Robots in states at, beyond and far from their limits, with targets that jump and parts that come and go.

    Exit status 1 where anything happened that must not: an exception, a number that is not finite, a torque beyond its
    limit, a miss without a cause, an answer that is not optimal, or memory that grows.

    Example: [bold]wbc bench soak --ticks 100000 --resume out/soak.json[/]
    """
    from wbc.benchmarks import soak
    from wbc.cli_files import writable
    from wbc.realtime import one_thread

    console = Console()
    writable(json, "--json")
    writable(resume, "--resume")
    one_thread()
    results = soak.run(
        ticks, robots=robot or (), seed=seed, resume=resume, json=json, failures=failures, progress=progress
    )
    soak.print_table(results, console)
    found = soak.violations(results)
    for what, count in found.items():
        console.print(f"[bold red]failed:[/] {escape(what)}: {count}", soft_wrap=True)
    for counts in results.values():
        for error in counts["errors"]:
            console.print(f"[bold red]exception:[/] {escape(error)}", soft_wrap=True)
    if found:
        console.print(f"ticks that failed stand in {failures}; see `wbc explain`", soft_wrap=True)
        raise typer.Exit(FAILED)
