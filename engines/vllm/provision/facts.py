"""What this computer has that decides whether vLLM can be installed: looked up, not judged."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engines.hardware.nvidia import load_nvml
from engines.vllm.provision.lock import Pythons
from engines.vllm.provision.preflight import Card, Facts
from engines.vllm.provision.wsl import inside

_COMPILERS = ("gcc", "cc", "clang")
_WSL_S = 20.0
_GLIBC = ["getconf", "GNU_LIBC_VERSION"]


def look(folder: Path, pythons: Callable[[], Pythons]) -> Facts:
    """The facts of this computer. folder: where the environment would lie.

    pythons: looks for interpreters that an environment can be made with.
    """
    driver, cuda, cards = nvidia(load_nvml())
    wsl = distributions() if sys.platform == "win32" else ()
    return Facts(
        system=sys.platform,
        machine=machine(_said(inside(wsl[0], ["uname", "-m"])) if wsl else platform.machine()),
        glibc=glibc(_said(inside(wsl[0], _GLIBC)) if wsl else _own_glibc()),
        driver=driver,
        cuda=cuda,
        cards=cards,
        disk_bytes=_free(folder),
        compiler=next(filter(None, map(shutil.which, _COMPILERS)), None),
        pythons=pythons() if sys.platform == "linux" else (),
        in_wsl="microsoft" in platform.release().lower(),
        wsl=wsl,
    )


def machine(name: str) -> str:
    """The processor's family, as the names of wheels have it. name: as a system has it."""
    plain = name.strip().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(plain, plain)


def glibc(text: str) -> tuple[int, int] | None:
    """The version of the GNU C library; None where there is another one. text: “glibc 2.36”."""
    name, _, version = text.strip().partition(" ")
    numbers = version.split(".")
    if name != "glibc" or len(numbers) < 2:
        return None
    return int(numbers[0]), int(numbers[1])


def nvidia(nvml: Any) -> tuple[str, tuple[int, int] | None, tuple[Card, ...]]:
    """The driver's version, the highest CUDA it speaks, and the cards; nothing without a driver.

    nvml: see `engines.hardware.nvidia.load_nvml`.
    """
    if nvml is None:
        return "", None, ()
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return "", None, ()  # no driver, or one that does not answer: no card can be used
    try:
        level = int(nvml.nvmlSystemGetCudaDriverVersion_v2())
        handles = map(nvml.nvmlDeviceGetHandleByIndex, range(nvml.nvmlDeviceGetCount()))
        cards = tuple(_card(nvml, handle) for handle in handles)
        return _text(nvml.nvmlSystemGetDriverVersion()), (level // 1000, level % 1000 // 10), cards
    except nvml.NVMLError:
        return "", None, ()
    finally:
        nvml.nvmlShutdown()


def distributions() -> tuple[str, ...]:
    """The Linux distributions inside this Windows, the usual one first; none without WSL2."""
    said = _said(["wsl.exe", "--list", "--quiet"], "utf-16-le").replace("\ufeff", "")
    return tuple(name.strip() for name in said.splitlines() if name.strip())


def _said(words: list[str], encoding: str = "utf-8") -> str:
    """What a command prints; nothing where it fails, or is not there."""
    try:
        result = subprocess.run(words, capture_output=True, timeout=_WSL_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return result.stdout.decode(encoding, errors="replace")


def _own_glibc() -> str:
    """Of this process; nothing where there is another C library."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, OSError, ValueError):
        return ""


def _card(nvml: Any, handle: Any) -> Card:
    try:
        memory = nvml.nvmlDeviceGetMemoryInfo(handle)
        total, free = int(memory.total), int(memory.free)
    except nvml.NVMLError:
        # Chips such as GB10 have no memory of their own: they use the computer's.
        import psutil

        computer = psutil.virtual_memory()
        total, free = computer.total, computer.available
    major, minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
    return Card(_text(nvml.nvmlDeviceGetName(handle)), (int(major), int(minor)), total, free)


def _free(folder: Path) -> int:
    place = folder
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
