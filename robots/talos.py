"""PAL Robotics Talos: a humanoid of 90 kg, grippers locked. Feet: ``left_foot``, ``right_foot``; hand frames:
``wrist_left_ft_tool_link`` and ``wrist_right_ft_tool_link``, gripper frames: ``gripper_left_base_link`` and its like.
"""

from __future__ import annotations

from wbc.robot import Robot
from wbc.robots.example_robot_data import from_wheel
from wbc.robots.feet import sole, standing

# this hip brings the centre of mass over the middle of the soles
KNEE, HIP = 0.9, -0.458
HALF_SIZE = (0.098, 0.058)  # m; lies inside the flat of the sole's mesh: x from -0.109 to 0.099, y beyond ±0.0588
SIDES = {"left": 1.0, "right": -1.0}

# Knees bent, elbows half bent, torso upright.
HOME = {
    f"{joint.format(side)}_joint": angle * (sign if mirrored else 1.0)
    for side, sign in SIDES.items()
    for joint, angle, mirrored in (
        ("leg_{}_3", HIP, False),
        ("leg_{}_4", KNEE, False),
        ("leg_{}_5", -KNEE - HIP, False),
        ("arm_{}_1", 0.25, True),
        ("arm_{}_2", 0.2, True),
        ("arm_{}_4", -1.0, False),
    )
}


def robot() -> Robot:
    """The humanoid on a free base: nq = 37, nv = 36, nu = 30."""
    reduced = from_wheel(
        "talos_data/robots/talos_reduced.urdf",
        name="talos",
        root="free",
        lock={f"gripper_{side}_joint": 0.0 for side in SIDES},
        home=HOME,
    )
    return standing(reduced, *(sole(f"{side}_foot", f"{side}_sole_link", HALF_SIZE) for side in SIDES))
