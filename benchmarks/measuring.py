"""A run of a benchmark: the machine kept quiet, and a progress bar that costs no tick."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from wbc.benchmarks.machine import quiet


@contextmanager
def measuring(console: Console, total: int, *, shown: bool) -> Iterator[Bar]:
    """A run of a benchmark: quiet, without warnings that are known here, behind a progress bar.

    Args:
        console: where the bar goes.
        total: how often it advances.
        shown: whether there is one.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # no thread of its own: a redraw in the middle of a tick would be measured
    progress = Progress(*columns, console=console, transient=True, auto_refresh=False, disable=not shown)
    with progress, quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # missing limits, and states that jump from block to block
        yield Bar(progress, progress.add_task("", total=total))


class Bar:
    """A progress bar that is drawn only when it is told something."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress, self._task = progress, task

    def says(self, what: str) -> None:
        """What is going on."""
        self._progress.update(self._task, description=what)
        self._progress.refresh()

    def advance(self) -> None:
        """One more piece is done."""
        self._progress.advance(self._task)
        self._progress.refresh()
