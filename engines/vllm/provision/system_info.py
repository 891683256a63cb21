"""Collects the facts that decide whether vLLM can be installed here, without judging them."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engines.disk import free_bytes
from engines.hardware.nvidia import load_nvml, nvml_session, text_of
from engines.vllm.provision.lock import Pythons
from engines.vllm.provision.preflight import NvidiaCard, SystemInfo

_COMPILERS = ("gcc", "cc", "clang")


def examine(
    folder: Path, pythons: Callable[[], Pythons], headers: Callable[[tuple[int, int]], bool]
) -> SystemInfo:
    """Collect the facts about this computer.

    Args:
        folder: Folder in which the environment would lie.
        pythons: Finds interpreters that can be used for an environment.
        headers: Returns whether an interpreter has its headers.
    """
    driver, cuda, cards = nvidia(load_nvml())
    available = pythons() if sys.platform == "linux" else ()
    return SystemInfo(
        system=sys.platform,
        machine=machine(platform.machine()),
        glibc=glibc(_own_glibc()),
        driver=driver,
        cuda=cuda,
        cards=cards,
        disk_bytes=free_bytes(folder),
        compiler=next(filter(None, map(shutil.which, _COMPILERS)), None),
        pythons=available,
        headers=any(headers(python) for python in available[:1]),
        in_wsl="microsoft" in platform.release().lower(),
    )


def machine(name: str) -> str:
    """Return the processor's family as wheels name it, from the name that the system uses."""
    plain = name.strip().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(plain, plain)


def glibc(text: str) -> tuple[int, int] | None:
    """Parse the version of the GNU C library from “glibc 2.36”; None for another library."""
    name, _, version = text.strip().partition(" ")
    numbers = version.split(".")
    if name != "glibc" or len(numbers) < 2:
        return None
    return int(numbers[0]), int(numbers[1])


def nvidia(nvml: Any) -> tuple[str, tuple[int, int] | None, tuple[NvidiaCard, ...]]:
    """Return the driver's version, the highest CUDA version that it supports, and the cards.

    Args:
        nvml: See `engines.hardware.nvidia.load_nvml`.
    """
    if nvml is None:
        return "", None, ()
    try:
        with nvml_session(nvml) as handles:
            level = int(nvml.nvmlSystemGetCudaDriverVersion_v2())
            cards = tuple(_card(nvml, handle) for handle in handles)
            driver = text_of(nvml.nvmlSystemGetDriverVersion())
            return driver, (level // 1000, level % 1000 // 10), cards
    except nvml.NVMLError:
        return "", None, ()  # no driver, or one that does not answer: no card can be used


def _own_glibc() -> str:
    """Return the C library of this process; "" if it is not the GNU one."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, OSError, ValueError):
        return ""


def _card(nvml: Any, handle: Any) -> NvidiaCard:
    try:
        memory = nvml.nvmlDeviceGetMemoryInfo(handle)
        total, free = int(memory.total), int(memory.free)
    except nvml.NVMLError:
        # Chips such as GB10 have no memory of their own and use the computer's.
        import psutil

        computer = psutil.virtual_memory()
        total, free = computer.total, computer.available
    major, minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
    name = text_of(nvml.nvmlDeviceGetName(handle))
    return NvidiaCard(name, (int(major), int(minor)), total, free)
