"""Tells the memory that processes hold."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil


def own_memory() -> int:
    """Return the bytes of the computer's memory that this process holds (RSS)."""
    import psutil

    return int(psutil.Process().memory_info().rss)


def memory_held(first: int) -> tuple[int, bool]:
    """Return the bytes that a process and all below it hold, and how they are counted.

    What several of them share is in it once (PSS), or for each of them (RSS). 0 for a process that
    does not exist.
    """
    import psutil

    held, once = 0, True
    for it in _processes_from(first):
        with suppress(psutil.NoSuchProcess):
            try:
                held += int(it.memory_full_info().pss)
            except (psutil.AccessDenied, AttributeError):
                held += int(it.memory_info().rss)
                once = False
    return held, once


def _processes_from(first: int) -> list[psutil.Process]:
    """List a process and all below it; none where it does not exist."""
    import psutil

    if not first:
        return []
    try:
        process = psutil.Process(first)
        return [process, *process.children(recursive=True)]
    except psutil.Error:
        return []
