"""The machine a benchmark ran on, without names or paths, and how to keep it quiet while it runs."""

from __future__ import annotations

import ctypes
import gc
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

# solvers whose package is called otherwise
_PACKAGES = {"proxqp": "proxsuite", "highs": "highspy", "gurobi": "gurobipy", "mosek": "Mosek", "copt": "coptpy"}
_CORE = ("wbc", "pin", "numpy", "scipy", "qpsolvers")
_BLAS_CALLS = ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads")


def machine() -> dict[str, Any]:
    """CPU model, cores, operating system and threads that linear algebra used."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count() or 1,
        "os": _os(),
        "threads": one_thread(),
    }


def versions(solvers: tuple[str, ...]) -> dict[str, str]:
    """Versions of Python, the core packages and every solver's package."""
    found = {"python": platform.python_version()}
    for name in (*_CORE, *(_PACKAGES.get(solver, solver) for solver in solvers)):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    if "wbc" not in found:  # run from a checkout
        import wbc

        found["wbc"] = wbc.__version__
    return found


def one_thread() -> str:
    """Tell every loaded OpenBLAS to use one thread, and say what is known of the threads then.

    OMP_NUM_THREADS acts only before numpy is imported, which is too late here.
    """
    libraries = _openblas()
    counts = []
    for library in libraries:
        for call in _BLAS_CALLS:
            setter = getattr(library, call.format("set"), None)
            if setter is not None:
                setter(1)
                counts.append(int(getattr(library, call.format("get"))()))
                break
    if counts and len(counts) == len(libraries):
        return str(max(counts))
    return os.environ.get("OMP_NUM_THREADS", "the library's choice")


@contextmanager
def quiet() -> Iterator[None]:
    """One thread and no garbage collection while something is measured; collection is as before afterwards."""
    one_thread()
    was_on = gc.isenabled()
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if was_on:
            gc.enable()


def _openblas() -> list[Any]:
    try:
        maps = Path("/proc/self/maps").read_text()
    except OSError:
        return []
    paths = {line.split(maxsplit=5)[5] for line in maps.splitlines() if "openblas" in line}
    return [ctypes.CDLL(path) for path in sorted(paths)]


def _cpu() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _os() -> str:
    with suppress(OSError):
        return str(platform.freedesktop_os_release()["PRETTY_NAME"])
    return f"{platform.system()} {platform.release()}"
