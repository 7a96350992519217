"""``wbc bench push``: how hard a robot may be pushed and stay on its feet, which it must not move.

Two controllers with the same tasks, gains and weights: one that knows friction cones and torque limits, and one that
knows neither and whose torques are clipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from rich.console import Console

from wbc.benchmarks.machine import machine, versions
from wbc.benchmarks.measuring import measuring
from wbc.benchmarks.publishing import Files, markdown_lines, print_lines
from wbc.controller import Controller
from wbc.errors import InputError
from wbc.robot import Robot
from wbc.robots import load
from wbc.scenarios import legged
from wbc.simulation import push
from wbc.simulation.falling import Falling
from wbc.simulation.world import MujocoWorld
from wbc.state import State
from wbc.tasks import JointLimits

__all__ = ["print_table", "run", "survives"]

# robot -> largest impulse that is tried [N s]
ROBOTS = {"talos": 80.0, "g1": 36.0, "anymal_c": 96.0, "go2": 32.0, "solo12": 6.0}
QUICK_ROBOTS = ("solo12",)
DIRECTIONS = {"lateral": (0.0, 1.0, 0.0), "sagittal": (1.0, 0.0, 0.0)}
CONTROLLERS = {"limits": True, "clipped": False}
HALVINGS, QUICK_HALVINGS = 7, 2  # of the range
BEGIN, LASTING, SECONDS = 0.1, 0.1, 3.0  # s: of the push, its duration, and the time to come back
OFF, SLOW, CALM = 0.02, 0.05, 0.1  # m, m/s, s: a centre of mass this near and slow for this long has come back
LOST = 0.35  # of the height of the centre of mass: so far off it does not come back
SLIPPED = 0.05  # m: feet that went farther were not planted
NOTE = (
    "Largest impulse (N s, a force on the base for 0.1 s) after which a robot is back at rest with its feet within 5 "
    "cm of where they were, in MuJoCo with friction 1, found by bisection between 0 and the largest one tried; `>` "
    "marks one that reached that end. limits: friction cones and torque limits are known; clipped: the same tasks, "
    "gains and weights, contacts that could pull, torques cut off at the limits."
)

Row = dict[str, Any]


def run(
    quick: bool = False,
    json: str | Path | None = None,
    markdown: str | Path | None = None,
    *,
    readme: str | Path | None = None,
    robots: Sequence[str] | None = None,
    controllers: Sequence[str] = tuple(CONTROLLERS),
    console: Console | None = None,
    progress: bool = True,
) -> list[Row]:
    """Find every limit, write what was asked for, and return rows {robot, case, direction, impulse, tried, runs}.

    Args:
        quick: the smallest robot and a coarse answer, in some seconds.
        json: file for {machine, versions, rows}.
        markdown: file for the table.
        readme: Markdown file whose section between ``<!-- bench push -->`` and ``<!-- end bench push -->`` is replaced.
        robots: names out of ``ROBOTS``; ``None`` for all.
        controllers: ``"limits"``, ``"clipped"``.
        console: where the progress bar goes.
        progress: whether there is a bar.
    """
    names = tuple(robots) if robots is not None else QUICK_ROBOTS if quick else tuple(ROBOTS)
    halvings = QUICK_HALVINGS if quick else HALVINGS
    plans = [(name, case, direction) for name in names for direction in DIRECTIONS for case in controllers]
    rows: list[Row] = []
    out = Console(stderr=True) if console is None else console
    with measuring(out, len(plans) * halvings, shown=progress) as bar:
        for name, case, direction in plans:
            bar.says(f"{name}, {direction}, {case}")
            robot, low, high = load(name), 0.0, ROBOTS[name]
            for _ in range(halvings):
                middle = 0.5 * (low + high)
                stood = survives(robot, middle, DIRECTIONS[direction], bounded=CONTROLLERS[case])
                low, high = (middle, high) if stood else (low, middle)
                bar.advance()
            rows.append(
                {
                    "robot": name,
                    "case": case,
                    "direction": direction,
                    "impulse": low,
                    "tried": ROBOTS[name],
                    "at_the_end": high == ROBOTS[name],
                }
            )
    meta = {"machine": machine(), "versions": versions(("mujoco", "daqp")), "left_out": []}
    Files(json, markdown, readme).write("push", rows, meta, markdown_text(rows))
    return rows


def survives(robot: Robot, impulse: float, direction: tuple[float, float, float], *, bounded: bool = True) -> bool:
    """Whether a robot that stands at home takes a push [N s] and comes back with its feet where they were."""
    stack = legged.stand(robot) if bounded else legged.stand(robot, cones=False, limits=(JointLimits,))
    controller = Controller(robot, stack, dt=legged.DT)
    world, start, limits = MujocoWorld(robot), State(robot.home, np.zeros(robot.nv)), robot.torque_limits
    world.reset(start)
    falling, data = Falling(robot, start), robot.model.createData()
    pushing = push(legged.trunk(robot), impulse, direction, BEGIN, lasting=LASTING)
    there, places, calm = legged.com(robot), _feet(robot, data, robot.home), 0.0
    for i in range(round((BEGIN + LASTING + SECONDS) / legged.DT)):
        t = i * legged.DT
        try:
            state = world.state
        except InputError:  # the simulation blew up
            return False
        if falling.reason(state):
            return False
        pin.centerOfMass(robot.model, data, state.q, state.v)
        off = float(np.hypot(*(data.com[0] - there)[:2]))
        if off > LOST * there[2]:
            return False
        back = t > BEGIN + LASTING and off < OFF and float(np.hypot(*data.vcom[0][:2])) < SLOW
        calm = calm + legged.DT if back else 0.0
        if calm >= CALM:
            break
        torque = np.clip(controller.tick(state).torque, -limits, limits)
        world.step(torque, legged.DT, pushing(t))
    ways = np.linalg.norm(_feet(robot, data, world.state.q) - places, axis=1)
    return calm >= CALM and bool(ways.max() < SLIPPED)


def markdown_text(rows: Sequence[Row]) -> str:
    """The results as a Markdown table."""
    return f"{NOTE}\n\n{markdown_lines(*_cells(rows), words=1)}\n"


def print_table(rows: Sequence[Row], console: Console | None = None) -> None:
    """Print the results."""
    title = "largest impulse survived with planted feet [N s]"
    print_lines(title, *_cells(rows), 1, Console() if console is None else console)


def _cells(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    columns = list(dict.fromkeys((row["direction"], row["case"]) for row in rows))
    found = {(row["robot"], row["direction"], row["case"]): row for row in rows}

    def cell(row: Row | None) -> str:
        return "" if row is None else f"{'>' if row['at_the_end'] else ''}{row['impulse']:.3g}"

    names = dict.fromkeys(row["robot"] for row in rows)
    lines = [[name, *(cell(found.get((name, *column))) for column in columns)] for name in names]
    return ["robot", *(f"{direction}, {case}" for direction, case in columns)], lines


def _feet(robot: Robot, data: Any, q: Any) -> Any:
    """Places (n, 3) of the feet's frames."""
    pin.framesForwardKinematics(robot.model, data, q)
    return np.array([data.oMf[robot.frame_id(foot.frame)].translation.copy() for foot in robot.footing])
