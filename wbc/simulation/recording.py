"""Recording: what happened in a run, tick by tick; saved, loaded, plotted and summed up."""

from __future__ import annotations

import json
import math
import zipfile
from collections import Counter
from dataclasses import KW_ONLY, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wbc.by_name import ByName
from wbc.checks import Array
from wbc.errors import InputError

TOLERANCE = 1e-9  # N m: beyond its limit by more than this, a torque counts as a violation
TABLES = ("error", "wrenches", "measured_wrenches")
STATUS = ("OPTIMAL", "RELAXED", "FALLBACK")


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """A run of T ticks; row i of everything belongs to ``time[i]``, the start of that tick.

    Attributes:
        time: (T,) [s].
        q, v: (T, nq) and (T, nv), the state that the controller was given.
        torque: (T, nu) [N m, N], what the motors pushed with: what it returned, and the firmware's gravity if that
            is left to it.
        error: task -> (T, k), reference minus measured; NaN while a task is not active.
        wrenches: contact -> (T, 6) [N, N m], what the controller meant; NaN while a contact is not active.
        measured_wrenches: foot -> (T, 6), the physics' own mean during the tick.
        status: (T,) names of :class:`wbc.Status`.
        tick_us: (T,) duration of the controller's tick [us].
        dt: control period [s].
        robot, scenario: names.
        joint_names, torque_limits: (nu,), order and limits of ``torque``.
        velocity_names, velocity_limits: (nv,), order and limits of ``v``.
        finished: whether the run reached its end.
        reason: why it did not; empty if it did.
        overruns: ticks that came late, where the run was paced by the clock.
        late_us: (T,) how long after it was due the tick after each one began [us]; empty where nothing paced the run.
    """

    time: Array
    q: Array
    v: Array
    torque: Array
    error: dict[str, Array]
    wrenches: dict[str, Array]
    measured_wrenches: dict[str, Array]
    status: NDArray[np.str_]
    tick_us: Array
    dt: float
    joint_names: tuple[str, ...]
    torque_limits: Array
    velocity_names: tuple[str, ...]
    velocity_limits: Array
    _: KW_ONLY
    robot: str = ""
    scenario: str = ""
    finished: bool = True
    reason: str = ""
    overruns: int = field(default=0)
    late_us: Array = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        for table, what in zip(TABLES, ("task", "contact", "foot"), strict=True):
            object.__setattr__(self, table, ByName(getattr(self, table), what, f"the recording's {table}"))

    @property
    def torque_ratio(self) -> Array:
        """(T, nu) |torque| over its limit; zero where there is none."""
        return _ratio(self.torque, self.torque_limits)

    @property
    def speed_ratio(self) -> Array:
        """(T, nv) joint speed over its limit; zero where there is none."""
        return _ratio(self.v, self.velocity_limits)

    @property
    def over_limit(self) -> NDArray[np.bool_]:
        """(T,) whether a torque is beyond its limit by more than 1e-9."""
        return np.asarray((np.abs(self.torque) > self.torque_limits + TOLERANCE).any(axis=1))

    def summary(self) -> dict[str, Any]:
        """The run in a few numbers, ready for JSON.

        ``error`` has the root mean square and the maximum of each task's error norm, ``violations`` counts ticks with
        a torque beyond its limit by more than 1e-9 N m, and what cannot be said is ``None``.
        """
        counts = Counter(self.status.tolist())
        return {
            "scenario": self.scenario,
            "robot": self.robot,
            "duration": len(self.time) * self.dt,
            "ticks": len(self.time),
            "finished": bool(self.finished),
            "reason": self.reason,
            "status": {name: counts.get(name, 0) for name in dict.fromkeys((*STATUS, *counts))},
            "error": {name: _rms_and_max(error) for name, error in self.error.items()},
            "torque_ratio_max": _largest(self.torque_ratio),
            "speed_ratio_max": _largest(self.speed_ratio),
            "violations": int(self.over_limit.sum()),
            "tick_us": _percentiles(self.tick_us),
            "overruns": int(self.overruns),
            "late_us": _percentiles(self.late_us),
        }

    def save(self, path: str | Path) -> Path:
        """Write everything to a compressed numpy file; returns its path.

        Raises:
            InputError: the folder does not exist or cannot be written to.
        """
        arrays: dict[str, Any] = {}
        plain: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name in TABLES:
                arrays |= {f"{item.name}/{name}": table for name, table in value.items()}
            elif isinstance(value, np.ndarray):
                arrays[item.name] = value
            else:
                plain[item.name] = value
        file = Path(path)
        try:
            with file.open("wb") as stream:
                np.savez_compressed(stream, about=np.array(json.dumps(plain)), **arrays)
        except OSError as error:
            raise InputError(f"the recording cannot be written to {str(file)!r}: {error.strerror}") from error
        return file

    @classmethod
    def load(cls, path: str | Path) -> Recording:
        """Read what :meth:`save` wrote.

        Raises:
            InputError: there is no such file, or it is no recording.
        """
        try:
            with np.load(path, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            values: dict[str, Any] = json.loads(str(arrays.pop("about")[()]))
            tables: dict[str, dict[str, Array]] = {name: {} for name in TABLES}
            for name, array in arrays.items():
                table, _, part = name.partition("/")
                if part:
                    tables[table][part] = array
                else:
                    values[name] = array
            for name in ("joint_names", "velocity_names"):
                values[name] = tuple(values[name])
            return cls(**values, **tables)  # type: ignore[arg-type]
        except OSError as error:
            raise InputError(f"the recording {str(path)!r} cannot be read: {error.strerror or error}") from error
        except (ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile) as error:
            raise InputError(f"the file {str(path)!r} is not a recording: {error}") from error

    def plot(self, path: str | Path, *, title: str = "") -> Path:
        """Draw errors, torques and joint speeds over their limits and tick times; returns the picture's path.

        Raises:
            NotInstalledError: matplotlib is not installed (``pip install 'wbc[plot]'``).
            InputError: the picture cannot be written there.
        """
        from wbc.simulation.plotting import plot

        return plot(self, path, title=title)


def _ratio(values: Array, limits: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Array = np.abs(values) / limits
    return np.where(values == 0.0, 0.0, ratio)  # a limit of zero: nothing asked is nothing exceeded


def _largest(values: Array) -> float | None:
    return _number(values.max()) if values.size else 0.0


def _rms_and_max(error: Array) -> dict[str, float | None]:
    norms = np.linalg.norm(error, axis=1)
    norms = norms[~np.isnan(norms)]
    if not norms.size:
        return {"rms": None, "max": None}
    return {"rms": _number(math.sqrt(float(np.mean(norms**2)))), "max": _number(norms.max())}


def _percentiles(values: Array) -> dict[str, float | None]:
    if not values.size:
        return dict.fromkeys(("p50", "p95", "p99", "max"))
    p50, p95, p99 = np.percentile(values, (50, 95, 99))
    return {"p50": _number(p50), "p95": _number(p95), "p99": _number(p99), "max": _number(values.max())}


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
