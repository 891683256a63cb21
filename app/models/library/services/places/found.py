"""Results of a scan: models as they lie on the disk, before they have ids."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from app.models.library.values.entry import Source
from engines.errors import NotAModel
from engines.regular import read_regular_text
from engines.types import EngineName

Stamp = int | None
"""When a folder last changed, in nanoseconds; None while it is not there."""

Inode = tuple[int, int]
"""The device and the number of a file: the same for all its names."""


NO_TEXT: Final = "its name, or that of a folder above it, contains invalid characters."


@dataclass(frozen=True)
class FoundModel:
    """A model to chat with, found in some place.

    identity: what tells it from all others, for good: repository, file and hash, or its path.
    files: its parts in their order. inode: of the first. folder: of a checkpoint, whose inode it
    is then. See `ModelEntry` for the others.
    """

    identity: str
    name: str
    source: Source
    files: tuple[Path, ...]
    size_bytes: int
    inode: Inode
    repo: str | None = None
    revision: str | None = None
    file: str | None = None
    sha256: str | None = None
    projector: Path | None = None
    engine: EngineName = "llamacpp"
    folder: Path | None = None

    @property
    def path(self) -> Path:
        """The path that an engine is given."""
        return self.folder or self.files[0]


@dataclass
class Scan:
    """The result of looking at one place.

    drafters: files that draft for some model; draft_checkpoints: checkpoints that do. folders: with
    a checkpoint in them, come upon but not looked into yet. notes: one sentence each on what was
    there and could not be listed.
    seen: the folders that were looked into; the scan holds as long as none of them has changed.
    """

    models: list[FoundModel] = field(default_factory=list)
    drafters: list[Path] = field(default_factory=list)
    draft_checkpoints: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seen: dict[Path, Stamp] = field(default_factory=dict)

    def watch(self, folder: Path) -> bool:
        """Watch a folder for changes; returns whether it is there."""
        self.seen[folder] = changed(folder)
        return self.seen[folder] is not None

    def take(self, others: Iterable[Scan]) -> Scan:
        for other in others:
            self.models += other.models
            self.drafters += other.drafters
            self.draft_checkpoints += other.draft_checkpoints
            self.notes += other.notes
            self.seen |= other.seen
        return self


def changed(path: Path) -> Stamp:
    try:
        return path.stat().st_mtime_ns
    except (OSError, ValueError):
        return None


def inside(folder: Path, scan: Scan) -> list[Path]:
    """List a folder by name; nothing for a file. One that cannot be read is noted."""
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        scan.notes.append(skipped(folder, error))
        return []


def read_json(path: Path, scan: Scan) -> Any:
    """Read a JSON file; None if it is missing, or damaged, which is noted."""
    scan.watch(path)
    try:
        return json.loads(read_regular_text(path, encoding="utf-8-sig"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        scan.notes.append(skipped(path, error))
        return None


def is_text(name: str) -> bool:
    """Tell whether a name can be stored: those of some old disks hold bytes of no letter."""
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


def require_text(path: Path) -> None:
    """Refuse a path that cannot be stored. Raises NotAModel."""
    if not is_text(str(path)):
        raise NotAModel(f"“{path.name}” cannot be used.", f"{path}: {NO_TEXT}", "Rename it first.")


def skipped(path: Path, error: Exception) -> str:
    """Return the note on what could not be read, or not be understood."""
    if isinstance(error, OSError):
        return f"{path} was skipped: it cannot be read ({error.strerror or error})."
    return f"{path} was skipped: it is damaged."
