"""realtime: the switches that keep a control loop on time, turned on together and turned back afterwards."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wbc import checks
from wbc.errors import InputError

_BLAS_CALLS = ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads")
_HIGHEST = 99  # of SCHED_FIFO


@dataclass(frozen=True, slots=True)
class Switches:
    """What :func:`realtime` turned on.

    Attributes:
        collection: whether Python collects garbage meanwhile; ticks leave none that needs it.
        threads: of linear algebra, ``None`` where no OpenBLAS was found that could be told.
        core: the only core that this thread runs on, ``None`` where any may be.
        priority: of the real-time scheduler, 0 where the usual one decides.
        refused: what the operating system did not allow, one sentence each.
    """

    collection: bool
    threads: int | None
    core: int | None
    priority: int
    refused: tuple[str, ...]


@contextmanager
def realtime(*, core: int | None = None, priority: int = 0, collection: bool = False) -> Iterator[Switches]:
    """Turn on what keeps a loop on time; everything is as before afterwards.

    One thread for linear algebra: at these sizes a second one gains nothing and is waited for. No garbage collection:
    what exists is frozen, and ticks leave nothing behind that only a collection could free. On request one core, and
    a priority of the real-time scheduler, which most systems allow to a privileged user only::

        with wbc.realtime(core=1, priority=50) as switches:
            print(*switches.refused)
            while running:
                command = controller.tick(State(q, v))

    Warm a controller up before: its first ticks allocate, and may compile.

    Args:
        core: number of a core that this process may use; ``None`` for any.
        priority: 1 to 99 for the real-time scheduler (first in, first out); 0 to leave the scheduler alone.
        collection: whether garbage is collected as usual.

    Raises:
        InputError: a core that this process may not use, or a priority that does not exist.
    """
    checks.flag(collection, "realtime: collection")
    _check(core, priority)
    refused: list[str] = []
    before = _threads()
    for library, _ in before:
        library.set(1)
    cores = os.sched_getaffinity(0) if core is not None else None
    scheduler = (os.sched_getscheduler(0), os.sched_getparam(0)) if priority else None
    was_on = gc.isenabled()
    try:
        if core is not None:
            core = _try(lambda: os.sched_setaffinity(0, {core}), core, None, f"core {core}", refused)
        if priority:
            wanted = os.sched_param(priority)
            what = f"the priority {priority}"
            priority = _try(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, wanted), priority, 0, what, refused)
        if not collection:
            gc.collect()
            gc.freeze()
            gc.disable()
        yield Switches(collection, 1 if before else None, core, priority, tuple(refused))
    finally:
        if not collection:
            gc.unfreeze()
            if was_on:
                gc.enable()
        if scheduler is not None and priority:
            os.sched_setscheduler(0, *scheduler)
        if cores is not None:
            os.sched_setaffinity(0, cores)
        for library, count in before:
            library.set(count)


def one_thread() -> str:
    """Tell every loaded OpenBLAS to use one thread, and say what is known of the threads then.

    OMP_NUM_THREADS acts only before numpy is imported, which is too late here.
    """
    found = _threads()
    for library, _ in found:
        library.set(1)
    if found and len(found) == len(_openblas()):
        return str(max(library.get() for library, _ in found))
    return os.environ.get("OMP_NUM_THREADS", "the library's choice")


def _check(core: int | None, priority: int) -> None:
    if core is not None:
        if not hasattr(os, "sched_getaffinity"):
            raise InputError("realtime: this operating system has no way to stay on one core; leave core out")
        allowed = sorted(os.sched_getaffinity(0))
        if isinstance(core, bool) or core not in allowed:
            raise InputError(f"realtime: core is {core!r}, expected one of those that this process may use: {allowed}")
    if isinstance(priority, bool) or not isinstance(priority, int) or not 0 <= priority <= _HIGHEST:
        raise InputError(f"realtime: priority is {priority!r}, expected a whole number from 0 (none) to {_HIGHEST}")
    if priority and not hasattr(os, "SCHED_FIFO"):
        raise InputError("realtime: this operating system has no real-time scheduler; leave priority out")


def _try(switch: Any, on: Any, off: Any, what: str, refused: list[str]) -> Any:
    try:
        switch()
    except OSError as error:
        refused.append(f"{what} was refused: {error.strerror}")
        return off
    return on


@dataclass(frozen=True, slots=True)
class _Library:
    set: Any
    get: Any


def _threads() -> list[tuple[_Library, int]]:
    """Every OpenBLAS that can be told its threads, with what it uses now."""
    found = []
    for library in _openblas():
        for call in _BLAS_CALLS:
            setter = getattr(library, call.format("set"), None)
            if setter is not None:
                getter = getattr(library, call.format("get"))
                found.append((_Library(setter, getter), int(getter())))
                break
    return found


def _openblas() -> list[Any]:
    try:
        maps = Path("/proc/self/maps").read_text()
    except OSError:
        return []
    paths = {line.split(maxsplit=5)[5] for line in maps.splitlines() if "openblas" in line}
    return [ctypes.CDLL(path) for path in sorted(paths)]
