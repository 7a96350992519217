"""One table of solver names."""

from __future__ import annotations

import importlib
from typing import Any

from wbc import checks
from wbc.errors import NotInstalledError
from wbc.solvers.qp import TIME_CAP, Solver

NATIVE = {
    "daqp": ("wbc.solvers.daqp", "Daqp"),
    "proxqp": ("wbc.solvers.proxqp", "Proxqp"),
    "osqp": ("wbc.solvers.osqp", "Osqp"),
}
TIMED = ("daqp", "proxqp", "osqp")  # adapters that take a cap on the time of one call; nnls has none to set
SPARE = {"nnls": ("wbc.solvers.least_distance", "LeastDistance")}  # asked where another one fails; too slow to compare
IN_THE_EXTRA = ("quadprog", "piqp", "clarabel")
KNOWN_TO_QPSOLVERS = (
    "clarabel", "copt", "cvxopt", "ecos", "gurobi", "highs", "hpipm", "jaxopt_osqp", "kvxopt", "mosek", "nppro",
    "pdhcg", "pyqpmad", "piqp", "qpalm", "qpax", "qpoases", "qpswift", "quadprog", "scs", "sip",
)  # fmt: skip


def installed() -> tuple[str, ...]:
    """Names of every solver that can be used here."""
    import qpsolvers

    others = [name for name in qpsolvers.available_solvers if name not in NATIVE]
    return (*NATIVE, *sorted(others))


def make_solver(name: Any, time_cap: float | None = None) -> Solver:
    """A new solver by name.

    Args:
        name: of the solver.
        time_cap: time that one call may take [s], for the solvers that can be told; 1 s where left out.

    Raises:
        UnknownNameError: nobody knows a solver of this name.
        NotInstalledError: it exists, but is not installed here; the message says how to get it.
    """
    import qpsolvers

    checks.choice(name, sorted({*NATIVE, *SPARE, *KNOWN_TO_QPSOLVERS, *qpsolvers.available_solvers}), "solver")
    if name in NATIVE or name in SPARE:
        module, kind = {**NATIVE, **SPARE}[name]
        make = getattr(importlib.import_module(module), kind)
        solver: Solver = make(TIME_CAP if time_cap is None else time_cap) if name in TIMED else make()
        return solver
    if name not in qpsolvers.available_solvers:
        how = 'pip install "wbc[solvers]"' if name in IN_THE_EXTRA else f'pip install "qpsolvers[{name}]"'
        raise NotInstalledError(f"solver {name!r} is not installed: {how}; installed are {', '.join(installed())}")
    from wbc.solvers.through_qpsolvers import ThroughQpsolvers

    return ThroughQpsolvers(name, TIME_CAP if time_cap is None else time_cap)
