"""A peer at work in a process of its own; see :mod:`wbc.benchmarks.peer_workers.protocol` for what is said."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from wbc.benchmarks.peer_files import write_scene
from wbc.benchmarks.peer_scene import Scene
from wbc.checks import Array
from wbc.errors import WbcError

WORKERS = Path(__file__).parent / "peer_workers"
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# what would lead the peer's Python to this one's packages
_OURS = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH")


class PeerError(WbcError):
    """A peer's program ended, or said what nobody can read."""


class PeerProcess:
    """A peer that has made its robot and tasks, as a context.

    Args:
        name: of the peer, for messages.
        python: interpreter that has the peer.
        worker: program.
        made: the scene.

    Attributes:
        versions: of the packages that the peer uses.
        solved: (ticks,) whether the last run of each tick gave a torque.
    """

    def __init__(self, name: str, python: Path, worker: Path, made: Scene) -> None:
        self.name = name
        self._folder = tempfile.TemporaryDirectory(prefix="wbc-peer-")
        write_scene(made, Path(self._folder.name))
        clean = {key: value for key, value in os.environ.items() if key not in _OURS}
        self._errors = (Path(self._folder.name) / "errors.txt").open("w+", encoding="utf-8")
        try:
            self._process = subprocess.Popen(
                [str(python), str(worker), self._folder.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
                env=clean | dict.fromkeys(_THREADS, "1"),
            )
        except OSError as error:
            self._errors.close()
            self._folder.cleanup()
            raise PeerError(f"peer {name}: {str(python)!r} cannot be started: {error}") from error
        self.solved = np.ones(len(made.states), dtype=bool)
        try:
            self.versions: dict[str, str] = self._listen()["ready"]
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> PeerProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the program and remove its files."""
        assert self._process.stdin is not None and self._process.stdout is not None
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # what it was still to be told, it cannot hear any more
                pipe.close()
        try:
            self._process.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()
        self._folder.cleanup()

    def run(self, first: int, stop: int) -> Array:
        """Times [ns] of these ticks, as the peer measured them: from the state set to the torque."""
        answer = self._ask({"first": first, "stop": stop})
        self.solved[first:stop] = answer["solved"]
        return np.array(answer["ns"], dtype=np.float64)

    def accelerations(self) -> Array:
        """(ticks, nv) accelerations of every tick, NaN where there was no solution."""
        file = Path(self._folder.name) / "accelerations.npy"
        self._ask({"file": str(file)})
        found: Array = np.load(file)
        return found

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        with suppress(OSError):  # it ended; listening says why
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
        return self._listen()

    def _listen(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        try:
            answer = json.loads(line)
        except json.JSONDecodeError:
            answer = None
        if not isinstance(answer, dict):
            self._errors.flush()
            self._errors.seek(0)
            told = self._errors.read().strip().splitlines()
            raise PeerError(f"peer {self.name}: its program ended: {told[-1] if told else line.strip() or 'no word'}")
        return answer
