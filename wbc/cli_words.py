"""How commands end: errors of this package in one sentence, and exit statuses."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from wbc.errors import WbcError

FAILED, WRONG_USAGE = 1, 2


def in_words(command: Callable[..., Any]) -> Callable[..., Any]:
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
