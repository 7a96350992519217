"""Packages that only some people need: imported on first use, named with their extra when they are missing."""

from __future__ import annotations

import importlib
from typing import Any

from wbc.errors import NotInstalledError


def optional(module: str, extra: str) -> Any:
    """Import ``module``, or say which extra of the package brings it.

    Raises:
        NotInstalledError: the package is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise NotInstalledError(f"{package} is not installed; install it with: pip install 'wbc[{extra}]'") from error
