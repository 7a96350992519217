"""Solo12 of the Open Dynamic Robot Initiative: a quadruped of 2.5 kg. Feet: ``front_left_foot``, ``front_right_foot``,
``rear_left_foot``, ``rear_right_foot``; the body's frame is ``base_link``.
"""

from __future__ import annotations

from wbc.robot import Robot
from wbc.robots.example_robot_data import from_wheel
from wbc.robots.feet import ball, standing

# The description says 1000 for efforts and velocities. Grimminger et al. (2020), "An open torque-controlled modular
# robot architecture for legged locomotion research": torque = gear * motor constant * current, 2.7 N m at 12 A.
GEAR = 9.0
TORQUE = GEAR * 0.025 * 12.0  # N m/A, A
# no-load speed of its motor (300 rpm/V) at 24 V, behind the gear: 84 rad/s
SPEED = 300.0 * 24.0 * 0.10472 / GEAR
RADIUS = 0.016  # m, of the foot's mesh
LEGS = {"FL": "front_left", "FR": "front_right", "HL": "rear_left", "HR": "rear_right"}
JOINTS = tuple(f"{leg}_{joint}" for leg in LEGS for joint in ("HAA", "HFE", "KFE"))

# Knees point to the middle, front and rear alike, and the legs stand a little outwards.
HOME = {
    f"{leg}_{joint}": angle * sign
    for leg in LEGS
    for joint, angle, sign in (
        ("HAA", 0.1, 1.0 if leg[1] == "L" else -1.0),
        ("HFE", 0.8, 1.0 if leg[0] == "F" else -1.0),
        ("KFE", -1.6, 1.0 if leg[0] == "F" else -1.0),
    )
}


def robot() -> Robot:
    """The quadruped on a free base: nq = 19, nv = 18, nu = 12."""
    solo = from_wheel(
        "solo_description/robots/solo12.urdf",
        name="solo12",
        root="free",
        home=HOME,
        torque_limits=dict.fromkeys(JOINTS, TORQUE),
        velocity_limits=dict.fromkeys(JOINTS, SPEED),
    )
    return standing(solo, *(ball(f"{place}_foot", f"{leg}_FOOT", RADIUS) for leg, place in LEGS.items()))
