"""Random lexicographic problems of every awkward kind: dependent, conflicting, degenerate, badly scaled.

Badly scaled: rows between 1e-3 and 1e3; the equality rows of one level up to a factor of 100 apart, its inequality rows
too, but those and these up to 1e6.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FAMILIES = ("plain", "dependent", "integer", "scaled", "degenerate", "cone", "everything")
SMALLEST, LARGEST = 3, 60
MOST_LEVELS = 5


@dataclass(frozen=True, slots=True)
class Bounds:
    """Rows ``lower ≤ G z ≤ upper``."""

    G: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def violation(self, z: np.ndarray) -> np.ndarray:
        """Signed: negative below the lower side, positive above the upper one."""
        value = self.G @ z
        return value - np.clip(value, self.lower, self.upper)


@dataclass(frozen=True, slots=True)
class LevelRows:
    """One level: ½ ‖A z + b‖² + ½ ‖violation of ``asked``‖²."""

    A: np.ndarray
    b: np.ndarray
    asked: Bounds

    def value(self, z: np.ndarray) -> float:
        r, s = self.A @ z + self.b, self.asked.violation(z)
        return 0.5 * float(r @ r + s @ s)

    def gradient(self, z: np.ndarray) -> np.ndarray:
        return self.A.T @ (self.A @ z + self.b) + self.asked.G.T @ self.asked.violation(z)

    @property
    def size(self) -> float:
        """Length of the longest row."""
        return float(np.sqrt((np.vstack([self.A, self.asked.G]) ** 2).sum(axis=1).max(initial=0.0)))


@dataclass(frozen=True, slots=True)
class LexicographicProblem:
    """Hard rows that ``inside`` satisfies, and levels of which the last is ½ ‖z − z₀‖²."""

    seed: int
    family: str
    n: int
    inside: np.ndarray
    hard: Bounds
    levels: list[LevelRows]


class _Rows:
    """Draws directions, some of them new, some of them dependent on earlier ones of any level or of the hard rows."""

    def __init__(self, random: np.random.Generator, n: int, family: str) -> None:
        self.random, self.n = random, n
        self.integer = family == "integer"
        self.again = {"plain": 0.05, "dependent": 0.5, "everything": 0.35}.get(family, 0.2)
        self.scaled = family == "scaled" or (family == "everything" and random.random() < 0.5)
        self.decades = random.choice([0.5, 1.0])  # of the rows of one level, around the level's own scale
        self.sparse = random.random() < 0.4
        self.known: list[np.ndarray] = []

    def direction(self) -> np.ndarray:
        random, kind = self.random, self.random.random()
        if self.known and kind < self.again:
            first = self.known[random.integers(len(self.known))]
            choice = random.random()
            if choice < 0.4:
                return first.copy()
            if choice < 0.6:
                return -first
            second = self.known[random.integers(len(self.known))]
            if self.integer:
                return first + random.integers(-2, 3) * second
            return random.uniform(-2.0, 2.0) * first + random.uniform(-2.0, 2.0) * second
        if random.random() < 0.03:
            return np.zeros(self.n)
        if self.integer:
            row = random.integers(-2, 3, self.n).astype(float)
        elif random.random() < 0.15:
            row = np.zeros(self.n)
            row[random.integers(self.n)] = 1.0
        else:
            row = random.normal(size=self.n) / np.sqrt(self.n)
        if self.sparse and self.n > 4:
            row *= random.random(self.n) < 0.3
        self.known.append(row)
        return row

    def draw(self, k: int) -> np.ndarray:
        return np.array([self.direction() for _ in range(k)]).reshape(k, self.n)

    def scales(self, k: int) -> np.ndarray:
        if not self.scaled:
            return np.ones(k)
        whole = self.random.uniform(self.decades - 3.0, 3.0 - self.decades)
        scales: np.ndarray = 10.0 ** (whole + self.random.uniform(-self.decades, self.decades, k))
        return scales

    def number(self, shape: object, size: float) -> np.ndarray:
        if self.integer:
            return self.random.integers(-int(size) - 1, int(size) + 2, shape).astype(float)
        return self.random.uniform(-size, size, shape)


def random_problem(seed: int) -> LexicographicProblem:
    """The problem of a seed; families follow one another."""
    random, family = np.random.default_rng([4, seed]), FAMILIES[seed % len(FAMILIES)]
    n = round(SMALLEST * (LARGEST / SMALLEST) ** random.random())
    rows = _Rows(random, n, family)
    inside = rows.number(n, 1.0) if family != "cone" and random.random() < 0.3 else np.zeros(n)
    hard = _hard(random, rows, family, inside)
    on_boundary = family in ("degenerate", "everything")
    levels = [_level(random, rows, inside, on_boundary) for _ in range(random.integers(1, MOST_LEVELS + 1))]
    z0 = np.zeros(n) if random.random() < 0.3 else rows.number(n, 3.0)
    levels.append(LevelRows(np.eye(n), -z0, Bounds(np.zeros((0, n)), np.zeros(0), np.zeros(0))))
    return LexicographicProblem(seed, family, n, inside, hard, levels)


def _hard(random: np.random.Generator, rows: _Rows, family: str, inside: np.ndarray) -> Bounds:
    """A box, a cone with its apex at the known point, general rows that pass through it: one, or several of them."""
    n = rows.n
    G, below, above = [np.zeros((0, n))], [np.zeros(0)], [np.zeros(0)]  # bounds as room on both sides of ``inside``
    touches = 0.6 if family in ("degenerate", "everything") else 0.2
    if random.random() < 0.6:
        G.append(np.eye(n))
        room = np.abs(rows.number((2, n), 2.0)) + (1.0 if rows.integer else 0.1)
        room[random.random((2, n)) < 0.3 * touches] = 0.0
        room[random.random((2, n)) < 0.1] = np.inf
        below.append(room[0])
        above.append(room[1])
    if family == "cone" or random.random() < 0.3:
        k = int(random.integers(1, 2 * n + 1))
        G.append(rows.draw(k))
        below.append(np.zeros(k))
        above.append(np.full(k, np.inf))
    if random.random() < 0.6:
        k = int(random.integers(1, 2 * n + 1)) if family == "degenerate" else int(random.integers(1, n + 1))
        G.append(rows.draw(k))
        room = np.abs(rows.number((2, k), 1.5))
        room[random.random((2, k)) < touches] = 0.0
        room[random.random((2, k)) < 0.3] = np.inf
        room[:, random.random(k) < 0.08] = 0.0  # equal sides
        below.append(room[0])
        above.append(room[1])
    stacked = np.vstack(G)
    scale = rows.scales(len(stacked))
    stacked *= scale[:, None]
    value = stacked @ inside
    return Bounds(stacked, value - scale * np.concatenate(below), value + scale * np.concatenate(above))


def _level(random: np.random.Generator, rows: _Rows, inside: np.ndarray, on_boundary: bool) -> LevelRows:
    """Equality rows, inequality rows or both, around a point far outside, near, or exactly where hard rows are met."""
    n, kind = rows.n, random.random()
    k = int(random.integers(1, max(2, n // 2) + 1)) if kind < 0.7 else 0
    m = int(random.integers(1, max(2, n // 2) + 1)) if kind >= 0.45 else 0
    centre = inside.copy()
    if not (on_boundary and random.random() < 0.3):
        centre = centre + rows.number(n, 10.0 ** random.uniform(-0.5, 1.0))
    A, G = rows.draw(k), rows.draw(m)
    conflict = rows.number(k, 2.0) * (random.random(k) < 0.3)
    width = np.abs(rows.number((2, m), 1.0))
    width[:, random.random(m) < 0.15] = 0.0  # equal sides
    width[:, random.random(m) < 0.1] *= 3.0
    side = random.random(m)
    width[0, side < 0.3] = np.inf
    width[1, side > 0.7] = np.inf
    wA, wG = rows.scales(k), rows.scales(m)
    middle = G @ centre + rows.number(m, 1.0) * (random.random(m) < 0.5)
    return LevelRows(
        wA[:, None] * A, wA * (conflict - A @ centre),
        Bounds(wG[:, None] * G, wG * (middle - width[0]), wG * (middle + width[1])),
    )  # fmt: skip
