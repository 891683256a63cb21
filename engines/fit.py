"""How much memory a model needs at a context, and whether a computer has it: pure. Bytes.

Weights and KV cache are exact: they are what llama.cpp allocates. The computing buffer is an
upper estimate. The engine's way to open a context is assumed: flash attention, one output row
at a time, and a sliding-window cache that keeps the window only (swa_full off).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from engines.gguf.layers import Layers
from engines.gguf.reader import Tensor
from engines.gguf.types import KV_TYPES, TENSOR_TYPES
from engines.gguf_header import GgufHeader
from engines.types import KvType

Verdict = Literal["fits", "tight", "partial", "no"]

_CELLS: Final = 256  # llama.cpp rounds a context up to a multiple of this
# The vocabulary's tables (measured: 150 to 460 bytes a token) and the graph's bookkeeping.
_BYTES_PER_TOKEN: Final = 512
_FIXED: Final = 16 << 20
_TIGHT: Final = 0.9


@dataclass(frozen=True)
class Parts:
    """What the memory is needed for."""

    weights: int
    kv: int
    compute: int
    drafter: int = 0
    projector: int = 0

    @property
    def total(self) -> int:
        return self.weights + self.kv + self.compute + self.drafter + self.projector


@dataclass(frozen=True)
class Fit:
    """Whether a model fits.

    verdict: "fits", "tight" (it takes nearly all that is free), "partial" (the graphics card
    holds a part of it, the computer's memory the rest) or "no".
    device: what would hold it. reason: one sentence with the numbers.
    """

    verdict: Verdict
    need_bytes: int
    have_bytes: int
    parts: Parts
    context: int
    device: str
    reason: str


@dataclass(frozen=True)
class Split:
    """The memory a model needs on graphics cards and in the computer's own memory."""

    gpu: Parts
    ram: Parts

    @property
    def parts(self) -> Parts:
        return Parts(
            self.gpu.weights + self.ram.weights,
            self.gpu.kv + self.ram.kv,
            self.gpu.compute + self.ram.compute,
        )


def split_needed(
    header: GgufHeader, context: int, kv_type: KvType, batch: int, gpu_layers: int
) -> Split:
    """The memory needed with so many layers on graphics cards; -1 is all of them.

    llama.cpp moves the last layers first, and counts the output as one layer more.
    """
    layers = header.layers
    count = header.block_count
    moved = count + 1 if gpu_layers < 0 else min(gpu_layers, count + 1)
    first = count + 1 - moved if moved else count + 1
    on_gpu = sum(tensor.size_bytes for tensor in header.tensors if _layer(tensor, count) >= first)
    if moved and not any(tensor.name == "output.weight" for tensor in header.tensors):
        # The output is the token table once more; the first copy stays where it is.
        on_gpu += sum(t.size_bytes for t in header.tensors if t.name == "token_embd.weight")
    rows = min(batch, context)
    in_ram = sum(tensor.size_bytes for tensor in header.tensors if _layer(tensor, count) < first)
    gpu_kv = kv_bytes(layers, context, kv_type, rows, first) if layers else 0
    kv = kv_bytes(layers, context, kv_type, rows) if layers else 0
    compute = compute_bytes(header, context, rows)
    tables = _FIXED + header.vocab_size * _BYTES_PER_TOKEN
    return Split(
        Parts(on_gpu, gpu_kv, compute if moved else 0),
        Parts(in_ram, kv - gpu_kv, tables + (compute if moved <= count else 0)),
    )


def _layer(tensor: Tensor, count: int) -> int:
    """The layer a tensor belongs to; those after the last one count as one more, others as -1."""
    if found := re.match(r"blk\.(\d+)\.", tensor.name):
        return int(found[1])
    return count if tensor.name.startswith("output") else -1


def kv_bytes(layers: Layers, context: int, kv_type: KvType, batch: int, first: int = 0) -> int:
    """Keys and values of the layers from `first` on, and the state of recurrent layers.

    Source: llama-kv-cache.cpp and llama-kv-cache-iswa.cpp. batch: tokens evaluated at once.
    """
    kind = TENSOR_TYPES[KV_TYPES[kv_type]]
    cells = _padded(context)
    cells_sliding = min(cells, _padded(layers.window + batch))
    total = 0 if first else layers.recurrent_bytes
    for cache in layers.caches:
        if cache.layer >= first:
            row = sum(-(-width // kind.block) for width in (cache.key_width, cache.value_width))
            total += row * kind.size * (cells_sliding if cache.sliding else cells)
    return total


def _padded(tokens: int) -> int:
    return -(-tokens // _CELLS) * _CELLS


def compute_bytes(header: GgufHeader, context: int, batch: int) -> int:
    """The buffer for intermediate values while `batch` tokens are evaluated.

    An upper estimate of llama.cpp's worst case: for each token the three values of the widest
    feed-forward layer, four of the model's width (one more for each expert at work), the widest
    query, two of a recurrent layer, the per-layer embeddings and, as 16-bit numbers, a mask over
    each cache.
    """
    layers = header.layers
    if layers is None:
        return 0
    values = (
        3 * layers.feed_forward
        + (4 + layers.experts_used) * header.embedding_length
        + layers.widest
        + 2 * layers.recurrent_width
        + header.embedding_per_layer * layers.count
    )
    masks = _padded(context)
    if layers.window:
        masks += min(_padded(context), _padded(layers.window + batch))
    return batch * (4 * values + 2 * masks) + 4 * header.vocab_size


def judge(need: int, have: int) -> Verdict:
    """The verdict where one memory holds everything."""
    if need > have:
        return "no"
    return "fits" if need <= _TIGHT * have else "tight"


def amount(count: int) -> str:
    """Bytes for people, decimal: 5.2 GB."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
