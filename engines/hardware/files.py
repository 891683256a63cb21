"""Reads the small text files in which Linux describes a computer."""

from __future__ import annotations

import re
from pathlib import Path


def read_text(path: Path) -> str | None:
    """Return a file's content without surrounding whitespace, or None if it cannot be read.

    A file under /sys can refuse to be read even if its mode allows it.
    """
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None


def read_number(path: Path) -> int | None:
    """Read a whole number; return None if the file is missing or contains text, like "max"."""
    text = read_text(path)
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else None


def parse_list(text: str) -> frozenset[int]:
    """Parse the kernel's notation for sets: "0-3,8" is 0, 1, 2, 3 and 8."""
    numbers: set[int] = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return frozenset(numbers)
