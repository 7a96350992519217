"""Unitree Go2: a quadruped of 16 kg. Feet: ``front_left_foot``, ``front_right_foot``, ``rear_left_foot``,
``rear_right_foot``; the body's frame is ``base``.
"""

from __future__ import annotations

from wbc.robot import Robot
from wbc.robots.example_robot_data import from_wheel
from wbc.robots.feet import ball, standing

RADIUS = 0.022  # m; the foot's mesh reaches 0.0229 m below its frame and is flattened there
LEGS = {"FL": "front_left", "FR": "front_right", "RL": "rear_left", "RR": "rear_right"}

HOME = {
    f"{leg}_{joint}_joint": angle
    for leg in LEGS
    for joint, angle in (("hip", 0.07 if leg[1] == "L" else -0.07), ("thigh", 0.8), ("calf", -1.5))
}


def robot() -> Robot:
    """The quadruped on a free base: nq = 19, nv = 18, nu = 12."""
    go2 = from_wheel("go2_description/urdf/go2.urdf", name="go2", root="free", home=HOME)
    return standing(go2, *(ball(f"{place}_foot", f"{leg}_foot", RADIUS) for leg, place in LEGS.items()))
