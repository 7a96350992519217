"""Drawing a MuJoCo scene into an array, with no window and whichever OpenGL MuJoCo has chosen for itself."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

from wbc.errors import NotInstalledError
from wbc.simulation.optional import optional


def draw(model: Any, data: Any, camera: Any, width: int, height: int) -> Any:
    """Pixels (height, width, 3) of a scene.

    Raises:
        NotInstalledError: there is no off-screen OpenGL.
    """
    mujoco = optional("mujoco", "sim")
    try:
        gl = _context(mujoco)(width, height)
        gl.make_current()
    except Exception as error:  # each OpenGL loader fails in its own way
        raise NotInstalledError(
            f"no off-screen OpenGL was found ({error}); install EGL (Debian and Ubuntu: apt install libegl1)"
        ) from error
    try:
        scene = mujoco.MjvScene(model, maxgeom=model.ngeom + 100)
        mujoco.mjv_updateScene(model, data, mujoco.MjvOption(), None, camera, mujoco.mjtCatBit.mjCAT_ALL.value, scene)
        context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, context)
        window, pixels = mujoco.MjrRect(0, 0, width, height), np.empty((height, width, 3), dtype=np.uint8)
        mujoco.mjr_render(window, scene, context)
        mujoco.mjr_readPixels(pixels, None, window, context)
        context.free()
    finally:
        gl.free()
    return pixels[::-1]


def _context(mujoco: Any) -> Any:
    """EGL on Linux unless MUJOCO_GL says otherwise.

    MuJoCo chooses when it is imported, and then GLFW, which ends the process on a machine without a screen.
    """
    if sys.platform == "linux" and os.environ.get("MUJOCO_GL", "egl").lower() == "egl":
        return optional("mujoco.egl", "sim").GLContext
    return mujoco.GLContext
