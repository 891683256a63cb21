"""Which other programs have memory on the NVIDIA cards."""

from __future__ import annotations

from contextlib import suppress
from typing import Any


def card_users(nvml: Any, not_these: frozenset[int] = frozenset()) -> tuple[str, ...]:
    """As in "blender 3.1 GB", the largest first; none without a driver.

    nvml: the module, see `engines.hardware.nvidia.load_nvml`. not_these: processes left out.
    """
    if nvml is None:
        return ()
    found: dict[int, int] = {}
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return ()
    try:
        for index in range(nvml.nvmlDeviceGetCount()):
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
            for ask in (
                nvml.nvmlDeviceGetComputeRunningProcesses,
                nvml.nvmlDeviceGetGraphicsRunningProcesses,
            ):
                for it in ask(handle):
                    # A program may be in both lists with the same memory.
                    found[it.pid] = max(found.get(it.pid, 0), it.usedGpuMemory or 0)
    except nvml.NVMLError:
        return ()
    finally:
        nvml.nvmlShutdown()
    users = sorted(found.items(), key=lambda it: -it[1])
    return tuple(
        f"{_name(pid)} {size / 1e9:.1f} GB" if size else _name(pid)
        for pid, size in users
        if pid not in not_these
    )


def _name(pid: int) -> str:
    import psutil

    with suppress(psutil.Error):
        return psutil.Process(pid).name()
    return f"the process {pid}"
