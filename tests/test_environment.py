"""J01: the project as a user installs it, in a fresh virtual environment: every declared solver imports and solves.

One environment, without system packages: first the core alone, then the solvers of the extra one by one. It needs the
package index, or pip's cache of it, and takes about a minute (41 s of CPU), so that it runs only when asked for::

    WBC_TEST_ENVIRONMENTS=1 pytest tests/test_environment.py
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.environment,
    pytest.mark.skipif(os.environ.get("WBC_TEST_ENVIRONMENTS") != "1", reason="set WBC_TEST_ENVIRONMENTS=1 to run it"),
    pytest.mark.xdist_group("environment"),  # the solvers are added to one environment, in the order of this file
]

PROJECT = Path(__file__).resolve().parent.parent
NATIVE = ("daqp", "proxqp", "osqp")
EXTRA = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["solvers"]
TORQUE = 1e-6  # N m, of 10: a limit is active, and osqp, piqp and clarabel are exact to 1e-9 of the unit rows

TICK = """
import json, sys
from pathlib import Path
import numpy as np
import wbc
from wbc.robots import load
from wbc.tasks import PositionTask, PostureTask, TorqueLimits

def torque(solver):
    robot = load("double_pendulum").scaled(torque=0.2)
    hand = PositionTask("hand", frame="tip", mask=(1, 0, 1))
    hand.target = (0.6, 0.0, -0.6)
    stack = wbc.Stack(nominal=PostureTask("rest", target=[0.0, 0.0]), strict=[hand], limits=[TorqueLimits()])
    controller = wbc.Controller(robot, stack, solver=solver, method="qp")
    command = controller.tick(wbc.State([0.4, 0.7], [0.5, -0.5]))
    assert command.report.status is not wbc.Status.FALLBACK, command.report.explain()
    assert command.report.solver == solver, command.report.explain()
    return command.torque.tolist()

def outcome(solver):
    try:
        return {"torque": torque(solver)}
    except wbc.WbcError as error:
        return {"error": type(error).__name__, "message": str(error)}

from wbc.environment import environment
found = {"where": str(Path(wbc.__file__)), "environment": dict(environment())}
found["solvers"] = {name: outcome(name) for name in sys.argv[1:]}
print(json.dumps(found))
"""


class Environment:
    """A fresh virtual environment with the project and its core dependencies in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        venv.create(folder / "venv", with_pip=True)
        self.python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
        source = folder / "source"  # a copy: building leaves folders behind
        shutil.copytree(
            PROJECT, source, symlinks=True, ignore=shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__")
        )
        self.pip("install", str(source))

    def pip(self, *arguments: str) -> None:
        self._run("-m", "pip", "--quiet", "--disable-pip-version-check", *arguments)

    def solve(self, *solvers: str) -> dict[str, Any]:
        """What one tick with each solver gives, and what the environment says of itself."""
        found: dict[str, Any] = json.loads(self._run("-c", TICK, *solvers).splitlines()[-1])
        return found

    def _run(self, *arguments: str) -> str:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        done = subprocess.run(
            [str(self.python), *arguments], cwd=self.folder, env=clean, capture_output=True, text=True, timeout=900
        )
        assert done.returncode == 0, f"{' '.join(arguments[:4])} failed:\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment(tmp_path_factory.mktemp("fresh"))


@pytest.fixture(scope="module")
def core(fresh: Environment) -> dict[str, Any]:
    """What the core alone can do, before any extra is installed."""
    return fresh.solve(*NATIVE, *(package_of(requirement) for requirement in EXTRA))


def package_of(requirement: str) -> str:
    return requirement.split(">")[0].split("=")[0].split("<")[0].strip()


def agree(a: list[float], b: list[float]) -> bool:
    return max(abs(x - y) for x, y in zip(a, b, strict=True)) < TORQUE


def test_the_core_alone_imports_and_solves_with_every_native_solver(fresh: Environment, core: dict[str, Any]) -> None:
    """J01: no extra is installed, and daqp, proxqp and osqp give one torque; the pendulum ships with the package."""
    assert Path(core["where"]).is_relative_to(fresh.folder / "venv")
    for solver in NATIVE:
        assert "torque" in core["solvers"][solver], core["solvers"][solver]
        assert agree(core["solvers"][solver]["torque"], core["solvers"]["daqp"]["torque"])
    for part in ("Python", "pinocchio", "numpy", "daqp (native)", "proxqp (native)", "osqp (native)"):
        assert core["environment"][part][0].isdigit(), part
    assert core["environment"]["MuJoCo"] == 'not installed (pip install "wbc[sim]")'


def test_a_solver_of_the_extra_that_is_missing_names_the_extra(core: dict[str, Any]) -> None:
    """J01, J02: its absence breaks nothing else, and the message says how to get it."""
    for solver in map(package_of, EXTRA):
        assert core["solvers"][solver]["error"] == "NotInstalledError"
        assert 'pip install "wbc[solvers]"' in core["solvers"][solver]["message"]


@pytest.mark.parametrize("requirement", EXTRA)
def test_a_declared_solver_solves_as_soon_as_it_is_installed(
    fresh: Environment, core: dict[str, Any], requirement: str
) -> None:
    """J01: each solver of the extra, installed by itself, gives the torque that daqp gives."""
    fresh.pip("install", requirement)
    solver = package_of(requirement)
    found = fresh.solve(solver)["solvers"][solver]
    assert "torque" in found, found
    assert agree(found["torque"], core["solvers"]["daqp"]["torque"])


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q"]))
