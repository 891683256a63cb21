"""The verdicts on devices, by device, driver and library: in a small file, or in memory."""

from __future__ import annotations

import importlib.util
import json
import platform
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from engines.hardware.values import NativeDevice
from engines.json_cache import ValueCache
from engines.llamacpp.file_identity import stamp
from engines.llamacpp.native import BINDINGS_VERSION, LIBRARY_VERSION, packs

FILE_NAME: Final = "devices.json"
_METHOD: Final = 1
"""Raise this number when a trial finds problems that it did not find before."""

_DRIVERS: Final = (
    Path("/usr/share/vulkan/icd.d"),
    Path("/etc/vulkan/icd.d"),
    Path("/usr/local/share/vulkan/icd.d"),
)
_NVIDIA: Final = Path("/proc/driver/nvidia/version")


@dataclass(frozen=True)
class Verdict:
    """The outcome of a trial.

    Attributes:
        device: The device's name, for a person who reads the file.
        why: The reason not to use the device, as one sentence; empty for a device that works.
        seconds: Seconds that the trial took.
    """

    device: str
    why: str = ""
    seconds: float = 0.0


def identity(device: NativeDevice) -> str:
    """Return a hash of a device with its driver and the build of the library."""
    import hashlib

    facts = (
        _METHOD,
        (device.name, device.description, device.backend, device.pci_id),
        driver_facts(),
        (BINDINGS_VERSION, LIBRARY_VERSION.decode(), build_facts()),
    )
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def driver_facts() -> list[object]:
    """List facts that change with a driver: the system, and files of drivers' packages."""
    facts: list[object] = [platform.release(), platform.version()]
    if sys.platform == "linux":
        named = [path for folder in _DRIVERS for path in sorted(folder.glob("*.json"))]
        facts += _stamps(named)
        if _NVIDIA.exists():
            facts.append(_NVIDIA.read_text(encoding="utf-8", errors="replace"))
    elif sys.platform == "win32":
        from engines.hardware import windows

        facts += [str(entry.get("DriverVersion", "")) for entry in windows.read_cards()]
    return facts


def build_facts() -> list[object]:
    """List the library's files and its packs, without loading the library."""
    found = importlib.util.find_spec("llama_cpp")
    if found is None or found.origin is None:
        return []
    libraries = sorted((Path(found.origin).parent / "lib").glob("*ggml*"))
    return _stamps((*libraries, *packs().modules))


def _stamps(paths: Iterable[Path]) -> list[object]:
    facts: list[object] = []
    for path in paths:
        with suppress(OSError):
            facts.append((path.name, *stamp(path)))
    return facts


class TrialRecord(ValueCache[Verdict]):
    """The verdicts by the identity of the device; a missing one is found by another trial.

    Args:
        folder: The folder of the file; None keeps the verdicts in memory only.
    """

    def __init__(self, folder: Path | None) -> None:
        super().__init__(folder / FILE_NAME if folder else None, _verdict, asdict, most=100)


def _verdict(page: object) -> Verdict | None:
    if not isinstance(page, dict):
        return None
    why, seconds = page.get("why"), page.get("seconds")
    if not isinstance(why, str) or not isinstance(seconds, (int, float)):
        return None
    return Verdict(str(page.get("device", "")), why, float(seconds))
