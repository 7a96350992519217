"""What ``wbc explain`` prints and writes."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wbc.replay import difference
from wbc.report import Report


def print_tick(report: Report, again: Report | None, console: Console) -> None:
    """The tick in words, and how far another solver's answer is from it."""
    console.print(escape(report.explain()), soft_wrap=True)
    for blame in report.blame():
        rows = f"no room beside {', '.join(blame.rows)}; none of these can be left out." if blame.rows else "no clash."
        console.print(escape(f"{blame.request}: {rows}"), soft_wrap=True)
    if again is None:
        return
    found = difference(report, again)
    table = Table("value of level", box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("saved", justify="right")
    table.add_column(escape(again.circumstances.solver), justify="right")
    for name, (first, second) in found.values.items():
        table.add_row(escape(name), f"{first:.6g}", f"{second:.6g}")
    console.print(table)
    console.print(
        f"Solved again by {escape(again.circumstances.solver)} ({again.status.name}, {again.route}): torques differ by "
        f"up to {found.torque:.3g} N m, accelerations by up to {found.acceleration:.3g} rad/s².",
        soft_wrap=True,
    )
    if report.moment.share < 1.0:
        console.print("The saved command is a mix; it was solved again as it stands in the file, not mixed.")


def summary(report: Report, again: Report | None) -> str:
    """The same as JSON text."""
    about = report.circumstances
    found: dict[str, Any] = {
        "robot": about.robot,
        "method": about.method,
        "solver": about.solver,
        "status": report.status.name,
        "route": report.route,
        "torque": dict(zip(about.joint_names, report.moment.torque.tolist(), strict=True)),
        "tasks": {
            name: {
                "asked": task.asked.tolist(),
                "got": task.got.tolist(),
                "missed": float(np.abs(task.missed).max(initial=0.0)),
                "because": task.because,
            }
            for name, task in report.tasks.items()
        },
        "active": [asdict(limit) for limit in report.active],
        "relaxed": [asdict(gave) for gave in report.relaxed],
        "blame": [asdict(blame) for blame in report.blame()],
        "words": report.explain().splitlines(),
    }
    if again is not None:
        found["again"] = {"solver": again.circumstances.solver}
        found["again"] |= {"status": again.status.name, "route": again.route, **difference(report, again).summary()}
    return json.dumps(found, indent=1) + "\n"
