"""Where a tick's time goes: spans of a controller's stages, taken in a pass of their own, and the floor below them."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pinocchio as pin

from wbc.benchmarks.peer_scene import Scene, follow
from wbc.errors import WbcError

# phase -> the object of a controller and its method that is one stage of a tick; what is left is "report"
STAGES = {"terms": ("_terms", "update"), "rows": ("_assembler", "assemble"), "solve": ("", "_solve_present")}
PHASES = (*STAGES, "report")


def phases(made: Scene, method: str = "auto", repeats: int = 1) -> dict[str, float]:
    """Median time of each stage of a tick [µs].

    A watch around each stage costs about 0.3 µs, so that this is never the pass in which whole ticks are measured.

    Raises:
        WbcError: the controller has no such stage any more.
    """
    controller = made.controller(method)
    spent: dict[str, int] = {}
    for phase, (owner, name) in STAGES.items():
        of = getattr(controller, owner, None) if owner else controller
        if not hasattr(of, name):
            raise WbcError(f"a controller has no stage {owner}.{name} any more; mend STAGES in benchmarks/phases.py")
        _watch(of, name, phase, spent)
    found: dict[str, list[int]] = {phase: [] for phase in PHASES}
    now = time.perf_counter_ns
    for _ in range(repeats):
        for state, reference in zip(made.states, made.references, strict=True):
            follow(controller.stack, made.tasks, reference)
            started = now()
            controller.tick(state)
            total = now() - started
            for phase in STAGES:
                found[phase].append(spent[phase])
            found["report"].append(total - sum(spent.values()))
    return {phase: float(np.median(ns)) * 1e-3 for phase, ns in found.items()}


def _watch(of: Any, name: str, phase: str, spent: dict[str, int]) -> None:
    stage, now = getattr(of, name), time.perf_counter_ns

    def watched(*arguments: Any) -> Any:
        started = now()
        result = stage(*arguments)
        spent[phase] = now() - started
        return result

    setattr(of, name, watched)


def floor_us(made: Scene, repeats: int = 1) -> float:
    """Median time of what no controller can do without: M, h and joint Jacobians by pinocchio alone [µs]."""
    model = made.robot.model
    data, now = model.createData(), time.perf_counter_ns
    arguments = (pin.Convention.WORLD,) if hasattr(pin, "Convention") else ()
    ns = []
    for _ in range(repeats):
        for state in made.states:
            q, v = state.q, state.v
            started = now()
            pin.crba(model, data, q, *arguments)
            pin.nonLinearEffects(model, data, q, v)
            ns.append(now() - started)
    return float(np.median(ns)) * 1e-3
