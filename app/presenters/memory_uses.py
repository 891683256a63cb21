"""From the memory sum of a model to the picture of the memories that it would be in: pure."""

from __future__ import annotations

from collections.abc import Callable

from app.core.models.memory_use import MemoryUse, Place
from engines.hardware import Hardware
from engines.memory.fit import Parts
from engines.memory.placement import chosen
from engines.models.gguf.header import GgufHeader
from engines.types import LoadPlan


def uses_of(parts: Parts, share: float, have: int, hardware: Hardware) -> tuple[MemoryUse, ...]:
    """The computer's memory, that of its graphics cards, or both where the model is in both.

    share: of the model on graphics cards, 0 to 1. have: what a model may take where it would be.
    """
    gpus = chosen(hardware)
    memory = hardware.memory
    own = memory.limit_bytes or memory.total_bytes
    if not share or not gpus or all(gpu.integrated for gpu in gpus):
        return (_use("memory", own, own - have, parts, lambda amount: amount),)
    cards = sum(gpu.total_bytes or gpu.free_bytes or 0 for gpu in gpus)
    if share >= 1:
        return (_use("graphics", cards, cards - have, parts, lambda amount: amount),)
    taken = sum((gpu.total_bytes or 0) - (gpu.free_bytes or 0) for gpu in gpus if gpu.free_bytes)
    busy = own - memory.available_bytes
    return (
        _use("graphics", cards, taken, parts, lambda amount: round(amount * share)),
        _use("memory", own, busy, parts, lambda amount: amount - round(amount * share)),
    )


def share_on_cards(plan: LoadPlan, header: GgufHeader) -> float:
    """How much of a model a plan puts on graphics cards, 0 to 1; its output counts as a layer."""
    if plan.gpu_layers < 0:
        return 1.0
    return min(1.0, plan.gpu_layers / (header.block_count + 1))


def _use(
    place: Place, limit: int, others: int, parts: Parts, there: Callable[[int], int]
) -> MemoryUse:
    return MemoryUse(
        place,
        limit,
        max(0, others),
        there(parts.weights),
        there(parts.kv),
        there(parts.compute),
        there(parts.drafter),
        there(parts.projector),
    )
