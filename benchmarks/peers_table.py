"""What ``wbc bench peers`` tells: its rows, its tables, and which promises were missed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from rich.console import Console

from wbc.benchmarks.publishing import left_out, markdown_lines, measured_on, print_lines

# what `--check` asks for: the median over PlaCo's
MOST_OVER_PLACO = {
    ("panda", "idle"): 1.2, ("anymal_c", "idle"): 0.4, ("talos", "idle"): 0.35, ("talos", "active"): 0.6,
}  # fmt: skip
SAME = 1e-6  # m/s², rad/s²: accelerations that differ by less are those of the same problem
NOTE = (
    "A tick: from the state that is set to the torque; setting states and targets is in nobody's time. The same robots "
    "(joints, inertias and limits from one file), tasks, gains, weights, contacts, torque limits and states; every "
    "peer in a process of its own, in turn with wbc in blocks of the motion. p50 and p99 in µs (p99 of every tick's "
    "median over its repeats); p50 / and p99 /: wbc over the peer, the first from medians of the same block. Δv̇: "
    "largest difference of an acceleration in a tick (m/s², rad/s²), median and maximum over the ticks that both solve "
    "and in which no yaw friction row is active, which PlaCo's soles do not have; what is left comes from the "
    "regularisation of both sides, 1e-7 of what posture weighs here. "
    "TSID's solver leaves torques of Talos up to 4e-3 N m over active limits, hence its largest Δv̇ there. "
    "* other work, for scale: inverse kinematics, whose answer is a velocity; no masses, forces, torques and limits."
)


class Row(TypedDict):
    """wbc and one peer on one robot and case; times in µs; differences ``None`` where nothing can be compared."""

    robot: str
    joints: int
    case: str
    method: str
    solver: str
    peer: str
    peer_versions: dict[str, str]
    same_work: bool
    ticks: int
    p50_us: float
    p95_us: float
    p99_us: float
    max_us: float
    own_p99_us: float
    peer_p50_us: float
    peer_p95_us: float
    peer_p99_us: float
    peer_max_us: float
    peer_own_p99_us: float
    ratio_p50: float
    ratio_p99: float  # of own p99
    peer_solved: float  # share of the ticks
    compared: float  # share of the ticks
    acceleration_difference: float | None
    acceleration_difference_max: float | None


def missed(rows: Sequence[Row]) -> list[str]:
    """What is promised against PlaCo and was not kept, one sentence each."""
    found = []
    for row in rows:
        if row["peer"] != "placo":
            continue
        where, most = f"{row['robot']}, {row['case']}", MOST_OVER_PLACO.get((row["robot"], row["case"]))
        if most is not None and row["ratio_p50"] > most:
            found.append(f"{where}: wbc over PlaCo is {row['ratio_p50']:.2f}, at most {most}")
        gap = row["acceleration_difference"]
        if gap is None or (row["case"] == "idle" and gap > SAME):
            found.append(f"{where}: the accelerations differ by {gap}, at most {SAME}: not the same problem")
    return found


def markdown_text(rows: Sequence[Row], meta: dict[str, Any]) -> str:
    """The machine, what is measured, and the table."""
    theirs = {name: number for row in rows for name, number in row["peer_versions"].items() if name == row["peer"]}
    told = measured_on(meta | {"versions": meta["versions"] | theirs})
    return "\n\n".join((told, NOTE, *left_out(meta), markdown_lines(HEADER, _cells(rows), words=3))) + "\n"


def print_table(rows: Sequence[Row], console: Console | None = None) -> None:
    """Print the results."""
    title = "wbc and its peers: one tick [µs], ratios wbc over peer"
    header = [name.replace(" ", "\n") for name in HEADER]
    print_lines(title, header, _cells(rows), 3, Console() if console is None else console, bare=True)


HEADER = ("robot", "case", "peer", "wbc p50", "p99", "peer p50", "p99", "p50 /", "p99 /", "Δv̇", "max")


def _cells(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    return [
        (
            row["robot"],
            row["case"],
            row["peer"] + ("" if row["same_work"] else "*"),
            *(
                f"{us:.1f}" if us < 100.0 else f"{us:.0f}"
                for us in (row["p50_us"], row["own_p99_us"], row["peer_p50_us"], row["peer_own_p99_us"])
            ),
            f"{row['ratio_p50']:.2f}",
            f"{row['ratio_p99']:.2f}",
            _small(row["acceleration_difference"]),
            _small(row["acceleration_difference_max"]),
        )
        for row in rows
    ]


def _small(value: float | None) -> str:
    return "" if value is None else f"{value:.0e}"
