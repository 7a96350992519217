"""Double pendulum: two rods of 1 kg and 0.5 m that turn about y and hang down at zero. End frame: ``tip``."""

from __future__ import annotations

from pathlib import Path

from wbc.robot import Robot

# Both joints bent: 0 and pi of the second joint are its singularities. In Gauss coordinates the smallest singular value
# of the tip's two rows in the plane is 0.786, eleven times the damping threshold 0.071.
HOME = (0.6, 1.0)


def robot() -> Robot:
    """The pendulum with a motor in both joints, from the small URDF beside this file: nq = nv = nu = 2."""
    return Robot.from_urdf(Path(__file__).with_name("double_pendulum.urdf"), name="double_pendulum", home=HOME)
