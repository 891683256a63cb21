"""Measures the memory that processes hold."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil


def own_memory() -> int:
    """Return this process's resident memory (RSS), in bytes."""
    import psutil

    return int(psutil.Process().memory_info().rss)


def memory_used(first: int) -> tuple[int, bool]:
    """Return the memory that a process and all its descendants hold.

    Args:
        first: The process id.

    Returns:
        The bytes, 0 if the process does not exist; and whether shared memory is counted once (PSS)
            instead of once per process (RSS).
    """
    import psutil

    size, is_exact = 0, True
    for process in _processes_from(first):
        with suppress(psutil.NoSuchProcess):
            try:
                size += int(process.memory_full_info().pss)
            except (psutil.AccessDenied, AttributeError):
                size += int(process.memory_info().rss)
                is_exact = False
    return size, is_exact


def _processes_from(first: int) -> list[psutil.Process]:
    """List a process and all its descendants; empty if it does not exist."""
    import psutil

    if not first:
        return []
    try:
        process = psutil.Process(first)
        return [process, *process.children(recursive=True)]
    except psutil.Error:
        return []
