"""Counts a computer's cores, and those of them that this process may keep busy."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engines.hardware.cgroups import cpu_quota
from engines.hardware.files import parse_list, read_number, read_text

# An ARM core with less than this share of the largest one's capacity counts as slow.
_FAST: Final = 0.6


@dataclass(frozen=True)
class Logical:
    """A logical core: the physical one it belongs to, and whether that is a fast one."""

    number: int
    core: str
    fast: bool = True


@dataclass(frozen=True)
class Cores:
    """The counts of `values.Cpu`."""

    physical: int
    logical: int
    usable_threads: int
    usable: int
    performance: int


def count_cores(cores: Iterable[Logical], allowed: Collection[int], quota: float | None) -> Cores:
    """Count cores. allowed: numbers of those this process may run on, empty for all of them.

    quota: cores' worth of time it gets. A process that is kept to slow cores has those as its
    fast ones.
    """
    every = tuple(cores)
    mine = tuple(core for core in every if core.number in allowed) or every
    threads = len(mine) if quota is None else min(len(mine), math.floor(quota))
    fast = tuple(core for core in mine if core.fast) or mine
    return Cores(
        physical=len({core.core for core in every}),
        logical=len(every),
        usable_threads=max(1, threads),
        usable=len({core.core for core in mine}),
        performance=len({core.core for core in fast}),
    )


def linux_cores(root: Path, allowed: Collection[int]) -> Cores | None:
    """Count the cores that /sys tells of; None if it is not mounted."""
    cpus = root / "sys/devices/system/cpu"
    numbers = parse_list(read_text(cpus / "online") or read_text(cpus / "present") or "")
    if not numbers:
        return None
    fast = _fast(root, numbers)
    cores = (
        Logical(
            number,
            # Siblings name the same set; without topology each logical core is one of its own.
            read_text(cpus / f"cpu{number}/topology/thread_siblings_list") or str(number),
            number in fast,
        )
        for number in sorted(numbers)
    )
    return count_cores(cores, allowed, cpu_quota(root))


def _fast(root: Path, numbers: frozenset[int]) -> frozenset[int]:
    """Find the fast cores: Intel's hybrids list two kinds, ARM's give each core a capacity."""
    performance = parse_list(read_text(root / "sys/devices/cpu_core/cpus") or "")
    if performance & numbers:
        return performance
    cpus = root / "sys/devices/system/cpu"
    capacity = {number: read_number(cpus / f"cpu{number}/cpu_capacity") for number in numbers}
    largest = max((value for value in capacity.values() if value), default=0)
    return frozenset(
        number for number, value in capacity.items() if not value or value >= _FAST * largest
    )
