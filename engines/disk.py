"""The free space of a disk, where a folder lies or will lie."""

from __future__ import annotations

import shutil
from pathlib import Path


def free_bytes(folder: Path) -> int:
    """Return the free bytes on the disk of a folder, which does not have to exist yet."""
    return shutil.disk_usage(nearest(folder)).free


def nearest(folder: Path) -> Path:
    """Return a folder, or the nearest one above it that exists."""
    place = folder
    while not place.exists():
        place = place.parent
    return place
