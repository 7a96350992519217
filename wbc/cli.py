"""The command line: wbc list | run | check | explain | bench | warmup."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from wbc.cli_bench import bench
from wbc.cli_words import FAILED, in_words
from wbc.errors import InputError

app = typer.Typer(
    name="wbc",
    help="Whole-body control: scenes to run, robots to check, controllers and solvers to compare.\n\n"
    "Example: [bold]wbc run panda-figure --plot out/figure.png[/]",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
app.add_typer(bench, name="bench")


def main() -> None:
    """Entry point of the command ``wbc``."""
    app()


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
@in_words
def list_() -> None:
    """Show the scenarios, one line each, and the robots, solvers and metrics.

    Example: [bold]wbc list[/]
    """
    from wbc.cli_tables import print_names

    print_names(Console())


@app.command()
@in_words
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
    if realtime:
        console.print("in real time; no progress bar, since its redraws would make ticks late")
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
@in_words
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
@in_words
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


@app.command()
@in_words
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
