"""Replay: one tick in one file that suffices alone, read back as a report, and solved again by any solver."""

from __future__ import annotations

import json
import time
import zipfile
import zlib
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from wbc import hierarchy
from wbc.checks import Array
from wbc.circumstances import Circumstances, Moment
from wbc.encoding import decode, encode, fields_of
from wbc.errors import InputError
from wbc.hierarchy import closed_form
from wbc.hierarchy.gauss_coordinates import GaussRows, metric_matrix, threshold_in
from wbc.hierarchy.solve import Solution
from wbc.layout import Layout
from wbc.problem import Problem
from wbc.report import Report
from wbc.solvers import make_solver

FORMAT, BLACK_BOX = "wbc tick 1", "wbc black box 1"
STACKED = ("q", "v", "torque", "vdot", "share", "time_us", "started_ns")  # what a black box keeps of every tick
PLAIN = (
    "trouble",
    "time_us",
    "deadline_missed",
    "stale_ticks",
    "failures",
    "forces",
)  # what a report says besides its parts
NOT_A_TICK = (ValueError, KeyError, TypeError, AttributeError, IndexError, EOFError, zipfile.BadZipFile, zlib.error)


def save(report: Report, path: str | Path) -> Path:
    """Write a report's tick: rows, their names, how it was solved, what came out, and versions; no pickle.

    Raises:
        InputError: the file cannot be written.
    """
    arrays: dict[str, Any] = {"record": report.problem.record}
    return write(path, {"format": FORMAT, "tick": tick_text(report, "", arrays), **common_text(report, arrays)}, arrays)


def common_text(report: Report, arrays: dict[str, Any]) -> dict[str, Any]:
    """What is the same at every tick of a controller: layout and circumstances; and versions."""
    from wbc.environment import versions

    return {
        "layout": encode(fields_of(report.problem.layout), "layout", arrays),
        "circumstances": encode(fields_of(report.circumstances), "circumstances", arrays),
        "versions": versions(),
    }


def tick_text(report: Report, place: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """What one tick came to; ``place`` is put before the names of its arrays."""
    ago = (time.perf_counter_ns() - report.started_ns) * 1e-9
    solution = None
    if report.solution is not None:  # the closed form is computed again from the rows
        solution = {name: value for name, value in fields_of(report.solution).items() if name != "closed"}
    return {
        "when": datetime.fromtimestamp(time.time() - ago, UTC).isoformat(timespec="microseconds"),
        "moment": encode(fields_of(report.moment), f"{place}moment", arrays),
        "solution": encode(solution, f"{place}solution", arrays),
        **{name: encode(getattr(report, name), f"{place}{name}", arrays) for name in PLAIN},
    }


def write(path: str | Path, text: dict[str, Any], arrays: dict[str, Any]) -> Path:
    """Write text and arrays to a compressed file; returns its path."""
    file = Path(path)
    try:
        with file.open("wb") as stream:
            np.savez_compressed(stream, about=np.array(json.dumps(text)), **arrays)
    except OSError as error:
        raise InputError(f"the tick cannot be written to {str(file)!r}: {error.strerror or error}") from error
    return file


def read(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Text and arrays of a file that :func:`write` wrote.

    Raises:
        InputError: there is no such file, or nothing of the kind stands in it.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        text: dict[str, Any] = json.loads(str(arrays.pop("about")[()]))
        if not str(text["format"]).startswith("wbc "):
            raise ValueError(f"its format is {text['format']!r}")
        return text, arrays
    except OSError as error:
        raise InputError(f"the tick {str(path)!r} cannot be read: {error.strerror or error}") from error
    except NOT_A_TICK as error:
        raise InputError(f"{str(path)!r} is not a saved tick: {_words(error)}") from error


def load(path: str | Path, tick: int = -1) -> Report:
    """Read a tick that ``command.report.save(path)`` wrote; it says and explains what the report did.

    Args:
        path: the file.
        tick: which tick of a black box, -1 for the last one, which began the incident; the ones before it are solved
            again, and by solvers that have not seen the ticks before.

    Raises:
        InputError: there is no such file or tick, it is damaged, or it is no saved tick.
    """
    text, arrays = read(path)
    if text["format"] not in (FORMAT, BLACK_BOX):
        raise InputError(f"{str(path)!r} has the format {text['format']!r}, expected {FORMAT!r}: {_written_by(text)}")
    try:
        records = arrays["record"][None] if text["format"] == FORMAT else arrays["records"]
        if not -len(records) <= tick < len(records):
            raise InputError(f"{str(path)!r} holds {len(records)} ticks, -{len(records)} to -1; there is no {tick}")
        common = Common(text, arrays)
        if tick in (-1, len(records) - 1):
            return rebuild(text["tick"], common, records[-1], arrays)
        return _solved_again(common, records[tick], {name: arrays[name][tick] for name in STACKED})
    except InputError:
        raise
    except (*NOT_A_TICK, np.linalg.LinAlgError) as error:
        raise InputError(f"{str(path)!r} is not a whole tick: {_words(error)}; {_written_by(text)}") from error


class Common:
    """What is the same for all ticks of a file."""

    def __init__(self, text: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.layout = Layout(**decode(text["layout"], arrays))
        self.circumstances = Circumstances(**decode(text["circumstances"], arrays))


def rebuild(tick: dict[str, Any], common: Common, record: Array, arrays: dict[str, Any]) -> Report:
    """A report from what :func:`tick_text` and :func:`common_text` wrote."""
    size = sum(int(np.prod(shape)) for shape in common.layout.blocks().values())
    if record.shape != (size,):
        raise ValueError(f"the record has the shape {record.shape}, expected {(size,)}")
    problem = Problem(common.layout, record)
    circumstances = common.circumstances
    found = decode(tick["solution"], arrays)
    solution = None
    if found is not None:
        metric = circumstances.metric
        sigma0 = threshold_in(problem, metric, circumstances.sigma0)
        solution = Solution(closed=closed_form.solve(GaussRows(problem, metric), sigma0), **found)
    report = Report(problem, solution, circumstances, Moment(**decode(tick["moment"], arrays)), "", 0)
    for name in PLAIN:
        setattr(report, name, decode(tick[name], arrays))
    when = datetime.fromisoformat(tick["when"]).timestamp()
    report.started_ns = time.perf_counter_ns() - round((time.time() - when) * 1e9)
    return report


def _solved_again(common: Common, record: Array, kept: dict[str, Any]) -> Report:
    """A tick before an incident: the saved command, and a solution that is computed again."""
    circumstances, problem = common.circumstances, Problem(common.layout, record.copy())
    asked, trouble = make_solver(circumstances.solver), ""
    try:
        solution = hierarchy.solve(problem, circumstances.method, circumstances.metric, circumstances.sigma0, asked)
    except (hierarchy.InfeasibleError, hierarchy.SolverFailedError, np.linalg.LinAlgError) as error:
        solution, trouble = None, str(error)
    moment = Moment(kept["q"], kept["v"], kept["torque"], kept["vdot"], float(kept["share"]))
    report = Report(problem, solution, circumstances, moment, trouble, int(kept["started_ns"]))
    report.time_us = float(kept["time_us"])
    return report


def solve_again(report: Report, solver: str = "") -> Report:
    """Solve a report's tick again, by another solver or by the same one; the solver is asked even where none had to be.

    Raises:
        UnknownNameError, NotInstalledError: the solver.
        InputError: the solver did not solve the tick; its own words are in the message.
    """
    circumstances = replace(report.circumstances, solver=solver or report.circumstances.solver)
    asked = make_solver(circumstances.solver)
    method: Any = "qp" if report.route == "closed form" else circumstances.method
    problem, started = report.problem.copy(), time.perf_counter_ns()
    try:
        solution = hierarchy.solve(problem, method, circumstances.metric, circumstances.sigma0, asked)
    except (hierarchy.InfeasibleError, hierarchy.SolverFailedError, np.linalg.LinAlgError) as error:
        raise InputError(f"{asked.name} does not solve this tick: {error or 'no point satisfies the limits'}") from None
    moment = Moment(report.moment.q, report.moment.v, solution.torque, solution.vdot)
    return Report(problem, solution, circumstances, moment, "", started)


@dataclass(frozen=True, slots=True)
class Difference:
    """How far two answers to one tick are apart.

    Attributes:
        torque: largest difference of a torque [N m, N].
        acceleration: largest difference of an acceleration [rad/s², m/s²].
        values: level -> (value of the first, value of the second); see :func:`level_values`.
    """

    torque: float
    acceleration: float
    values: dict[str, tuple[float, float]]

    def summary(self) -> dict[str, Any]:
        """The same, ready for JSON."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


def difference(first: Report, second: Report) -> Difference:
    """Compare two answers to the same tick."""
    values, others = level_values(first), level_values(second)
    return Difference(
        float(np.abs(first.moment.torque - second.moment.torque).max(initial=0.0)),
        float(np.abs(first.vdot - second.vdot).max(initial=0.0)),
        {name: (value, others[name]) for name, value in values.items()},
    )


def level_values(report: Report) -> dict[str, float]:
    """½ ‖√w (A v̇ + b)‖² of each level, cost of Gauss and soft tasks, ½ ‖violation‖² of limits, ½ ‖f − f₀‖²_R."""
    p, layout = report.problem, report.problem.layout
    residual = layout.root_weights * (p.A @ report.vdot + p.b)
    squares = residual**2
    found = {
        label: float(0.5 * (squares[rows] * p.on[rows]).sum())
        for label, rows in zip(layout.labels, layout.slices, strict=True)
    }
    gap = report.vdot - p.nominal
    W = metric_matrix(p, report.circumstances.metric)
    soft = float((squares[layout.soft_rows] * p.soft_share).sum())
    found["gauss"] = 0.5 * (float(gap @ W @ gap) + soft)
    outside = np.maximum(p.lower - report.limit_values, report.limit_values - p.upper)
    found["limits"] = 0.5 * float((np.maximum(outside, 0.0) ** 2).sum())
    if layout.nf and report.solution is not None:
        away = p.root_weight_f * (report.contact_forces - p.f0 * p.active)
        found["forces"] = 0.5 * float(away @ away)
    return found


def _words(error: BaseException) -> str:
    if isinstance(error, KeyError):
        return f"{error} is missing in it"
    return str(error).rstrip(".").splitlines()[0] if str(error) else type(error).__name__


def _written_by(text: dict[str, Any]) -> str:
    return f"it was written by wbc {dict(text.get('versions', {})).get('wbc', 'of an unknown version')}"
