"""The folder of vLLM's environments, and which of them is in use.

::

    engines/vllm/
        current                       names the one in use and the one before it, a line each
        lock                          held by whoever changes anything here
        versions/0.33.0-cuda-1f2e3d4c/    an environment that was tried and is whole
        versions/0.33.0-cuda-1f2e3d4c.part/    one that is being made
        work/                         files that have come, and uv's cache
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
"""The name in an environment of the CUDA toolkit among its packages."""

FACTS = "hearth.json"
"""The description of an environment. Written last, so one without it is not whole."""


@dataclass(frozen=True)
class Installed:
    """A whole environment. runs: the first words of the server's command line.

    size_bytes: what it took of the disk when it was made; 0 if nobody knows. linux: the
    distribution of WSL2 that it lies in, folder then being a path there; "" for this computer.
    lock: the name of the one that it was made by, if that is known. hears: whether it has what
    decodes sounds.
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
        return python_of(self.folder)

    @property
    def runs(self) -> tuple[str, ...]:
        return (self.python.as_posix(), *SERVE)


def python_of(folder: Path) -> Path:
    """Return the interpreter of an environment; vLLM's are always those of Linux."""
    return folder / "bin" / "python"


def worker_folder(root: Path) -> Path:
    """Return the folder for what workers keep: compiled kernels, most of all, and their log."""
    return root.with_name("vllm-worker")


def bytes_in(folder: Path) -> int:
    """Add up the files of a folder, some of which may just be leaving, in bytes."""
    found = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                found += (Path(place) / name).lstat().st_size
    return found


class EngineHome:
    """The folder of vLLM's environments. Reading needs no lock; changing it needs `alone`.

    On Windows a folder in it only stands for an environment, which lies in WSL2. drop: removes an
    environment, or what stands for one.
    """

    def __init__(self, root: Path, drop: Callable[[Path], None] = shutil.rmtree) -> None:
        self.root = root
        self._drop = drop
        self.versions = root / "versions"
        self.work = root / "work"
        self.worker = worker_folder(root)

    def current(self) -> Installed | None:
        """The environment in use."""
        return self._named(0)

    def previous(self) -> Installed | None:
        """The environment that `roll_back` brings back."""
        return self._named(1)

    def installed(self) -> tuple[Installed, ...]:
        """List the whole environments, by their names."""
        found = (self._read(folder) for folder in self._folders() if folder.suffix != PART)
        return tuple(it for it in found if it is not None)

    def place(self, lock: Lock) -> Path:
        """Return the folder of a lock's environment once it is whole."""
        return self.versions / f"{lock.version}-{lock.profile}-{lock.digest[:8]}"

    def part(self, lock: Lock) -> Path:
        """Return the folder in which a lock's environment is made."""
        place = self.place(lock)
        return place.with_name(place.name + PART)

    def files(self, lock: Lock) -> Path:
        """Return the folder of a lock's files until it is made."""
        return self.work / lock.digest[:16]

    def found(self, lock: Lock) -> Installed | None:
        """Return the environment of a lock, if it is whole."""
        return self._read(self.place(lock))

    def finish(self, lock: Lock, elsewhere: Installed | None = None) -> Installed:
        """Make a tried part a whole environment. elsewhere: the one that it stands for."""
        part, place = self.part(lock), self.place(lock)
        here = elsewhere or Installed(lock.version, lock.profile, place, bytes_in(part))
        made = replace(here, lock=lock.name, hears=lock.hears)
        facts = {"version": made.version, "profile": made.profile, "size_bytes": made.size_bytes}
        facts |= {"lock": made.lock, "hears": made.hears}
        if made.linux:
            facts |= {"folder": made.folder.as_posix(), "linux": made.linux}
        with open(part / FACTS, "w", encoding="utf-8", opener=private) as file:
            json.dump(facts, file)
        part.replace(place)
        return made

    def switch(self, installed: Installed) -> None:
        """Put an environment in use, in one step; the one before it stays, all others go."""
        before = self.current()
        if before is not None and before.folder == installed.folder:
            return
        self._write(installed, before)
        self.tidy()

    def roll_back(self) -> Installed | None:
        """Put the previous environment in use; None, and nothing is done, where there is none."""
        now, before = self.current(), self.previous()
        if before is not None:
            self._write(before, now)
        return before

    def tidy(self) -> None:
        """Remove half-made environments, and whole ones that are neither in use nor previous.

        Links, and folders behind one that are not environments, are others' and stay.
        """
        kept = {it.folder.name for it in (self.current(), self.previous()) if it is not None}
        for folder in self._folders():
            ours = folder.suffix == PART or (folder / FACTS).is_file() or not self._is_linked
            if folder.name not in kept and ours and not folder.is_symlink():
                self._drop(folder)

    def forget_work(self) -> None:
        """Remove the downloaded files."""
        self._clear(self.work)

    def remove(self) -> None:
        """Remove all environments, and what their workers have kept.

        They go out of use first, lest half a removal be in use.
        """
        (self.root / "current").unlink(missing_ok=True)
        self.tidy()
        self.forget_work()
        self._clear(self.worker)

    @property
    def _is_linked(self) -> bool:
        """Whether the environments lie behind a link that somebody put into the data folder."""
        return any(it.is_symlink() for it in (self.versions, self.root, self.root.parent))

    def _clear(self, folder: Path) -> None:
        """Remove a folder; one behind a link stays, as it may be another program's."""
        if not self._is_linked:
            shutil.rmtree(folder, ignore_errors=True)

    @property
    def kept_bytes(self) -> int:
        """The bytes of the whole environments, and of what their workers keep."""
        return sum(it.size_bytes for it in self.installed()) + bytes_in(self.worker)

    @property
    def work_bytes(self) -> int:
        """The bytes of downloaded files, from an installation that did not end."""
        return bytes_in(self.work)

    @property
    def half_made(self) -> bool:
        return any(folder.suffix == PART for folder in self._folders())

    def _folders(self) -> list[Path]:
        if not self.versions.is_dir():
            return []
        return sorted(it for it in self.versions.iterdir() if it.is_dir())

    def _named(self, line: int) -> Installed | None:
        try:
            names = (self.root / "current").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return None
        if len(names) <= line or names[line] != Path(names[line]).name or not names[line]:
            return None
        return self._read(self.versions / names[line])

    def _write(self, now: Installed, before: Installed | None) -> None:
        names = [it.folder.name for it in (now, before) if it is not None]
        replace_text(self.root / "current", "\n".join(names) + "\n")

    def _read(self, folder: Path) -> Installed | None:
        """Read an environment's facts; None where the folder is no whole environment."""
        try:
            facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
            size = int(facts.get("size_bytes", 0))
            linux = str(facts.get("linux", ""))
            lies = Path(facts["folder"]) if linux else folder
            made_by, hears = facts.get("lock"), bool(facts.get("hears"))
            version = str(facts["version"])
            return Installed(version, facts["profile"], lies, size, linux, made_by, hears)
        except (OSError, ArithmeticError, ValueError, LookupError, RecursionError):
            return None
        except (TypeError, AttributeError):  # it holds something else than names with values
            return None
