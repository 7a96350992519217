"""Interleaved runs of anything that can be timed: blocks of one sequence, contenders in turn, repeated.

On a noisy machine absolute times move by half; a ratio of the same block, measured within a moment, does not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wbc.checks import Array
from wbc.state import State

SETTLE = 5  # first ticks of each block that are not counted: caches and warm starts belong to another contender

Runner = Callable[[int, int], Array]  # (first, stop) -> nanoseconds (stop - first,) of the ticks of the sequence


def timed(
    tick: Callable[[State], object], states: Sequence[State], before: Callable[[int], None] | None = None
) -> Runner:
    """What each tick over a sequence of states takes; ``before`` is called with its number, outside the time."""
    now = time.perf_counter_ns

    def go(first: int, stop: int) -> Array:
        ns = np.empty(stop - first)
        for i in range(first, stop):
            if before is not None:
                before(i)
            state = states[i]
            started = now()
            tick(state)
            ns[i - first] = now() - started
        return ns

    return go


@dataclass(frozen=True, slots=True, eq=False)
class Times:
    """Times of one contender.

    Attributes:
        ns: (repeats, ticks) as they were measured.
        blocks: (repeats, blocks) median of each block [ns].
    """

    ns: Array
    blocks: Array

    def us(self, percentile: float) -> float:
        """A percentile over all that was measured [µs]; 100 is the worst tick."""
        return float(np.percentile(self.ns, percentile)) * 1e-3

    def own_us(self, percentile: float) -> float:
        """A percentile over the ticks of the sequence, each the median of its repeats [µs].

        What interrupts one tick is not there when it is repeated; what a tick takes for its own sake is.
        """
        return float(np.percentile(np.median(self.ns, axis=0), percentile)) * 1e-3

    def over(self, other: Times) -> float:
        """Median over blocks of this one's median over the other's in the same block."""
        return float(np.median(self.blocks / other.blocks))


def interleave(
    runners: Mapping[str, Runner], ticks: int, length: int, repeats: int, advance: Callable[[], None] = lambda: None
) -> dict[str, Times]:
    """Run every contender over every block of a sequence, in turn; who is first moves on by one each block.

    Args:
        runners: who; each runs ticks ``first`` to ``stop`` of the sequence and says what each one took [ns].
        ticks: length of the sequence.
        length: ticks of a block, more than ``SETTLE``.
        repeats: how often the sequence is gone over.
        advance: called after each block.
    """
    names = list(runners)
    starts = range(0, ticks - length + 1, length)
    found: dict[str, list[list[Array]]] = {name: [] for name in names}
    turn = 0
    for _ in range(repeats):
        for name in names:
            found[name].append([])
        for start in starts:
            first = turn % len(names)
            for name in names[first:] + names[:first]:
                found[name][-1].append(runners[name](start, start + length)[SETTLE:])
            turn += 1
            advance()
    return {
        name: Times(
            np.array([np.concatenate(blocks) for blocks in lap], dtype=np.float64),
            np.array([[np.median(block) for block in blocks] for blocks in lap], dtype=np.float64),
        )
        for name, lap in found.items()
    }
