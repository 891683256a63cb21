"""Makes an environment inside WSL2 step by step, through Hearth's helper program there."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Final

from engines.cancel import CancelToken
from engines.vllm.provision.environment import EnvironmentMaker
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
) -> Iterator[EnvironmentMaker]:
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
    with distribution.open_session(cancel) as session:
        files = reached(home.files(lock), session.drives, distribution.name)
        if files is None:
            raise no_drives(distribution.name)
        stand_in = home.part_of(lock)
        stand_in.mkdir(parents=True, exist_ok=True)
        (stand_in / _LINUX).write_text(distribution.name, encoding="utf-8")
        session.ask("begin", lock=asdict(lock) | {"files": []}, files=files, tool=tool)
        yield _RemoteMaker(session, home, lock, distribution.name)


class _RemoteMaker:
    """A `EnvironmentMaker` that carries out its steps in a distribution."""

    def __init__(self, session: WslSession, home: EngineHome, lock: Lock, linux: str) -> None:
        self._session = session
        self._home = home
        self._lock = lock
        self._linux = linux

    def create(self, python: tuple[int, int]) -> None:
        self._session.ask("create", python=list(python))

    def fill(self) -> None:
        self._session.ask("fill")

    def fetch_kernels(self, on_line: Callable[[str], None]) -> None:
        self._session.ask("fetch_kernels", on_line)

    def test(self) -> None:
        self._session.ask("test")

    def finish(self) -> Installed:
        facts = self._session.ask("finish")
        location, size = Path(facts["folder"]), int(facts["size_bytes"])
        finished = Installed(self._lock.version, self._lock.profile, location, size, self._linux)
        return self._home.finish(self._lock, finished)


def remove_environment(wsl: Wsl, program_folder: Path, stand_in: Path) -> None:
    """Remove an environment inside WSL2, and then its stand-in; see `EngineHome`.

    If its distribution no longer exists, neither does the environment.

    Args:
        program_folder: The folder of `Distribution`.

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
        complete = stand_in.with_name(stand_in.stem) if stand_in.suffix == PART else stand_in
        # WSL2 can have finished the environment after Hearth had ended.
        unknown = [] if complete.exists() else [complete.name]
        Distribution(wsl, name, program_folder).run_once("remove", names=[stand_in.name, *unknown])
    shutil.rmtree(stand_in)


def in_use(wsl: Wsl, program_folder: Path, installed: Installed) -> bool:
    """Return whether a process uses an environment inside WSL2.

    Raises as `remove_environment` does.
    """
    if not wsl.has(installed.linux):
        return False
    location = installed.folder.as_posix()
    return bool(
        Distribution(wsl, installed.linux, program_folder).run_once("used", folder=location)
    )
