"""The folder of vLLM's environments, and the choice of the one in use.

::

    engines/vllm/
        current                       names the one in use and the one before it, a line each
        lock                          held while anything here is changed
        versions/0.33.0-cuda-1f2e3d4c/    a complete, tested environment
        versions/0.33.0-cuda-1f2e3d4c.part/    an environment that is being made
        work/                         downloaded files, and uv's cache
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from engines.private import private, replace_text
from engines.vllm.provision.lock import Lock, LockName, Profile

PART = ".part"
SERVE = ("-m", "vllm.entrypoints.cli.main", "serve")
TOOLKIT = "cuda"
"""Name of the link in an environment to the CUDA toolkit among its packages."""

FACTS = "hearth.json"
"""The description of an environment, which is written last; without it one is incomplete."""


@dataclass(frozen=True)
class Installed:
    """A complete environment.

    Attributes:
        size_bytes: Its size when it was made; 0 if unknown.
        linux: WSL2 distribution that contains it, `folder` being a path there; "" for this
            computer.
        lock: Name of the lock that it was made from, if known.
        hears: It can decode sounds.
    """

    version: str
    profile: Profile
    folder: Path
    size_bytes: int = 0
    linux: str = ""
    lock: LockName | None = None
    hears: bool = False

    @property
    def python(self) -> Path:
        """Path of the environment's interpreter."""
        return python_of(self.folder)

    @property
    def runs(self) -> tuple[str, ...]:
        """The first words of the server's command line."""
        return (self.python.as_posix(), *SERVE)


def python_of(folder: Path) -> Path:
    """Return the interpreter of an environment; vLLM's environments are always for Linux."""
    return folder / "bin" / "python"


def worker_folder(root: Path) -> Path:
    """Return the folder for the workers' files: their log and, above all, compiled kernels."""
    return root.with_name("vllm-worker")


def bytes_in(folder: Path) -> int:
    """Return the size of a folder's files in bytes; files can disappear meanwhile."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += (Path(parent) / name).lstat().st_size
    return total


class EngineHome:
    """The folder of vLLM's environments. Reading needs no lock; changing it needs `alone`.

    On Windows a folder in it is only a stand-in for an environment, which lies inside WSL2.

    Args:
        remove_folder: Removes an environment, or a stand-in and the environment behind it.
    """

    def __init__(self, root: Path, remove_folder: Callable[[Path], None] = shutil.rmtree) -> None:
        self.root = root
        self._remove_folder = remove_folder
        self.versions = root / "versions"
        self.work = root / "work"
        self.worker = worker_folder(root)

    def current(self) -> Installed | None:
        """Return the environment in use."""
        return self._listed_environment(0)

    def previous(self) -> Installed | None:
        """Return the environment that `roll_back` restores."""
        return self._listed_environment(1)

    def installed(self) -> tuple[Installed, ...]:
        """List the complete environments, sorted by name."""
        environments = (self._read(folder) for folder in self._folders() if folder.suffix != PART)
        return tuple(installed for installed in environments if installed is not None)

    def folder_of(self, lock: Lock) -> Path:
        """Return the folder that a lock's environment has once it is complete."""
        return self.versions / f"{lock.version}-{lock.profile}-{lock.digest[:8]}"

    def part_of(self, lock: Lock) -> Path:
        """Return the folder in which a lock's environment is made."""
        complete = self.folder_of(lock)
        return complete.with_name(complete.name + PART)

    def files(self, lock: Lock) -> Path:
        """Return the folder of a lock's downloaded files, used until the environment is made."""
        return self.work / lock.digest[:16]

    def find(self, lock: Lock) -> Installed | None:
        """Return the environment of a lock if it is complete."""
        return self._read(self.folder_of(lock))

    def finish(self, lock: Lock, remote: Installed | None = None) -> Installed:
        """Turn a tested part into a complete environment.

        Args:
            remote: The environment that this one is a stand-in for.
        """
        part, folder = self.part_of(lock), self.folder_of(lock)
        environment = remote or Installed(lock.version, lock.profile, folder, bytes_in(part))
        finished = replace(environment, lock=lock.name, hears=lock.hears)
        facts = {
            "version": finished.version,
            "profile": finished.profile,
            "size_bytes": finished.size_bytes,
        }
        facts |= {"lock": finished.lock, "hears": finished.hears}
        if finished.linux:
            facts |= {"folder": finished.folder.as_posix(), "linux": finished.linux}
        with open(part / FACTS, "w", encoding="utf-8", opener=private) as file:
            json.dump(facts, file)
        part.replace(folder)
        return finished

    def switch(self, installed: Installed) -> None:
        """Put an environment in use atomically; keep the one before it, and remove all others."""
        current = self.current()
        if current is not None and current.folder == installed.folder:
            return
        self._write(installed, current)
        self.tidy()

    def roll_back(self) -> Installed | None:
        """Put the previous environment in use; return None and do nothing if there is none."""
        current, previous = self.current(), self.previous()
        if previous is not None:
            self._write(previous, current)
        return previous

    def tidy(self) -> None:
        """Remove unfinished environments, and complete ones that are neither in use nor previous.

        Links stay, and so do folders behind a link that are not environments: they are not
        Hearth's.
        """
        kept_names = {
            installed.folder.name
            for installed in (self.current(), self.previous())
            if installed is not None
        }
        for folder in self._folders():
            is_removable = (
                folder.suffix == PART or (folder / FACTS).is_file() or not self._is_linked
            )
            if folder.name not in kept_names and is_removable and not folder.is_symlink():
                self._remove_folder(folder)

    def forget_work(self) -> None:
        """Remove the downloaded files."""
        self._clear(self.work)

    def remove(self) -> None:
        """Remove all environments and their workers' files.

        They are taken out of use first, so that a half-removed environment is never in use.
        """
        (self.root / "current").unlink(missing_ok=True)
        self.tidy()
        self.forget_work()
        self._clear(self.worker)

    @property
    def _is_linked(self) -> bool:
        """True if the environments lie behind a link that the user put into the data folder."""
        return any(path.is_symlink() for path in (self.versions, self.root, self.root.parent))

    def _clear(self, folder: Path) -> None:
        """Remove a folder, unless it lies behind a link, where it can be another program's."""
        if not self._is_linked:
            shutil.rmtree(folder, ignore_errors=True)

    @property
    def kept_bytes(self) -> int:
        """Size of the complete environments and of their workers' files, in bytes."""
        return sum(installed.size_bytes for installed in self.installed()) + bytes_in(self.worker)

    @property
    def work_bytes(self) -> int:
        """Size of the downloaded files that an unfinished installation left, in bytes."""
        return bytes_in(self.work)

    @property
    def half_made(self) -> bool:
        """True if there is an unfinished environment."""
        return any(folder.suffix == PART for folder in self._folders())

    def _folders(self) -> list[Path]:
        if not self.versions.is_dir():
            return []
        return sorted(path for path in self.versions.iterdir() if path.is_dir())

    def _listed_environment(self, line: int) -> Installed | None:
        try:
            names = (self.root / "current").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return None
        if len(names) <= line or names[line] != Path(names[line]).name or not names[line]:
            return None
        return self._read(self.versions / names[line])

    def _write(self, current: Installed, previous: Installed | None) -> None:
        names = [
            installed.folder.name for installed in (current, previous) if installed is not None
        ]
        replace_text(self.root / "current", "\n".join(names) + "\n")

    def _read(self, folder: Path) -> Installed | None:
        """Read an environment's facts; return None if the folder is not a complete environment."""
        try:
            facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
            size = int(facts.get("size_bytes", 0))
            linux = str(facts.get("linux", ""))
            location = Path(facts["folder"]) if linux else folder
            lock, hears = facts.get("lock"), bool(facts.get("hears"))
            version = str(facts["version"])
            return Installed(version, facts["profile"], location, size, linux, lock, hears)
        except (OSError, ArithmeticError, ValueError, LookupError, RecursionError):
            return None
        except (TypeError, AttributeError):  # not an object of the expected form
            return None
