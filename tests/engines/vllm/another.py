"""Another Hearth in its own process that shares a worker."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.support.paths import ROOT


class Hearth:
    """Another Hearth.

    Args:
        environment: The folder of vLLM's environment.
        folder: The folder of the engine.
        wanted: The key of the shared worker.
        plan: Words for the plan of its load.
    """

    def __init__(self, environment: Path, folder: Path, wanted: str, *plan: str) -> None:
        words = [sys.executable, "-m", "tests.engines.vllm.sharing_alone"]
        self.app = subprocess.Popen(
            [*words, str(environment), str(folder), wanted, *plan],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._numbers: list[int] = []

    def __enter__(self) -> Hearth:
        return self

    def __exit__(self, *_: object) -> None:
        self.app.kill()
        with self.app:
            pass

    @property
    def session(self) -> int:
        return self._read()[0]

    @property
    def guardian(self) -> int:
        return self._read()[1]

    def ask(self) -> str:
        self._tell("ask")
        assert self.app.stdout is not None
        return str(json.loads(self.app.stdout.readline()))

    def leave(self, seconds: float) -> None:
        self._read()
        self._tell(f"leave {seconds}")
        assert self.app.wait() == 0

    def kill(self) -> None:
        self._read()
        self.app.kill()
        self.app.wait()

    def _tell(self, line: str) -> None:
        self._read()
        assert self.app.stdin is not None
        self.app.stdin.write(line + "\n")
        self.app.stdin.flush()

    def _read(self) -> list[int]:
        if not self._numbers:
            assert self.app.stdout is not None
            self._numbers = json.loads(self.app.stdout.readline())
        return self._numbers
