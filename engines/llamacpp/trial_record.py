"""The verdicts on devices, by device, driver and library: in a small file, or in memory."""

from __future__ import annotations

import importlib.util
import json
import platform
import sys
import threading
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from engines.hardware.values import NativeDevice
from engines.kept_file import KeptFile
from engines.llamacpp.native import BINDINGS_VERSION, LIBRARY_VERSION, packs

FILE_NAME: Final = "devices.json"
_WAY_OF_TRYING: Final = 1
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
        why: The reason not to use the device, as one sentence; empty for a device that works.
        seconds: Seconds that the trial took.
    """

    why: str = ""
    seconds: float = 0.0


def identity(device: NativeDevice) -> str:
    """Return a hash of a device with its driver and the build of the library."""
    import hashlib

    facts = (
        _WAY_OF_TRYING,
        (device.name, device.description, device.backend, device.pci_id),
        _driver(),
        (BINDINGS_VERSION, LIBRARY_VERSION.decode(), _build()),
    )
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _driver() -> list[object]:
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


def _build() -> list[object]:
    """List the library's files and its packs, without loading the library."""
    found = importlib.util.find_spec("llama_cpp")
    if found is None or found.origin is None:
        return []
    beside = sorted((Path(found.origin).parent / "lib").glob("*ggml*"))
    return _stamps((*beside, *packs().modules))


def _stamps(paths: Iterable[Path]) -> list[object]:
    facts: list[object] = []
    for path in paths:
        try:
            known = path.stat()
        except OSError:
            continue
        facts.append((path.name, known.st_size, known.st_mtime_ns))
    return facts


class TrialRecord:
    """The file of verdicts; if it cannot be read or written, devices are only tried again."""

    def __init__(self, folder: Path | None) -> None:
        self._file = KeptFile(folder / FILE_NAME if folder else None)
        self._lock = threading.Lock()
        self._known = self._read()

    def find(self, identity: str) -> Verdict | None:
        return self._known.get(identity)

    def keep(self, identity: str, name: str, verdict: Verdict) -> None:
        """Remember a verdict.

        Args:
            identity: The identity of the device.
            name: The device's name, for a person who reads the file.
            verdict: The verdict.
        """
        with self._lock:
            self._known = self._known | {identity: verdict}
            # The file is read again: another process may have tried another device.
            self._file.write(self._pages() | {identity: {"device": name, **asdict(verdict)}})

    def _read(self) -> dict[str, Verdict]:
        return {
            key: Verdict(page["why"], float(page["seconds"])) for key, page in self._pages().items()
        }

    def _pages(self) -> dict[str, dict[str, Any]]:
        return {key: page for key, page in self._file.read().items() if _is_page(page)}


def _is_page(page: object) -> bool:
    return (
        isinstance(page, dict)
        and isinstance(page.get("why"), str)
        and isinstance(page.get("seconds"), (int, float))
    )
