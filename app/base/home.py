"""Paths as people write them, with ~ for their own folder."""

from __future__ import annotations

from pathlib import Path


def from_home(path: Path | str) -> Path:
    """Expand ~ in a path; it stays as it is where the system knows no such user."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)
