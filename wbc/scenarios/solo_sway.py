"""Solo12 sways: its body moves along and turns about all three axes over four feet that stay where they are."""

from __future__ import annotations

from wbc.robots import load
from wbc.scenarios.anymal_sway import sway
from wbc.scenarios.scenario import Scenario


def scenario() -> Scenario:
    """One run."""
    return sway(
        "solo-sway", "Solo12 moves its body along and about all axes", load("solo12"), (0.03, 0.025, 0.025), 0.1
    )
