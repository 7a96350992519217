"""Scenarios by name: each file here is one ready-made scene, a robot, a stack and a reference motion.

To add a scenario, write a file with a function ``scenario() -> Scenario`` and put its name into the table below.
"""

from __future__ import annotations

from importlib import import_module

from wbc import checks
from wbc.scenarios.play import Outcome, play
from wbc.scenarios.scenario import Bound, Choice, Run, Scenario

__all__ = ["Bound", "Choice", "Outcome", "Run", "Scenario", "line", "load", "names", "play"]

# name -> (module, imported only when the scenario is loaded; what happens in it)
_SCENARIOS = {
    "panda-figure": (
        "wbc.scenarios.panda_figure",
        "Panda follows a figure in space at 0.8 m/s: five controllers side by side (the main job)",
    ),
    "panda-limits": (
        "wbc.scenarios.panda_limits",
        "the same figure with 0.32 of the torque, driven by the stack that knows its limits",
    ),
    "panda-tray": (
        "wbc.scenarios.panda_tray",
        "Panda carries a tray 0.6 m around itself: position first, then upright, then posture",
    ),
    "panda-passive": (
        "wbc.scenarios.panda_passive",
        "Panda's hand follows an eight while nothing else is driven: nominal torque zero, the elbow falls",
    ),
    "ur5-singular": (
        "wbc.scenarios.ur5_singular",
        "UR5 reaches out of reach through its singularity, sweeps the straight arm, and comes back",
    ),
    "tiago-reach-far": (
        "wbc.scenarios.tiago_reach_far",
        "TIAGo's hand goes to a point two metres away, base, lift and arm together, on wheels that do not slide",
    ),
    "tiago-pro-dual": (
        "wbc.scenarios.tiago_pro_dual",
        "TIAGo Pro's two hands carry a box of 2 kg one metre aside, and the base goes along",
    ),
    "talos-squat": (
        "wbc.scenarios.talos_squat",
        "Talos squats by 12 cm, twice",
    ),
    "talos-reach": (
        "wbc.scenarios.talos_reach",
        "both hands of Talos reach out and come back, its eyes follow the left one",
    ),
    "talos-step-in-place": (
        "wbc.scenarios.talos_step_in_place",
        "Talos shifts its weight, lifts a foot by 5 cm and puts it back, then the other",
    ),
    "talos-push": (
        "wbc.scenarios.talos_push",
        "Talos takes a push of 40 N s sideways and one of 28 N s from behind",
    ),
    "g1-squat": (
        "wbc.scenarios.g1_squat",
        "G1 squats by 8 cm, twice",
    ),
    "g1-push": (
        "wbc.scenarios.g1_push",
        "G1 takes a push of 18 N s sideways and one of 11 N s from behind",
    ),
    "anymal-sway": (
        "wbc.scenarios.anymal_sway",
        "ANYmal C moves its body along and about all axes",
    ),
    "anymal-lift-leg": (
        "wbc.scenarios.anymal_lift_leg",
        "ANYmal C shifts its weight, lifts a foot by 10 cm and puts it back",
    ),
    "go2-push": (
        "wbc.scenarios.go2_push",
        "Go2 takes a push of 10 N s sideways and one of 12 N s from behind",
    ),
    "solo-sway": (
        "wbc.scenarios.solo_sway",
        "Solo12 moves its body along and about all axes",
    ),
}


def names() -> tuple[str, ...]:
    """Names of the scenarios, the main job first."""
    return tuple(_SCENARIOS)


def line(name: str) -> str:
    """What happens in a scenario, in one line; nothing is built for it.

    Raises:
        UnknownNameError: there is no such scenario; the message has close matches.
    """
    return _SCENARIOS[checks.choice(name, _SCENARIOS, "scenario")][1]


def load(name: str) -> Scenario:
    """Load a scenario by name.

    Raises:
        UnknownNameError: there is no such scenario; the message has close matches.
        NotInstalledError: its robot's description comes in a package that is not installed.
    """
    module, _ = _SCENARIOS[checks.choice(name, _SCENARIOS, "scenario")]
    scenario: Scenario = import_module(module).scenario()
    return scenario
