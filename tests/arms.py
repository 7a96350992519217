"""What the tests of the stack share: the arms by table, random moving states clear of singularities, and the sizes."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pinocchio as pin

from wbc import Robot, State
from wbc.hierarchy.damping import threshold
from wbc.robots import load
from wbc.terms import Terms

HANDS = {
    "panda": "panda_hand_tcp",
    "ur5": "tool0",
    "xarm7": "link_eef",
    "z1": "gripperStator",
    "kinova": "j2s6s200_end_effector",
}
ARMS = tuple(HANDS)
TIGHT = {"panda": 0.15, "ur5": 0.12, "xarm7": 0.12, "z1": 0.1, "kinova": 0.1}  # of the torque limits: mostly active
ROTATION = 0.2  # m, the length by which DESIGN makes rotation rows comparable to linear ones
LENGTHS = np.array([1.0, 1.0, 1.0, ROTATION, ROTATION, ROTATION])


@functools.cache
def arm(name: str) -> Robot:
    """A robot by name, loaded once; ``"R6"`` is pinocchio's sample arm."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Robot.from_pinocchio(pin.buildSampleModelManipulator(), name="R6") if name == "R6" else load(name)


def tight(name: str, factor: float = 1.0) -> Robot:
    """An arm whose torque limits are active in most random states, and keep strict levels from what they ask."""
    return arm(name).scaled(torque=factor * TIGHT[name])


def from_text(text: str, **arguments: object) -> Robot:
    """A robot from the text of a URDF, without the warnings that other tests look at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Robot.from_urdf(text, **arguments)


def hand(name: str) -> str:
    """The frame at the end of an arm."""
    return "effector_body" if name == "R6" else HANDS[name]


def random_q(robot: Robot, random: np.random.Generator) -> np.ndarray:
    """A configuration anywhere inside the limits; a joint without limits anywhere on the circle."""
    lower, upper = robot.position_limits
    lower, upper = np.maximum(lower, -np.pi), np.minimum(upper, np.pi)
    return pin.integrate(robot.model, pin.neutral(robot.model), random.uniform(lower, upper))


def random_state(robot: Robot, random: np.random.Generator, speed: float = 1.0) -> State:
    """A configuration anywhere inside the limits, in motion."""
    return State(random_q(robot, random), random.uniform(-speed, speed, robot.nv))


def terms_at(robot: Robot, state: State, dt: float = 0.001) -> Terms:
    """The dynamics at a state."""
    terms = Terms(robot, dt)
    terms.update(state)
    return terms


def smallest_sigma(terms: Terms, A: np.ndarray, lengths: np.ndarray) -> float:
    """σ_min of rows in Gauss coordinates, rotation rows counted as 0.2 m."""
    C = np.linalg.cholesky(terms.M).T
    return float(np.linalg.svd(np.linalg.solve(C.T, (lengths[:, None] * A).T), compute_uv=False)[-1])


def is_clear(terms: Terms, frame: str) -> bool:
    """Whether all six directions of a frame have σ ≥ σ₀: then every task on it is exact."""
    return smallest_sigma(terms, terms.frame(frame).J, LENGTHS) >= threshold(terms.robot.mass)


@functools.cache
def clear_states(name: str, count: int, seed: int) -> tuple[State, ...]:
    """Random moving states of an arm at which its hand's six directions have σ ≥ σ₀."""
    robot, random = arm(name), np.random.default_rng([seed, len(name), ord(name[0])])
    terms, found = Terms(robot, 0.001), []
    while len(found) < count:
        state = random_state(robot, random)
        terms.update(state)
        if is_clear(terms, hand(name)):
            found.append(state)
    return tuple(found)


@functools.cache
def clear_poses(name: str, count: int, seed: int) -> tuple[pin.SE3, ...]:
    """Where the hand is at random states that are clear of singularities: targets that can be reached."""
    terms, found = Terms(arm(name), 0.001), []
    for state in clear_states(name, count, seed):
        terms.update(state)
        frame = terms.frame(hand(name))
        found.append(pin.SE3(frame.rotation, frame.position))
    return tuple(found)


def gap(a: object, b: object) -> float:
    """The largest difference of two arrays."""
    return float(np.max(np.abs(np.subtract(a, b)), initial=0.0))
