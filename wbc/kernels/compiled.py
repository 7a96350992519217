"""The decorator of every kernel: compiled by numba once, kept on disk; the same source runs as plain Python too.

numba looks at the time stamp of a kernel's own file, and would go on using the old machine code of a kernel that calls
one in another file which has changed. Therefore the folder on disk is named after the contents of all kernel files.
``NUMBA_CACHE_DIR`` moves it; otherwise it stands in the user's cache folder, so that a package that is installed
read-only works as well, and where that cannot be written either, in the temporary folder.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

UNCOMPILED = os.environ.get("WBC_UNCOMPILED", "") not in ("", "0")

fresh: list[str] = []  # names of the kernels that this process had to compile, since no machine code stood on disk


def compiled(signature: str) -> Callable[[Function], Function]:
    """Compile a function for one signature when it is defined, or leave it as it is where ``WBC_UNCOMPILED=1``.

    Kernel modules are loaded at the first use of one of their names (:mod:`wbc.kernels`), so that ``import wbc``
    neither compiles nor loads numba.

    Args:
        signature: numba's words for result and arguments, such as ``"float64(float64[::1])"``.
    """
    if UNCOMPILED:
        return lambda function: function
    import numba
    from numba.core import event

    event.Listener.register(_Announcement)  # not a base class of it, which would load numba

    def compile_(function: Function) -> Function:
        config: Any = numba.config
        before = config.CACHE_DIR
        config.CACHE_DIR = folder()  # read when the function is declared; a user's own functions keep theirs
        try:
            with event.install_listener("numba:compile", _Announcement(function.__name__)):
                kernel: Any = numba.njit(signature, cache=True, error_model="numpy")(function)
        finally:
            config.CACHE_DIR = before
        result: Function = kernel
        return result

    return compile_


def folder() -> str:
    """Where the machine code is kept: one folder for each version of the kernels' sources."""
    global _folder
    if not _folder:
        sources = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
        version = hashlib.sha256(sources).hexdigest()[:12]
        for base in _bases():
            path = base / version
            try:
                path.mkdir(parents=True, exist_ok=True)
                tempfile.TemporaryFile(dir=path).close()
            except OSError:
                continue
            _folder = str(path)
            break
        else:
            _folder = tempfile.mkdtemp(prefix="wbc-kernels-")
    return _folder


_folder = ""


def _bases() -> tuple[Path, ...]:
    """Folders to try, the first that can be written is taken."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return (Path(given) / "wbc",)
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        cache = Path(home) if home else Path.home() / ".cache"
    except RuntimeError:  # a user without a home
        return ()
    return (cache / "wbc" / "kernels",)


class _Announcement:
    """Says on stderr that a kernel is compiled, which takes seconds; silent where machine code is found on disk."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.spinner: Any = None

    def notify(self, event: Any) -> None:
        """numba starts or ends a compilation; kernels that are called by this one are inside it."""
        if event.is_start and self.spinner is None:
            from rich.console import Console

            console = Console(file=sys.stderr)
            if not fresh:
                console.print("wbc: compiling its inner loops, once for this version (`wbc warmup` does it ahead)")
            fresh.append(self.name)
            self.spinner = console.status(f"compiling {self.name}")
            self.spinner.start()
        elif event.is_end and self.spinner is not None:
            self.spinner.stop()
