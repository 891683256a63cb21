"""AMD, Intel and NVIDIA graphics on Linux, from the kernel's list of cards under /sys."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from engines.hardware.files import read_number, read_text
from engines.hardware.values import Gpu, Memory

# Other cards, such as those of virtual machines and server consoles, cannot compute.
_VENDORS: Final = {"0x1002": "amd", "0x8086": "intel", "0x10de": "nvidia"}
_NAMES: Final = {"amd": "AMD", "intel": "Intel", "nvidia": "NVIDIA"}
_INTEL_INTEGRATED: Final = "0000:00:02.0"
# An integrated AMD unit gets at most this much memory of its own from the firmware, except on
# computers that are built for it, which llama.cpp's device list marks as integrated.
_LARGEST_CARVE_OUT: Final = 4 << 30


def drm_gpus(root: Path, memory: Memory) -> tuple[Gpu, ...]:
    """List the cards in the kernel's order; integrated units use the computer's `memory`."""
    cards = [
        card
        for card in (root / "sys/class/drm").glob("card*")
        if re.fullmatch(r"card\d+", card.name)
    ]
    cards.sort(key=lambda card: int(card.name.removeprefix("card")))
    gpus = (_gpu(card / "device", memory) for card in cards)
    return tuple(gpu for gpu in gpus if gpu is not None)


def _gpu(device: Path, memory: Memory) -> Gpu | None:
    vendor = _VENDORS.get(read_text(device / "vendor") or "")
    if vendor is None:
        return None
    facts = dict(
        line.split("=", 1)
        for line in (read_text(device / "uevent") or "").splitlines()
        if "=" in line
    )
    pci_id = facts.get("PCI_SLOT_NAME")
    total, free, integrated = _memory(device, vendor, pci_id, memory)
    model = read_text(device / "product_name")
    number = (read_text(device / "device") or "").removeprefix("0x")
    return Gpu(
        name=model or f"{_NAMES[vendor]} graphics ({number})",
        vendor=vendor,
        backend="",
        total_bytes=total,
        free_bytes=free,
        integrated=integrated,
        driver=facts.get("DRIVER", ""),
        usable=False,
        pci_id=pci_id,
    )


def _memory(
    device: Path, vendor: str, pci_id: str | None, memory: Memory
) -> tuple[int | None, int | None, bool]:
    """Return the total and free bytes, and whether the memory is shared with the computer.

    Only AMD's driver reports the sizes.
    """
    dedicated = read_number(device / "mem_info_vram_total")
    dedicated_used = read_number(device / "mem_info_vram_used") or 0
    if dedicated is None and vendor == "intel" and pci_id == _INTEL_INTEGRATED:
        return memory.total_bytes, memory.available_bytes, True
    if dedicated is None:
        return None, None, False
    shared = read_number(device / "mem_info_gtt_total") or 0
    shared_used = read_number(device / "mem_info_gtt_used") or 0
    if vendor == "amd" and dedicated <= _LARGEST_CARVE_OUT and shared > dedicated:
        # The memory that the firmware set aside is no limit, as the driver adds the computer's.
        free = dedicated - dedicated_used + min(shared - shared_used, memory.available_bytes)
        return dedicated + shared, free, True
    return dedicated, dedicated - dedicated_used, False
