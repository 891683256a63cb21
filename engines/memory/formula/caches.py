"""Computes the KV cache and the state of recurrent layers, in bytes. Pure.

Source: llama-kv-cache.cpp, llama-kv-cache-iswa.cpp and llama-memory-recurrent.cpp. Layers with a
sliding window keep only the window (swa_full is off).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engines.memory.formula.weights import Device
from engines.models.gguf.header import GgufHeader
from engines.models.gguf.layers import CacheLayer, Layers
from engines.models.gguf.types import cache_type
from engines.types import KvType

_CELLS: Final = 256  # llama.cpp rounds a context up to a multiple of this


def kv_bytes(layers: Layers, context: int, kv_type: KvType, batch: int, first: int = 0) -> int:
    """Return the KV cache and the recurrent state of the layers from `first` on.

    Args:
        context: Context in tokens.
        batch: Tokens that are evaluated at once.
    """
    with_state = sum(layer >= first for layer in layers.recurrent)
    state = layers.recurrent_bytes // len(layers.recurrent) * with_state if with_state else 0
    caches = [cache for cache in layers.caches if cache.layer >= first]
    return state + cache_bytes(caches, layers.window, context, kv_type, batch)


def cache_bytes(
    caches: Iterable[CacheLayer], window: int, context: int, kv_type: KvType, batch: int
) -> int:
    """Return the bytes of caches for a context and a batch in tokens."""
    kind = cache_type(kv_type)
    cells = padded(context)
    cells_sliding = min(cells, padded(window + batch))
    total = 0
    for cache in caches:
        row = -(-cache.key_width // kind.block) + -(-cache.value_width // kind.block)
        total += row * kind.size * (cells_sliding if cache.sliding else cells)
    return total


def cache_share(
    header: GgufHeader, context: int, kv_type: KvType, batch: int, device: Device, name: str
) -> float:
    """Return the share of the model's KV cache on the device called `name`, 0 to 1."""
    layers = header.layers
    if layers is None:
        return 0.0

    def size_of(caches: Iterable[CacheLayer]) -> int:
        return cache_bytes(caches, layers.window, context, kv_type, min(batch, context))

    whole = size_of(layers.caches)
    on_device = size_of(cache for cache in layers.caches if device(cache.layer) == name)
    return on_device / whole if whole else 0.0


def masked_cells(layers: Layers, context: int, batch: int) -> int:
    """Return the number of cells that a token's masks cover in all caches."""
    if not layers.caches:
        return 0
    cells = padded(context)
    return cells + min(cells, padded(layers.window + batch)) if layers.window else cells


def padded(tokens: int) -> int:
    """Return a context in tokens, rounded up as llama.cpp does it."""
    return -(-tokens // _CELLS) * _CELLS
