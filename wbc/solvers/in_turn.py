"""Two solvers in turn: the chosen one, and one of another kind; what overran the deadline is left out for a while."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from wbc.solvers.guarded import GRACE, Guarded
from wbc.solvers.qp import Solver
from wbc.solvers.table import make_solver

Found = TypeVar("Found")

LEFT_OUT = 100  # ticks for which a solver that overran the deadline is not asked


class InTurn:
    """Who is asked at a tick, and in which order.

    Args:
        name: the chosen solver.
        deadline: of a tick [s], ``None`` for none.

    Attributes:
        first, second: the chosen solver, and another kind, so that what one stumbles over need not stop the other.
        back_at: the tick at which each is asked again.
    """

    def __init__(self, name: str, deadline: float | None) -> None:
        time_cap = None if deadline is None else GRACE * deadline
        self.first = make_solver(name, time_cap)
        self.second = make_solver("nnls" if self.first.name == "daqp" else "daqp", time_cap)
        self._deadline = deadline
        self._guard = Guarded(deadline)
        self.reset()

    def next_tick(self) -> None:
        """Another tick begins."""
        self._ticks += 1

    def reset(self) -> None:
        """As if nothing had ever been asked."""
        self._ticks, self.back_at, self._took_ns = 0, [0, 0], [0, 0]
        self.forget()

    def forget(self) -> None:
        """Drop all warm starts."""
        self.first.reset()
        self.second.reset()

    def ask(self, attempt: Callable[[Solver], tuple[Found | None, str]]) -> tuple[Found | None, str]:
        """Try with one solver after the other until an attempt succeeds.

        Args:
            attempt: gets a solver, gives what it found, or ``None`` and the reason in words.

        Returns:
            What was found, or ``None``, and what went wrong on the way, in words.
        """
        troubles: list[str] = []
        guard = self._guard
        for slot, solver in self._order():
            guard.begin(solver)
            found, words = attempt(guard)
            self._note_time(slot)
            if found is not None:
                if slot and not troubles and guard.calls:
                    troubles.append(f"{self.first.name}: left out, since it overran the deadline")
                return found, "; ".join(troubles)
            if guard.said and guard.said not in words:
                words += f" (it began with {guard.said})"
            troubles.append(words)
            solver.reset()  # whatever it kept may be what failed
        return None, "; ".join(troubles)

    def _order(self) -> list[tuple[int, Solver]]:
        """Without those that overran; where both did, both, the quicker one first."""
        both = [(0, self.first), (1, self.second)]
        if self._deadline is None:
            return both
        asked = [one for one in both if self.back_at[one[0]] <= self._ticks]
        return asked or sorted(both, key=lambda one: self._took_ns[one[0]])

    def _note_time(self, slot: int) -> None:
        """Leave a solver out for the next ticks where its own calls took longer than a tick may."""
        if self._deadline is not None and self._guard.spent_ns > 1e9 * self._deadline:
            self.back_at[slot] = self._ticks + LEFT_OUT + 1
            self._took_ns[slot] = self._guard.spent_ns
