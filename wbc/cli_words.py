"""How commands end: errors and warnings of this package in one sentence each, and exit statuses."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TextIO

import typer
from rich.console import Console
from rich.markup import escape

from wbc.errors import ControlWarning, RobotWarning, WbcError

FAILED, WRONG_USAGE = 1, 2


def in_words(command: Callable[..., Any]) -> Callable[..., Any]:
    """Turn an error of this package into one sentence and exit status 2; nobody sees a traceback for bad input."""

    @wraps(command)
    def run(*arguments: Any, **keywords: Any) -> Any:
        try:
            with _warnings_in_words():
                return command(*arguments, **keywords)
        except (WbcError, OSError) as error:
            Console(stderr=True).print(f"[bold red]error:[/] {escape(str(error))}", soft_wrap=True)
            raise typer.Exit(WRONG_USAGE) from None
        except KeyboardInterrupt:
            raise typer.Exit(130) from None

    return run


@contextmanager
def _warnings_in_words() -> Iterator[None]:
    """What this package warns of is said without the line of source that it stems from; nobody here wrote that."""
    usual = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, (ControlWarning, RobotWarning)):
            Console(stderr=True).print(f"[bold yellow]warning:[/] {escape(str(message))}", soft_wrap=True)
        else:
            usual(message, category, filename, lineno, file, line)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = usual
