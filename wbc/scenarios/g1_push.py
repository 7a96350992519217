"""G1 is pushed sideways and from behind, its feet stay where they are."""

from __future__ import annotations

from wbc.robots import load
from wbc.scenarios.scenario import Scenario
from wbc.scenarios.talos_push import pushed


def scenario() -> Scenario:
    """One run: 18 N s sideways, then 11 N s forward."""
    return pushed("g1-push", "G1 takes a push of 18 N s sideways and one of 11 N s from behind", load("g1"), 18.0, 11.0)
