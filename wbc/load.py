"""The load: which wrench internal forces tend to, and in which weights, for the feet that stand."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from wbc.contact import Contact
from wbc.problem import Problem

MOMENT_LENGTH = 0.1  # m; a contact moment counts in R as a force at this distance


def share_load(problem: Problem, contacts: Sequence[Contact], carried: float, mass: float) -> None:
    """f₀ splits the weight evenly between the places where feet stand, R counts a place once; moments over 0.1 m.

    t contacts on one frame are one place: each carries 1/t of its force and has t-fold weights in R, so that
    ``Σ ½ ‖f − f₀‖²_R`` of all of them is that of one contact alone.

    Args:
        problem: f₀ and R are written into it; forces of contacts that are not active are left as they are.
        contacts: in the order of the layout.
        carried: weight that contacts share [N]; zero on a fixed base.
        mass: [kg]; only the conditioning depends on it.
    """
    standing = [
        (contact, part)
        for contact, part in zip(contacts, problem.layout.contacts, strict=True)
        if problem.active[part.start]
    ]
    twins = Counter((contact.frame, contact.size) for contact, _ in standing)
    feet = sum(size >= 3 for _, size in twins)  # an axle carries no weight: it has one force, and no normal one
    for contact, part in standing:
        t = twins[contact.frame, contact.size]
        root = math.sqrt(t / mass)
        problem.root_weight_f[part.start : part.stop] = root
        if contact.size >= 3:
            problem.root_weight_f[part.start + 3 : part.stop] = root / MOMENT_LENGTH
            problem.f0[part.start + 2] = carried / (feet * t)
