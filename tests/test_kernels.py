"""Kernels: loaded late, compiled once, and the same as their plain source."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import wbc
from wbc import kernels
from wbc.kernels import active_set
from wbc.robots import load
from wbc.tasks import ComTask, JointLimits, OrientationTask, PoseTask, PostureTask, TorqueLimits

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


def all_kernels():
    """``module.name`` -> every compiled kernel; none where this process runs them uncompiled."""
    modules = [importlib.import_module(f"wbc.kernels.{name}") for name in kernels.NAMES]
    kernels.load()
    return {
        f"{module.__name__.rpartition('.')[2]}.{name}": kernel
        for module in modules
        for name, kernel in vars(module).items()
        if hasattr(kernel, "py_func") and kernel.py_func.__module__ == module.__name__
    }


KERNELS = all_kernels()
MOST_CALLS = 12  # of each kernel, spread over all ticks: plain Python is slow


def controllers():
    """Stacks whose ticks take every route: an arm and a robot on feet, with limits idle and active."""
    for name, share in (("panda", 1.0), ("panda", 0.3), ("anymal_c", 1.0), ("anymal_c", 0.45)):
        robot = load(name)
        robot = replace(robot, torque_limits=share * robot.torque_limits)
        arm = not robot.feet
        stack = wbc.Stack(
            nominal=PostureTask("posture"),
            contacts=[robot.contact(foot, friction=0.7) for foot in robot.feet],
            limits=[TorqueLimits(), JointLimits()],
            strict=[[PoseTask("hand", frame="panda_hand_tcp") if arm else ComTask("com")]],
            soft=[] if arm else [(OrientationTask("trunk", frame="base"), 10.0)],
        )
        yield wbc.Controller(robot, stack)


@pytest.fixture(scope="module")
def calls():
    """Kernel -> what it was called with, by others or by another kernel, in ticks at moving states drawn at random."""
    found = {name: [] for name in KERNELS}

    def recording(name, kernel):
        def call(*arguments):
            found[name].append(copied(arguments))
            return kernel.py_func(*arguments)  # whose own calls of kernels are recorded too

        return call

    instead = {id(kernel): recording(name, kernel) for name, kernel in KERNELS.items()}
    made, random = list(controllers()), np.random.default_rng(5)
    with pytest.MonkeyPatch.context() as patch:
        for module in [m for name, m in sys.modules.items() if name.partition(".")[0] == "wbc"]:
            for name, value in list(vars(module).items()):
                if id(value) in instead:
                    patch.setattr(module, name, instead[id(value)])
        for controller in made:
            q, nv = np.array(controller.robot.home), controller.robot.nv
            for _ in range(4):
                controller.tick(wbc.State(q, 0.3 * random.standard_normal(nv)))
                q = pin.integrate(controller.robot.model, q, 0.02 * random.standard_normal(nv))
    return found


def copied(arguments):
    return tuple(a.copy(order="K") if isinstance(a, np.ndarray) else a for a in arguments)


def scrambled(arguments, random):
    """The same sizes and indices with other numbers; zeros stay, since kernels step over them."""
    return tuple(
        np.where(a != 0.0, random.standard_normal(a.shape), 0.0).copy(order="K")
        if isinstance(a, np.ndarray) and a.dtype == np.float64
        else a
        for a in copied(arguments)
    )


@pytest.mark.skipif(not KERNELS, reason="WBC_UNCOMPILED is set")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_compiled_is_the_same_as_its_source(calls, name):
    assert calls[name], f"no tick here calls {name}: add a stack to controllers() that does"
    kernel, random = KERNELS[name], np.random.default_rng(2)
    chosen = calls[name][:: max(1, len(calls[name]) // MOST_CALLS)]
    for arguments in [*chosen, *(scrambled(given, random) for given in chosen)]:
        fast, slow = copied(arguments), copied(arguments)
        results = kernel(*fast), kernel.py_func(*slow)
        for a, b in zip((*fast, results[0]), (*slow, results[1]), strict=True):
            a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
            finite = np.isfinite(b)
            np.testing.assert_array_equal(np.isfinite(a), finite)
            np.testing.assert_array_equal(a[~finite], b[~finite])
            assert np.abs(a - b)[finite].max(initial=0.0) <= SAME * np.abs(b)[finite].max(initial=0.0)


def test_a_guess_at_a_side_without_a_bound_is_dropped() -> None:
    """``min ½ ‖u‖² ≻ ½ ‖λ‖²`` with u₁ + λ ≤ ∞ guessed active, u₁ ≥ 1 found: u = (1, 0), λ = 0."""
    G = np.array([[0.6, 0.0, 0.8], [1.0, 0.0, 0.0]])
    lower, upper = np.array([-np.inf, 1.0]), np.array([np.inf, np.inf])
    for guess in (1.0, -1.0):
        x, mu, nu = np.zeros(3), np.zeros(2), np.zeros(2)
        side = np.array([guess, 0.0])
        assert active_set.two_levels(G, 2, lower, upper, side, 10, x, mu, nu)
        np.testing.assert_allclose(x, [1.0, 0.0, 0.0], atol=1e-14)
        np.testing.assert_allclose(mu, [0.0, -1.0], atol=1e-14)


def test_rows_that_feel_internal_forces_by_rounding_alone_do_not_move_them() -> None:
    """All λ columns at 1e-16: their pivots are no directions, and u alone meets the rows."""
    G = np.array([[1.0, 0.0, 1e-16], [0.0, 1.0, -3e-17]])
    x, mu, nu = np.zeros(3), np.zeros(2), np.zeros(2)
    both = np.array([2.0, -1.0])
    assert active_set.two_levels(G, 2, both, both, np.ones(2), 10, x, mu, nu)
    np.testing.assert_allclose(x, [2.0, -1.0, 0.0], atol=1e-14)
