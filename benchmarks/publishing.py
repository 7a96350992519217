"""Where results go: a table for people, a Markdown section of the README, and JSON; the same for every benchmark."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wbc.errors import InputError


@dataclass(frozen=True, slots=True)
class Files:
    """Where a run's results are written; ``None`` for nowhere.

    Attributes:
        json: {machine, versions, left_out, rows}.
        markdown: the tables.
        readme: a Markdown file; the text from ``<!-- bench NAME -->`` to ``<!-- end bench NAME -->`` is replaced.
    """

    json: str | Path | None = None
    markdown: str | Path | None = None
    readme: str | Path | None = None

    def write(self, section: str, rows: Sequence[Any], meta: dict[str, Any], text: str) -> None:
        """Write what was asked for.

        Args:
            section: NAME of the README's section.
            rows, meta: results, and what they were measured on.
            text: the tables as Markdown.
        """
        if self.json is not None:
            write_json(self.json, rows, meta)
        if self.markdown is not None:
            Path(self.markdown).write_text(text, encoding="utf-8")
        if self.readme is not None:
            replace_section(self.readme, text, section)


def measured_on(meta: dict[str, Any]) -> str:
    """The machine and the versions in a sentence."""
    m = meta["machine"]
    told = f"Measured on {m['cpu']}, {m['cores']} cores, {m['os']}, threads: {m['threads']}; "
    return told + ", ".join(f"{name} {number}" for name, number in meta["versions"].items()) + "."


def left_out(meta: dict[str, Any]) -> list[str]:
    """A paragraph about what could not be measured, where there is any."""
    return ["Left out: " + "; ".join(meta["left_out"]) + "."] if meta["left_out"] else []


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


def print_lines(
    title: str,
    header: Sequence[str],
    cells: Sequence[Sequence[str]],
    words: int,
    console: Console,
    *,
    bare: bool = False,
) -> None:
    """Print a table; ``words`` are the leading columns that are not numbers, ``bare`` leaves most lines out."""
    box: dict[str, Any] = {"box": SIMPLE_HEAD, "pad_edge": False, "collapse_padding": True} if bare else {}
    table = Table(title=escape(title) or None, title_justify="left", title_style="bold", **box)
    for i, name in enumerate(header):
        table.add_column(escape(name), justify="left" if i < words else "right", no_wrap=bare)
    for line in cells:
        table.add_row(*(escape(cell) for cell in line))
    console.print(table)
