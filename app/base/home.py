"""Expansion of ~ in paths, as people write it for their home folder."""

from __future__ import annotations

from pathlib import Path


def expand_home(path: Path | str) -> Path:
    """Expand ~ in a path; return it unchanged if the system knows no such user."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)
