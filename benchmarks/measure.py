"""Interleaved runs: all contenders go over the same moments in blocks, in turn, so that ratios hold under load."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from wbc.benchmarks.contenders import Contender, Judge, Outcome, Truth
from wbc.benchmarks.scene import Moment

SETTLE = 2  # first ticks of each block that are not counted: caches and warm starts belong to another contender


@dataclass(slots=True, eq=False)
class Samples:
    """All that one contender did."""

    contender: Contender
    total_ns: list[int] = field(default_factory=list)
    build_ns: list[int] = field(default_factory=list)
    block_ns: list[float] = field(default_factory=list)  # median of each block, nan where it has none
    torque_difference: float = 0.0
    constraint_residual: float = 0.0
    limit_violation: float = 0.0
    base_residual: float = 0.0
    cone_violation: float = 0.0
    failed: int = 0
    ticks: int = 0
    spent: float = 0.0  # processor time [s]

    def judge(self, outcome: Outcome, truth: Truth) -> None:
        """Compare one answer with the truth."""
        self.ticks += 1
        if outcome.torque is None:
            self.failed += 1
            return
        p = truth.problem
        vdot, f = outcome.x[: p.layout.nv], outcome.x[p.layout.nv :]
        strict = p.A[: len(truth.strict)] @ vdot
        value = p.limit_values(vdot, f, p.torque(vdot, f))  # of the acceleration, before a torque is clipped
        outside = np.maximum(p.lower - value, value - p.upper)
        cones = slice(p.layout.n_acc, p.layout.n_acc + p.layout.n_cone)
        limits = np.delete(outside, cones)
        base = (p.M @ vdot + p.h - f @ p.J)[p.layout.unactuated]
        self.torque_difference = max(self.torque_difference, float(np.abs(outcome.torque - truth.torque).max()))
        self.constraint_residual = max(self.constraint_residual, float(np.abs(strict - truth.strict).max(initial=0.0)))
        if self.contender.method != "closed_form":
            self.limit_violation = max(self.limit_violation, float(limits.max(initial=0.0)))
        self.base_residual = max(self.base_residual, float(np.abs(base).max(initial=0.0)))
        self.cone_violation = max(self.cone_violation, float(outside[cones].max(initial=0.0)))


@dataclass(slots=True, eq=False)
class Measured:
    """The samples of one robot, metric and case; shares, and ticks left out since the exact route had no answer."""

    samples: list[Samples]
    active: float
    conflict: float
    unsolved: int


def measure(
    contenders: Sequence[Contender],
    judge: Judge,
    blocks: Sequence[Sequence[Moment]],
    seconds: float,
    advance: Callable[[], None],
) -> Measured:
    """Run every contender over every block.

    Args:
        contenders: who; whose turn is first moves on by one each block.
        judge: finds the truth of each block first, unmeasured.
        blocks: consecutive moments.
        seconds: processor time that one contender may take in all; who is slower sees fewer ticks, or
            none, of some blocks.
        advance: called after each block.
    """
    samples = [Samples(contender) for contender in contenders]
    active = conflict = count = unsolved = 0
    for k, block in enumerate(blocks):
        seen = [(moment, judge.see(moment)) for moment in block]
        moments = [moment for moment, truth in seen if truth is not None]
        truths = [truth for _, truth in seen if truth is not None]
        unsolved += len(block) - len(truths)
        active += sum(truth.active for truth in truths)
        conflict += sum(truth.conflict for truth in truths)
        count += len(truths)
        first = k % len(samples)
        for mine in samples[first:] + samples[:first]:
            allowed = seconds * (k + 1) / len(blocks)
            if not truths or (
                mine.spent > allowed and mine is not samples[0]
            ):  # the baseline of the ratios is in every block
                mine.block_ns.append(math.nan)
            else:
                _run_block(mine, moments, truths, allowed)
        advance()
    return Measured(samples, active / max(count, 1), conflict / max(count, 1), unsolved)


def _run_block(mine: Samples, block: Sequence[Moment], truths: Sequence[Truth], allowed: float) -> None:
    """Run a block until the time that is allowed up to here is spent, one tick at least."""
    run = mine.contender.run
    done: list[tuple[Outcome, Truth]] = []
    started = time.process_time()  # of this process: ticks that others interrupt are not fewer
    late = False
    for i, (moment, truth) in enumerate(zip(block, truths, strict=True)):
        outcome = run(moment, truth)
        late = mine.spent + time.process_time() - started > allowed
        if i >= SETTLE or late:
            done.append((outcome, truth))
        if late:
            break
    mine.spent += time.process_time() - started
    for outcome, truth in done:
        mine.judge(outcome, truth)
    totals = [outcome.total_ns for outcome, _ in done]
    mine.total_ns += totals
    mine.build_ns += [outcome.build_ns for outcome, _ in done]
    mine.block_ns.append(float(np.median(totals)))
