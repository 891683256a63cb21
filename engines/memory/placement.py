"""Decides which graphics cards a model goes to, and how much of it, in bytes. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Final

from engines.hardware import Gpu, Hardware
from engines.memory.buffers import Buffers
from engines.memory.formula.weights import experts_from
from engines.models.gguf.header import GgufHeader
from engines.types import LlamaPlan

# Memory that a driver and its back end take on a card before any model (CUDA: 200 to 500 MB).
_GPU_RESERVE: Final = 512 << 20
# With less of the model than this on a card, transfers cost more than the card gains.
_LEAST_SHARE: Final = 0.2

OnCards = Callable[[int, int], int]
"""Computes the bytes on the cards from the layers there and the layers with experts in RAM."""


def cards_for(hardware: Hardware, devices: Collection[str] = ()) -> tuple[Gpu, ...]:
    """Return the usable cards among `devices`; without names, those that llama.cpp would use.

    llama.cpp uses all cards, but an integrated one only if there is no other.
    """
    usable = tuple(gpu for gpu in hardware.gpus if gpu.usable)
    named = tuple(gpu for gpu in usable if gpu.device and gpu.device in devices)
    return named or tuple(gpu for gpu in usable if not gpu.integrated) or usable[:1]


def usable_bytes(gpu: Gpu) -> int:
    """Return the bytes of a card that a model can take."""
    free = gpu.total_bytes if gpu.free_bytes is None else gpu.free_bytes
    return max(0, (free or 0) - _GPU_RESERVE)


def emptied(hardware: Hardware, loaded: Iterable[Buffers]) -> Hardware:
    """Return the hardware as it would be with these models unloaded.

    A part that is mapped from a file counts as free already: the system can evict it.
    """
    memory, gpus = hardware.memory, hardware.gpus
    for buffers in loaded:
        held = {device.device: device.total for device in buffers.devices}
        shared = sum(held.get(gpu.device, 0) for gpu in gpus if gpu.integrated)
        freed = memory.available_bytes + buffers.own.total - buffers.own.mapped + shared
        most = memory.total_bytes if memory.limit_bytes is None else memory.limit_bytes
        memory = replace(memory, available_bytes=min(freed, most))
        gpus = tuple(
            gpu
            if gpu.free_bytes is None
            else replace(gpu, free_bytes=_freed(gpu, held.get(gpu.device, 0)))
            for gpu in gpus
        )
    return replace(hardware, memory=memory, gpus=gpus)


def _freed(gpu: Gpu, more: int) -> int:
    """Return the free bytes of a card once `more` of them are given back."""
    freed = (gpu.free_bytes or 0) + more
    return freed if gpu.total_bytes is None else min(freed, gpu.total_bytes)


def share_on_cards(plan: LlamaPlan, header: GgufHeader) -> float:
    """Return the share of a plan's layers on graphics cards, 0 to 1, counting the output as one."""
    if plan.gpu_layers < 0:
        return 1.0
    return min(1.0, plan.gpu_layers / (header.block_count + 1))


def place(
    header: GgufHeader, space: int, on_cards: OnCards, layers: int | None, experts: int | None
) -> tuple[int, int]:
    """Choose the layers that go to the cards, and the layers whose experts stay in RAM.

    Everything goes there if there is room. Otherwise the experts of a mixture stay first: they are
    most of it, and only a few of them work on each token. Then whole layers stay. If the cards
    would hold hardly any of the model, nothing goes there.

    Args:
        space: Bytes on all cards together.
        layers: Number of layers on cards that the user has set, or None.
        experts: Number of layers with experts in RAM that the user has set, or None.

    Returns:
        The number of layers on the cards, -1 for all, and the number of layers whose experts stay.
    """
    if not space or layers == 0:
        return 0, 0
    mixed = experts_from(header)
    stay = min(experts, mixed) if experts is not None else 0
    if layers is not None:
        return layers, stay
    if on_cards(-1, stay) <= space:
        return -1, stay
    if experts is None and mixed:
        # The cards hold more, the fewer layers leave their experts in RAM, so bisection works.
        fewest = mixed - bisect_right(
            range(mixed + 1), space, key=lambda moved: on_cards(-1, mixed - moved)
        )
        stay = fewest + 1
        if stay <= mixed:
            return -1, stay
        stay = mixed
    all_layers = header.block_count + 1
    too_many = bisect_right(range(all_layers + 1), space, key=lambda count: on_cards(count, stay))
    fitting = max(0, too_many - 1)
    return (fitting, stay) if fitting >= _LEAST_SHARE * all_layers else (0, 0)
