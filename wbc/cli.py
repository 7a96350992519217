"""The command line: wbc list | run | check | explain | bench | warmup."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from wbc.errors import InputError, WbcError

app = typer.Typer(
    name="wbc",
    help="Whole-body control: scenes to run, robots to check, controllers and solvers to compare.\n\n"
    "Example: [bold]wbc run panda-figure --plot out/figure.png[/]",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
bench = typer.Typer(
    help="Measure and compare.\n\nExample: [bold]wbc bench arm --quick --json out/bench.json[/]",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
app.add_typer(bench, name="bench")

FAILED, WRONG_USAGE = 1, 2


def main() -> None:
    """Entry point of the command ``wbc``."""
    app()


def _words(command: Callable[..., Any]) -> Callable[..., Any]:
    """Turn an error of this package into one sentence and exit status 2; nobody sees a traceback for bad input."""

    @wraps(command)
    def run(*arguments: Any, **keywords: Any) -> Any:
        try:
            return command(*arguments, **keywords)
        except (WbcError, OSError) as error:
            Console(stderr=True).print(f"[bold red]error:[/] {escape(str(error))}", soft_wrap=True)
            raise typer.Exit(WRONG_USAGE) from None
        except KeyboardInterrupt:
            raise typer.Exit(130) from None

    return run


def _version(asked: bool) -> None:
    if asked:
        from wbc import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command("list")
@_words
def list_() -> None:
    """Show the scenarios, one line each, and the robots, solvers and metrics.

    Example: [bold]wbc list[/]
    """
    from wbc.cli_tables import print_names

    print_names(Console())


@app.command()
@_words
def run(
    name: Annotated[str, typer.Argument(help="A scenario of `wbc list`.", show_default=False)],
    method: Annotated[str, typer.Option(help="auto, closed_form or qp; the scenario's own where left out.")] = "",
    solver: Annotated[str, typer.Option(help="daqp, proxqp, osqp, quadprog, ... (see `wbc list`).")] = "daqp",
    metric: Annotated[str, typer.Option(help="inertia, identity or inertia_squared.")] = "",
    duration: Annotated[float | None, typer.Option(help="Seconds; the scenario's own where left out.")] = None,
    physics: Annotated[str, typer.Option(help="mujoco or pinocchio.")] = "mujoco",
    save: Annotated[Path | None, typer.Option(help="Write a recording here, one for each run (.npz).")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a plot here, of all runs in one (.png).")] = None,
    render: Annotated[Path | None, typer.Option(help="Draw the robot at the end of the run here (.png).")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the summary here (.json).")] = None,
    realtime: Annotated[bool, typer.Option(help="Keep the run to the wall clock; says which ticks came late.")] = False,
    progress: Annotated[bool, typer.Option(help="Show a progress bar.")] = True,
) -> None:
    """Run a scenario and say how it went; exit status 1 where it missed what it promises.

    Example: [bold]wbc run panda-figure --plot out/figure.png --save out/figure.npz[/]
    """
    from wbc import scenarios
    from wbc.cli_files import writable, write
    from wbc.cli_tables import print_outcome, print_pace
    from wbc.realtime import one_thread

    console = Console()
    if duration is not None and not duration > 0.0:
        raise InputError(f"--duration is {duration:g}, expected a number of seconds above 0")
    writable(save, "--save", ".npz")
    writable(plot, "--plot", ".png", ".pdf", ".svg")
    writable(render, "--render", ".png", ".jpg")
    writable(json, "--json")
    one_thread()  # at these sizes BLAS gains nothing from a second one, and waits for it whenever the machine is busy
    scenario = scenarios.load(name)
    choice = scenarios.Choice(method=_choice(method, "method"), solver=solver, metric=_choice(metric, "metric"))
    console.print(f"[bold]{scenario.name}[/]: {scenario.line}", soft_wrap=True)
    with _on_time(realtime):
        outcome = scenarios.play(
            scenario, choice, duration=duration, physics=physics, progress=progress and not realtime, realtime=realtime
        )
    print_outcome(outcome, console)
    if realtime:
        print_pace(outcome, console)
    for what, path in (("recording", save), ("plot", plot), ("picture", render), ("summary", json)):
        if path is not None:
            for written in write(outcome, what, path):
                console.print(f"{what}: {written}", soft_wrap=True)
    if not outcome.failures:
        console.print("[green]It kept everything that it promises.[/]")
    for failure in outcome.failures:
        console.print(f"[bold red]failed:[/] {escape(failure)}", soft_wrap=True)
    if outcome.failures:
        raise typer.Exit(FAILED)


@app.command()
@_words
def check(
    file: Annotated[Path | None, typer.Argument(help="A URDF.", show_default=False)] = None,
    package_dir: Annotated[
        list[Path] | None, typer.Option(help="Folder for package:// meshes; may be repeated.")
    ] = None,
    environment: Annotated[bool, typer.Option("--environment", help="Versions of everything that is used.")] = False,
) -> None:
    """Say what a controller needs to know about a robot description, and how to mend it; or what is installed.

    Exit status 1 where the description cannot be controlled as it is.

    Examples: [bold]wbc check robot.urdf[/], [bold]wbc check --environment[/]
    """
    from wbc.inspection import inspect
    from wbc.inspection_view import print_environment, print_findings

    console = Console()
    if environment:
        print_environment(console)
    if file is None:
        if not environment:
            raise InputError("check: name a URDF, or ask for --environment; see `wbc check --help`")
        return
    findings = inspect(file, package_dirs=package_dir or ())
    print_findings(findings, console)
    if not findings.usable:
        raise typer.Exit(FAILED)


@app.command()
@_words
def explain(
    file: Annotated[Path, typer.Argument(help="What report.save or a black box wrote.", show_default=False)],
    tick: Annotated[int, typer.Option(help="Which tick of a black box: -1 is the last, -2 the one before.")] = -1,
    solver: Annotated[str, typer.Option(help="Solve the tick again by this solver, and compare.")] = "",
    json: Annotated[Path | None, typer.Option(help="Write what is printed here (.json).")] = None,
) -> None:
    """Say in words what happened in a saved tick; or solve it again by any solver and compare.

    Example: [bold]wbc explain tick.npz --solver proxqp[/]
    """
    from wbc.cli_explain import print_tick, summary
    from wbc.cli_files import writable
    from wbc.replay import load, solve_again

    writable(json, "--json")
    report = load(file, tick)
    again = solve_again(report, solver) if solver else None
    print_tick(report, again, Console())
    if json is not None:
        json.write_text(summary(report, again), encoding="utf-8")


@bench.command("arm")
@_words
def bench_arm(
    quick: Annotated[bool, typer.Option(help="Fewer robots and ticks, to see that it works.")] = False,
    json: Annotated[Path | None, typer.Option(help="Write machine, versions and rows here.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the tables here.")] = None,
    readme: Annotated[Path | None, typer.Option(help="Replace the section 'bench arm' of this file.")] = None,
) -> None:
    """Closed form against QP, every installed solver and metric, and the unreduced QP, on arms and chains.

    Example: [bold]wbc bench arm --quick[/]
    """
    from wbc.benchmarks import arm

    console = Console()
    rows = arm.run(quick=quick, json=json, markdown=markdown, readme=readme)
    arm.print_table(rows, console)


@bench.command("humanoid")
@_words
def bench_humanoid(
    quick: Annotated[bool, typer.Option(help="One robot and fewer ticks, to see that it works.")] = False,
    robot: Annotated[list[str] | None, typer.Option(help="A robot with feet; may be repeated.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write machine, versions and rows here.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the tables here.")] = None,
    readme: Annotated[Path | None, typer.Option(help="Replace the section 'bench humanoid' of this file.")] = None,
) -> None:
    """Closed form with contacts that may pull against QP by every installed solver and strict levels, on feet.

    Example: [bold]wbc bench humanoid --robot go2 --robot solo12 --json out/bench.json[/]
    """
    from wbc.benchmarks import humanoid

    console = Console()
    rows = humanoid.run(quick=quick, robots=robot or None, json=json, markdown=markdown, readme=readme)
    humanoid.print_table(rows, console)


@bench.command("push")
@_words
def bench_push(
    quick: Annotated[bool, typer.Option(help="The smallest robot and a coarse answer.")] = False,
    json: Annotated[Path | None, typer.Option(help="Write machine, versions and rows here.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the table here.")] = None,
    readme: Annotated[Path | None, typer.Option(help="Replace the section 'bench push' of this file.")] = None,
) -> None:
    """The largest push that legged robots survive with feet planted, with limits and cones and without.

    Example: [bold]wbc bench push --quick[/]
    """
    from wbc.benchmarks import push

    console = Console()
    rows = push.run(quick=quick, json=json, markdown=markdown, readme=readme)
    push.print_table(rows, console)


@bench.command("tick")
@_words
def bench_tick(
    quick: Annotated[bool, typer.Option(help="Few ticks, to see that it works.")] = False,
    robot: Annotated[list[str] | None, typer.Option(help="Only this robot; may be repeated.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write machine, versions and rows here.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the table here.")] = None,
    readme: Annotated[Path | None, typer.Option(help="Replace the section 'bench tick' of this file.")] = None,
    check: Annotated[bool, typer.Option(help="Exit status 1 where a promised ratio is missed.")] = False,
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
@_words
def bench_peers(
    quick: Annotated[bool, typer.Option(help="Few ticks, to see that it works.")] = False,
    robot: Annotated[list[str] | None, typer.Option(help="panda, anymal_c or talos; may be repeated.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write machine, versions and rows here.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the table here.")] = None,
    readme: Annotated[Path | None, typer.Option(help="Replace the section 'bench peers' of this file.")] = None,
    check: Annotated[bool, typer.Option(help="Exit status 1 where a promised ratio is missed.")] = False,
) -> None:
    """The same ticks by wbc and by PlaCo, in an environment of its own, which is made when it is not there.

    Example: [bold]wbc bench peers --robot talos --check[/]
    """
    from wbc.benchmarks import peers

    console = Console()
    rows = peers.run(quick=quick, json=json, markdown=markdown, readme=readme, robots=robot)
    peers.print_table(rows, console)
    if check:
        _judge(peers.missed(rows), console)


@bench.command("growth")
@_words
def bench_growth(
    quick: Annotated[bool, typer.Option(help="Few sizes and ticks, to see that it works.")] = False,
    json: Annotated[Path | None, typer.Option(help="Write machine, versions and rows here.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the tables here.")] = None,
    readme: Annotated[Path | None, typer.Option(help="Replace the section 'bench growth' of this file.")] = None,
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
@_words
def bench_soak(
    ticks: Annotated[int, typer.Option(help="Ticks of all robots together.", min=1)] = 1_000_000,
    robot: Annotated[list[str] | None, typer.Option(help="A robot, may be repeated; all of them by default.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything that happens.", min=0)] = 1,
    resume: Annotated[Path | None, typer.Option(help="Keep the run's state here, and go on from it.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write machine, versions and rows here.")] = None,
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


@app.command()
@_words
def warmup() -> None:
    """Compile the inner loops now, so that no first controller waits for it; done once for each version.

    Example: [bold]wbc warmup[/]
    """
    import time

    from wbc import kernels
    from wbc.kernels import compiled

    started = time.perf_counter()
    fresh = kernels.load()
    seconds = time.perf_counter() - started
    if compiled.UNCOMPILED:
        print("WBC_UNCOMPILED is set: nothing is compiled")
    elif fresh:
        print(f"compiled {len(fresh)} kernels in {seconds:.1f} s into {compiled.folder()}: {', '.join(fresh)}")
    else:
        print(f"all kernels stand compiled in {compiled.folder()}; loaded in {seconds:.1f} s")


def _on_time(wanted: bool) -> AbstractContextManager[Any]:
    """The switches that keep a loop on time, where that is wanted; a redraw of a progress bar would not."""
    from wbc.realtime import realtime

    return realtime() if wanted else nullcontext()


def _choice(value: str, what: str) -> str:
    from wbc import checks
    from wbc.controller import METHODS
    from wbc.hierarchy.gauss_coordinates import METRICS

    options = METHODS if what == "method" else METRICS
    return value if not value else checks.choice(value, options, what)


if __name__ == "__main__":
    main()
