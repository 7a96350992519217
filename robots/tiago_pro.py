"""PAL Robotics TIAGo Pro: two arms and a lift on a holonomic base, grippers locked. Hand frames:
``arm_left_tool_link`` and ``arm_right_tool_link``; base frame: ``base_footprint``, on the ground, x forward.

The wheels are no joints here: the base is a planar joint, and its three generalised forces are what the ground gives
to the wheels.
"""

from __future__ import annotations

from wbc.robot import Robot
from wbc.robots.example_robot_data import from_wheel

# Of the description: four wheels of 6 N m and 13.12 rad/s with a radius of 0.0762 m, 0.244 m before or behind and
# 0.2232 m beside the middle; their rollers stand at 45 degrees. So |Fx| + |Fy| + |Mz| / ARM <= 4 * TORQUE / RADIUS,
# and likewise for the speeds. A box must lie inside: a third of the whole for each, so that every mixture is possible.
TORQUE, SPEED, RADIUS, ARM = 6.0, 13.12, 0.0762, 0.244 + 0.2232
FORCE = 4 * TORQUE / RADIUS / 3
FORCES = {"root_joint_x": FORCE, "root_joint_y": FORCE, "root_joint_yaw": FORCE * ARM}
# Speeds are those of each direction alone; mixtures are the business of whoever gives the targets.
SPEEDS = {"root_joint_x": RADIUS * SPEED, "root_joint_y": RADIUS * SPEED, "root_joint_yaw": RADIUS * SPEED / ARM}

WHEELS = tuple(f"wheel_{end}_{side}_joint" for end in ("front", "rear") for side in ("left", "right"))
GRIPPERS = tuple(
    f"gripper_{side}_{part}_joint"
    for side in ("left", "right")
    for part in (
        "finger",
        "inner_finger_left",
        "fingertip_left",
        "inner_finger_right",
        "fingertip_right",
        "outer_finger_right",
    )
)

# Lift half way up, both hands in front of the robot, 0.6 m ahead and 0.25 m beside its middle, pointing forward. The
# right arm is the left one's mirror image: its odd joints turn the other way.
HOME = {"torso_lift_joint": 0.15} | {
    f"arm_{side}_{i}_joint": sign**i * angle
    for side, sign in (("left", 1.0), ("right", -1.0))
    for i, angle in enumerate((1.3, -0.9, -0.5, -2.25, -0.15, 0.9, 0.0), 1)
}


def robot() -> Robot:
    """The manipulator on a planar base: nq = 21, nv = nu = 20."""
    return from_wheel(
        "tiago_pro_description/robots/tiago_pro.urdf",
        name="tiago_pro",
        root="planar",
        lock=(*WHEELS, *GRIPPERS),
        home=HOME,
        # the lift's 2000 N is the description's own, several times what it carries, and no placeholder
        torque_limits=FORCES | {"torso_lift_joint": 2000.0},
        velocity_limits=SPEEDS,
    )
