"""What a context keeps of each token, and the state of recurrent layers: pure and exact. Bytes.

Source: llama-kv-cache.cpp, llama-kv-cache-iswa.cpp and llama-memory-recurrent.cpp; a sliding
window keeps the window only (swa_full is off).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engines.memory.formula.weights import Device
from engines.models.gguf.header import GgufHeader
from engines.models.gguf.layers import CacheLayer, Layers
from engines.models.gguf.types import KV_TYPES, TENSOR_TYPES
from engines.types import KvType

_CELLS: Final = 256  # llama.cpp rounds a context up to a multiple of this


def kv_bytes(layers: Layers, context: int, kv_type: KvType, batch: int, first: int = 0) -> int:
    """Keys and values of the layers from `first` on, and the state of recurrent layers.

    batch: tokens evaluated at once.
    """
    state = sum(
        layers.recurrent_bytes // len(layers.recurrent)
        for layer in layers.recurrent
        if layer >= first
    )
    caches = tuple(cache for cache in layers.caches if cache.layer >= first)
    return state + cache_bytes(caches, layers.window, context, kv_type, batch)


def cache_bytes(
    caches: Iterable[CacheLayer], window: int, context: int, kv_type: KvType, batch: int
) -> int:
    kind = TENSOR_TYPES[KV_TYPES[kv_type]]
    cells = padded(context)
    cells_sliding = min(cells, padded(window + batch))
    total = 0
    for cache in caches:
        row = sum(-(-width // kind.block) for width in (cache.key_width, cache.value_width))
        total += row * kind.size * (cells_sliding if cache.sliding else cells)
    return total


def cache_share(
    header: GgufHeader, context: int, kv_type: KvType, batch: int, device: Device, name: str
) -> float:
    """The part of the model's KV cache that is on the device of this name, 0 to 1."""
    layers = header.layers
    if layers is None:
        return 0.0

    def of(caches: Iterable[CacheLayer]) -> int:
        return cache_bytes(caches, layers.window, context, kv_type, min(batch, context))

    every = of(layers.caches)
    here = of(cache for cache in layers.caches if device(cache.layer) == name)
    return here / every if every else 0.0


def masked_cells(layers: Layers, context: int, batch: int) -> int:
    """Cells that a token's masks cover, over each of the caches."""
    if not layers.caches:
        return 0
    cells = padded(context)
    return cells + min(cells, padded(layers.window + batch)) if layers.window else cells


def padded(tokens: int) -> int:
    return -(-tokens // _CELLS) * _CELLS
