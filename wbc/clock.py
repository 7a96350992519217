"""A look at whether the states arrive at the period that the controller was told."""

from __future__ import annotations

import warnings

from wbc.errors import ControlWarning
from wbc.terms import Terms

LOOKED_AT = 1000  # ticks; a wrong period shows in the first ten
ALIKE = 0.05  # periods this close to each other, relative, are one period and not scattered states
WRONG = 0.1  # relative difference from dt that is worth a warning
IN_A_ROW = 10


class ClockCheck:
    """Warns once where ten ticks in a row moved the robot by v times another period than ``dt``."""

    def __init__(self, dt: float) -> None:
        self._dt = dt
        self._left = LOOKED_AT
        self._q = None
        self._periods: list[float] = []

    def see(self, terms: Terms) -> None:
        """Compare the motion since the last tick with the velocity."""
        if not self._left:
            return
        self._left -= 1
        q, v = terms.q, terms.v
        if self._q is not None:
            speed = float(v.dot(v))
            if speed > 1e-6:
                period = float(terms.difference(self._q, q).dot(v)) / speed
                if abs(period / self._dt - 1.0) > WRONG:
                    self._count(period)
                else:
                    self._periods.clear()
        self._q = q  # type: ignore[assignment]

    def _count(self, period: float) -> None:
        periods = self._periods
        if periods and abs(period - periods[0]) > ALIKE * abs(periods[0]):
            periods.clear()
        periods.append(period)
        if len(periods) == IN_A_ROW:
            self._left = 0
            warnings.warn(
                f"the states of the last {IN_A_ROW} ticks are {period:.3g} s apart, the controller was told "
                f"dt={self._dt:g} s; pass the real period as Controller(..., dt=...)",
                ControlWarning,
                stacklevel=4,
            )
