"""Give damaged files to a worker, count the outcomes, and replace a worker that dies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from engines.errors import EngineError
from engines.helper.parent import ProcessResult
from engines.helper.result import RESULT
from engines.llamacpp.probing.causes import Cause, cause_of
from engines.llamacpp.probing.protocol import STAGE, write_plan
from engines.models.gguf.header import read_header
from engines.types import LlamaPlan
from tests.support.paths import ROOT


@dataclass
class Outcomes:
    """The outcomes of damaged files.

    Attributes:
        loaded: The number of files that loaded.
        header: Errors of the header, by code.
        library: Errors of the library, by code.
        deaths: The files that ended the worker, by cause.
    """

    loaded: int = 0
    header: Counter[str] = field(default_factory=Counter)
    library: Counter[str] = field(default_factory=Counter)
    deaths: dict[Cause, list[Path]] = field(default_factory=dict)

    @property
    def files(self) -> int:
        errors = self.header.total() + self.library.total()
        return self.loaded + errors + self.count_deaths()

    @property
    def crashes(self) -> list[Path]:
        found = [files for cause, files in self.deaths.items() if "Python" in cause.why]
        return [file for files in found for file in files]

    def count_deaths(self) -> int:
        return sum(map(len, self.deaths.values()))

    def add(self, other: Outcomes) -> None:
        self.loaded += other.loaded
        self.header += other.header
        self.library += other.library
        for cause, files in other.deaths.items():
            self.deaths.setdefault(cause, []).extend(files)

    def __str__(self) -> str:
        said = (
            f"{self.files} files: {self.loaded} load and answer,"
            f" {self.header.total()} are refused by their header {dict(self.header)},"
            f" {self.library.total()} by llama.cpp or the engine {dict(self.library)},"
            f" {self.count_deaths()} end the process"
        )
        deaths = sorted(self.deaths.items(), key=lambda death: -len(death[1]))
        lines = [f"{len(files):5}: {cause.why} {files[0].name}" for cause, files in deaths]
        return "\n".join([said, *lines])


class Worker:
    """A process that tries one plan after another. Use it in a `with`."""

    def __init__(self, folder: Path) -> None:
        self._errors = folder / "stderr"
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def attempt(self, plan: LlamaPlan) -> Cause | str | None:
        """Try a plan; return the cause of the worker's end, the code of an error, or None."""
        child = self._child = self._child or self._start()
        assert child.stdin
        assert child.stdout
        child.stdin.write(write_plan(plan).encode() + b"\n")
        child.stdin.flush()
        stage = ""
        while line := child.stdout.readline():
            verdict: dict[str, Any] = json.loads(line)
            if RESULT in verdict:
                code: str | None = verdict[RESULT]
                return code
            stage = verdict[STAGE]
        code_of_end = self._end()
        words = self._errors.read_text(errors="replace")
        return cause_of(ProcessResult(code_of_end, b"", words, in_time=True), stage)

    def _start(self) -> subprocess.Popen[bytes]:
        with self._errors.open("wb") as errors:
            return subprocess.Popen(
                [sys.executable, "-m", "tests.faults.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=os.environ | {"PYTHONPATH": str(ROOT)},
            )

    def _end(self) -> int:
        child, self._child = self._child, None
        if child is None:
            return 0
        with child:
            assert child.stdin
            child.stdin.close()
        return child.returncode


def attempt(worker: Worker, plan: LlamaPlan, damaged: Path, outcomes: Outcomes) -> bool:
    """Read the header of the damaged file here, as the app does, and try the rest in the worker.

    Returns:
        True if it ended the worker.
    """
    try:
        read_header(damaged)
    except EngineError as error:
        outcomes.header[error.code] += 1
        return False
    found = worker.attempt(plan)
    if isinstance(found, Cause):
        outcomes.deaths.setdefault(found, []).append(damaged)
        return True
    if found:
        outcomes.library[found] += 1
    else:
        outcomes.loaded += 1
    return False
