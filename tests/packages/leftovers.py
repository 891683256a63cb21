"""Compares what lies in a root before and after a package came and went."""

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
"""What the system itself writes while packages come and go, or keeps of its processes."""


@dataclass(frozen=True)
class Difference:
    """What is there that was not, is gone that was there, and is of another kind than it was."""

    added: tuple[str, ...]
    gone: tuple[str, ...]
    changed: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.gone or self.changed)


def listed(root: Path, without: tuple[str, ...] = ()) -> dict[str, str]:
    """List all that lies in a root: each path with its kind, its rights and where a link leads.

    without: more folders to leave out than those that always change.
    """
    return dict(_entries(root, "", {*CHANGING, *without}))


def compare(before: Mapping[str, str], after: Mapping[str, str]) -> Difference:
    """Tell what has changed between two lists."""
    return Difference(
        tuple(sorted(after.keys() - before.keys())),
        tuple(sorted(before.keys() - after.keys())),
        tuple(sorted(it for it in before.keys() & after.keys() if before[it] != after[it])),
    )


def naming(root: Path, word: str, folders: tuple[str, ...]) -> list[str]:
    """Find the files in these folders of a root that have a word in them, as lists of types do."""
    found = []
    for folder in folders:
        for path, kind in _entries(root, folder, set(CHANGING)):
            file = root / path.lstrip("/")
            if kind.startswith("-") and word.encode() in file.read_bytes():
                found.append(path)
    return found


def _entries(root: Path, folder: str, without: set[str]) -> Iterator[tuple[str, str]]:
    """Go through one folder and all below; no link is followed."""
    with os.scandir(root / folder.lstrip("/")) as entries:
        for entry in entries:
            path = f"{folder}/{entry.name}"
            if path in without:
                continue
            what = stat.filemode(entry.stat(follow_symlinks=False).st_mode)
            yield path, f"{what} {Path(entry).readlink()}" if entry.is_symlink() else what
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(root, path, without)
