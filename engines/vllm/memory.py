"""Computes how much of the cards' memory and of the RAM a worker can take, in bytes. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engines.hardware.values import Gpu, Hardware
from engines.memory.checkpoint_plan import MOST_SHARE, RAM_OVERHEAD, reserved_bytes, vllm_cards
from engines.models.checkpoint import Checkpoint

GIB: Final = 1 << 30
_JOB_BYTES: Final = 4 * GIB
"""Memory that a compiler of CUDA code can take; FlashInfer's sampler takes 1 to 2 GiB."""

_LEAST_SHARE: Final = 0.05
_CPU_SPARE: Final = 1.25
"""Factor for vLLM's CPU build, which keeps whole blocks and saves less with a sliding window."""


def memory_share(
    cards: Sequence[Gpu], chosen_share: float | None, plan_bytes: int | None = None
) -> float | None:
    """Return the share of each card's memory for the worker, small enough for every card.

    vLLM does not start if less than its share is free.

    Args:
        chosen_share: Share that the user has set.
        plan_bytes: Bytes that a plan takes on all cards together; None for as much as is allowed.

    Returns:
        The share, 0 to 1, or None if no card reports its memory.
    """
    shares = [
        min(MOST_SHARE, (card.free_bytes - reserved_bytes(card)) / card.total_bytes)
        for card in cards
        if card.free_bytes is not None and card.total_bytes
    ]
    if chosen_share is not None:
        return chosen_share
    if not shares:
        return None
    if plan_bytes is not None:
        smallest = min(card.total_bytes for card in cards if card.total_bytes)
        shares.append(plan_bytes / len(cards) / smallest)
    # Rounded down, because vLLM refuses a share that is slightly too large.
    return max(_LEAST_SHARE, int(min(shares) * 1000) / 1000)


def used_cards(hardware: Hardware, count: int) -> tuple[Gpu, ...]:
    """Return a worker's NVIDIA cards, those with the most free memory."""
    return vllm_cards(hardware)[:count]


def card_numbers(hardware: Hardware, cards: Sequence[Gpu]) -> tuple[int, ...]:
    """Return the cards' numbers in the driver's order."""
    nvidia_cards = [gpu for gpu in hardware.gpus if gpu.vendor == "nvidia"]
    return tuple(
        next(number for number, gpu in enumerate(nvidia_cards) if gpu is card) for card in cards
    )


def spare_ram(hardware: Hardware, checkpoint: Checkpoint) -> int:
    """Return the bytes of free RAM for the KV cache, after the weights and the processes."""
    return hardware.memory.available_bytes - checkpoint.weight_bytes - RAM_OVERHEAD


def compile_jobs(hardware: Hardware, *, in_wsl: bool = False) -> int:
    """Return how many compilers can run at once with this processor and free memory.

    Args:
        in_wsl: They run inside WSL2, which gets half of the computer's memory by default.
    """
    free = hardware.memory.available_bytes // (2 if in_wsl else 1)
    return max(1, min(hardware.cpu.usable_threads, free // _JOB_BYTES))


def cpu_cache_gib(
    checkpoint: Checkpoint, context: int, parallel: int, spare: int | None = None
) -> int:
    """Return VLLM_CPU_KVCACHE_SPACE, in whole GiB.

    vLLM does not start if the RAM does not suffice. With room for only some of the chats it starts,
    and the other chats wait.

    Args:
        context: Context in tokens.
        parallel: Number of chats at once.
        spare: Bytes of RAM that are available for it, if known.
    """
    one_chat = int(checkpoint.kv_bytes(context) * _CPU_SPARE)
    needed = (
        parallel * one_chat
        if spare is None
        else min(parallel * one_chat, max(one_chat, spare - GIB))
    )
    return max(1, -(-needed // GIB))
