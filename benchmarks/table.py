"""The tables of a comparison of routes and solvers, for the terminal and for the README."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from wbc.benchmarks.publishing import left_out, markdown_lines, measured_on, print_lines
from wbc.benchmarks.sections import Section, sections
from wbc.benchmarks.statistics import Row

NOTE = (
    "All contenders go over the same recorded motion in blocks, in turn; `ratio` compares medians of the same block "
    "with the first line of the case. Idle: no limit is active, Δτ is the difference to the closed form. Active: "
    "torque limits halfway between what the strict tasks need and what the solution without limits would take; "
    "conflict: 0.9 of what the strict tasks need, so that one gives way; in both Δτ is the difference to the exact "
    "route (auto, daqp). Times in µs: a controller's whole tick, state in, torque out; for the unreduced QP "
    "building and solving alone, without dynamics, task rows and the strict values that a controller found before. "
    "strict and limits: largest residual of the strict rows against the best that can be reached (m/s², rad/s²) and "
    "largest violation of a limit (N m, rad/s²). failed: ticks that the solver itself did not solve; a controller "
    "then answers with its backup, the time counts, and the accuracy columns leave the tick out. A solver that is "
    "slow goes over fewer ticks."
)


def print_table(rows: Sequence[Row], console: Console | None = None) -> None:
    """Print every section of the results."""
    out = Console() if console is None else console
    for section in sections(rows) if rows else []:
        print_lines(section.title, section.header, section.cells, section.words, out)


def markdown_text(rows: Sequence[Row], meta: dict[str, Any], note: str = "") -> str:
    """The results as Markdown: the machine, what is measured, and the tables; all but the first robot folded."""
    parts = [measured_on(meta), f"{NOTE} {note}".strip(), *left_out(meta)]
    parts += [_markdown(section) for section in (sections(rows) if rows else [])]
    return "\n\n".join(parts) + "\n"


def _markdown(section: Section) -> str:
    table = markdown_lines(section.header, section.cells, section.words)
    if section.folded:
        return f"<details><summary>{section.title}</summary>\n\n{table}\n\n</details>"
    return f"**{section.title}**\n\n{table}"
