"""Findings and versions as tables for a person, on a rich console."""

from __future__ import annotations

import math

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wbc.environment import available, environment
from wbc.inspection import Findings

STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


def print_findings(findings: Findings, console: Console) -> None:
    """Print what :func:`wbc.inspection.inspect` found: facts, joints, frames, then findings with their fixes."""
    console.print(f"[bold]{escape(findings.name or '(no name)')}[/bold]  {escape(findings.source)}")
    motors = sum(joint.nv for joint in findings.joints if joint.kind != "floating")
    console.print(
        f"nq {findings.nq}, nv {findings.nv}, {motors} actuated; "
        f"mass {findings.mass:.4g} kg, of which {findings.moving_mass:.4g} kg move; "
        f"{len(findings.links)} links, {len(findings.meshes)} meshes ({len(findings.missing_meshes)} missing)"
    )
    if findings.joints:
        table = Table("joint", "type", title="Joints", title_justify="left")
        for column in ("lower", "upper", "velocity", "effort"):
            table.add_column(column, justify="right")
        for joint in findings.joints:
            numbers = (joint.lower, joint.upper, joint.velocity, joint.effort)
            table.add_row(escape(joint.name), joint.kind, *map(_number, numbers))
        console.print(table)
    console.print(f"[bold]Frames[/bold] {escape(', '.join(findings.frames))}")
    if findings.missing_meshes:
        console.print(f"[bold]Missing meshes[/bold] {escape(', '.join(findings.missing_meshes))}")
    if findings.findings:
        table = Table("", title="Findings", title_justify="left", show_lines=True)
        for column in ("where", "what", "fix"):
            table.add_column(column, overflow="fold")  # paths have no blanks to break at
        for finding in findings.findings:
            style = STYLES[finding.severity]
            cells = (finding.where, finding.what, finding.fix)
            table.add_row(f"[{style}]{finding.severity}[/{style}]", *map(escape, cells))
        console.print(table)
    errors, warnings = len(findings.errors), len(findings.warnings)
    verdict = "[bold red]not usable[/bold red]" if errors else "[bold green]usable[/bold green]"
    console.print(f"{verdict}: {_count(errors, 'error')}, {_count(warnings, 'warning')}")


def print_environment(console: Console) -> None:
    """Print the versions of everything that :func:`wbc.environment.environment` looks at."""
    table = Table("part", "version", title="Environment", title_justify="left")
    for name, state in environment():
        style = "" if available(state) else "yellow" if state.startswith("not installed") else "bold red"
        table.add_row(escape(name), f"[{style}]{escape(state)}[/{style}]" if style else escape(state))
    console.print(table)


def _number(value: float | None) -> str:
    return "-" if value is None else "none" if math.isinf(value) or abs(value) > 1e18 else f"{value:.4g}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
