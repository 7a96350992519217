"""Feet for the files of this folder: soles and balls, frames for those that have none, and standing on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pinocchio as pin

from wbc.foot import Foot
from wbc.robot import Robot
from wbc.tasks.point_contact import PointContact
from wbc.tasks.surface_contact import SurfaceContact


def sole(name: str, frame: str, half_size: tuple[float, float]) -> Foot:
    """A rectangular sole, its frame in the middle; in a contact its length lies along the frame's x."""
    make = partial(SurfaceContact, name, frame=frame, half_size=half_size, forward=(1.0, 0.0, 0.0))
    return Foot(name, frame, half_size, 0.0, make)


def ball(name: str, frame: str, radius: float) -> Foot:
    """A ball about a frame."""
    return Foot(name, frame, None, radius, partial(PointContact, name, frame=frame))


def with_frame(robot: Robot, name: str, parent: str, offset: Sequence[float]) -> Robot:
    """The same robot with one more frame, at ``offset`` [m] of the frame ``parent`` and with its axes."""
    model = pin.Model(robot.model)
    index = robot.frame_id(parent)
    carrier = model.frames[index]
    placement = carrier.placement * pin.SE3(np.eye(3), np.asarray(offset, dtype=np.float64))
    model.addFrame(pin.Frame(name, carrier.parentJoint, index, placement, pin.FrameType.OP_FRAME))
    return replace(robot, model=model)


def standing(robot: Robot, *feet: Foot) -> Robot:
    """The robot on its feet: home's base is moved, not turned, until they touch z = 0 with their middle at the origin.

    All feet touch only if home has them at one height; the files of this folder see to that, and a test looks.
    """
    robot = robot.with_feet(*feet)
    data, q = robot.model.createData(), np.array(robot.home)
    pin.framesForwardKinematics(robot.model, data, q)
    points = [foot.touching(data.oMf[robot.frame_id(foot.frame)]) for foot in feet]
    q[:3] -= np.mean([part.mean(axis=0) for part in points], axis=0)
    return replace(robot, home=q)
