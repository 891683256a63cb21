"""Computes how much of the cards' memory and of the RAM a worker is told to take: pure. Bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engines.hardware.values import Gpu, Hardware
from engines.memory.checkpoint_plan import BESIDE_RAM, MOST_SHARE, kept_free, vllm_cards
from engines.models.checkpoint import Checkpoint

GIB: Final = 1 << 30
_JOB_BYTES: Final = 4 * GIB
"""Memory that a compiler of CUDA code may take; FlashInfer's sampler takes 1 to 2 GiB."""

_LEAST_SHARE: Final = 0.05
_CPU_SPARE: Final = 1.25
"""The processor's build keeps whole blocks, and does not make every saving of a sliding window."""


def memory_share(
    cards: Sequence[Gpu], wanted: float | None, takes: int | None = None
) -> float | None:
    """Return the part of each card's memory for the worker, which all of them have free.

    takes: bytes of all cards together that a plan takes; None is all that may be taken. The result
    is None where no card tells. vLLM does not start where less is free than its share.
    """
    shares = [
        min(MOST_SHARE, (card.free_bytes - kept_free(card)) / card.total_bytes)
        for card in cards
        if card.free_bytes is not None and card.total_bytes
    ]
    if wanted is not None:
        return wanted
    if not shares:
        return None
    if takes is not None:
        smallest = min(card.total_bytes for card in cards if card.total_bytes)
        shares.append(takes / len(cards) / smallest)
    # Rounded down: a share that is a little too large is refused.
    return max(_LEAST_SHARE, int(min(shares) * 1000) / 1000)


def used_cards(hardware: Hardware, count: int, devices: Sequence[str] = ()) -> tuple[Gpu, ...]:
    """Return the NVIDIA cards of a worker: those named by number, or those with the most free."""
    cards = [gpu for gpu in hardware.gpus if gpu.vendor == "nvidia"]
    numbers = [int(name) for name in devices if name.isdigit()]
    chosen = [cards[number] for number in numbers if number < len(cards)]
    return tuple((chosen or vllm_cards(hardware))[:count])


def card_numbers(hardware: Hardware, cards: Sequence[Gpu]) -> tuple[int, ...]:
    """Return the cards' numbers as the driver counts them."""
    every = [gpu for gpu in hardware.gpus if gpu.vendor == "nvidia"]
    return tuple(next(at for at, gpu in enumerate(every) if gpu is card) for card in cards)


def spare_ram(hardware: Hardware, checkpoint: Checkpoint) -> int:
    """Return the free RAM beside weights and processes, for keys and values, in bytes."""
    return hardware.memory.available_bytes - checkpoint.weight_bytes - BESIDE_RAM


def compile_jobs(hardware: Hardware, *, away: bool = False) -> int:
    """Return how many compilers may run at once, by the processor and the free memory.

    away: they run in WSL2, which has half of the computer's memory unless it is told otherwise.
    """
    free = hardware.memory.available_bytes // (2 if away else 1)
    return max(1, min(hardware.cpu.usable_threads, free // _JOB_BYTES))


def cpu_cache_gib(
    checkpoint: Checkpoint, context: int, parallel: int, spare: int | None = None
) -> int:
    """Return VLLM_CPU_KVCACHE_SPACE, which is in whole GiB.

    spare: bytes that there are for it. vLLM does not start where there are fewer; with room for
    some of the chats it starts, and the others wait for those.
    """
    one = int(checkpoint.kv_bytes(context) * _CPU_SPARE)
    needed = parallel * one if spare is None else min(parallel * one, max(one, spare - GIB))
    return max(1, -(-needed // GIB))
