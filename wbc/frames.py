"""Frames at a tick: a table of all frames in use, filled by one compiled call from pinocchio's own memory."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pinocchio as pin

from wbc.checks import Array
from wbc.kernels import frames as kernel


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

    Args:
        model, data: of the robot; ``crba`` in the world's convention and ``nonLinearEffects`` fill what is read here.
    """

    def __init__(self, model: Any, data: Any) -> None:
        self._model, self._data = model, data
        self._live = _live(model, data)
        self._Jt = data.J.T if model.nv > 1 else data.J.reshape(1, 6)
        self._gravity = np.array(model.gravity.linear)
        self._ids: list[int] = []
        self.terms: list[FrameTerms] = []

    def add(self, index: int) -> int:
        """Take up a frame of the model; returns its place in ``terms``, which is made anew."""
        model = self._model
        self._ids.append(index)
        chosen = [model.frames[i] for i in self._ids]
        k, nv = len(chosen), model.nv
        self._joint = np.array([frame.parentJoint for frame in chosen])
        self._turn = np.array([frame.placement.rotation for frame in chosen])
        self._shift = np.array([frame.placement.translation for frame in chosen])
        columns = [_columns(model, int(joint)) for joint in self._joint]
        self._columns = np.array([c for group in columns for c in group], dtype=np.int64)
        self._ends = np.cumsum([len(group) for group in columns], dtype=np.int64)
        self._R, self._p, self._twist = np.empty((k, 3, 3)), np.empty((k, 3)), np.empty((k, 6))
        self._J, self._drift = np.zeros((k, 6, nv)), np.empty((k, 6))
        self.terms = [
            FrameTerms(*parts) for parts in zip(self._R, self._p, self._twist, self._J, self._drift, strict=True)
        ]
        return k - 1

    def fill(self, v: Array) -> None:
        """Compute all frames at the state that pinocchio was last called with; v (nv,) is its velocity."""
        oMi, twists, a_gf = self._live or _read(self._data)
        kernel.frames(
            self._joint, self._turn, self._shift, self._columns, self._ends, oMi, twists, a_gf, self._Jt, v,
            self._gravity, self._R, self._p, self._twist, self._J, self._drift,
        )  # fmt: skip


def _columns(model: Any, joint: int) -> list[int]:
    """The coordinates that move a joint."""
    found: list[int] = []
    while joint > 0:
        first = model.joints[joint].idx_v
        found += range(first, first + model.joints[joint].nv)
        joint = model.parents[joint]
    return found


def _read(data: Any) -> tuple[Array, Array, Array]:
    """Placements (n, 12), rotation column by column, twists and accelerations (n, 6) of joints, one by one."""
    oMi = np.array([np.append(M.rotation.T.ravel(), M.translation) for M in data.oMi])
    return oMi, np.array([motion.vector for motion in data.v]), np.array([motion.vector for motion in data.a_gf])


def _live(model: Any, data: Any) -> tuple[Array, Array, Array] | None:
    """The same as arrays on pinocchio's own memory, read for free; ``None`` where it is not laid out as expected.

    That layout is documented nowhere, so it is held against what the public functions say in a moving state.
    """
    places = [[M.rotation for M in data.oMi], [m.linear for m in data.v], [m.linear for m in data.a_gf]]
    found = []
    for views, width in zip(places, (12, 6, 6), strict=True):
        addresses = [int(view.__array_interface__["data"][0]) for view in views]
        if set(np.diff(addresses).tolist()) - {8 * width}:
            return None
        memory = (ctypes.c_double * (width * len(views))).from_address(addresses[0])
        found.append(np.ctypeslib.as_array(memory).reshape(len(views), width))
    v = np.sin(1.0 + np.arange(model.nv))
    q = pin.integrate(model, pin.neutral(model), np.cos(np.arange(model.nv)))
    pin.crba(model, data, q, pin.Convention.WORLD)
    pin.nonLinearEffects(model, data, q, v)
    same = all(np.array_equal(live, read) for live, read in zip(found, _read(data), strict=True))
    return (found[0], found[1], found[2]) if same else None
