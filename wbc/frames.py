"""Frames at a tick: a table of all frames in use, filled by one compiled call from pinocchio's own memory."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from wbc.checks import Array
from wbc.kernels import frames as kernel

SAME = 1e-9  # relative: rounding of other formulas is 1e-14, and a wrong layout is wrong by parts of one
_AXES = pin.LOCAL_WORLD_ALIGNED


class FrameTerms:
    """One frame at this tick, in world axes at the frame's origin (LOCAL_WORLD_ALIGNED), linear before angular.

    The arrays are the tick's own: the next tick writes over them.

    Attributes:
        rotation: frame to world (3, 3).
        position: origin in the world (3,) [m].
        velocity: twist (6,) of the frame, ``J v`` [m/s, rad/s].
        J: Jacobian (6, nv).
        Jdot_v: classical acceleration (6,) at v̇ = 0 [m/s², rad/s²].
    """

    __slots__ = ("J", "Jdot_v", "position", "rotation", "velocity")

    def __init__(self, rotation: Array, position: Array, velocity: Array, J: Array, Jdot_v: Array) -> None:
        self.rotation, self.position, self.velocity, self.J, self.Jdot_v = rotation, position, velocity, J, Jdot_v


class FrameTable:
    """The frames in use of one model and its data; :meth:`fill` computes them all (1 us a frame instead of 5).

    The layout of pinocchio's memory is documented nowhere. Every frame that is taken up is therefore held against the
    public functions in a moving, turned state; from the first that differs on, the public functions are used.

    Args:
        model, data: of the robot; ``crba`` in the world's convention and ``nonLinearEffects`` fill what is read here.

    Attributes:
        terms: the frames in use.
    """

    def __init__(self, model: Any, data: Any) -> None:
        self._model, self._public = model, model.createData()
        self._gravity = np.array(model.gravity.linear)
        self._q = pin.integrate(model, pin.neutral(model), np.cos(np.arange(model.nv)))
        self._v = np.sin(1.0 + np.arange(model.nv))
        self._views = _live(data)
        pin.crba(model, data, self._q, pin.Convention.WORLD)
        pin.nonLinearEffects(model, data, self._q, self._v)
        # what the views say in that state: the data itself belongs to the tick in which a frame is taken up
        self._seen = [] if self._views is None else [view.copy() for view in self._views]
        self._ids: list[int] = []
        self.terms: list[FrameTerms] = []

    @property
    def live(self) -> bool:
        """Whether pinocchio's own memory is read; otherwise its public functions are asked."""
        return self._views is not None

    def add(self, index: int) -> int:
        """Take up a frame of the model; returns its place in ``terms``, which is made anew."""
        if self._views is not None and not self._agrees(_Frames(self._model, [index])):
            self._views = None
        self._ids.append(index)
        self._frames = _Frames(self._model, self._ids)
        self.terms = self._frames.terms
        return len(self._ids) - 1

    def fill(self, q: Array, v: Array) -> None:
        """Compute all frames at the state (q, v) that pinocchio was last called with."""
        if self._views is None:
            self._frames.ask(self._model, self._public, q, v)
        else:
            self._frames.read(self._views, v, self._gravity)

    def _agrees(self, frames: _Frames) -> bool:
        """Whether what is read of these frames is what the public functions say."""
        frames.read(self._seen, self._v, self._gravity)
        read = [array.copy() for array in frames.results]
        frames.ask(self._model, self._public, self._q, self._v)
        both = zip(read, frames.results, strict=True)
        return all(bool(np.abs(a - b).max() <= SAME * (1.0 + np.abs(b).max())) for a, b in both)


class _Frames:
    """Some frames of a model: where they hang, and the arrays that hold them."""

    def __init__(self, model: Any, ids: Sequence[int]) -> None:
        chosen = [model.frames[i] for i in ids]
        k, nv = len(chosen), model.nv
        self._ids = tuple(ids)
        self._joint = np.array([frame.parentJoint for frame in chosen])
        self._turn = np.array([frame.placement.rotation for frame in chosen])
        self._shift = np.array([frame.placement.translation for frame in chosen])
        columns = [_columns(model, int(joint)) for joint in self._joint]
        self._columns = np.array([c for group in columns for c in group], dtype=np.int64)
        self._ends = np.cumsum([len(group) for group in columns], dtype=np.int64)
        self.results = (
            np.empty((k, 3, 3)), np.empty((k, 3)), np.empty((k, 6)), np.zeros((k, 6, nv)), np.empty((k, 6)),
        )  # fmt: skip
        self.terms = [FrameTerms(*parts) for parts in zip(*self.results, strict=True)]

    def read(self, views: Sequence[Array], v: Array, gravity: Array) -> None:
        """Compute them from what pinocchio left of the joints."""
        oMi, twists, a_gf, Jt = views
        R, p, twist, J, drift = self.results
        kernel.frames(
            self._joint, self._turn, self._shift, self._columns, self._ends, oMi, twists, a_gf, Jt, v, gravity,
            R, p, twist, J, drift,
        )  # fmt: skip

    def ask(self, model: Any, data: Any, q: Array, v: Array) -> None:
        """Compute them by pinocchio's public functions, in data that nobody else uses."""
        pin.computeJointJacobians(model, data, q)
        pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
        pin.updateFramePlacements(model, data)
        for terms, i in zip(self.terms, self._ids, strict=True):
            terms.rotation[:], terms.position[:] = data.oMf[i].rotation, data.oMf[i].translation
            terms.velocity[:] = pin.getFrameVelocity(model, data, i, _AXES).vector
            terms.J[:] = pin.getFrameJacobian(model, data, i, _AXES).reshape(6, -1)  # (6,) where nv = 1
            terms.Jdot_v[:] = pin.getFrameClassicalAcceleration(model, data, i, _AXES).vector


def _columns(model: Any, joint: int) -> list[int]:
    """The coordinates that move a joint."""
    found: list[int] = []
    while joint > 0:
        first = model.joints[joint].idx_v
        found += range(first, first + model.joints[joint].nv)
        joint = model.parents[joint]
    return found


def _live(data: Any) -> tuple[Array, ...] | None:
    """Arrays on pinocchio's own memory, read for free; ``None`` where joints do not lie one behind the other.

    Placements (n, 12), rotation column by column, twists and accelerations (n, 6) of joints, in their axes; columns
    (nv, 6) of the joints' Jacobian.
    """
    places = [[M.rotation for M in data.oMi], [m.linear for m in data.v], [m.linear for m in data.a_gf]]
    found = []
    for views, width in zip(places, (12, 6, 6), strict=True):
        addresses = [int(view.__array_interface__["data"][0]) for view in views]
        if set(np.diff(addresses).tolist()) - {8 * width}:
            return None
        memory = (ctypes.c_double * (width * len(views))).from_address(addresses[0])
        found.append(np.ctypeslib.as_array(memory).reshape(len(views), width))
    Jt = data.J.T.reshape(-1, 6)
    if not Jt.flags.c_contiguous:
        return None
    return found[0], found[1], found[2], Jt
