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
from engines.hardware.cores import Cores, Logical, count_cores, linux_cores
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
class Edge:
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

    edge: Edge
    notes: list[str] = field(default_factory=list)

    def ask(self, what: str, probe: Callable[[], _T], otherwise: _T) -> _T:
        try:
            return probe()
        except Exception as error:
            log.exception("Looking for %s failed", what)
            self.notes.append(
                N_(
                    "Looking for {what} failed ({error}); Hearth goes on without.",
                    what=what,
                    error=error,
                )
            )
            return otherwise


def detect(devices: Sequence[NativeDevice] = (), edge: Edge | None = None) -> Hardware:
    """Detect the hardware; takes milliseconds, and longer if a GPU driver has to wake up.

    Args:
        devices: llama.cpp's own list of devices; without it no GPU is usable.
        edge: Sources to use; None for this computer.
    """
    survey = _Survey(edge or Edge())
    system = survey.ask(
        N_("the system's name"), lambda: system_name(survey.edge.root), sys.platform
    )
    memory = _memory(survey)
    cpu = _cpu(survey)
    native = native_gpus(devices, memory)
    gpus = merge(native, *_system_gpus(survey, memory))
    return Hardware(system, cpu, memory, gpus, tuple(survey.notes))


def _cpu_name(survey: _Survey) -> tuple[str, tuple[str, ...]]:
    unknown: tuple[str, tuple[str, ...]] = ("", ())
    return survey.ask(N_("the processor"), lambda: _name(survey.edge), unknown)


def _memory(survey: _Survey) -> Memory:
    memory = survey.edge.memory()
    if survey.edge.platform != "linux":
        return memory
    return survey.ask(
        N_("memory limits"), lambda: within_limits(memory, survey.edge.root), otherwise=memory
    )


def _cpu(survey: _Survey) -> Cpu:
    name, features = _cpu_name(survey)
    edge = survey.edge
    cores = survey.ask(N_("the processor's cores"), lambda: _cores(edge), None) or _counted(edge)
    return Cpu(
        name=name or platform.machine(),
        physical_cores=cores.physical,
        logical_cores=cores.logical,
        usable_threads=cores.usable_threads,
        usable_cores=cores.usable,
        performance_cores=cores.performance,
        features=features,
    )


def _name(edge: Edge) -> tuple[str, tuple[str, ...]]:
    if edge.platform == "linux":
        return linux_cpu(edge.root)
    if edge.platform == "darwin":
        return macos.cpu(macos.read_sysctl())
    if sys.platform == "win32":
        return windows.read_cpu()
    return platform.processor(), ()


def _cores(edge: Edge) -> Cores | None:
    if edge.platform == "linux":
        return linux_cores(edge.root, edge.allowed())
    if edge.platform == "darwin":
        return macos.cores(macos.read_sysctl())
    if sys.platform == "win32":
        return count_cores(windows.cores(windows.read_cores()), (), None)
    return None


def _counted(edge: Edge) -> Cores:
    """Return plain core counts, for systems that tell no more, and for Linux without /sys."""
    import psutil

    logical = psutil.cpu_count() or 1
    physical = psutil.cpu_count(logical=False) or logical
    return count_cores(
        (Logical(number, str(number % physical)) for number in range(logical)),
        edge.allowed(),
        cpu_quota(edge.root) if edge.platform == "linux" else None,
    )


def _system_gpus(survey: _Survey, memory: Memory) -> tuple[tuple[Gpu, ...], ...]:
    """List the graphics that the system knows without llama.cpp, most exact source first."""
    edge = survey.edge
    none: tuple[Gpu, ...] = ()
    nvidia = survey.ask(
        N_("NVIDIA cards"), lambda: nvidia_gpus(edge.nvml(), memory, edge.visible()), none
    )
    others = none
    if edge.platform == "linux":
        others = survey.ask(N_("graphics cards"), lambda: drm_gpus(edge.root, memory), none)
    elif sys.platform == "win32":
        others = survey.ask(N_("graphics cards"), lambda: windows.cards(windows.read_cards()), none)
    return nvidia, others
