"""Turns a model's memory estimate into the picture of the memories it would use: pure."""

from __future__ import annotations

from collections.abc import Callable

from app.models.library.values.memory_use import MemoryUse, Place
from engines.hardware import Hardware
from engines.memory.fit import Parts
from engines.memory.placement import cards_for


def uses_of(
    parts: Parts, share: float, available: int, hardware: Hardware
) -> tuple[MemoryUse, ...]:
    """Return the use of the computer's memory, of its graphics cards, or of both.

    Args:
        share: The share of the model on graphics cards, from 0 to 1.
        available: Bytes that a model can take in the place where it would be.
    """
    gpus = cards_for(hardware)
    memory = hardware.memory
    own = memory.limit_bytes or memory.total_bytes
    if not share or not gpus or all(gpu.integrated for gpu in gpus):
        return (_use("memory", own, own - available, parts, lambda amount: amount),)
    cards = sum(gpu.total_bytes or gpu.free_bytes or 0 for gpu in gpus)
    if share >= 1:
        return (_use("graphics", cards, cards - available, parts, lambda amount: amount),)
    used = sum((gpu.total_bytes or 0) - (gpu.free_bytes or 0) for gpu in gpus if gpu.free_bytes)
    busy = own - memory.available_bytes
    return (
        _use("graphics", cards, used, parts, lambda amount: round(amount * share)),
        _use("memory", own, busy, parts, lambda amount: amount - round(amount * share)),
    )


def _use(
    place: Place,
    limit: int,
    used_by_others: int,
    parts: Parts,
    amount_in_place: Callable[[int], int],
) -> MemoryUse:
    return MemoryUse(
        place,
        limit,
        max(0, used_by_others),
        amount_in_place(parts.weights),
        amount_in_place(parts.kv),
        amount_in_place(parts.compute),
        amount_in_place(parts.drafter),
        amount_in_place(parts.projector),
    )
