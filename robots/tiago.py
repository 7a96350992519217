"""PAL Robotics TIAGo: an arm and a lift on a differential base. Hand frame: ``hand_grasping_frame``; base frame:
``base_footprint``, on the ground between the wheels, x forward: a point there moves along x only.

The wheels are no joints here: the base is a planar joint. What the ground gives to the wheels is a force along x and a
torque about z, which are motors with limits, and a force along the axle, which is none: ``root_joint_y`` is passive,
and the contact ``wheels`` (``robot.contact("wheels")``) forbids the base to slide. The joints of the hand are locked.
"""

from __future__ import annotations

from wbc.robot import Robot
from wbc.robots.example_robot_data import from_wheel
from wbc.robots.wheels import axle

# Of the description: two wheels of 6 N m and 10.15 rad/s with a radius of 0.0985 m, 0.2022 m beside the middle.
TORQUE, SPEED, RADIUS, BESIDE = 6.0, 10.15, 0.0985, 0.2022
FORCES = {"root_joint_x": 2 * TORQUE / RADIUS, "root_joint_yaw": 2 * TORQUE / RADIUS * BESIDE}
SPEEDS = {"root_joint_x": RADIUS * SPEED, "root_joint_yaw": RADIUS * SPEED / BESIDE}
HOLD = 300.0  # N along the axle: what rubber tyres (friction 0.6) under four fifths of 65 kg hold against a slide

FINGERS = ("index", "middle", "ring", "little")
HAND = (
    "hand_thumb_joint",
    "hand_index_joint",
    "hand_mrl_joint",
    "hand_thumb_abd_joint",
    *(f"hand_thumb_{kind}_{i}_joint" for i in (1, 2) for kind in ("virtual", "flex")),
    *(f"hand_{finger}_abd_joint" for finger in FINGERS),
    *(f"hand_{finger}_{kind}_{i}_joint" for finger in FINGERS for i in (1, 2, 3) for kind in ("virtual", "flex")),
)

# Lift half way up, elbow bent, the hand 0.6 m ahead of the robot, pointing forward.
HOME = {"torso_lift_joint": 0.15} | {
    f"arm_{i}_joint": angle for i, angle in enumerate((1.1, -0.95, -2.45, 2.1, 1.45, 1.05, 0.0), 1)
}


def robot() -> Robot:
    """The manipulator on a differential base: nq = 14, nv = 13, nu = 12."""
    tiago = from_wheel(
        "tiago_description/robots/tiago.urdf",
        name="tiago",
        root="planar",
        lock=(*HAND, "wheel_left_joint", "wheel_right_joint"),
        home=HOME,
        # the lift's 2000 N is the description's own, eight times what it carries, and no placeholder
        torque_limits=FORCES | {"torso_lift_joint": 2000.0},
        velocity_limits=SPEEDS,
        passive=("root_joint_y",),
    )
    return tiago.with_axles(axle("wheels", "base_footprint", HOLD))
