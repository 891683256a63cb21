"""The host of a worker's processes: this Linux, or the one inside a Windows."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from engines.errors import EngineFailed, EngineUnavailable
from engines.helper.command import module_command
from engines.vllm.command import WorkerPlace
from engines.vllm.leftovers import reap, settle
from engines.vllm.places import make_place, record_of
from engines.vllm.scratch import runs_folder
from engines.vllm.streams import Lines, follow

_ROOT: Final = Path(__file__).parents[2]


@dataclass(frozen=True)
class LaunchContext:
    """The context in which a worker is started on its host.

    variables: those that processes start with there. reach: a path of this computer as the worker
    has to name it; raises EngineError.
    """

    place: WorkerPlace
    variables: Mapping[str, str]
    reach: Callable[[Path], str] = Path.as_posix


class Host(Protocol):
    """The system that a worker runs on.

    silence_s: how long a guardian there waits for a sign of life; 0 where it needs none. away: its
    processes are not among those of this system.
    """

    @property
    def silence_s(self) -> float: ...

    @property
    def away(self) -> bool: ...

    def prepare(self, folder: Path) -> LaunchContext:
        """End what earlier workers have left, and make a new one's place. Raises EngineError.

        folder: for caches and records; away it is another one.
        """
        ...

    def guardian(self) -> subprocess.Popen[bytes]:
        """Start a guardian, with pipes for its input and output. Raises EngineError, OSError."""
        ...

    def follow(self, guardian: subprocess.Popen[bytes], out: Lines, err: Lines) -> None:
        """Pass on what guardian and worker write, until they have ended."""
        ...

    def settle(self, place: WorkerPlace) -> None:
        """Wait until nothing of a worker is left whose guardian has ended, or is about to."""
        ...


def unreached() -> EngineFailed:
    """Make the error for a worker in WSL2 that serves, but cannot be reached from Windows."""
    return EngineFailed(
        "vLLM runs in Windows’ Linux, but Windows does not reach it.",
        "Windows does not forward the ports of WSL2 on this computer.",
        "Remove “localhostForwarding=false” from .wslconfig in your Windows folder, run "
        "“wsl --shutdown”, and try again.",
    )


def start_guardian(stream: int) -> subprocess.Popen[bytes]:
    """Start a guardian on this Linux. stream: for its input and its outputs. Raises OSError."""
    return subprocess.Popen(
        module_command("engines.vllm.guardian"),
        stdin=stream,
        stdout=stream,
        stderr=stream,
        cwd=_ROOT,
        env=os.environ | {"PYTHONPATH": str(_ROOT)},
        start_new_session=True,
        bufsize=0,
    )


class LocalHost:
    """This Linux as the host."""

    silence_s = 0.0
    away = False

    def prepare(self, folder: Path) -> LaunchContext:
        reap(runs_folder(folder))
        return LaunchContext(make_place(folder), os.environ)

    def guardian(self) -> subprocess.Popen[bytes]:
        if sys.platform != "linux":
            raise EngineUnavailable(
                "vLLM cannot run here.",
                "It runs on Linux only, which on Windows is inside WSL2.",
                "Use llama.cpp, or a server on another computer.",
            )
        return start_guardian(subprocess.PIPE)

    def follow(self, guardian: subprocess.Popen[bytes], out: Lines, err: Lines) -> None:
        follow(guardian, out, err)

    def settle(self, place: WorkerPlace) -> None:
        settle(record_of(place), place.scratch)
