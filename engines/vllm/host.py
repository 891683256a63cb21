"""The system that a worker's processes run on: this Linux, or the one inside Windows."""

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
from engines.sentences import N_
from engines.vllm.command import WorkerPlace
from engines.vllm.leftovers import reap, settle
from engines.vllm.places import make_place, record_of
from engines.vllm.scratch import runs_folder
from engines.vllm.streams import Lines, follow

_ROOT: Final = Path(__file__).parents[2]


@dataclass(frozen=True)
class LaunchContext:
    """What a host provides for the start of a worker.

    Attributes:
        place: Folders and address of the worker.
        variables: Environment variables of processes on the host.
        reach: Translates a path of this computer into one for the worker; raises EngineError.
    """

    place: WorkerPlace
    variables: Mapping[str, str]
    reach: Callable[[Path], str] = Path.as_posix


class Host(Protocol):
    """The system that a worker runs on.

    Attributes:
        silence_s: Seconds that its guardian waits for a sign of life; 0 if it needs none.
        in_wsl: The worker's processes run inside WSL2, and not on this system.
    """

    @property
    def silence_s(self) -> float:
        """Seconds that the guardian waits for a sign of life; 0 if it needs none."""
        ...

    @property
    def in_wsl(self) -> bool:
        """True if the worker's processes run inside WSL2, and not on this system."""
        ...

    def prepare(self, folder: Path) -> LaunchContext:
        """End the remains of earlier workers, and make a place for a new one. Raises EngineError.

        Args:
            folder: Folder for caches and records; WSL2 uses another one.
        """
        ...

    def guardian(self) -> subprocess.Popen[bytes]:
        """Start a guardian with pipes for input and output. Raises EngineError, OSError."""
        ...

    def follow(self, guardian: subprocess.Popen[bytes], out: Lines, err: Lines) -> None:
        """Pass on the output of the guardian and the worker until they have ended."""
        ...

    def settle(self, place: WorkerPlace) -> None:
        """Wait until nothing is left of a worker whose guardian has ended or is about to end."""
        ...


def unreachable_from_windows() -> EngineFailed:
    """Return the error for a worker in WSL2 that serves but cannot be reached from Windows."""
    return EngineFailed(
        N_("vLLM runs in the Linux inside Windows, but Windows cannot reach it."),
        N_("Windows does not forward the ports of WSL2 on this computer."),
        N_(
            "Remove “localhostForwarding=false” from .wslconfig in your Windows folder, run "
            "“wsl --shutdown”, and try again."
        ),
    )


def start_guardian(stream: int) -> subprocess.Popen[bytes]:
    """Start a guardian on this Linux.

    Args:
        stream: Descriptor for its input and both outputs.

    Raises:
        OSError: The process cannot be started.
    """
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
    """This Linux as a host."""

    silence_s = 0.0
    in_wsl = False

    def prepare(self, folder: Path) -> LaunchContext:
        """End the remains of earlier workers; make a place, with a socket if the path is short."""
        reap(runs_folder(folder))
        return LaunchContext(make_place(folder), os.environ)

    def guardian(self) -> subprocess.Popen[bytes]:
        """Start a guardian with pipes; raise EngineUnavailable on any system but Linux."""
        if sys.platform != "linux":
            raise EngineUnavailable(
                N_("vLLM cannot run here."),
                N_("It runs on Linux only, which on Windows is inside WSL2."),
                N_("Use llama.cpp, or a server on another computer."),
            )
        return start_guardian(subprocess.PIPE)

    def follow(self, guardian: subprocess.Popen[bytes], out: Lines, err: Lines) -> None:
        """Pass on the output of the guardian and the worker until they have ended."""
        follow(guardian, out, err)

    def settle(self, place: WorkerPlace) -> None:
        """Wait until nothing is left of a worker, and remove its record and scratch folder."""
        settle(record_of(place), place.scratch)
