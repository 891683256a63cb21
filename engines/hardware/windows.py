"""Windows' graphics cards from the registry, and the processor's cores and features.

Source: Microsoft's documentation of the display class key, of IsProcessorFeaturePresent and of
SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX. The functions that parse are separate from those that read,
so that they can be tested on any system.
"""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Mapping, Sequence
from typing import Final

from engines.hardware.cores import LogicalCore
from engines.hardware.cpu import known_features
from engines.hardware.values import Gpu
from engines.sentences import N_

_DISPLAY_CLASS: Final = (
    r"SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}"
)
_PROCESSOR: Final = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
_VENDORS: Final = {"10de": "nvidia", "1002": "amd", "8086": "intel"}
# The PF_... numbers of IsProcessorFeaturePresent.
_FEATURES: Final = {
    13: "sse3", 36: "ssse3", 37: "sse4_1", 38: "sse4_2", 39: "avx", 40: "avx2", 41: "avx512f",
    19: "neon", 43: "dotprod", 46: "sve",
}  # fmt: skip
_CORE: Final = 0  # LOGICAL_PROCESSOR_RELATIONSHIP: RelationProcessorCore


def cards(entries: Sequence[Mapping[str, object]]) -> tuple[Gpu, ...]:
    """List the graphics cards from the values of the display class's numbered keys.

    The memory is HardwareInformation.qwMemorySize, a 64-bit number or its eight bytes. WMI and the
    older 32-bit value never report more than 4 GB.
    """
    gpus = []
    for entry in entries:
        hardware_id = str(entry.get("MatchingDeviceId", "")).lower()
        vendor_id = re.search(r"ven_([0-9a-f]{4})", hardware_id)
        vendor = _VENDORS.get(vendor_id[1]) if vendor_id else None
        if vendor is None:
            continue
        size = entry.get("HardwareInformation.qwMemorySize")
        if isinstance(size, bytes):
            size = int.from_bytes(size, "little")
        gpus.append(
            Gpu(
                name=str(entry.get("DriverDesc", N_("Graphics card"))),
                vendor=vendor,
                backend="",
                total_bytes=size if isinstance(size, int) else None,
                free_bytes=None,
                integrated=vendor == "intel" and "arc" not in str(entry.get("DriverDesc")).lower(),
                driver=str(entry.get("DriverVersion", "")),
                usable=False,
            )
        )
    return tuple(gpus)


def cores(buffer: bytes) -> tuple[LogicalCore, ...]:
    """Parse the cores from GetLogicalProcessorInformationEx's buffer for RelationProcessorCore.

    Each record consists of relationship and size (32 bits each), flags and efficiency class (8 bits
    each), 20 bytes and the number of groups (16 bits), then for each group a 64-bit mask, its
    number (16 bits) and 6 bytes. A higher efficiency class is a faster core.
    """
    records: list[tuple[int, list[int]]] = []
    offset = 0
    while offset + 8 <= len(buffer):
        relationship, size = struct.unpack_from("<II", buffer, offset)
        if relationship == _CORE and size >= 32:
            efficiency, groups = struct.unpack_from("<xB20xH", buffer, offset + 8)
            numbers = []
            for index in range(groups):
                mask, group = struct.unpack_from("<QH6x", buffer, offset + 32 + 16 * index)
                numbers += [group * 64 + bit for bit in range(64) if mask >> bit & 1]
            records.append((efficiency, numbers))
        offset += max(size, 8)
    best = max((efficiency for efficiency, _ in records), default=0)
    return tuple(
        LogicalCore(number, str(index), efficiency == best)
        for index, (efficiency, numbers) in enumerate(records)
        for number in numbers
    )


if sys.platform == "win32":
    import ctypes
    import winreg

    def read_cards() -> list[dict[str, object]]:
        """Read the values of the numbered keys below the display class."""
        entries = []
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, _DISPLAY_CLASS) as display:
            for index in range(winreg.QueryInfoKey(display)[0]):
                name = winreg.EnumKey(display, index)
                if name.isdigit():
                    with winreg.OpenKey(display, name) as key:
                        values = (
                            winreg.EnumValue(key, offset)
                            for offset in range(winreg.QueryInfoKey(key)[1])
                        )
                        entries.append({value[0]: value[1] for value in values})
        return entries

    def read_cores() -> bytes:
        """Return the buffer of GetLogicalProcessorInformationEx for RelationProcessorCore."""
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        size = ctypes.c_uint32(0)
        kernel.GetLogicalProcessorInformationEx(_CORE, None, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        if not kernel.GetLogicalProcessorInformationEx(_CORE, buffer, ctypes.byref(size)):
            raise ctypes.WinError(ctypes.get_last_error())
        return buffer.raw[: size.value]

    def read_cpu() -> tuple[str, tuple[str, ...]]:
        """Return name and features of the processor."""
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, _PROCESSOR) as key:
            name = str(winreg.QueryValueEx(key, "ProcessorNameString")[0])
        present = ctypes.WinDLL("kernel32").IsProcessorFeaturePresent
        flags = [feature for vendor_id, feature in _FEATURES.items() if present(vendor_id)]
        if "avx2" in flags:
            # Windows cannot report these, but every processor with AVX2 has them.
            flags += ["f16c", "fma", "bmi2"]
        return " ".join(name.split()), known_features(flags)
