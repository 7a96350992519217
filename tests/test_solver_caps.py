"""Every call of a solver has a cap on its iterations, and one on its time where the solver offers one: by table."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import pytest
import qpsolvers

from tests.fixtures import S_A, r6
from wbc import Controller, Stack, Status
from wbc.solvers import QP, Answer, installed, make_solver
from wbc.solvers.in_turn import GRACE
from wbc.tasks import TorqueLimits, TorqueTask

CAP = 0.25  # s


class Caps(NamedTuple):
    """Names of the settings that cap one call, and the most iterations; ``None`` where a solver has no such setting."""

    iterations: str | None
    most: int
    time: str | None


TABLE = {
    "daqp": Caps("iter_limit", 1000, "time_limit"),
    "proxqp": Caps("max_iter", 25, "clock"),  # at a time: its adapter looks at the clock between two rounds
    "osqp": Caps("max_iter", 20000, "time_limit"),
    "nnls": Caps("maxiter", 20 * 4 + 20, None),  # of the problem below
    "clarabel": Caps("max_iter", 200, "time_limit"),
    "piqp": Caps("max_iter", 200, None),
    "highs": Caps("qp_iteration_limit", 20000, "time_limit"),
    "quadprog": Caps(None, 0, None),  # has none: rows that make it go round for ever are not handed to it, see below
}
BOX = QP(np.eye(2), np.array([-3.0, 2.0]), np.eye(2), -np.ones(2), np.ones(2), "box")


def told(name: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The settings that reach the solver itself in one call under a cap of time."""
    solver, seen = make_solver(name, CAP), {}
    if name == "daqp":
        assert solver.solve(BOX).solved
        return dict(next(iter(solver._models.values()))[0].settings)
    if name == "proxqp":
        assert solver.solve(BOX).solved
        settings = next(iter(solver._workspaces.values())).settings
        return {"max_iter": settings.max_iter, "max_iter_in": settings.max_iter_in, "clock": solver._time_cap}
    if name == "osqp":
        assert solver.solve(BOX).solved
        settings = next(iter(solver._workspaces.values())).settings
        return {"max_iter": settings.max_iter, "time_limit": settings.time_limit}
    if name == "nnls":
        from wbc.solvers import least_distance

        real = least_distance.nnls
        monkeypatch.setattr(least_distance, "nnls", lambda *a, **k: (seen.update(k), real(*a, **k))[1])
    else:
        solve = qpsolvers.solve_problem
        monkeypatch.setattr(qpsolvers, "solve_problem", lambda *a, **k: (seen.update(k), solve(*a, **k))[1])
    assert solver.solve(BOX).solved
    return seen


@pytest.mark.parametrize("name", [*installed(), "nnls"])
def test_every_solver_is_told_its_caps(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A02, A04. A solver that is new here needs a line in the table."""
    caps, settings = TABLE[name], told(name, monkeypatch)
    if caps.iterations is not None:
        assert 0 < settings[caps.iterations] <= caps.most
    if caps.time is not None:
        assert settings[caps.time] == CAP
    uncapped = {"iterations": [n for n in TABLE if TABLE[n].iterations is None]}
    assert uncapped == {"iterations": ["quadprog"]}


def never_ending() -> QP:
    """Rows that contradict each other: proxqp goes on until it is stopped."""
    random = np.random.default_rng(3)
    G = random.normal(size=(60, 20))
    G /= np.linalg.norm(G, axis=1)[:, None]
    G[10:20] = -G[:10]
    lower = np.full(60, -1.0)
    lower[:20] = 1.0
    return QP(np.eye(20), random.normal(size=20), G, lower, np.full(60, np.inf), "never")


def test_proxqp_goes_on_no_further_once_its_time_is_over() -> None:
    qp = never_ending()
    unhurried, hurried = make_solver("proxqp").solve(qp), make_solver("proxqp", 1e-9).solve(qp)
    assert not unhurried.solved and not hurried.solved
    assert hurried.iterations < 0.5 * unhurried.iterations


def test_quadprog_is_handed_no_row_twice_and_prices_stand_at_the_tightest_one() -> None:
    """Equal rows with different bounds made it go round for ever, which nothing here could have stopped."""
    pytest.importorskip("quadprog")
    ended = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        n, m = 30, 98
        G = random.normal(size=(12, n))[random.integers(0, 12, m)] * random.choice([-1.0, 1.0], m)[:, None]
        G /= np.linalg.norm(G, axis=1)[:, None]
        value = G @ random.normal(size=n)
        lower = value - random.choice([0.0, 0.1, 1.0], m) - 1e-3
        upper = value + random.choice([0.1, 1.0], m)
        qp = QP(np.eye(n), 100.0 * random.normal(size=n), G, lower, upper, "twice")
        found, expected = make_solver("quadprog").solve(qp), make_solver("daqp").solve(qp)
        assert found.solved and np.abs(found.x - expected.x).max() < 1e-9 * np.abs(expected.x).max()
        gradient = qp.H @ found.x + qp.f + G.T @ found.multipliers
        assert np.abs(gradient).max() < 1e-9 * np.abs(qp.f).max()
        at = np.where(found.multipliers > 0.0, upper, lower)
        assert np.abs((G @ found.x - at)[found.multipliers != 0.0]).max() < 1e-9
        ended += 1
    assert ended == 20


def test_a_deadline_is_the_cap_on_time_of_both_solvers() -> None:
    deadline = 0.8e-3
    for name in ("daqp", "proxqp", "osqp"):
        turn = Controller(r6(), Stack(), solver=name, deadline=deadline)._solvers
        for solver in (turn.first, turn.second):
            cap = getattr(solver, "_time_cap", None) or getattr(solver, "_settings", {}).get("time_limit")
            assert cap == pytest.approx(GRACE * deadline) or solver.name == "nnls"


# --- faults in every adapter, as the first solver and as the second -------------------------------------------------

NAN = float("nan")
ADAPTERS = ("daqp", "proxqp", "osqp", "piqp")  # the native ones, and one through qpsolvers


def _raises(answer: Answer, qp: QP) -> Any:
    raise RuntimeError("mock: boom")


def _sleeps(answer: Answer, qp: QP) -> Any:
    time.sleep(0.02)
    return answer


FAULTS = {
    "raises": _raises,
    "sleeps 20 ms": _sleeps,
    "NaN as success": lambda answer, qp: Answer(np.full(qp.f.shape, NAN), answer.multipliers, "solved"),
    "outside its bounds": lambda answer, qp: Answer(answer.x + 1e3, 0.0 * answer.multipliers, "solved"),
    "None": lambda answer, qp: None,
    "wrong status": lambda answer, qp: Answer(answer.x, answer.multipliers, "perhaps"),
}
HARMLESS = ("sleeps 20 ms", "outside its bounds")  # late but right, and mended on the active set


class Faulty:
    """An adapter whose answers are spoilt."""

    def __init__(self, name: str, fault: str) -> None:
        self.inner, self.fault, self.calls = make_solver(name), FAULTS[fault], 0
        self.name = name

    def solve(self, qp: QP) -> Any:
        self.calls += 1
        return self.fault(self.inner.solve(qp), qp)

    def reset(self) -> None:
        self.inner.reset()


def pushed(**arguments: Any) -> Controller:
    """R6 asked for ten times the torque that it may give: solvers are asked at every tick."""
    return Controller(r6(), Stack(nominal=TorqueTask("push", target=[100.0] * 6), limits=[TorqueLimits()]), **arguments)


@pytest.mark.faults
@pytest.mark.filterwarnings("ignore::wbc.errors.ControlWarning")  # the same state again and again
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("method", ["auto", "qp"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", ADAPTERS)
def test_a_fault_in_any_adapter_costs_no_tick_first_or_second(name: str, fault: str, method: Any) -> None:
    expected, limits = pushed().tick(S_A).torque, r6().torque_limits
    first = pushed(solver=name, method=method, deadline=0.8e-3)
    first._solvers.first = spoilt = Faulty(name, fault)
    command = first.tick(S_A)
    assert spoilt.calls and command.report.status is not Status.FALLBACK, command.report.trouble
    assert np.abs(command.torque - expected).max() < 1e-5 and (np.abs(command.torque) <= limits).all()
    assert fault in HARMLESS or name in command.report.trouble

    second = pushed(solver="osqp" if name == "daqp" else "daqp", method=method)
    second._solvers.first, second._solvers.second = Faulty("daqp", "raises"), Faulty(name, fault)
    command = second.tick(S_A)
    assert second._solvers.second.calls
    assert np.isfinite(command.torque).all() and (np.abs(command.torque) <= limits).all()
    if command.report.status is Status.FALLBACK:
        assert fault not in ("sleeps 20 ms",) and "boom" in command.report.trouble and name in command.report.trouble
    else:
        assert fault in HARMLESS and np.abs(command.torque - expected).max() < 1e-5
