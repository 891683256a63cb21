"""Reads the small text files with which Linux describes a computer."""

from __future__ import annotations

import re
from pathlib import Path


def read_text(path: Path) -> str | None:
    """Return a file's content without blanks around it; None if it cannot be read.

    Files under /sys can also refuse a read that their mode allows.
    """
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None


def read_number(path: Path) -> int | None:
    """Read a whole number; None if the file is missing or says something else, such as "max"."""
    text = read_text(path)
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else None


def parse_list(text: str) -> frozenset[int]:
    """Parse the kernel's notation for sets: "0-3,8" is 0, 1, 2, 3 and 8."""
    numbers: set[int] = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return frozenset(numbers)
