"""Which Python, which pinocchio, which solvers: what to print when something does not import or does not solve."""

from __future__ import annotations

import platform
from contextlib import suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

# what is printed -> (module to import, distribution to ask, extra that brings it)
_PARTS = {
    "pinocchio": ("pinocchio", "pin", ""),
    "eigenpy": ("eigenpy", "eigenpy", ""),
    "coal": ("coal", "coal", ""),
    "boost": ("", "cmeel-boost", ""),
    "numpy": ("numpy", "numpy", ""),
    "scipy": ("scipy", "scipy", ""),
    "qpsolvers": ("qpsolvers", "qpsolvers", ""),
    "MuJoCo": ("mujoco", "mujoco", "sim"),
    "matplotlib": ("matplotlib", "matplotlib", "plot"),
    "numba": ("numba", "numba", ""),
    "example-robot-data": ("", "example-robot-data", "robots"),
    "daqp (native)": ("daqp", "daqp", ""),
    "proxqp (native)": ("proxsuite", "proxsuite", ""),
    "osqp (native)": ("osqp", "osqp", ""),
    "quadprog": ("quadprog", "quadprog", "solvers"),
    "piqp": ("piqp", "piqp", "solvers"),
    "clarabel": ("clarabel", "clarabel", "solvers"),
}
# solvers of qpsolvers whose package is called otherwise
_PACKAGES = {"proxqp": "proxsuite", "highs": "highspy", "gurobi": "gurobipy", "mosek": "Mosek", "copt": "coptpy"}


def environment() -> list[tuple[str, str]]:
    """(name, version) of everything that matters for a report; the reason instead of a version where it is missing.

    Every part is really imported, so that a broken one is listed with its error and breaks nothing else.
    """
    rows = [("Python", f"{platform.python_version()} ({platform.system()} {platform.machine()})")]
    rows += [(name, _state(*part)) for name, part in _PARTS.items()]
    try:
        solvers = sorted(import_module("qpsolvers").available_solvers)
    except Exception:  # the row of qpsolvers itself already has the reason
        return rows
    return rows + [(f"{name} (qpsolvers)", _state("", _PACKAGES.get(name, name), "")) for name in solvers]


def versions() -> dict[str, str]:
    """Versions of this package, of Python and of what is installed of the packages above, without importing any."""
    from wbc import __version__

    found = {"wbc": __version__, "Python": platform.python_version()}
    for name, (_, distribution, _) in _PARTS.items():
        with suppress(PackageNotFoundError):
            found[name] = version(distribution)
    return found


def available(state: str) -> bool:
    """Whether a second entry of :func:`environment` is a version rather than a reason."""
    return not state.startswith(("not installed", "does not import"))


def _state(module: str, distribution: str, extra: str) -> str:
    try:
        found = version(distribution)
    except PackageNotFoundError:
        found = ""
    if module:
        try:
            found = found or str(getattr(import_module(module), "__version__", "found, version unknown"))
            import_module(module)
        except ModuleNotFoundError as error:
            if not found and error.name == module:
                return f'not installed (pip install "wbc[{extra}]")' if extra else "not installed"
            return f"does not import: {error}"
        except Exception as error:  # a binary built for another numpy or boost raises whatever it likes
            return f"does not import: {type(error).__name__}: {error}"
    return found or (f'not installed (pip install "wbc[{extra}]")' if extra else "not installed")
