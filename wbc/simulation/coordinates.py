"""Translation between pinocchio's coordinates (q, v) and MuJoCo's (qpos, qvel), joint by joint, by name.

With T(q) orthogonal, and the identity but for bases::

    v_mj = T v      v̇_mj = T v̇ + Ṫ v      τ_mj = T τ      M = Tᵀ M_mj T      h = Tᵀ (h_mj + M_mj Ṫ v)

A free base turns by T = R in its three linear rows only: pinocchio has the base's linear velocity in the base's axes,
MuJoCo in the world's, and both have the angular one in the base's axes. So Ṫ v = R (ω x v). Quaternions are xyzw in
pinocchio and wxyz in MuJoCo.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from wbc.checks import Array
from wbc.joints import PLANAR_AXES

WXYZ_OF_XYZW = [3, 0, 1, 2]
XYZW_OF_WXYZ = [1, 2, 3, 0]


def mujoco_joints(name: str, joint: Any) -> list[str]:
    """Names in MuJoCo of what one pinocchio joint becomes there."""
    return [f"{name}_{axis}" for axis in PLANAR_AXES] if joint.shortname() == "JointModelPlanar" else [name]


class Coordinates:
    """Both orders of one robot: built once from the two models, then pure functions of their arguments."""

    def __init__(self, model: Any, mj_model: Any) -> None:
        self.nq, self.nv = int(model.nq), int(model.nv)
        self._mj_nq, self._mj_nv = int(mj_model.nq), int(mj_model.nv)
        plain: list[tuple[int, int]] = []  # (index in q, index in qpos)
        turning: list[tuple[int, int]] = []  # cos, sin from this index in q; the angle at that one in qpos
        self._quaternions: list[tuple[int, int]] = []
        self._free: list[tuple[int, int, int, Any]] = []  # index in q, v, qpos, and where the base's zero is
        self._planar: list[tuple[int, int]] = []  # index in q, v
        dof = np.empty(self.nv, dtype=np.intp)
        for name, joint, placement in list(zip(model.names, model.joints, model.jointPlacements, strict=True))[1:]:
            kind, iq, iv = joint.shortname(), joint.idx_q, joint.idx_v
            parts = [mj_model.joint(part) for part in mujoco_joints(name, joint)]
            qposadr = [int(part.qposadr[0]) for part in parts]
            dof[iv : iv + joint.nv] = [int(part.dofadr[0]) + i for part in parts for i in range(joint.nv // len(parts))]
            if kind == "JointModelFreeFlyer":
                self._free.append((iq, iv, qposadr[0], pin.SE3(placement)))
            elif kind == "JointModelSpherical":
                self._quaternions.append((iq, qposadr[0]))
            elif kind == "JointModelPlanar":
                self._planar.append((iq, iv))
                plain += [(iq, qposadr[0]), (iq + 1, qposadr[1])]
                turning.append((iq + 2, qposadr[2]))
            elif joint.nq == 2:
                turning.append((iq, qposadr[0]))
            else:
                plain.append((iq, qposadr[0]))
        self._dof: NDArray[np.intp] = dof
        self._plain = np.array(plain, dtype=np.intp).reshape(-1, 2)
        self._turning = np.array(turning, dtype=np.intp).reshape(-1, 2)

    @property
    def turns_motors(self) -> bool:
        """Whether motors push along axes that turn with the robot: those of a planar base do."""
        return bool(self._planar)

    def to_mujoco(self, q: Array, v: Array) -> tuple[Array, Array]:
        """(q, v) of pinocchio as (qpos, qvel) of MuJoCo."""
        qpos = np.zeros(self._mj_nq)
        qpos[self._plain[:, 1]] = q[self._plain[:, 0]]
        cos, angle = self._turning.T
        qpos[angle] = np.arctan2(q[cos + 1], q[cos])
        for iq, jq in self._quaternions:
            qpos[jq : jq + 4] = q[iq : iq + 4][WXYZ_OF_XYZW]
        for iq, _, jq, zero in self._free:
            base = zero * pin.XYZQUATToSE3(q[iq : iq + 7])
            qpos[jq : jq + 3] = base.translation
            qpos[jq + 3 : jq + 7] = pin.SE3ToXYZQUAT(base)[3:][WXYZ_OF_XYZW]
        return qpos, self.rate_to_mujoco(q, v)

    def from_mujoco(self, qpos: Array, qvel: Array) -> tuple[Array, Array]:
        """(qpos, qvel) of MuJoCo as (q, v) of pinocchio."""
        q = np.zeros(self.nq)
        q[self._plain[:, 0]] = qpos[self._plain[:, 1]]
        cos, angle = self._turning.T
        q[cos], q[cos + 1] = np.cos(qpos[angle]), np.sin(qpos[angle])
        for iq, jq in self._quaternions:
            q[iq : iq + 4] = qpos[jq : jq + 4][XYZW_OF_WXYZ]
        for iq, _, jq, zero in self._free:
            base = pin.XYZQUATToSE3(np.concatenate((qpos[jq : jq + 3], qpos[jq + 3 : jq + 7][XYZW_OF_WXYZ])))
            q[iq : iq + 7] = pin.SE3ToXYZQUAT(zero.actInv(base))
        return q, self.rate_from_mujoco(q, qvel)

    def rate_to_mujoco(self, q: Array, rate: Array) -> Array:
        """T x of a velocity or a generalised force x (nv,)."""
        result = np.empty(self._mj_nv)
        result[self._dof] = rate
        for index, T in self._turned(q):
            result[self._dof[index]] = T @ rate[index]
        return result

    def rate_from_mujoco(self, q: Array, rate: Array) -> Array:
        """Tᵀ x of a velocity or a generalised force x (nv,) of MuJoCo."""
        result: Array = rate[self._dof]
        for index, T in self._turned(q):
            result[index] = T.T @ rate[self._dof[index]]
        return result

    def drift(self, q: Array, v: Array) -> Array:
        """Ṫ v, in MuJoCo's order: what v̇_mj is where v̇ is zero."""
        result = np.zeros(self._mj_nv)
        for index, T in self._turned(q):
            if T.shape == (3, 3):
                omega = v[index.stop : index.stop + 3]
                turned = np.cross(omega, v[index])
            else:
                turned = v[index.stop] * np.array([-v[index][1], v[index][0]])
            result[self._dof[index]] = T @ turned
        return result

    def _turned(self, q: Array) -> list[tuple[slice, Array]]:
        """The blocks in which T is not the identity."""
        blocks = [
            (slice(iv, iv + 3), (zero * pin.XYZQUATToSE3(q[iq : iq + 7])).rotation) for iq, iv, _, zero in self._free
        ]
        for iq, iv in self._planar:
            c, s = q[iq + 2], q[iq + 3]
            blocks.append((slice(iv, iv + 2), np.array([[c, -s], [s, c]])))
        return blocks
