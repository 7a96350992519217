"""A generated chain of N joints, for measuring how cost grows with the number of joints. End frame: ``tip``."""

from __future__ import annotations

from math import pi

from wbc.errors import InputError
from wbc.robot import Robot

LENGTH = 1.4  # m, of the whole chain whatever N is, so that reach and gravity torque do not grow with N
MASS = 14.0  # kg, of the whole chain
RADIUS = 0.05  # m, of every link
ARMATURE = 0.01  # kg m², a small geared motor's: at N = 56 the condition number of M is 5e3 with it, 4e5 without
MOST = 500  # joints; more is a mistyped number

_LINK = """
  <link name="link{i}"><inertial>
    <origin xyz="0 0 {middle}"/><mass value="{mass}"/>
    <inertia ixx="{across}" ixy="0" ixz="0" iyy="{across}" iyz="0" izz="{along}"/>
  </inertial></link>
  <joint name="joint{i}" type="revolute">
    <parent link="{parent}"/><child link="link{i}"/><origin xyz="0 0 {offset}"/><axis xyz="{axis}"/>
    <limit lower="-2.5" upper="2.5" effort="200" velocity="5"/>
  </joint>"""


def chain(n: int) -> Robot:
    """A fixed-base arm of ``n`` equal links in a row, axes z and y in turn, 1.4 m and 14 kg whatever ``n`` is.

    Raises:
        InputError: ``n`` is no whole number from 1 to 500.
    """
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= MOST:
        raise InputError(f"a chain has a whole number of joints from 1 to {MOST}, got {n!r}")
    return Robot.from_urdf(urdf(n), name=f"chain{n}", home=home(n), armature=ARMATURE)


def home(n: int) -> list[float]:
    """Bent forward by 120 degrees in all and a little to both sides, far from the straight, singular chain.

    In Gauss coordinates (rotation rows times 0.2 m) the tip Jacobian's smallest singular value is 0.12 at N = 6 and
    0.34 at N = 56, at least four times the damping threshold 0.027; gravity takes a quarter of the torque limit.
    """
    bend = 2 * pi / 3 / max(1, n // 2)
    return [bend if i % 2 else 0.3 * (-1.0) ** (i // 2) for i in range(n)]


def urdf(n: int) -> str:
    """The text of the description: N cylinders, each turning about the lower end of its own."""
    length, mass = LENGTH / n, MASS / n
    size = {
        "mass": mass,
        "middle": length / 2,
        "across": mass * (3 * RADIUS**2 + length**2) / 12,
        "along": mass * RADIUS**2 / 2,
    }
    links = [
        _LINK.format(
            i=i,
            parent=f"link{i - 1}" if i > 1 else "base",
            offset=length if i > 1 else 0.0,
            axis="0 0 1" if i % 2 else "0 1 0",
            **size,
        )
        for i in range(1, n + 1)
    ]
    return f"""<robot name="chain{n}">
  <link name="base"/>{"".join(links)}
  <link name="tip"/>
  <joint name="tip_joint" type="fixed">
    <parent link="link{n}"/><child link="tip"/><origin xyz="0 0 {length}"/>
  </joint>
</robot>"""
