"""Kernels: loaded late, compiled once, and the same as their plain source."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

SAME = 1e-12  # relative to the largest entry: only the order of roundings differs between machine code and Python


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_package_neither_loads_numba_nor_a_kernel():
    code = "import sys, wbc; print('numba' in sys.modules)"
    assert run(code).strip() == "False"


TICKS = """
import sys
import numpy as np, wbc, pinocchio as pin
from wbc.robots import load
from wbc.tasks import PoseTask, PostureTask, ComTask, TorqueLimits, JointLimits
torques = []
for name in ("panda", "anymal_c"):
    robot = load(name)
    contacts = [robot.contact(foot, friction=0.7) for foot in robot.feet]
    hand = PoseTask("hand", frame="panda_hand_tcp") if name == "panda" else ComTask("hand")
    limits = [TorqueLimits(), JointLimits()] if name == "panda" else [TorqueLimits()]
    stack = wbc.Stack(nominal=PostureTask("posture"), contacts=contacts, limits=limits, strict=[[hand]])
    controller = wbc.Controller(robot, stack, dt=0.001)
    random = np.random.default_rng(5)
    q = np.array(robot.home)
    for _ in range(3):
        torques.extend(controller.tick(wbc.State(q, 0.05 * random.standard_normal(robot.nv))).torque)
        q = pin.integrate(robot.model, q, 0.01 * random.standard_normal(robot.nv))
print("numba" in sys.modules, *(float(torque).hex() for torque in torques))
"""


def test_the_same_source_uncompiled_gives_the_same_torques():
    loaded, *fast = run(TICKS, WBC_UNCOMPILED="").split()
    not_loaded, *slow = run(TICKS, WBC_UNCOMPILED="1").split()
    assert (loaded, not_loaded) == ("True", "False")
    a, b = (np.array([float.fromhex(text) for text in texts]) for texts in (fast, slow))
    assert a.size > 50
    assert np.abs(a - b).max() <= SAME * np.abs(a).max()


def test_a_compilation_is_announced_once_and_kept_on_disk(tmp_path):
    code = """
from wbc.kernels import compiled
@compiled.compiled("float64(float64)")
def twice(x: float) -> float:
    return 2.0 * x
assert twice(1.5) == 3.0
print(*compiled.fresh)
"""
    file = tmp_path / "kernel.py"
    file.write_text(code)
    seen = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, str(file)], capture_output=True, text=True, check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "WBC_UNCOMPILED": ""},
        )  # fmt: skip
        seen.append((done.stdout.split(), "wbc warmup" in done.stderr))
    assert seen == [(["twice"], True), ([], False)]


@pytest.mark.parametrize("given", ["", "elsewhere"])
def test_machine_code_is_kept_where_it_can_be_written(tmp_path, given):
    (tmp_path / "file").write_text("")
    environment = {"XDG_CACHE_HOME": str(tmp_path / "file"), "NUMBA_CACHE_DIR": given and str(tmp_path / given)}
    folder = run("from wbc.kernels import compiled; print(compiled.folder())", **environment).strip()
    assert os.access(folder, os.W_OK)
    assert folder.startswith(str(tmp_path / given)) if given else not folder.startswith(str(tmp_path / "file"))


@pytest.mark.parametrize("size", [3, 6])
def test_contact_rows_are_the_frames_motion_seen_along_the_surfaces_axes(size):
    from wbc.kernels import contacts

    random = np.random.default_rng(size)
    J = np.asfortranarray(random.standard_normal((6, 9)))
    Jdot_v, velocity, gap, vdot = (random.standard_normal(n) for n in (6, 6, size, 9))
    normal, forward = random.standard_normal(3), random.standard_normal(3)
    normal /= np.linalg.norm(normal)
    rows, b, axes = np.empty((size, 9)), np.empty(size), np.empty((3, 3))
    contacts.contact_rows(J, Jdot_v, velocity, gap, normal, forward, 90.0, 7.0, rows, b, axes)
    assert np.abs(axes.T @ axes - np.eye(3)).max() < SAME
    assert np.linalg.det(axes) == pytest.approx(1.0, abs=SAME)
    assert np.abs(axes[:, 2] - normal).max() < SAME
    assert abs(np.cross(forward, normal) @ axes[:, 0]) < SAME  # t₁ lies in the plane of forward and normal
    assert forward @ axes[:, 0] > 0.0
    world = (J @ vdot + Jdot_v)[:size] + 7.0 * velocity[:size] - 90.0 * gap
    seen = rows @ vdot + b
    for first in range(0, size, 3):
        expected = axes.T @ world[first : first + 3]
        assert np.abs(seen[first : first + 3] - expected).max() < SAME * np.abs(world).max()
