"""Environments of peers: made on demand in the user's cache, since each wants libraries that wbc must not have."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wbc.errors import NotInstalledError

INSTALLING = 900.0  # s at most
FINISHED = "wbc-requirements.txt"  # in an environment: what was installed, written last


@dataclass(frozen=True, slots=True)
class PeerSpec:
    """A peer: what to install, its program in ``peer_workers``, whether it does the same work, and must be had"""

    name: str
    requirements: tuple[str, ...]
    worker: str
    same_work: bool = True
    required: bool = False


PLACO = PeerSpec("placo", ("placo==0.10.2",), "placo_worker.py", required=True)  # needs pin 3.8
# the last whose library has a wheel; linked against pin 3.4, and that against the other two, which neither says
TSID = PeerSpec("tsid", ("tsid==1.7.1", "pin==3.4.0", "cmeel-urdfdom<5", "cmeel-tinyxml2<11"), "tsid_worker.py")
PINK = PeerSpec("pink", ("pin-pink==4.4.0", "daqp==0.11.0"), "pink_worker.py", same_work=False)
MINK = PeerSpec("mink", ("mink==1.3.0", "daqp==0.11.0"), "mink_worker.py", same_work=False)
ON_DEMAND = (PLACO, TSID, PINK, MINK)


def cache() -> Path:
    """Where environments are kept: ``$XDG_CACHE_HOME/wbc/peers``, by default below ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "wbc" / "peers"


def interpreter(peer: PeerSpec, say: Callable[[str], None] = lambda line: None) -> Path:
    """The Python of a peer's environment, made now if it is not there.

    Raises:
        NotInstalledError: it cannot be made, for instance without a network; says why in one sentence.
    """
    folder = _folder(peer)
    python = folder / "bin" / "python"
    if is_made(peer):
        return python
    say(f"installing {', '.join(peer.requirements)} into an environment of its own, once")
    _run([sys.executable, "-m", "venv", "--clear", str(folder)], peer)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"]
    _run([*pip, *peer.requirements], peer)
    (folder / FINISHED).write_text("\n".join(peer.requirements), encoding="utf-8")
    return python


def is_made(peer: PeerSpec) -> bool:
    """Whether the environment is there already, with what the peer wants."""
    finished = _folder(peer) / FINISHED
    wanted = "\n".join(peer.requirements)
    return (_folder(peer) / "bin" / "python").exists() and (
        finished.is_file() and finished.read_text(encoding="utf-8") == wanted
    )


def _folder(peer: PeerSpec) -> Path:
    return cache() / f"{peer.name}-py{sys.version_info.major}{sys.version_info.minor}"


def _run(command: list[str], peer: PeerSpec) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALLING, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalledError(f"peer {peer.name}: its environment cannot be made: {error}") from error
    if done.returncode:
        told = [line for line in done.stderr.splitlines() if line.lower().startswith("error")] or [
            "no reason was given"
        ]
        raise NotInstalledError(
            f"peer {peer.name}: {', '.join(peer.requirements)} cannot be installed ({told[-1]}); a network or a "
            "package registry is needed once"
        )
