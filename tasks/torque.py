"""TorqueTask: the torques near given ones."""

from __future__ import annotations

from typing import Any

from wbc import checks
from wbc.attributes import Attributes
from wbc.rows import Rows
from wbc.target import Target, fit_targets, text
from wbc.terms import Terms


class TorqueTask(Attributes):
    """Keep the joint torques near τ₀: rows ``τ − τ₀ = 0`` on torques.

    As the nominal it gives the acceleration of the robot that is driven by τ₀ alone, ``v̇₀ = M⁻¹ (τ₀ − h)``; with τ₀ = 0
    the robot falls freely wherever no task holds it, and hands over as much of the work as it can to its own dynamics.

    As a soft task of a robot with contacts it shares the load and leaves the motion as it is, since torques depend on
    contact forces, which are decided last (see :class:`wbc.tasks.WrenchTask`). Without contacts it bends the motion.

    Args:
        name: name in the stack and the report.
        target: τ₀ (nu,) [N m]; zero where left out.

    Attributes:
        target: τ₀ (nu,) [N m], may be assigned at any time.

    Source: Gauss (1829); Peters et al. (2008), section 3.
    """

    _target: Any
    target: Any = Target(checks.vector, "torque (nu,) [N m]", size="nu")

    def __init__(self, name: str, *, target: Any = None) -> None:
        self._name = text(name, "a task's name")
        self.target = target

    @property
    def name(self) -> str:
        """The task's name."""
        return self._name

    def check(self, terms: Terms) -> None:
        """Refuse a target of the wrong length when the task is placed, and from then on."""
        self._sizes = fit_targets(self, terms.robot)

    def rows(self, terms: Terms) -> Rows:
        """``τ − τ₀ = 0`` for every actuated coordinate."""
        target = self._target
        return Rows(terms.identity_torque, terms.zero_torque if target is None else -target, on="torque")
