"""Pacing a run by the wall clock, and saying so when it cannot keep up."""

from __future__ import annotations

import time
import warnings

from wbc.errors import ControlWarning

PATIENCE = 10  # ticks in a row
TOLERANCE = 0.1  # of the period


class WallClock:
    """Ticks every ``dt`` seconds of real time; late ticks are counted, and a lasting wrong pace is warned of once.

    Attributes:
        overruns: ticks that began late because the one before took longer than the period.
        late_us: how long after it was due each tick began [µs], from the second on.
    """

    def __init__(self, dt: float) -> None:
        self._dt = dt
        self._next = self._last = time.perf_counter()
        self._wrong = 0
        self._warned = False
        self.overruns = 0
        self.late_us: list[float] = []

    def wait(self) -> None:
        """Sleep until the next tick is due; a tick that is already due is an overrun and starts at once."""
        self._next += self._dt
        due = self._next
        now = time.perf_counter()
        if now > self._next:
            self.overruns += 1
            self._next = now  # what is lost is lost: no burst of short ticks to catch up
        elif self._next - now > 1e-3:
            time.sleep(self._next - now - 5e-4)
        while time.perf_counter() < self._next:
            pass  # sleeping is exact to about 60 us only
        now = time.perf_counter()
        self.late_us.append(1e6 * (now - due))
        self._watch(now)

    def _watch(self, now: float) -> None:
        period, self._last = now - self._last, now
        self._wrong = self._wrong + 1 if abs(period - self._dt) > TOLERANCE * self._dt else 0
        if self._wrong >= PATIENCE and not self._warned:
            self._warned = True
            warnings.warn(
                f"the controller was told dt = {self._dt:g} s but ticks every {period:.3g} s of real time, for "
                f"{PATIENCE} ticks in a row; give it the period that this machine can keep",
                ControlWarning,
                stacklevel=4,
            )
