"""Describe computers as trees of the files in which Linux describes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from engines.hardware import Hardware, Memory, NativeDevice, Sources, detect

GIB = 1 << 30
Files = dict[str, str | int]
AVX2 = "fpu sse sse2 pni ssse3 sse4_1 sse4_2 avx f16c fma bmi1 bmi2 avx2"
CGROUP2 = "29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"


def write(root: Path, files: Mapping[str, str | int]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{content}\n")
    return root


def x86(name: str, flags: str = AVX2) -> dict[str, str]:
    block = f"processor\t: 0\nmodel name\t: {name}\nflags\t\t: {flags}\n\n"
    return {"proc/cpuinfo": block * 2, "proc/version": "Linux version 6.12.0"}


def cores(siblings: Sequence[str]) -> dict[str, str]:
    """Return a topology, with one entry of `thread_siblings_list` per logical core."""
    folder = "sys/devices/system/cpu"
    return {f"{folder}/online": f"0-{len(siblings) - 1}"} | {
        f"{folder}/cpu{number}/topology/thread_siblings_list": text
        for number, text in enumerate(siblings)
    }


def pairs(count: int) -> list[str]:
    """Return siblings of `count` physical cores with two threads each, in Intel's order."""
    return [f"{core},{core + count}" for core in range(count)] * 2


def card(number: int, vendor: int, slot: str, driver: str, **more: int) -> Files:
    device = f"sys/class/drm/card{number}/device"
    return {
        f"{device}/vendor": f"0x{vendor:04x}",
        f"{device}/device": "0x15bf",
        f"{device}/uevent": f"DRIVER={driver}\nPCI_SLOT_NAME={slot}\nMODALIAS=pci:v0",
    } | {f"{device}/{name}": value for name, value in more.items()}


class NvmlError(Exception):
    def __init__(self, value: int) -> None:
        super().__init__(f"NVML error {value}")
        self.value = value


class FakeNvml:
    """The binding of NVIDIA's library, at the outermost edge.

    Args:
        cards: Name, slot, total and used memory of each card. A total of None is a chip without
            memory of its own.
        fails: The error number with which the library fails to start.
    """

    NVMLError = NvmlError
    NVML_ERROR_NOT_SUPPORTED = 3
    NVML_ERROR_DRIVER_NOT_LOADED = 9
    NVML_ERROR_LIBRARY_NOT_FOUND = 12

    def __init__(
        self, *cards: tuple[str | bytes, str, int | None, int], fails: int | None = None
    ) -> None:
        self.cards = cards
        self.fails = fails
        self.open = 0

    def nvmlInit(self) -> None:
        if self.fails is not None:
            raise NvmlError(self.fails)
        self.open += 1

    def nvmlShutdown(self) -> None:
        self.open -= 1

    def nvmlSystemGetDriverVersion(self) -> str:
        return "580.95.05"

    def nvmlDeviceGetCount(self) -> int:
        return len(self.cards)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlDeviceGetName(self, handle: int) -> str | bytes:
        return self.cards[handle][0]

    def nvmlDeviceGetPciInfo(self, handle: int) -> Any:
        return SimpleNamespace(busId=self.cards[handle][1])

    def nvmlDeviceGetUUID(self, handle: int) -> str:
        return f"GPU-{handle}2345678-aaaa"

    def nvmlDeviceGetCudaComputeCapability(self, handle: int) -> tuple[int, int]:
        return (8, 9)

    def nvmlDeviceGetDisplayActive(self, handle: int) -> int:
        return int(handle == 0)

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> Any:
        _, _, total, used = self.cards[handle]
        if total is None:
            raise NvmlError(self.NVML_ERROR_NOT_SUPPORTED)
        return SimpleNamespace(total=total, free=total - used)


def look(
    root: Path,
    files: Mapping[str, str | int],
    *,
    memory: tuple[int, int] = (16 * GIB, 12 * GIB),
    allowed: Collection[int] = (),
    nvml: FakeNvml | None = None,
    visible: str | None = None,
    devices: Sequence[NativeDevice] = (),
) -> Hardware:
    """Return the hardware that `detect` finds on the described computer."""
    sources = Sources(
        platform="linux",
        root=write(root, files),
        memory=lambda: Memory(*memory),
        allowed=lambda: allowed,
        nvml=lambda: nvml,
        visible=lambda: visible,
    )
    return detect(devices, sources)
