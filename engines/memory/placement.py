"""Decides which graphics cards a model goes to, and how much of it: pure. Bytes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection
from typing import Final

from engines.hardware import Gpu, Hardware
from engines.memory.formula.weights import experts_from
from engines.models.gguf.header import GgufHeader
from engines.types import LoadPlan

# What a driver and its back end take on a card before any model does (CUDA: 200 to 500 MB).
_GPU_RESERVE: Final = 512 << 20
# With less of the model than this on a card, handing over costs what the card gains.
_HARDLY: Final = 0.2

OnCards = Callable[[int, int], int]
"""Computes what so many layers take on the cards, with the experts of so many in own memory."""


def chosen(hardware: Hardware, devices: Collection[str] = ()) -> tuple[Gpu, ...]:
    """Return the cards that are named and usable; without names, those llama.cpp would use.

    Those are all, an integrated one only where there is no other.
    """
    usable = tuple(gpu for gpu in hardware.gpus if gpu.usable)
    named = tuple(gpu for gpu in usable if gpu.device and gpu.device in devices)
    return named or tuple(gpu for gpu in usable if not gpu.integrated) or usable[:1]


def room(gpu: Gpu) -> int:
    free = gpu.total_bytes if gpu.free_bytes is None else gpu.free_bytes
    return max(0, (free or 0) - _GPU_RESERVE)


def share_on_cards(plan: LoadPlan, header: GgufHeader) -> float:
    """Return the share of a plan's layers on graphics cards, 0 to 1, the output counted as one."""
    if plan.gpu_layers < 0:
        return 1.0
    return min(1.0, plan.gpu_layers / (header.block_count + 1))


def place(
    header: GgufHeader, space: int, on_cards: OnCards, layers: int | None, experts: int | None
) -> tuple[int, int]:
    """Return the layers that go to cards, -1 for all, and of how many the experts stay.

    All if there is room. Of a mixture the experts stay first: they are most of it, and only a few
    of them work for each token. Then whole layers stay. Nothing goes where the cards would hold
    hardly anything of the model. space: on all cards. layers, experts: as the user wishes.
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
        # The fewer layers keep their experts behind, the more is on the cards.
        fewest = mixed - bisect_right(
            range(mixed + 1), space, key=lambda moved: on_cards(-1, mixed - moved)
        )
        stay = fewest + 1
        if stay <= mixed:
            return -1, stay
        stay = mixed
    every = header.block_count + 1
    too_many = bisect_right(range(every + 1), space, key=lambda count: on_cards(count, stay))
    fitting = max(0, too_many - 1)
    return (fitting, stay) if fitting >= _HARDLY * every else (0, 0)
