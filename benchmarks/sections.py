"""The tables of a benchmark as plain text cells, for the terminal and for Markdown alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wbc.benchmarks.statistics import Row, growth

_LABELS = {"closed_form": "closed form", "auto": "auto", "qp": "QP", "unreduced": "unreduced QP"}
_GROUND = ("base rows", "cones")  # of robots on feet alone
_TIMES = ("p50", "p95", "p99", "max", "ratio", "failed")
HEADER = ("case", "method", "solver", "Δτ [N m]", "strict", "limits")


@dataclass(frozen=True, slots=True)
class Section:
    """One table: a title, a header and cells; ``words`` are the leading columns that are not numbers."""

    title: str
    header: tuple[str, ...]
    cells: list[tuple[str, ...]]
    words: int
    folded: bool = False


def sections(rows: Sequence[Row], metric: str = "inertia") -> list[Section]:
    """One table a robot (several chains share one, of how cost grows) for one metric, and one of how exact all are."""
    shown = metric if any(row["metric"] == metric for row in rows) else rows[0]["metric"]
    grown = [entry for entry in growth(rows) if entry["metric"] == shown]
    # several chains are one table of growth; their other numbers stand in the JSON file
    robots = list(dict.fromkeys(row["robot"] for row in rows if not (grown and row["robot"].startswith("chain"))))
    on_feet = any(row["base_residual"] is not None for row in rows)
    found = [
        Section(
            _title(robot, [row for row in rows if row["robot"] == robot and row["metric"] == shown]),
            (*HEADER, *(_GROUND if on_feet else ()), *_TIMES),
            [_cells(row, on_feet) for row in rows if row["robot"] == robot and row["metric"] == shown],
            words=3,
            folded=i > 0,
        )
        for i, robot in enumerate(robots)
    ]
    if grown:
        sizes = sorted({n for entry in grown for n in entry["p50_us"]})
        found.append(
            Section(
                "Generated chains: p50 [µs] by number of joints, and the fitted exponent (time ~ N^e)",
                ("case", "method", "solver", *(f"N = {n}" for n in sizes), "e"),
                [
                    (
                        entry["case"],
                        _LABELS[entry["method"]],
                        _solver(entry["solver"]),
                        *(_us(entry["p50_us"].get(n)) for n in sizes),
                        f"{entry['exponent']:.2f}",
                    )
                    for entry in grown
                ],
                words=3,
            )
        )
    if len({row["metric"] for row in rows}) > 1 or on_feet:
        found.append(_metrics(rows))
    return found


def _metrics(rows: Sequence[Row]) -> Section:
    """Largest torque difference over all robots, a column a metric and case."""
    columns = list(dict.fromkeys((row["metric"], row["case"]) for row in rows))
    lines = list(dict.fromkeys((row["method"], row["solver"]) for row in rows))
    cells = []
    for method, solver in lines:
        line = [_LABELS[method], _solver(solver)]
        for metric, case in columns:
            of = [
                r for r in rows if (r["metric"], r["case"], r["method"], r["solver"]) == (metric, case, method, solver)
            ]
            known = [r["torque_difference"] for r in of if r["torque_difference"] is not None]
            line.append(_small(max(known)) if known else "failed" if of else "")
        cells.append(tuple(line))
    header = ("method", "solver", *(f"{metric}, {case}" for metric, case in columns))
    return Section("Largest torque difference [N m] over all robots, by metric and case", header, cells, words=2)


def _title(robot: str, rows: Sequence[Row]) -> str:
    shares = {row["case"]: (row["active_share"], row["conflict_share"]) for row in rows}
    told = ", ".join(f"{case} {active:.0%} ({conflict:.0%})" for case, (active, conflict) in shares.items())
    joints = rows[0]["joints"]
    unsolved = {row["case"]: row["unsolved"] for row in rows if row["unsolved"]}
    told += "".join(f"; {case}: {n} ticks left out, not solved by the exact route" for case, n in unsolved.items())
    return f"{robot}, {joints} joints, {rows[0]['metric']}. Ticks with an active limit (a strict task missed): {told}"


def _cells(row: Row, on_feet: bool) -> tuple[str, ...]:
    return (
        row["case"],
        _LABELS[row["method"]],
        _solver(row["solver"]),
        _small(row["torque_difference"]),
        _small(row["constraint_residual"]),
        _small(row["limit_violation"]) if row["method"] != "closed_form" else "",
        *((_small(row["base_residual"]), _small(row["cone_violation"])) if on_feet else ()),
        *(_us(value) for value in (row["p50_us"], row["p95_us"], row["p99_us"], row["max_us"])),
        f"{row['ratio_p50']:.2f}",
        f"{row['failed']} of {row['ticks']}",
    )


def _solver(name: str) -> str:
    return "" if name == "none" else name


def _us(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def _small(value: float | None) -> str:
    return "failed" if value is None else "0" if value == 0.0 else f"{value:.0e}"
