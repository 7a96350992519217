"""A mistake in this package gives a robot its fallback, and a test its traceback."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fixtures import S_A, r6
from wbc import Controller, Stack, Status, controller
from wbc.tasks import TorqueLimits, TorqueTask


def pushed() -> Controller:
    """R6 asked for more than its motors may give: a solver is asked."""
    return Controller(r6(), Stack(nominal=TorqueTask("push", target=[100.0] * 6), limits=[TorqueLimits()]))


def mistaken(*_: Any) -> Any:
    return [][1]


@pytest.fixture(params=["in the hierarchy", "in an adapter"])
def wrong(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Controller:
    """A controller of which one part has a mistake."""
    made = pushed()
    if request.param == "in an adapter":
        monkeypatch.setattr(made._solvers.first, "solve", mistaken)
        monkeypatch.setattr(made._solvers, "second", made._solvers.first)
    else:
        monkeypatch.setattr(controller.hierarchy, "solve", mistaken)
    return made


def test_a_mistake_fails_every_test_that_ticks(wrong: Controller) -> None:
    with pytest.raises(IndexError):
        wrong.tick(S_A)


@pytest.mark.faults
def test_a_mistake_gives_a_robot_a_command_and_says_what_it_was(wrong: Controller) -> None:
    report = wrong.tick(S_A).report
    assert report.status is Status.FALLBACK
    assert "IndexError" in report.trouble
