"""The picture of a run: errors, torques and joint speeds over their limits, tick times. Needs matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from wbc.checks import Array
from wbc.errors import InputError
from wbc.simulation.optional import optional
from wbc.simulation.recording import Recording

COLOURS = ("#2563a8", "#d9772b", "#3a8f5c", "#c9a227", "#7a5ea8", "#8a6d4b", "#c9679f", "#5f6b73", "#9aa02c", "#2f9fb0")
INK, FAINT, ALARM = "#2b2f33", "#d9dde1", "#b8433f"
MOST_POINTS = 4000  # a line of more is drawn by its extremes: nothing that stands out is lost, and the file stays small
STYLE = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": "#9aa1a8",
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "lines.linewidth": 1.1,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
}


def plot(recording: Recording, path: str | Path, *, title: str = "") -> Path:
    """Draw a run; see :meth:`Recording.plot`."""
    matplotlib = optional("matplotlib", "plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    file = Path(path)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(10.5, 9.2), dpi=120, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(4, 1, sharex=True, height_ratios=(1.25, 1.1, 1.1, 0.8))
        figure.suptitle(title or _title(recording), x=0.012, ha="left", fontsize=12.5, fontweight="bold")
        _draw_errors(axes[0], recording)
        _draw_ratios(axes[1], recording, "torque over its limit", recording.torque_ratio, recording.joint_names)
        _draw_ratios(axes[2], recording, "joint speed over its limit", recording.speed_ratio, recording.velocity_names)
        _draw_ticks(axes[3], recording)
        axes[-1].set_xlabel("time [s]")
        if len(recording.time):
            axes[-1].set_xlim(0.0, recording.time[-1] + recording.dt)
        _mark_status(axes[0], recording)
        try:
            figure.savefig(file, facecolor="white")
        except (OSError, ValueError) as error:
            raise InputError(f"the plot cannot be written to {str(file)!r}: {error}") from error
    return file


def _title(recording: Recording) -> str:
    name = " · ".join(part for part in (recording.scenario, recording.robot) if part) or "run"
    end = "" if recording.finished else f"  (stopped: {recording.reason})"
    return f"{name}{end if len(end) < 90 else end[:88] + '…)'}"


def _draw_errors(axis: Any, recording: Recording) -> None:
    axis.set_title("task error, norm  [m, rad]")
    largest = 0.0
    for (name, error), colour in zip(recording.error.items(), _cycle(), strict=False):
        norms = np.linalg.norm(error, axis=1)
        seen = norms[np.isfinite(norms)]
        if not seen.size:
            continue
        largest = max(largest, float(seen.max()))
        rms = float(np.sqrt(np.mean(seen**2)))
        axis.plot(*_thin(recording.time, norms), color=colour, label=f"{name}   rms {rms:.2g}, max {seen.max():.2g}")
    if largest > 0.0:
        # decades below 1e-6 of the largest error, and below 1e-9, are rounding: they would only squeeze the rest
        axis.set_yscale("log")
        axis.set_ylim(max(1e-6 * largest, 1e-9, _low(recording) / 2.0), 2.0 * largest)
    _legend(axis, "no motion task was recorded")


def _low(recording: Recording) -> float:
    """The 2 % quantile of all error norms, below which lie the zeros of a start."""
    norms = np.concatenate([np.linalg.norm(error, axis=1) for error in recording.error.values()])
    return float(np.quantile(norms[np.isfinite(norms)], 0.02))


def _draw_ratios(axis: Any, recording: Recording, title: str, ratio: Array, names: tuple[str, ...]) -> None:
    axis.set_title(title)
    limited = [i for i in range(len(names)) if ratio[:, i].any()]
    busiest = sorted(limited, key=lambda i: -ratio[:, i].max())[: len(COLOURS)]
    for i, colour in zip(sorted(busiest), _cycle(), strict=False):
        axis.plot(*_thin(recording.time, ratio[:, i]), color=colour, label=names[i])
    if len(limited) > len(busiest):
        rest = np.delete(np.arange(len(names)), busiest)
        axis.plot(*_thin(recording.time, ratio[:, rest].max(axis=1)), color=INK, lw=0.7, label="largest of the others")
    peak = float(ratio[:, limited].max()) if limited else 0.0
    axis.axhline(1.0, color=ALARM, lw=1.2, ls=(0, (4, 3)))
    axis.set_ylim(0.0, max(1.12, 1.08 * peak) if np.isfinite(peak) else 2.0)
    _legend(axis, "no limit is known")


def _draw_ticks(axis: Any, recording: Recording) -> None:
    ticks = recording.tick_us
    if not ticks.size:
        axis.set_title("controller tick")
        return
    p50, p95, p99 = np.percentile(ticks, (50, 95, 99))
    axis.set_title(f"controller tick [us]   p50 {p50:.0f}, p95 {p95:.0f}, p99 {p99:.0f}, max {ticks.max():.0f}")
    axis.plot(recording.time, ticks, ".", ms=1.6, color=COLOURS[0], alpha=0.55, rasterized=True)
    axis.axhline(p50, color=INK, lw=0.8)
    axis.set_yscale("log")
    axis.set_ylim(0.8 * ticks.min(), 1.25 * ticks.max())


def _mark_status(axis: Any, recording: Recording) -> None:
    """Shade the ticks in which something gave way."""
    for status, colour in (("RELAXED", COLOURS[1]), ("FALLBACK", ALARM)):
        hit = np.concatenate(([False], recording.status == status, [False]))
        edges = np.flatnonzero(hit[1:] != hit[:-1]).reshape(-1, 2)
        for k, (begin, end) in enumerate(edges):
            span = recording.dt * begin, recording.dt * end
            axis.axvspan(*span, color=colour, alpha=0.16, lw=0, label=status.lower() if k == 0 else None)
        if len(edges):
            _legend(axis, "")


def _legend(axis: Any, otherwise: str) -> None:
    if axis.get_legend_handles_labels()[0]:
        axis.legend(loc="upper left", bbox_to_anchor=(1.005, 1.03), borderaxespad=0.0, handlelength=1.4)
    elif otherwise:
        axis.text(0.5, 0.5, otherwise, transform=axis.transAxes, ha="center", va="center", color="#8a9198")


def _cycle() -> list[str]:
    return list(COLOURS) * 4


def _thin(x: Array, y: Array) -> tuple[Array, Array]:
    """A line with fewer points that looks the same: of each stretch its smallest and largest value."""
    if len(x) <= MOST_POINTS:
        return x, y
    stride = -(-2 * len(x) // MOST_POINTS)
    whole = len(x) // stride * stride
    filled = np.where(np.isnan(y[:whole]), -np.inf, y[:whole]).reshape(-1, stride)
    first = np.arange(0, whole, stride)
    picks = np.unique(np.concatenate((first + filled.argmin(axis=1), first + filled.argmax(axis=1), [len(x) - 1])))
    return x[picks], y[picks]
