"""Counts the cores of a computer, and those that this process can use."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engines.hardware.cgroups import cpu_quota
from engines.hardware.files import parse_list, read_number, read_text

# An ARM core counts as slow if its capacity is below this share of the largest one.
_FAST: Final = 0.6


@dataclass(frozen=True)
class LogicalCore:
    """A logical core, with its physical core, and whether that is a fast one."""

    number: int
    core: str
    fast: bool = True


@dataclass(frozen=True)
class Cores:
    """The core counts of `values.Cpu`."""

    physical: int
    logical: int
    usable_threads: int
    usable: int
    performance: int


def count_cores(
    cores: Iterable[LogicalCore], allowed: Collection[int], quota: float | None
) -> Cores:
    """Count cores.

    If the process is restricted to slow cores, those count as its fast ones.

    Args:
        allowed: Numbers of the cores that this process can run on; empty for all.
        quota: Processor time that it gets, in cores; None for no limit.
    """
    all_cores = tuple(cores)
    usable_cores = tuple(core for core in all_cores if core.number in allowed) or all_cores
    threads = len(usable_cores) if quota is None else min(len(usable_cores), math.floor(quota))
    fast = tuple(core for core in usable_cores if core.fast) or usable_cores
    return Cores(
        physical=len({core.core for core in all_cores}),
        logical=len(all_cores),
        usable_threads=max(1, threads),
        usable=len({core.core for core in usable_cores}),
        performance=len({core.core for core in fast}),
    )


def linux_cores(root: Path, allowed: Collection[int]) -> Cores | None:
    """Count the cores that /sys lists; return None if it is not mounted."""
    cpus = root / "sys/devices/system/cpu"
    numbers = parse_list(read_text(cpus / "online") or read_text(cpus / "present") or "")
    if not numbers:
        return None
    fast = _fast(root, numbers)
    cores = (
        LogicalCore(
            number,
            # Siblings have the same list; without topology, each logical core counts as physical.
            read_text(cpus / f"cpu{number}/topology/thread_siblings_list") or str(number),
            number in fast,
        )
        for number in sorted(numbers)
    )
    return count_cores(cores, allowed, cpu_quota(root))


def _fast(root: Path, numbers: frozenset[int]) -> frozenset[int]:
    """Return the fast cores: Intel's hybrids list them, and ARM cores have a capacity each."""
    performance = parse_list(read_text(root / "sys/devices/cpu_core/cpus") or "")
    if performance & numbers:
        return performance
    cpus = root / "sys/devices/system/cpu"
    capacity = {number: read_number(cpus / f"cpu{number}/cpu_capacity") for number in numbers}
    largest = max((value for value in capacity.values() if value), default=0)
    return frozenset(
        number for number, value in capacity.items() if not value or value >= _FAST * largest
    )
