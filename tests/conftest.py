"""What all tests share: marks, and no mistake of ours that passes for a solver's bad day."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from wbc import controller, hierarchy
from wbc.solvers.guarded import Guarded

# what a hard problem, or a solver that meets one, may raise; anything else is a mistake in a program
HARD = (
    hierarchy.InfeasibleError,
    hierarchy.SolverFailedError,
    np.linalg.LinAlgError,
    FloatingPointError,
    OverflowError,
)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "environment: makes a virtual environment; run with WBC_TEST_ENVIRONMENTS=1")
    config.addinivalue_line("markers", "faults: puts mistakes into solvers, and looks at the command that comes of it")


@pytest.fixture(autouse=True)
def mistakes_are_raised(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tick answers every exception of its solve with a fallback; here a TypeError and its like fail the test."""
    if request.node.get_closest_marker("faults"):
        return
    words, failed = controller._words, Guarded._failed

    def of_controller(name: str, error: Exception) -> str:
        if not isinstance(error, HARD):
            raise error
        return words(name, error)

    def of_guarded(guard: Guarded, *arguments: Any) -> Any:
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, HARD):
            raise error
        return failed(guard, *arguments)

    monkeypatch.setattr(controller, "_words", of_controller)
    monkeypatch.setattr(Guarded, "_failed", of_guarded)
