"""The limits of a Linux container or service on processor time and memory, by cgroup v1 and v2.

Source: the kernel's cgroup-v1 and cgroup-v2 documentation, proc(5) for mountinfo.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from engines.hardware.files import read_number, read_text


@dataclass(frozen=True)
class MemoryLimit:
    """The limit of a group and its free part, in bytes."""

    limit: int
    free: int


def cpu_quota(root: Path) -> float | None:
    """Return the processor time of this process in cores, or None if it is not limited."""
    quotas = []
    for group in _groups(root, "cpu"):
        words = (read_text(group / "cpu.max") or "").split()
        if len(words) == 2 and words[0].isdigit():
            quotas.append(int(words[0]) / int(words[1]))
        quota = read_number(group / "cpu.cfs_quota_us")
        period = read_number(group / "cpu.cfs_period_us")
        if quota and period and quota > 0:
            quotas.append(quota / period)
    return min(quotas, default=None)


def memory_limit(root: Path, total: int) -> MemoryLimit | None:
    """Return the tightest limit among this process's groups that is below `total`, else None.

    `free` and `limit` can come from different groups, because an outer group can be fuller.
    """
    limits = []
    for group in _groups(root, "memory"):
        # The kernel slows a group over memory.high until it practically stops.
        names = ("memory.max", "memory.high", "memory.limit_in_bytes")
        bounds = [value for name in names if (value := read_number(group / name)) is not None]
        limit = min(bounds, default=total)
        if limit < total:
            limits.append(MemoryLimit(limit, max(0, limit - _used_bytes(group))))
    if not limits:
        return None
    return MemoryLimit(min(limit.limit for limit in limits), min(limit.free for limit in limits))


def _used_bytes(group: Path) -> int:
    """Return the memory in use, without the file cache, which the kernel frees on demand.

    The cache has two lists: a model that was mapped and read once is on the active one.
    """
    used = read_number(group / "memory.current")
    if used is None:
        used = read_number(group / "memory.usage_in_bytes") or 0
    cache = {}
    for line in (read_text(group / "memory.stat") or "").splitlines():
        name, _, value = line.partition(" ")
        cache[name] = int(value) if value.isdigit() else 0
    lists = ("inactive_file", "active_file")
    return used - sum(cache.get(f"total_{name}", cache.get(name, 0)) for name in lists)


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of this process's groups in both hierarchies, innermost first."""
    for kinds, path in _memberships(root, controller):
        mount = _mount(root, kinds)
        if mount is None:
            continue
        mounted, folder = mount
        # In a container the mount can begin at a group that is still part of the path.
        inner = PurePosixPath(path)
        inner = inner.relative_to(mounted) if inner.is_relative_to(mounted) else PurePosixPath()
        top = root / folder.relative_to("/")
        group = top / str(inner).lstrip("/")
        for level in (group, *group.parents):
            if level.is_dir():
                yield level
            if level == top:
                break


def _memberships(root: Path, controller: str) -> Iterator[tuple[str, str]]:
    """Yield the entries of /proc/self/cgroup for a controller; version 2 gives ("", path)."""
    for line in (read_text(root / "proc/self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not controllers or controller in controllers.split(","):
            yield controller if controllers else "", path


def _mount(root: Path, controller: str) -> tuple[PurePosixPath, PurePosixPath] | None:
    """Return the group at the root of a hierarchy's mount, and the folder of the mount."""
    for line in (read_text(root / "proc/self/mountinfo") or "").splitlines():
        mount_part, _, filesystem_part = line.partition(" - ")
        fields, kind = mount_part.split(), filesystem_part.split()
        if len(fields) < 5 or len(kind) < 3:
            continue
        is_v2 = kind[0] == "cgroup2" and not controller
        is_v1 = kind[0] == "cgroup" and bool(controller) and controller in kind[2].split(",")
        if is_v1 or is_v2:
            return PurePosixPath(fields[3]), PurePosixPath(fields[4])
    return None
