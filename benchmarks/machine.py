"""The machine a benchmark ran on, without names or paths, and how to keep it quiet while it runs."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from wbc.realtime import one_thread, realtime

# solvers whose package is called otherwise
_PACKAGES = {"proxqp": "proxsuite", "highs": "highspy", "gurobi": "gurobipy", "mosek": "Mosek", "copt": "coptpy"}
_CORE = ("wbc", "pin", "numpy", "scipy", "qpsolvers")


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


@contextmanager
def quiet() -> Iterator[None]:
    """One thread and no garbage collection while something is measured; collection is as before afterwards."""
    with realtime():
        yield


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
