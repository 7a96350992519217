"""Compiled linear algebra at the sizes of a tick: the inner loops run along rows, where memory is contiguous."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from wbc.checks import Array
from wbc.kernels.compiled import compiled

Indices = NDArray[np.int64]


@compiled("boolean(float64[:, ::1], float64[:, ::1])")
def factor(W: Array, C: Array) -> bool:
    """``W = Cᵀ C`` with C lower triangular, from the last coordinate to the first; False where W is not positive.

    Joints stand after the joints that carry them, so that this order leaves zero what is zero in a mass matrix: C[i, j]
    is there only where j carries i (Featherstone 2008, section 6.5).
    """
    n = len(W)
    C[:] = W
    for i in range(n - 1, -1, -1):
        if not C[i, i] > 0.0:
            return False
        root = math.sqrt(C[i, i])
        C[i, i] = root
        for j in range(i):
            C[i, j] /= root
        for j in range(i):
            value = C[i, j]
            if value != 0.0:
                for k in range(j + 1):
                    C[j, k] -= value * C[i, k]
        for k in range(i + 1, n):
            C[i, k] = 0.0
    return True


@compiled("void(float64[:, ::1], float64[:, ::1])")
def solve_transposed(C: Array, X: Array) -> None:
    """``X ← C⁻ᵀ X`` for lower triangular C: rows A become A C⁻¹, as columns of X."""
    n, m = X.shape
    for i in range(n - 1, -1, -1):
        for k in range(m):
            X[i, k] /= C[i, i]
        for j in range(i):
            value = C[i, j]
            if value != 0.0:
                for k in range(m):
                    X[j, k] -= value * X[i, k]


@compiled("void(float64[:, ::1], float64[::1])")
def solve(C: Array, x: Array) -> None:
    """``x ← C⁻¹ x`` for lower triangular C."""
    for i in range(len(x)):
        total = x[i]
        for j in range(i):
            total -= C[i, j] * x[j]
        x[i] = total / C[i, i]


@compiled("void(float64[:, ::1], int64, int64, float64[::1])")
def triangularise(T: Array, first: int, last: int, tau: Array) -> None:
    """Householder reflections that make columns ``first`` to ``last`` of T upper triangular; all later columns follow.

    ``T = Q [R; 0]``: R stands on and above the diagonal, reflection k = I − tau v vᵀ below it with v_k = 1.

    Source: Golub and Van Loan (2013), algorithm 5.2.1.
    """
    n, m = T.shape
    w = np.empty(m)
    for k in range(first, last):
        square = 0.0
        for i in range(k + 1, n):
            square += T[i, k] * T[i, k]
        head = T[k, k]
        if square == 0.0:
            tau[k] = 0.0
            continue
        norm = math.sqrt(head * head + square)
        beta = -norm if head > 0.0 else norm
        tau[k] = (beta - head) / beta
        scale = 1.0 / (head - beta)
        T[k, k] = beta
        for i in range(k + 1, n):
            T[i, k] *= scale
        for j in range(k + 1, m):
            w[j] = T[k, j]
        for i in range(k + 1, n):
            value = T[i, k]
            if value != 0.0:
                for j in range(k + 1, m):
                    w[j] += value * T[i, j]
        for j in range(k + 1, m):
            w[j] *= tau[k]
            T[k, j] -= w[j]
        for i in range(k + 1, n):
            value = T[i, k]
            if value != 0.0:
                for j in range(k + 1, m):
                    T[i, j] -= value * w[j]


@compiled("void(float64[:, ::1], int64, float64[::1], float64[::1])")
def reflect_back(T: Array, count: int, tau: Array, x: Array) -> None:
    """``x ← Q x`` with the first ``count`` reflections of :func:`triangularise`."""
    n = len(x)
    for k in range(count - 1, -1, -1):
        total = x[k]
        for i in range(k + 1, n):
            total += T[i, k] * x[i]
        total *= tau[k]
        x[k] -= total
        for i in range(k + 1, n):
            x[i] -= total * T[i, k]


@compiled("float64[:, ::1](float64[:, ::1], int64, float64[::1], int64)")
def directions(T: Array, count: int, tau: Array, start: int) -> Array:
    """Columns ``start`` and later of Q, orthonormal: with ``start = count`` what the reflections leave free."""
    n = len(T)
    Q = np.zeros((n, n - start))
    for j in range(n - start):
        Q[start + j, j] = 1.0
    w = np.empty(n - start)
    for k in range(count - 1, -1, -1):
        w[:] = Q[k]
        for i in range(k + 1, n):
            value = T[i, k]
            if value != 0.0:
                for j in range(n - start):
                    w[j] += value * Q[i, j]
        for j in range(n - start):
            w[j] *= tau[k]
            Q[k, j] -= w[j]
        for i in range(k + 1, n):
            value = T[i, k]
            if value != 0.0:
                for j in range(n - start):
                    Q[i, j] -= value * w[j]
    return Q


@compiled("float64(float64[:, ::1], int64, int64, float64[::1])")
def inverse_square(T: Array, first: int, last: int, lengths: Array) -> float:
    """``‖(R S)⁻¹‖²_F`` of the triangle R in columns ``first`` to ``last`` of T, S = diag(lengths); inf if singular."""
    size = last - first
    total = 0.0
    x = np.empty(size)
    for column in range(size):
        for i in range(column + 1, size):
            x[i] = 0.0
        for i in range(column, -1, -1):
            value = 1.0 if i == column else 0.0
            for j in range(i + 1, column + 1):
                value -= T[first + i, first + j] * x[j]
            pivot = T[first + i, first + i]
            if pivot == 0.0:
                return np.inf
            x[i] = value / pivot
            scaled = x[i] / lengths[first + i]
            total += scaled * scaled
    return total


@compiled("float64[:, ::1](float64[:, ::1])")
def one_plus_gram(B: Array) -> Array:
    """``I + BᵀB``, its lower triangle, for B (r, k)."""
    r, k = B.shape
    H = np.eye(k)
    for i in range(r):
        for j in range(k):
            value = B[i, j]
            for m in range(j + 1):
                H[j, m] += value * B[i, m]
    return H


@compiled("boolean(float64[:, ::1])")
def cholesky(H: Array) -> bool:
    """``H = L Lᵀ``, the lower triangle of H overwritten by L; False where H is not positive definite."""
    n = len(H)
    for j in range(n):
        for k in range(j):
            value = H[j, k]
            if value != 0.0:
                for i in range(j, n):
                    H[i, j] -= value * H[i, k]
        if not H[j, j] > 0.0:
            return False
        root = math.sqrt(H[j, j])
        for i in range(j, n):
            H[i, j] /= root
    return True


@compiled("boolean(float64[:, ::1], float64[::1])")
def solve_positive(H: Array, x: Array) -> bool:
    """``x ← H⁻¹ x`` for positive definite H, overwritten by its lower Cholesky factor; False where it is not."""
    n = len(x)
    if not cholesky(H):
        return False
    for i in range(n):
        for j in range(i):
            x[i] -= H[i, j] * x[j]
        x[i] /= H[i, i]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= H[j, i] * x[j]
        x[i] /= H[i, i]
    return True


@compiled("void(float64[:, ::1], float64[:, ::1])")
def solve_columns(C: Array, X: Array) -> None:
    """``X ← C⁻¹ X`` for lower triangular C."""
    n, m = X.shape
    for i in range(n):
        for j in range(i):
            value = C[i, j]
            if value != 0.0:
                for k in range(m):
                    X[i, k] -= value * X[j, k]
        for k in range(m):
            X[i, k] /= C[i, i]


@compiled("int64(float64[:, ::1], float64[::1], int64[::1], float64)")
def triangularise_pivoted(T: Array, tau: Array, order: Indices, tolerance: float) -> int:
    """Like :func:`triangularise`, the longest column next; returns the rank, where all columns left are short.

    ``order`` says which column stands where; ``tolerance`` is relative to the longest column.

    Source: Golub and Van Loan (2013), algorithm 5.4.1.
    """
    n, m = T.shape
    for j in range(m):
        order[j] = j
    longest = 0.0
    for k in range(min(n, m)):
        best, pivot = -1.0, k
        for j in range(k, m):
            square = 0.0
            for i in range(k, n):
                square += T[i, j] * T[i, j]
            if square > best:
                best, pivot = square, j
        if k == 0:
            longest = best
        if not best > tolerance * tolerance * longest:
            return k
        if pivot != k:
            for i in range(n):
                T[i, k], T[i, pivot] = T[i, pivot], T[i, k]
            order[k], order[pivot] = order[pivot], order[k]
        triangularise(T, k, k + 1, tau)
    return min(n, m)


@compiled("void(float64[:, :], float64[:, ::1], float64[:, ::1])")
def add_product(A: Array, X: Array, out: Array) -> None:
    """``out ← out + A X``, skipping the zeros of A: limits on joints have one entry a row, mass matrices few."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            value = A[i, j]
            if value != 0.0:
                for k in range(X.shape[1]):
                    out[i, k] += value * X[j, k]
