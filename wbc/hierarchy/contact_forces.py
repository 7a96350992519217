"""Elimination of contact forces: the base rows give f as a function of v̇ and of the internal forces λ."""

from __future__ import annotations

import numpy as np

from wbc.checks import Array
from wbc.kernels import forces
from wbc.problem import Problem

RANK_TOLERANCE = 1e-9


class ContactForces:
    """``f = f₀ + R^-½ (B̃⁺ (M_b v̇ + h_b − B f₀) + N λ)``, with B the base rows of Jᵀ and B̃ = B R^-½.

    The base has no motors: ``M_b v̇ + h_b = B f``. λ = 0 shares the load nearest to f₀ in the metric R, since N is
    orthogonal to the rows of B̃. Where the contacts cannot carry some direction of the base, L spans it, and
    ``Lᵀ (M_b v̇ + h_b) = 0`` is a condition on the motion.

    Attributes:
        L: (nb, nb − rank) directions of the base that no contact carries.
        base: (nf, nb) R^-½ B̃⁺.
        internal: (nf, n_λ) R^-½ N.
    """

    __slots__ = ("L", "_M", "base", "internal", "offset", "problem")

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        layout = problem.layout
        nb = len(layout.unactuated)
        self._M = problem.M[layout.base]
        B = problem.J[:, layout.base]  # transposed: (nf, nb)
        scale = 1.0 / problem.root_weight_f
        present = np.flatnonzero(problem.active)
        f0 = problem.f0 * problem.active
        self.L = np.zeros((nb, 0))
        self.base, self.internal = np.zeros((layout.nf, nb)), np.zeros((layout.nf, max(0, len(present) - nb)))
        base_index = layout.unactuated.astype(np.int64)
        if not forces.eliminate(problem.J, base_index, present, scale, self.base, self.internal):
            base, internal, self.L = _pseudoinverse(B[present] * scale[present, None], nb)
            self.base, self.internal = np.zeros((layout.nf, nb)), np.zeros((layout.nf, internal.shape[1]))
            self.base[present] = scale[present, None] * base
            self.internal[present] = scale[present, None] * internal
        self.offset = f0 + self.base.dot(problem.h[layout.base] - f0.dot(B))

    def dynamics(self) -> tuple[Array, Array]:
        """Rows on v̇ (k, nv) and offsets (k,) of what no contact carries."""
        return self.L.T @ self._M, self.L.T @ self.problem.h[self.problem.layout.base]

    def of(self, vdot: Array, internal: Array | None = None) -> Array:
        """Forces (nf,) at an acceleration, with internal forces λ (zero where left out)."""
        f: Array = self.base.dot(self._M.dot(vdot))
        f += self.offset
        return f if internal is None else f + self.internal @ internal

    def on_acceleration(self) -> Array:
        """∂f/∂v̇ (nf, nv)."""
        result: Array = self.base @ self._M
        return result


def _pseudoinverse(Bt: Array, nb: int) -> tuple[Array, Array, Array]:
    """B̃⁺ (n, nb), null space (n, n − rank) and left null space (nb, nb − rank) of B̃, from B̃ᵀ (n, nb)."""
    n = len(Bt)
    V, sigma, Ut = np.linalg.svd(Bt, full_matrices=True)
    rank = int((sigma > RANK_TOLERANCE * sigma.max(initial=0.0)).sum()) if n and nb else 0
    U = Ut.T
    return (V[:, :rank] / sigma[:rank]) @ U[:, :rank].T, V[:, rank:], U[:, rank:]
