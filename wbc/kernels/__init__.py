"""Compiled inner loops: readable Python with the equations that it implements, compiled by numba.

The modules are loaded when one of their names is first used, since that loads numba (0.5 s) and, once for each version
of their sources, compiles them: ``from wbc.kernels import equalities``, then ``equalities.closed_form(...)``.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING, Any

NAMES = (
    "linear_algebra",
    "equalities",
    "active_set",
    "contacts",
    "forces",
    "frames",
    "inside",
    "limits",
    "motion",
    "rows",
)

CONTACT, FRAME, COM, POSTURE, NOMINAL = range(5)  # kinds of parts whose rows are written by one call
INSIDE, OUTSIDE, WEAK, BROKEN = 0, 1, 2, 3  # a limit is exceeded; a level has to be split by SVD; M is not positive

if TYPE_CHECKING:
    from wbc.kernels import active_set as active_set
    from wbc.kernels import contacts as contacts
    from wbc.kernels import equalities as equalities
    from wbc.kernels import forces as forces
    from wbc.kernels import frames as frames
    from wbc.kernels import inside as inside
    from wbc.kernels import limits as limits
    from wbc.kernels import linear_algebra as linear_algebra
    from wbc.kernels import motion as motion
    from wbc.kernels import rows as rows


def load() -> tuple[str, ...]:
    """Load all kernels now, and return the names of those that had to be compiled."""
    from wbc.kernels import compiled

    known = len(compiled.fresh)
    for name in NAMES:
        getattr(globals()[name], "__doc__", None)  # any name of it runs the module
    return tuple(compiled.fresh[known:])


def _lazily(name: str) -> Any:
    """A module that runs at the first use of one of its names."""
    full = f"{__name__}.{name}"
    spec = importlib.util.find_spec(full)
    if spec is None or spec.loader is None:
        raise ImportError(f"{full} is missing: the installation of wbc is not complete")
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[full] = module
    spec.loader.exec_module(module)
    return module


if not TYPE_CHECKING:
    for _name in NAMES:
        globals()[_name] = _lazily(_name)
