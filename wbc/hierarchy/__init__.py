"""One stack, three routes: closed form, the closed form until a limit is active, and QPs."""

from wbc.hierarchy.level_qp import InfeasibleError, SolverFailedError
from wbc.hierarchy.solve import Begun, Method, Solution, begin, solve

__all__ = ["Begun", "InfeasibleError", "Method", "Solution", "SolverFailedError", "begin", "solve"]
