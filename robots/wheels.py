"""Wheels for the files of this folder: the axle of a differential drive."""

from __future__ import annotations

from functools import partial

from wbc.axle import Axle
from wbc.tasks.axle_contact import AxleContact


def axle(name: str, frame: str, hold: float, axis: tuple[float, float, float] = (0.0, 1.0, 0.0)) -> Axle:
    """An axle through a frame; its tyres hold ``hold`` N against a slide."""
    return Axle(name, frame, axis, hold, partial(AxleContact, name, frame=frame, axis=axis))
