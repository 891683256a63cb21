"""Makes an environment inside WSL2 step by step, through Hearth's helper program there."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Final

from engines.cancel import CancelToken
from engines.vllm.provision.environment import Maker
from engines.vllm.provision.home import PART, EngineHome, Installed
from engines.vllm.provision.lock import Lock
from engines.vllm.wsl.distribution import Distribution
from engines.vllm.wsl.paths import reached
from engines.vllm.wsl.program import Wsl
from engines.vllm.wsl.session import WslSession, no_drives

_LINUX: Final = "linux"
"""File in an environment's stand-in that names the distribution with the real environment."""


@contextmanager
def making(
    distribution: Distribution, home: EngineHome, lock: Lock, tool: str, cancel: CancelToken
) -> Iterator[Maker]:
    """Begin an environment in a distribution.

    Args:
        home: Home of the stand-ins for environments, in Windows.
        tool: Name of uv's wheel among the downloaded files.

    Raises:
        EngineUnavailable: The distribution cannot be used.
        OSError: A file cannot be written.
        CommandFailed: A step failed.
        Cancelled: The installation was cancelled.
    """
    with distribution.talk(cancel) as talk:
        files = reached(home.files(lock), talk.drives, distribution.name)
        if files is None:
            raise no_drives(distribution.name)
        stand_in = home.part(lock)
        stand_in.mkdir(parents=True, exist_ok=True)
        (stand_in / _LINUX).write_text(distribution.name, encoding="utf-8")
        talk.ask("begin", lock=asdict(lock) | {"files": []}, files=files, tool=tool)
        yield _Making(talk, home, lock, distribution.name)


class _Making:
    """A `Maker` that carries out its steps in a distribution."""

    def __init__(self, talk: WslSession, home: EngineHome, lock: Lock, linux: str) -> None:
        self._talk = talk
        self._home = home
        self._lock = lock
        self._linux = linux

    def create(self, python: tuple[int, int]) -> None:
        self._talk.ask("create", python=list(python))

    def fill(self) -> None:
        self._talk.ask("fill")

    def fetch_kernels(self, heard: Callable[[str], None]) -> None:
        self._talk.ask("fetch_kernels", heard)

    def try_it(self) -> None:
        self._talk.ask("try_it")

    def finish(self) -> Installed:
        found = self._talk.ask("finish")
        lies, size = Path(found["folder"]), int(found["size_bytes"])
        made = Installed(self._lock.version, self._lock.profile, lies, size, self._linux)
        return self._home.finish(self._lock, made)


def drop(wsl: Wsl, hands: Path, stand_in: Path) -> None:
    """Remove an environment inside WSL2, and then its stand-in; see `EngineHome`.

    If its distribution no longer exists, neither does the environment.

    Args:
        hands: The folder of `Distribution`.

    Raises:
        EngineFailed: The environment cannot be removed.
        EngineUnavailable: The distribution cannot be used.
        OSError: The stand-in cannot be removed.
    """
    try:
        name = (stand_in / _LINUX).read_text(encoding="utf-8")
    except FileNotFoundError:
        name = ""  # no environment was begun yet
    if name and wsl.has(name):
        whole = stand_in.with_name(stand_in.stem) if stand_in.suffix == PART else stand_in
        # WSL2 can have finished the environment after Hearth had ended.
        unknown = [] if whole.exists() else [whole.name]
        Distribution(wsl, name, hands).once("remove", names=[stand_in.name, *unknown])
    shutil.rmtree(stand_in)


def in_use(wsl: Wsl, hands: Path, installed: Installed) -> bool:
    """Return whether a process uses an environment inside WSL2. Raises as `drop` does."""
    if not wsl.has(installed.linux):
        return False
    lies = installed.folder.as_posix()
    return bool(Distribution(wsl, installed.linux, hands).once("used", folder=lies))
