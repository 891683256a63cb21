"""Merges the facts about a graphics card from several sources. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from engines.hardware.values import Gpu, Memory, NativeDevice
from engines.sentences import N_

# If two back ends can use a card, the one that was written for it is faster.
_PREFERENCE: Final = ("CUDA", "ROCm", "HIP", "Metal", "MTL", "SYCL", "Vulkan")
_WORDS: Final = {
    "nvidia": ("nvidia", "geforce", "quadro", "tesla"),
    "amd": ("amd", "radeon"),
    "intel": ("intel",),
    "apple": ("apple",),
}
_SLOT: Final = re.compile(r"([0-9a-f]+):([0-9a-f]+):([0-9a-f]+)\.([0-9a-f]+)", re.IGNORECASE)
_PARTS: Final = {
    "nvidia": N_("NVIDIA cards (CUDA or Vulkan)"),
    "amd": N_("AMD graphics (Vulkan or ROCm)"),
    "intel": N_("Intel graphics (Vulkan)"),
}


def native_gpus(devices: Iterable[NativeDevice], memory: Memory) -> tuple[Gpu, ...]:
    """List the graphics among llama.cpp's devices, which are those that it can really use.

    A card that several back ends can use is listed once.

    Args:
        memory: The computer's memory, for integrated graphics.
    """
    graphics = [device for device in devices if device.is_card]
    # Unusable devices come last, so that another back end for the same card is preferred.
    graphics.sort(key=lambda device: (bool(device.why_not), _rank(device.backend)))
    gpus: list[Gpu] = []
    for device in graphics:
        gpu = _from_device(device, memory)
        if not any(_is_same_card(gpu, other) and gpu.backend != other.backend for other in gpus):
            gpus.append(gpu)
    return tuple(gpus)


def _rank(backend: str) -> int:
    return _PREFERENCE.index(backend) if backend in _PREFERENCE else len(_PREFERENCE)


def _from_device(device: NativeDevice, memory: Memory) -> Gpu:
    name = device.description or device.name
    integrated = device.kind == "igpu" or device.backend in {"Metal", "MTL"}
    # Some drivers report more free memory than exists, and shared memory can be in use.
    free = min(device.free_bytes, device.total_bytes)
    return Gpu(
        name=name,
        vendor=_vendor(name),
        backend=device.backend,
        total_bytes=device.total_bytes,
        free_bytes=min(free, memory.available_bytes) if integrated else free,
        integrated=integrated,
        driver="",
        usable=not device.why_not,
        why_not=device.why_not,
        pci_id=device.pci_id,
        device=device.name,
    )


def _vendor(name: str) -> str:
    for vendor, words in _WORDS.items():
        if any(word in name.lower() for word in words):
            return vendor
    return "other"


def merge(native: Sequence[Gpu], *sources: Iterable[Gpu]) -> tuple[Gpu, ...]:
    """Merge llama.cpp's cards with the system's sources, and append the cards only those know.

    The appended cards are unusable, and say why. Earlier sources take precedence.
    """
    cards = list(native)
    for source in sources:
        known_count = len(cards)  # within one source, cards of the same name are different cards
        for gpu in source:
            index = next(
                (number for number in range(known_count) if _is_same_card(cards[number], gpu)), None
            )
            if index is None:
                cards.append(_unusable(gpu))
            else:
                cards[index] = _combine(cards[index], gpu)
    return tuple(cards)


def _unusable(gpu: Gpu) -> Gpu:
    part = _PARTS.get(gpu.vendor, "it")
    return replace(
        gpu, why_not=N_("This build of llama.cpp does not support {feature}.", feature=part)
    )


def _combine(card: Gpu, other: Gpu) -> Gpu:
    """Combine two views of a card; the lower amount of free memory is the more recent one."""
    free = [bytes_ for bytes_ in (card.free_bytes, other.free_bytes) if bytes_ is not None]
    return replace(
        card,
        total_bytes=other.total_bytes if card.total_bytes is None else card.total_bytes,
        free_bytes=min(free, default=None),
        driver=card.driver or other.driver,
        pci_id=card.pci_id or other.pci_id,
    )


def _is_same_card(gpu: Gpu, other: Gpu) -> bool:
    """Return whether both are the same card, by PCI address or, if one is unknown, by name."""
    slot, other_slot = _slot(gpu.pci_id), _slot(other.pci_id)
    if slot is not None and other_slot is not None:
        return slot == other_slot
    return gpu.name.casefold() == other.name.casefold()


def _slot(pci_id: str | None) -> tuple[int, ...] | None:
    """Parse 0000:01:00.0 into numbers, because NVML writes the first with eight digits."""
    fields = _SLOT.fullmatch(pci_id or "")
    return tuple(int(field, 16) for field in fields.groups()) if fields else None
