"""The decorator of every kernel: compiled by numba once, kept on disk; the same source runs as plain Python too."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

UNCOMPILED = os.environ.get("WBC_UNCOMPILED", "") not in ("", "0")


def compiled(signature: str) -> Callable[[Function], Function]:
    """Compile a function for one signature when it is defined, or leave it as it is where ``WBC_UNCOMPILED=1``."""
    if UNCOMPILED:
        return lambda function: function
    from numba import njit

    compiler: Any = njit(signature, cache=True, error_model="numpy")
    result: Callable[[Function], Function] = compiler
    return result
