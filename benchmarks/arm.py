"""``wbc bench arm``: the same stacks in closed form and as QPs, for every solver and metric, on arms and chains."""

from __future__ import annotations

from typing import Any

from wbc.benchmarks.arm_scene import motion, scene
from wbc.benchmarks.comparison import Subject, compare
from wbc.benchmarks.statistics import Row
from wbc.benchmarks.table import print_table

__all__ = ["ARM", "print_table", "run"]

ARM = Subject(
    section="arm",
    robots=("panda", "ur5", "chain7", "chain14", "chain28", "chain56"),
    quick_robots=("panda", "ur5", "chain7", "chain14"),
    scene=scene,
    motion=motion,
)


def run(quick: bool = False, **options: Any) -> list[Row]:
    """Measure, write what was asked for, and return the rows; options as :func:`wbc.benchmarks.comparison.compare`."""
    return compare(ARM, quick=quick, **options)
