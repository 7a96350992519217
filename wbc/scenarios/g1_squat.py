"""G1 squats: its centre of mass goes down by 8 cm and up again, twice, over feet that stay where they are."""

from __future__ import annotations

from wbc.robots import load
from wbc.scenarios.scenario import Scenario
from wbc.scenarios.talos_squat import squat


def scenario() -> Scenario:
    """One run."""
    return squat("g1-squat", "G1 squats by 8 cm, twice", load("g1"), 0.08)
