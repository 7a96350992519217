"""Writing results: a table for people, a Markdown section for the README, and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wbc.benchmarks.sections import Section, sections
from wbc.benchmarks.statistics import Row
from wbc.errors import InputError

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
        table = Table(title=escape(section.title), title_justify="left", title_style="bold")
        for i, name in enumerate(section.header):
            table.add_column(escape(name), justify="left" if i < section.words else "right")
        for line in section.cells:
            table.add_row(*(escape(cell) for cell in line))
        out.print(table)


def markdown_text(rows: Sequence[Row], meta: dict[str, Any], note: str = "") -> str:
    """The results as Markdown: the machine, what is measured, and the tables; all but the first robot folded."""
    machine, versions = meta["machine"], meta["versions"]
    parts = [
        f"Measured on {machine['cpu']}, {machine['cores']} cores, {machine['os']}, threads: {machine['threads']}; "
        + ", ".join(f"{name} {number}" for name, number in versions.items())
        + ".",
        f"{NOTE} {note}".strip(),
    ]
    if meta["left_out"]:
        parts.append("Left out: " + "; ".join(meta["left_out"]) + ".")
    parts += [_markdown(section) for section in (sections(rows) if rows else [])]
    return "\n\n".join(parts) + "\n"


def write_json(path: str | Path, rows: Sequence[Any], meta: dict[str, Any]) -> None:
    """Write {machine, versions, left_out, rows}; no NaN, so that every reader takes it."""
    Path(path).write_text(json.dumps({**meta, "rows": list(rows)}, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def replace_section(path: str | Path, text: str, name: str = "arm") -> None:
    """Replace what stands between ``<!-- bench NAME -->`` and ``<!-- end bench NAME -->`` in a Markdown file.

    Raises:
        InputError: the file does not exist, or has not exactly one such pair of markers.
    """
    file = Path(path)
    begin, end = f"<!-- bench {name} -->", f"<!-- end bench {name} -->"
    if not file.is_file():
        raise InputError(f"{file.name}: there is no such file; run this where the README is")
    whole = file.read_text(encoding="utf-8")
    if whole.count(begin) != 1 or whole.count(end) != 1 or whole.index(begin) > whole.index(end):
        raise InputError(f"{file.name}: expected one line {begin} and, after it, one line {end}")
    before, rest = whole.split(begin)
    after = rest.split(end)[1]
    file.write_text(f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}", encoding="utf-8")


def markdown_lines(header: Sequence[str], cells: Sequence[Sequence[str]], words: int) -> str:
    """A Markdown table; ``words`` are the leading columns that are not numbers."""
    rule = ["---"] * words + ["---:"] * (len(header) - words)
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in (header, rule, *cells)
    )


def _markdown(section: Section) -> str:
    table = markdown_lines(section.header, section.cells, section.words)
    if section.folded:
        return f"<details><summary>{section.title}</summary>\n\n{table}\n\n</details>"
    return f"**{section.title}**\n\n{table}"
