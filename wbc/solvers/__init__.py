"""QP solvers by name: native, persistent adapters, and every other name through qpsolvers."""

from wbc.solvers.qp import QP, Answer, Solver
from wbc.solvers.table import installed, make_solver

__all__ = ["QP", "Answer", "Solver", "installed", "make_solver"]
