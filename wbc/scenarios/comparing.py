"""One picture of several runs of a scenario: errors, torques and joint speeds side by side. Needs matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from wbc.errors import InputError
from wbc.scenarios.measures import MM, MRAD, norms
from wbc.scenarios.play import Outcome
from wbc.simulation.optional import optional
from wbc.simulation.plotting import ALARM, COLOURS, STYLE

# runs that agree lie on each other: the later ones leave the earlier visible
STYLES = ("-", (0, (4, 3)), (0, (1, 1.5)))


def plot(outcome: Outcome, path: str | Path) -> Path:
    """Draw all runs of a scenario into one picture and return its path.

    Raises:
        NotInstalledError: matplotlib is not installed (``pip install 'wbc[plot]'``).
        InputError: the picture cannot be written there.
    """
    matplotlib = optional("matplotlib", "plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    scenario, file = outcome.scenario, Path(path)
    turning = all(rec.error[scenario.hand].shape[1] == 6 for rec in outcome.recordings.values())
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(10.5, 9.2), dpi=120, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(4, 1, sharex=True)
        figure.suptitle(f"{scenario.name}: {scenario.line}", x=0.012, ha="left", fontsize=12.5, fontweight="bold")
        for i, run in enumerate(outcome.runs):
            rec = outcome.recordings[run.name]
            look: Any = {"color": COLOURS[i % len(COLOURS)], "ls": STYLES[i % len(STYLES)]}
            axes[0].plot(rec.time, MM * norms(rec, scenario.hand, slice(0, 3)), label=run.title, **look)
            if turning:
                axes[1].plot(rec.time, MRAD * norms(rec, scenario.hand, slice(3, 6)), **look)
            axes[2].plot(rec.time, outcome.torque_ratio(run.name).max(axis=1), **look)
            axes[3].plot(rec.time, rec.speed_ratio.max(axis=1), **look)
        clips = ", as asked before clipping" if outcome.asked else ""
        titles = ("position error [mm]", "orientation error [mrad]", f"largest torque over its limit{clips}")
        for axis, title in zip(axes, (*titles, "largest joint speed over its limit"), strict=True):
            axis.set_title(title)
        for axis in axes[:2]:
            axis.set_yscale("log")
            axis.set_ylim(bottom=max(axis.get_ylim()[0], 1e-6 * axis.get_ylim()[1], _floor(axis)))
        for axis in axes[2:]:
            axis.axhline(1.0, color=ALARM, lw=1.2, ls=(0, (4, 3)))
            axis.set_ylim(0.0, max(1.12, axis.get_ylim()[1]))
        axes[0].legend(loc="upper left", bbox_to_anchor=(1.005, 1.03), borderaxespad=0.0, handlelength=2.4)
        axes[3].set_xlabel("time [s]")
        axes[3].set_xlim(0.0, max(rec.time[-1] + rec.dt for rec in outcome.recordings.values()))
        try:
            figure.savefig(file, facecolor="white")
        except (OSError, ValueError) as error:
            raise InputError(f"the plot cannot be written to {str(file)!r}: {error}") from error
    return file


def _floor(axis: Any) -> float:
    """A third of the 5 % quantile of all that is drawn, below which lie the zeros of a start."""
    values = np.concatenate([line.get_ydata() for line in axis.lines]) if axis.lines else np.ones(1)
    return float(np.quantile(values[np.isfinite(values)], 0.05)) / 3.0
