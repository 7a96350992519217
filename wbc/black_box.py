"""Black box: the last ticks of a controller, written to a file when one of them ends in a fallback."""

from __future__ import annotations

import threading
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

from wbc.errors import InputError
from wbc.report import Report

TICKS = 200  # that are kept, and that must pass without a fallback before another one counts as a new incident
MOST_FILES = 20  # of one controller: a robot that falls back every second does not fill a disk


class BlackBox:
    """Keeps the reports of the last 200 ticks and writes them once an incident.

    The reports' own copies of their flat records are what is kept, so that a tick costs one entry in a ring (0.1 us; a
    ring of records would cost another copy, 2.2 us for 38 joints). Files are written by a thread of their own.

    Args:
        folder: where files go; it is made where it does not exist.

    Raises:
        InputError: the folder cannot be made.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"black_box: {str(folder)!r} cannot be a folder: {error.strerror or error}") from error
        self.files: list[Path] = []
        self._ring: deque[Report] = deque(maxlen=TICKS)
        self._calm = TICKS
        self._writer: threading.Thread | None = None

    def see(self, report: Report) -> None:
        """Keep a tick; where it begins an incident, write all that are kept and say so in ``report.trouble``."""
        self._ring.append(report)
        if report.solution is not None:
            self._calm += 1
            return
        begins, self._calm = self._calm >= TICKS, 0
        if not begins:
            where = str(self.files[-1]) if self.files else ""
            report.trouble += f"; how it began is in {where}" if where else ""
        elif len(self.files) >= MOST_FILES:
            report.trouble += f"; the black box is full: {MOST_FILES} files in {self.folder}"
        else:
            path = self._free_name()
            self.files.append(path)
            report.trouble += f"; the last {len(self._ring)} ticks are in {path}"
            self.wait()
            self._writer = threading.Thread(target=_write, args=(path, list(self._ring)), name="black box")
            self._writer.start()

    def wait(self) -> None:
        """Wait until everything is written."""
        if self._writer is not None:
            self._writer.join()

    def forget(self) -> None:
        """Forget all ticks, as if the controller were new; what was written stays."""
        self._ring.clear()
        self._calm = TICKS

    def _free_name(self) -> Path:
        numbers = (int(path.stem.rpartition("-")[2]) for path in self.folder.glob("fallback-[0-9]*.npz"))
        number = max([*numbers, *(int(path.stem.rpartition("-")[2]) for path in self.files)], default=0) + 1
        return self.folder / f"fallback-{number:04d}.npz"


def _write(path: Path, reports: list[Report]) -> None:
    """One file of several ticks: records and moments stacked, the last tick whole."""
    from wbc.replay import BLACK_BOX, common_text, tick_text, write

    arrays: dict[str, Any] = {
        "records": np.stack([report.record for report in reports]),
        "share": np.array([report.moment.share for report in reports]),
        "time_us": np.array([report.time_us for report in reports]),
        "started_ns": np.array([report.started_ns for report in reports]),
        **{
            name: np.stack([getattr(report.moment, name) for report in reports])
            for name in ("q", "v", "torque", "vdot")
        },
    }
    last = reports[-1]
    try:
        write(path, {"format": BLACK_BOX, "tick": tick_text(last, "", arrays), **common_text(last, arrays)}, arrays)
    except InputError as error:
        last.trouble += f"; but {error}"
