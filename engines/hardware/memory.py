"""Memory of the computer, and of the container if this process runs in one."""

from __future__ import annotations

from pathlib import Path

from engines.hardware.cgroups import memory_limit
from engines.hardware.values import Memory


def measure_memory() -> Memory:
    """Measure the computer's memory as the system reports it."""
    import psutil

    memory = psutil.virtual_memory()
    return Memory(memory.total, memory.available)


def within_limits(memory: Memory, root: Path) -> Memory:
    """Apply the container's limits, if there are any."""
    limit = memory_limit(root, memory.total_bytes)
    if limit is None:
        return memory
    return Memory(memory.total_bytes, min(memory.available_bytes, limit.free), limit.limit)


def resident_bytes() -> int:
    """Return the resident memory of this process in bytes, including mapped files."""
    import psutil

    return int(psutil.Process().memory_info().rss)
