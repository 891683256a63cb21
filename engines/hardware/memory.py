"""Memory of the computer, and of the container this process may run in."""

from __future__ import annotations

from pathlib import Path

from engines.hardware.cgroups import memory_limit
from engines.hardware.values import Memory


def measure_memory() -> Memory:
    """Measure the computer's memory, as the system counts it."""
    import psutil

    memory = psutil.virtual_memory()
    return Memory(memory.total, memory.available)


def within_limits(memory: Memory, root: Path) -> Memory:
    """Apply the limits of the container, if there are any."""
    limit = memory_limit(root, memory.total_bytes)
    if limit is None:
        return memory
    return Memory(memory.total_bytes, min(memory.available_bytes, limit.free), limit.limit)


def resident_bytes() -> int:
    """Return what this process has in memory now, files that are mapped into it included."""
    import psutil

    return int(psutil.Process().memory_info().rss)
