"""Compare the contents of a root before and after a package was installed and removed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CHANGING: Final = (
    "/dev",
    "/proc",
    "/sys",
    "/var/cache/apt",
    "/var/lib/apt",
    "/var/log",
)
"""Files that the system itself writes meanwhile, or keeps about its processes."""


@dataclass(frozen=True)
class Difference:
    """New entries, missing entries, and entries that changed their kind."""

    added: tuple[str, ...]
    gone: tuple[str, ...]
    changed: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.gone or self.changed)


def listed(root: Path, without: tuple[str, ...] = ()) -> dict[str, str]:
    """List everything in a root: each path with its kind, its permissions and its link target.

    Args:
        root: The root.
        without: More folders to leave out than those that always change.
    """
    return dict(_entries(root, "", {*CHANGING, *without}))


def compare(before: Mapping[str, str], after: Mapping[str, str]) -> Difference:
    """Return the difference between two lists."""
    return Difference(
        tuple(sorted(after.keys() - before.keys())),
        tuple(sorted(before.keys() - after.keys())),
        tuple(sorted(it for it in before.keys() & after.keys() if before[it] != after[it])),
    )


def naming(root: Path, word: str, folders: tuple[str, ...]) -> list[str]:
    """Find the files in these folders of a root that contain a word, as lists of types do."""
    found = []
    for folder in folders:
        for path, kind in _entries(root, folder, set(CHANGING)):
            file = root / path.lstrip("/")
            if kind.startswith("-") and word.encode() in file.read_bytes():
                found.append(path)
    return found


def _entries(root: Path, folder: str, without: set[str]) -> Iterator[tuple[str, str]]:
    """Go through a folder and everything below it, without following links."""
    with os.scandir(root / folder.lstrip("/")) as entries:
        for entry in entries:
            path = f"{folder}/{entry.name}"
            if path in without:
                continue
            what = stat.filemode(entry.stat(follow_symlinks=False).st_mode)
            yield path, f"{what} {Path(entry).readlink()}" if entry.is_symlink() else what
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(root, path, without)
