"""Unitree G1: a humanoid of 33 kg with 29 joints and rubber hands. Feet: ``left_foot``, ``right_foot``; hand frames:
``left_rubber_hand`` and ``right_rubber_hand``.
"""

from __future__ import annotations

from wbc.robot import Robot
from wbc.robots.example_robot_data import from_wheel
from wbc.robots.feet import sole, standing, with_frame

# this hip brings the centre of mass over the middle of the soles
KNEE, HIP = 0.7, -0.308

# The description has no frame for the soles. Its collision spheres touch the ground 0.035 m below the ankle; the
# largest rectangle inside the flat of the foot's mesh reaches from x = -0.044 to 0.126 and to y = ±0.0287.
SOLE = (0.041, 0.0, -0.035)  # m, in the ankle's frame
HALF_SIZE = (0.085, 0.0285)  # m
SIDES = {"left": 1.0, "right": -1.0}

HOME = {
    f"{joint.format(side)}_joint": angle * (sign if mirrored else 1.0)
    for side, sign in SIDES.items()
    for joint, angle, mirrored in (
        ("{}_hip_pitch", HIP, False),
        ("{}_knee", KNEE, False),
        ("{}_ankle_pitch", -KNEE - HIP, False),
        ("{}_shoulder_pitch", 0.2, False),
        ("{}_shoulder_roll", 0.2, True),
        ("{}_elbow", 0.7, False),
    )
}


def robot() -> Robot:
    """The humanoid on a free base: nq = 36, nv = 35, nu = 29."""
    g1 = from_wheel("g1_description/urdf/g1_29dof_rev_1_0.urdf", name="g1", root="free", home=HOME)
    for side in SIDES:
        g1 = with_frame(g1, f"{side}_sole", f"{side}_ankle_roll_link", SOLE)
    return standing(g1, *(sole(f"{side}_foot", f"{side}_sole", HALF_SIZE) for side in SIDES))
