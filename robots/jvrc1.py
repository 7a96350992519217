"""JVRC-1: a virtual humanoid of 62 kg, fingers locked. Feet: ``left_foot``, ``right_foot``; hand frames: ``l_wrist``
and ``r_wrist``. Its description is a small package of its own.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from wbc.errors import NotInstalledError
from wbc.robot import Robot
from wbc.robots.feet import sole, standing, with_frame

WHEEL = "jvrc-description"
# this hip brings the centre of mass over the middle of the soles
KNEE, HIP = 0.9, -0.433

# The description has no frame for the soles. The lowest face of the ankle's mesh lies 0.1077 m below the ankle and
# reaches from x = -0.0614 to 0.1374 and to y = ±0.042; around it the edge is bevelled.
SOLE = (0.038, 0.0, -0.1077)  # m, in the ankle's frame
HALF_SIZE = (0.0993, 0.042)  # m
SIDES = {"L": ("left", 1.0), "R": ("right", -1.0)}
FINGERS = ("UTHUMB", "LTHUMB", "UINDEX", "LINDEX", "ULITTLE", "LLITTLE")

HOME = {
    joint.format(side): angle * (sign if mirrored else 1.0)
    for side, (_, sign) in SIDES.items()
    for joint, angle, mirrored in (
        ("{}_HIP_P", HIP, False),
        ("{}_KNEE", KNEE, False),
        ("{}_ANKLE_P", -KNEE - HIP, False),
        ("{}_SHOULDER_P", -0.1, False),
        ("{}_SHOULDER_R", 0.2, True),
        ("{}_ELBOW_P", -0.9, False),
    )
}


def robot() -> Robot:
    """The humanoid on a free base: nq = 39, nv = 38, nu = 32."""
    folder = _folder()
    jvrc1 = Robot.from_urdf(
        folder / "urdf" / "jvrc1.urdf",
        package_dirs=(folder.parent,),
        name="jvrc1",
        root="free",
        lock={f"{side}_{finger}": 0.0 for side in SIDES for finger in FINGERS},  # all but the first mimic it
        home=HOME,
    )
    for side in SIDES:
        jvrc1 = with_frame(jvrc1, f"{side.lower()}_sole", f"{side.lower()}_ankle", SOLE)
    feet = (sole(f"{word}_foot", f"{side.lower()}_sole", HALF_SIZE) for side, (word, _) in SIDES.items())
    return standing(jvrc1, *feet)


def _folder() -> Path:
    try:
        return Path(str(distribution(WHEEL).locate_file("jvrc_description")))
    except PackageNotFoundError as error:
        raise NotInstalledError(
            f'the description is in the package {WHEEL!r}, which is not installed: pip install "wbc[robots]"'
        ) from error
