"""One stack, three routes: closed form, the closed form until a limit is active, and QPs."""

from wbc.hierarchy.level_qp import InfeasibleError, SolverFailedError
from wbc.hierarchy.solve import Method, Solution, solve

__all__ = ["InfeasibleError", "Method", "Solution", "SolverFailedError", "solve"]
