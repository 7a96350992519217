"""ANYbotics ANYmal C: a quadruped of 52 kg. Feet: ``front_left_foot``, ``front_right_foot``, ``rear_left_foot``,
``rear_right_foot``; the body's frame is ``base``.
"""

from __future__ import annotations

from wbc.robot import Robot
from wbc.robots.example_robot_data import from_wheel
from wbc.robots.feet import ball, standing, with_frame

# The foot is a ball of 30 mm; the description's foot frame is not its centre but 22.5 mm below (its collision shape).
RADIUS = 0.03  # m
CENTRE = (0.0, 0.0, 0.0225)  # m, in the foot's frame
LEGS = {"LF": "front_left", "RF": "front_right", "LH": "rear_left", "RH": "rear_right"}

# Knees point to the middle, front and rear alike, and the legs stand a little outwards.
HOME = {
    f"{leg}_{joint}": angle * sign
    for leg in LEGS
    for joint, angle, sign in (
        ("HAA", -0.1, 1.0 if leg[0] == "L" else -1.0),
        ("HFE", 0.7, 1.0 if leg[1] == "F" else -1.0),
        ("KFE", -1.0, 1.0 if leg[1] == "F" else -1.0),
    )
}


def robot() -> Robot:
    """The quadruped on a free base: nq = 19, nv = 18, nu = 12."""
    anymal = from_wheel("anymal_c_simple_description/urdf/anymal.urdf", name="anymal_c", root="free", home=HOME)
    for leg in LEGS:
        anymal = with_frame(anymal, f"{leg}_ball", f"{leg}_FOOT", CENTRE)
    return standing(anymal, *(ball(f"{place}_foot", f"{leg}_ball", RADIUS) for leg, place in LEGS.items()))
