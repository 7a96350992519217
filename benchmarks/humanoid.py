"""``wbc bench humanoid``: one stack on robots that stand on feet, in closed form, as QPs and as strict levels."""

from __future__ import annotations

from typing import Any

from wbc.benchmarks.comparison import Subject, compare
from wbc.benchmarks.legged_scene import motion, scene
from wbc.benchmarks.statistics import Row
from wbc.benchmarks.table import print_table

__all__ = ["HUMANOID", "print_table", "run"]

HUMANOID = Subject(
    section="humanoid",
    robots=("talos", "g1", "anymal_c"),
    quick_robots=("talos",),
    scene=scene,
    motion=motion,
    note=(
        "The stack: feet that stay; as strict levels the centre of mass, the trunk's orientation and, where there is "
        "one, a hand; a posture as the nominal; friction cones, torque and joint limits. The motion is recorded from a "
        "run in MuJoCo. The closed form has contacts that may pull, and no limits; auto and QP have them all. base "
        "rows: what is left of the six equations of the base, which has no motor; cones: largest violation of a "
        "friction cone; both over the weight. The unreduced QP says 'forces last' by a weight of 1e-6 on forces, which "
        "changes its torques where contacts leave internal forces free."
    ),
)


def run(quick: bool = False, **options: Any) -> list[Row]:
    """Measure in the metric M; options as :func:`wbc.benchmarks.comparison.compare`."""
    return compare(HUMANOID, quick=quick, **{"metrics": ("inertia",), **options})
