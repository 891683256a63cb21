"""Windows: registry values as drivers write them, and records as the kernel lays them out."""

from __future__ import annotations

import struct

from engines.hardware.cores import Cores, count_cores
from engines.hardware.windows import cards, cores

GIB = 1 << 30


def record(efficiency: int, mask: int, group: int = 0, relationship: int = 0) -> bytes:
    body = struct.pack("<BB20xH", 0, efficiency, 1) + struct.pack("<QH6x", mask, group)
    return struct.pack("<II", relationship, 8 + len(body)) + body


def test_cards() -> None:
    entries: list[dict[str, object]] = [
        {
            "DriverDesc": "NVIDIA GeForce RTX 4090",
            "DriverVersion": "32.0.15.6614",
            "MatchingDeviceId": r"PCI\VEN_10DE&DEV_2684&SUBSYS_16F410DE",
            "HardwareInformation.MemorySize": b"\xff\xff\xff\xff",
            "HardwareInformation.qwMemorySize": 24 * GIB,
        },
        {
            "DriverDesc": "AMD Radeon RX 6600",
            "MatchingDeviceId": r"pci\ven_1002&dev_73ff",
            "HardwareInformation.qwMemorySize": (8 * GIB).to_bytes(8, "little"),
        },
        {"DriverDesc": "Intel(R) UHD Graphics 770", "MatchingDeviceId": r"pci\ven_8086&dev_4680"},
        {"DriverDesc": "Microsoft Basic Display Adapter", "MatchingDeviceId": "*pnp09ff"},
    ]
    found = [(gpu.vendor, gpu.total_bytes, gpu.integrated) for gpu in cards(entries)]
    assert found == [
        ("nvidia", 24 * GIB, False),
        ("amd", 8 * GIB, False),
        ("intel", None, True),
    ]
    assert cards(entries)[0].driver == "32.0.15.6614"


def test_hybrid_processor() -> None:
    fast = b"".join(record(1, 0b11 << 2 * core) for core in range(2))
    slow = b"".join(record(0, 1 << core) for core in range(4, 8))
    other = record(0, 0xFF, relationship=3)
    found = count_cores(cores(fast + other + slow), (), None)
    assert found == Cores(physical=6, logical=8, usable_threads=8, usable=6, performance=2)


def test_more_than_64_cores() -> None:
    numbers = [core.number for core in cores(record(0, 1 << 63) + record(0, 1, group=1))]
    assert numbers == [63, 64]


def test_a_cut_off_record_ends_the_list() -> None:
    assert cores(record(0, 1) + b"\0\0") == cores(record(0, 1))
