"""Makes an environment in the Linux of a Windows, step by step, by Hearth's program there."""

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
"""A file in what stands for an environment: the name of the distribution that has it."""


@contextmanager
def making(
    distribution: Distribution, home: EngineHome, lock: Lock, tool: str, cancel: CancelToken
) -> Iterator[Maker]:
    """Begin an environment in a distribution.

    home: of what stands for environments. tool: uv's wheel among the files that have come.

    Raises EngineUnavailable, OSError, CommandFailed and Cancelled.
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
    """A `Maker` whose steps are carried out in a distribution."""

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
    """Remove an environment in WSL2, then what stands for it; see `EngineHome`.

    hands: see `Distribution`. Where its distribution is gone, it is gone as well.
    Raises EngineFailed, EngineUnavailable, OSError.
    """
    try:
        name = (stand_in / _LINUX).read_text(encoding="utf-8")
    except FileNotFoundError:
        name = ""  # nothing was begun yet
    if name and wsl.has(name):
        whole = stand_in.with_name(stand_in.stem) if stand_in.suffix == PART else stand_in
        # It may have become whole there without Hearth living to hear it.
        unknown = [] if whole.exists() else [whole.name]
        Distribution(wsl, name, hands).once("remove", names=[stand_in.name, *unknown])
    shutil.rmtree(stand_in)


def in_use(wsl: Wsl, hands: Path, installed: Installed) -> bool:
    """Tell whether a process works with an environment in WSL2. Raises as `drop` does."""
    if not wsl.has(installed.linux):
        return False
    lies = installed.folder.as_posix()
    return bool(Distribution(wsl, installed.linux, hands).once("used", folder=lies))
