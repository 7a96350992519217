"""Go2 is pushed sideways and from behind, its feet stay where they are."""

from __future__ import annotations

from wbc.robots import load
from wbc.scenarios.scenario import Scenario
from wbc.scenarios.talos_push import pushed


def scenario() -> Scenario:
    """One run: 10 N s sideways, then 12 N s forward."""
    return pushed(
        "go2-push", "Go2 takes a push of 10 N s sideways and one of 12 N s from behind", load("go2"), 10.0, 12.0
    )
