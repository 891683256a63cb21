"""Detects the hardware from all available sources, and never fails because one is missing."""

from __future__ import annotations

import logging
import os
import platform
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from engines.hardware import macos, windows
from engines.hardware.cgroups import cpu_quota
from engines.hardware.cores import Cores, LogicalCore, count_cores, linux_cores
from engines.hardware.cpu import linux_cpu
from engines.hardware.drm import drm_gpus
from engines.hardware.files import read_text
from engines.hardware.graphics import merge, native_gpus
from engines.hardware.memory import measure_memory, within_limits
from engines.hardware.nvidia import load_nvml, nvidia_gpus
from engines.hardware.values import Cpu, Gpu, Hardware, Memory, NativeDevice
from engines.sentences import N_


def linux_name(root: Path) -> str:
    """Return the system's name from /etc/os-release, with a note if Linux runs inside Windows."""
    name = "Linux"
    for line in (read_text(root / "etc/os-release") or "").splitlines():
        key, _, value = line.partition("=")
        if key == "PRETTY_NAME":
            name = value.strip("\"'")
    return N_("{name} on WSL", name=name) if is_wsl(root) else name


def is_wsl(root: Path) -> bool:
    """Return whether this Linux is the Windows Subsystem for Linux."""
    return "microsoft" in (read_text(root / "proc/version") or "").lower()


def system_name(root: Path) -> str:
    """Return the name and version of the operating system, and the architecture."""
    if sys.platform == "linux":
        name = linux_name(root)
    elif sys.platform == "darwin":
        name = f"macOS {platform.mac_ver()[0]}"
    else:
        name = f"{platform.system()} {platform.release()}"
    return f"{name}, {platform.machine()}"


log = logging.getLogger(__name__)
_T = TypeVar("_T")


def allowed_cores() -> Collection[int]:
    """Return the logical cores that this process can run on; empty on systems that do not tell."""
    return os.sched_getaffinity(0) if sys.platform == "linux" else frozenset()


def visible_cards() -> str | None:
    """Return CUDA_VISIBLE_DEVICES, which selects NVIDIA cards for programs; None if not set."""
    return os.environ.get("CUDA_VISIBLE_DEVICES")


@dataclass(frozen=True)
class Sources:
    """The sources of detection: this computer, or replacements in a test.

    Attributes:
        root: Folder that contains /proc, /sys and /etc.
        allowed: Returns the logical cores that this process can run on.
        visible: Returns CUDA_VISIBLE_DEVICES.
    """

    platform: str = sys.platform
    root: Path = Path("/")
    memory: Callable[[], Memory] = measure_memory
    allowed: Callable[[], Collection[int]] = allowed_cores
    nvml: Callable[[], Any] = load_nvml
    visible: Callable[[], str | None] = visible_cards


@dataclass
class _Survey:
    """Runs probes; one that fails leaves a line in the log and a note for the user."""

    sources: Sources
    notes: list[str] = field(default_factory=list)

    def run(self, subject: str, probe: Callable[[], _T], fallback: _T) -> _T:
        try:
            return probe()
        except Exception as error:
            log.exception("Looking for %s failed", subject)
            self.notes.append(
                N_(
                    "Detecting {subject} failed ({error}); Hearth continues without it.",
                    subject=subject,
                    error=error,
                )
            )
            return fallback


def detect(devices: Sequence[NativeDevice] = (), sources: Sources | None = None) -> Hardware:
    """Detect the hardware; takes milliseconds, and longer if a GPU driver has to wake up.

    Args:
        devices: llama.cpp's own list of devices; without it no GPU is usable.
        sources: Sources to use; None for this computer.
    """
    survey = _Survey(sources or Sources())
    system = survey.run(
        N_("the system's name"), lambda: system_name(survey.sources.root), sys.platform
    )
    memory = _memory(survey)
    cpu = _cpu(survey)
    native = native_gpus(devices, memory)
    gpus = merge(native, *_system_gpus(survey, memory))
    return Hardware(system, cpu, memory, gpus, tuple(survey.notes))


def _cpu_name(survey: _Survey) -> tuple[str, tuple[str, ...]]:
    unknown: tuple[str, tuple[str, ...]] = ("", ())
    return survey.run(N_("the processor"), lambda: _name(survey.sources), unknown)


def _memory(survey: _Survey) -> Memory:
    memory = survey.sources.memory()
    if survey.sources.platform != "linux":
        return memory
    return survey.run(
        N_("memory limits"), lambda: within_limits(memory, survey.sources.root), fallback=memory
    )


def _cpu(survey: _Survey) -> Cpu:
    name, features = _cpu_name(survey)
    sources = survey.sources
    cores = survey.run(
        N_("the processor's cores"), lambda: _cores(sources), None
    ) or _plain_core_counts(sources)
    return Cpu(
        name=name or platform.machine(),
        physical_cores=cores.physical,
        logical_cores=cores.logical,
        usable_threads=cores.usable_threads,
        usable_cores=cores.usable,
        performance_cores=cores.performance,
        features=features,
    )


def _name(sources: Sources) -> tuple[str, tuple[str, ...]]:
    if sources.platform == "linux":
        return linux_cpu(sources.root)
    if sources.platform == "darwin":
        return macos.cpu(macos.read_sysctl())
    if sys.platform == "win32":
        return windows.read_cpu()
    return platform.processor(), ()


def _cores(sources: Sources) -> Cores | None:
    if sources.platform == "linux":
        return linux_cores(sources.root, sources.allowed())
    if sources.platform == "darwin":
        return macos.cores(macos.read_sysctl())
    if sys.platform == "win32":
        return count_cores(windows.cores(windows.read_cores()), (), None)
    return None


def _plain_core_counts(sources: Sources) -> Cores:
    """Return plain core counts, for systems that tell no more, and for Linux without /sys."""
    import psutil

    logical = psutil.cpu_count() or 1
    physical = psutil.cpu_count(logical=False) or logical
    return count_cores(
        (LogicalCore(number, str(number % physical)) for number in range(logical)),
        sources.allowed(),
        cpu_quota(sources.root) if sources.platform == "linux" else None,
    )


def _system_gpus(survey: _Survey, memory: Memory) -> tuple[tuple[Gpu, ...], ...]:
    """List the graphics that the system knows without llama.cpp, most exact source first."""
    sources = survey.sources
    no_gpus: tuple[Gpu, ...] = ()
    nvidia = survey.run(
        N_("NVIDIA cards"), lambda: nvidia_gpus(sources.nvml(), memory, sources.visible()), no_gpus
    )
    other_cards = no_gpus
    if sources.platform == "linux":
        other_cards = survey.run(
            N_("graphics cards"), lambda: drm_gpus(sources.root, memory), no_gpus
        )
    elif sys.platform == "win32":
        other_cards = survey.run(
            N_("graphics cards"), lambda: windows.cards(windows.read_cards()), no_gpus
        )
    return nvidia, other_cards
