"""Rows: what is kept of a measurement, and how cost grows with the number of joints."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import TypedDict

import numpy as np

from wbc import Robot
from wbc.benchmarks.measure import Measured, Samples
from wbc.checks import Array

_CHAIN = re.compile(r"chain(\d+)")


class Row(TypedDict):
    """One contender on one robot, metric and case; differences are ``None`` where its solver never answered."""

    robot: str
    joints: int
    case: str
    metric: str
    method: str
    solver: str
    ticks: int
    failed: int
    active_share: float
    conflict_share: float
    unsolved: int  # ticks of the motion that are left out, since the exact route found no solution
    torque_difference: float | None  # N m, largest, to the closed form (idle) or to the exact route (active, conflict)
    constraint_residual: float | None  # m/s², rad/s², largest, of the strict rows against the best that can be reached
    limit_violation: float | None  # N m, rad/s², largest, of limits on torques and accelerations
    base_residual: float | None  # N and N m over the robot's weight, largest; None where the base does not float
    cone_violation: float | None  # N and N m over the robot's weight, largest; None likewise
    p50_us: float
    p95_us: float
    p99_us: float
    max_us: float
    build_p50_us: float | None  # of the unreduced QP, contained in p50_us
    solve_p50_us: float | None
    ratio_p50: float  # median over the blocks of the block's median over the baseline's in the same block


class Growth(TypedDict):
    """Cost of one contender over the chains: median times [µs] by number of joints, and ``time ~ N**exponent``."""

    case: str
    metric: str
    method: str
    solver: str
    p50_us: dict[int, float]
    exponent: float


def rows_of(measured: Measured, robot: Robot, metric: str, case: str) -> list[Row]:
    """The rows of one robot, metric and case; the first contender is the baseline of the ratios."""
    baseline = np.array(measured.samples[0].block_ns)
    return [_row(samples, baseline, measured, (robot, metric, case)) for samples in measured.samples if samples.ticks]


def _row(samples: Samples, baseline: Array, measured: Measured, scene: tuple[Robot, str, str]) -> Row:
    robot, metric, case = scene
    us = np.array(samples.total_ns) * 1e-3
    build = np.array(samples.build_ns) * 1e-3
    p50, p95, p99 = (float(p) for p in np.percentile(us, (50, 95, 99)))
    answered = samples.failed < samples.ticks
    split = samples.contender.method == "unreduced"
    floating = answered and bool(robot.footing)
    return Row(
        robot=robot.name,
        joints=robot.nu,
        case=case,
        metric=metric,
        method=samples.contender.method,
        solver=samples.contender.solver,
        ticks=samples.ticks,
        failed=samples.failed,
        active_share=measured.active,
        conflict_share=measured.conflict,
        unsolved=measured.unsolved,
        torque_difference=samples.torque_difference if answered else None,
        constraint_residual=samples.constraint_residual if answered else None,
        limit_violation=samples.limit_violation if answered else None,
        base_residual=samples.base_residual / robot.weight if floating else None,
        cone_violation=samples.cone_violation / robot.weight if floating else None,
        p50_us=p50,
        p95_us=p95,
        p99_us=p99,
        max_us=float(us.max()),
        build_p50_us=float(np.median(build)) if split else None,
        solve_p50_us=float(np.median(us - build)) if split else None,
        ratio_p50=float(np.nanmedian(np.array(samples.block_ns) / baseline)),
    )


def exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """The slope of log time over log size, by least squares; nan for less than two sizes."""
    if len(sizes) < 2:
        return math.nan
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def off_the_line(sizes: Sequence[float], times: Sequence[float]) -> float:
    """By what factor, less one, the farthest time lies off ``c size^e``; nan for less than two sizes.

    Costs of a tick are a constant plus something that grows: where this is large, no one exponent tells the whole.
    """
    if len(sizes) < 2:
        return math.nan
    line = np.polyval(np.polyfit(np.log(sizes), np.log(times), 1), np.log(sizes))
    return float(np.expm1(np.abs(np.log(times) - line).max()))


def growth(rows: Iterable[Row]) -> list[Growth]:
    """How the cost of each contender grows over the chains that were measured."""
    found: dict[tuple[str, str, str, str], dict[int, float]] = {}
    for row in rows:
        if _CHAIN.fullmatch(row["robot"]):
            key = (row["case"], row["metric"], row["method"], row["solver"])
            found.setdefault(key, {})[row["joints"]] = row["p50_us"]
    return [
        Growth(
            case=case,
            metric=metric,
            method=method,
            solver=solver,
            p50_us=dict(sorted(times.items())),
            exponent=exponent(sorted(times), [times[n] for n in sorted(times)]),
        )
        for (case, metric, method, solver), times in found.items()
        if len(times) > 1
    ]
