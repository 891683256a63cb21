"""The results of a scan: models as they lie on the disk, before they have ids."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from app.models.library.values.entry import Source
from engines.errors import NotAModel
from engines.regular import read_regular_text
from engines.sentences import N_
from engines.types import EngineName

Stamp = int | None
"""When a folder last changed, in nanoseconds; None if it does not exist."""

Inode = tuple[int, int]
"""The device and the inode number of a file: the same for all its names."""


INVALID_NAME: Final = N_("its name, or that of a folder above it, contains invalid characters.")


@dataclass(frozen=True)
class FoundModel:
    """A model to chat with that was found in some place; see `ModelEntry` for the other fields.

    Attributes:
        identity: Identifies it permanently: repository, file and hash, or its path.
        files: Its parts, in order.
        inode: The inode of the first file, or of `folder`.
        folder: The folder of a checkpoint.
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
    """The result of scanning one place.

    Attributes:
        drafters: Files that draft for some model.
        draft_checkpoints: Checkpoints that draft for some model.
        folders: Folders with a checkpoint that have not been read yet.
        notes: One sentence for each thing that could not be listed.
        seen: The folders and files that were read; the scan is valid until one of them changes.
    """

    models: list[FoundModel] = field(default_factory=list)
    drafters: list[Path] = field(default_factory=list)
    draft_checkpoints: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seen: dict[Path, Stamp] = field(default_factory=dict)

    def watch(self, folder: Path) -> bool:
        """Watch a folder or file for changes; return whether it exists."""
        self.seen[folder] = changed(folder)
        return self.seen[folder] is not None

    def merge(self, scans: Iterable[Scan]) -> Scan:
        """Merge other scans into this one, and return it."""
        for scan in scans:
            self.models += scan.models
            self.drafters += scan.drafters
            self.draft_checkpoints += scan.draft_checkpoints
            self.notes += scan.notes
            self.seen |= scan.seen
        return self


def changed(path: Path) -> Stamp:
    """Return when a file or folder last changed."""
    try:
        return path.stat().st_mtime_ns
    except (OSError, ValueError):
        return None


def list_folder(folder: Path, scan: Scan) -> list[Path]:
    """List a folder, sorted by name; empty for a file. A folder that cannot be read is noted."""
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        scan.notes.append(skipped(folder, error))
        return []


def read_json(path: Path, scan: Scan) -> Any:
    """Read a JSON file; return None if it is missing, or if it is damaged, which is noted."""
    scan.watch(path)
    try:
        return json.loads(read_regular_text(path, encoding="utf-8-sig"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        scan.notes.append(skipped(path, error))
        return None


def is_text(name: str) -> bool:
    """Return whether a name can be stored: on old disks, names can contain undecodable bytes."""
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


def require_text(path: Path) -> None:
    """Refuse a path that cannot be stored.

    Raises:
        NotAModel: The path contains invalid characters.
    """
    if not is_text(str(path)):
        raise NotAModel(
            N_("“{name}” cannot be used.", name=path.name),
            N_("{path}: {reason}", path=path, reason=INVALID_NAME),
            N_("Rename it first."),
        )


def skipped(path: Path, error: Exception) -> str:
    """Return the note about a file that could not be read or understood."""
    if isinstance(error, OSError):
        return N_(
            "{path} was skipped: it cannot be read ({strerror}).",
            path=path,
            strerror=error.strerror or error,
        )
    return N_("{path} was skipped: it is damaged.", path=path)
