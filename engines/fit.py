"""How much memory a model needs at a context, and whether a computer has it: pure. Bytes.

Weights and KV cache are exact: they are what llama.cpp allocates. The computing buffer is an
upper estimate. The engine's way to open a context is assumed: flash attention, one output row
at a time, or one more for each token drafted ahead, and a sliding-window cache that keeps the
window only (swa_full off).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from engines.gguf.layers import CacheLayer, Layers
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
class Drafting:
    """What room to make for drafting ahead.

    depth: most tokens, 0 for no room at all. drafter: of the file of its own, if there is one.
    """

    depth: int = 0
    drafter: GgufHeader | None = None


@dataclass(frozen=True)
class Parts:
    """What the memory is needed for. drafter: all that drafting ahead adds."""

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
            self.gpu.drafter + self.ram.drafter,
        )


def split_needed(
    header: GgufHeader,
    context: int,
    kv_type: KvType,
    batch: int,
    gpu_layers: int,
    drafting: Drafting = Drafting(),
) -> Split:
    """The memory needed with so many layers on graphics cards; -1 is all of them.

    llama.cpp moves the last layers first, and counts the output as one layer more.
    """
    layers = header.layers
    count = header.block_count
    moved = _moved(header, gpu_layers)
    first = count + 1 - moved
    on_gpu, in_ram = _weights(header, gpu_layers)
    rows = min(batch, context)
    gpu_kv = kv_bytes(layers, context, kv_type, rows, first) if layers else 0
    kv = kv_bytes(layers, context, kv_type, rows) if layers else 0
    compute = compute_bytes(header, context, rows)
    gpu_drafts, ram_drafts = _drafting_bytes(header, context, kv_type, rows, gpu_layers, drafting)
    return Split(
        Parts(on_gpu, gpu_kv, compute if moved else 0, gpu_drafts),
        Parts(
            in_ram,
            kv - gpu_kv,
            _tables(header) + _FIXED + (compute if moved <= count else 0),
            ram_drafts,
        ),
    )


def _drafting_bytes(
    header: GgufHeader, context: int, kv_type: KvType, batch: int, gpu_layers: int, it: Drafting
) -> tuple[int, int]:
    """What drafting ahead adds, on graphics cards and in the computer's own memory.

    Always: a row of logits for each drafted token, in the graph and as its result, and a copy of
    the recurrent state before it. Then the drafter's weights and its context, which for a drafter
    of its own evaluates one token at a time and keeps nothing.
    """
    layers = header.layers
    if not it.depth or layers is None:
        return 0, 0
    moved = bool(_moved(header, gpu_layers))
    recurrent = header.block_count - len(header.head_layers) - len(layers.caches)
    # The copies of one layer are made in the graph, and then kept.
    a_copy = layers.recurrent_bytes // recurrent if recurrent else 0
    graph = it.depth * (4 * header.vocab_size + a_copy)
    copies = it.depth * layers.recurrent_bytes
    results = 4 * it.depth * header.vocab_size
    hidden = 4 * header.embedding_length
    on_gpu = in_ram = 0
    if it.drafter is not None:
        on_gpu, in_ram = _weights(it.drafter, gpu_layers)
        in_ram += _tables(it.drafter)
        graph += compute_bytes(it.drafter, context, 1)
        results += 4 * header.vocab_size + (2 + it.depth) * hidden
    elif header.mtp == "embedded":
        on_gpu, in_ram = _weights(header, gpu_layers, heads=True)
        graph += _head_compute_bytes(header, layers, context, batch)
        copies += _cache_bytes(layers.head_caches, layers.window, context, kv_type, batch)
        # The model gives a hidden state for each token of a batch, and the head is given it.
        results += 4 * header.vocab_size + 2 * batch * hidden
    if moved:
        return on_gpu + graph + copies, in_ram + results
    return on_gpu, in_ram + graph + copies + results


def _moved(header: GgufHeader, gpu_layers: int) -> int:
    """Layers that really go to graphics cards, the output counted as one."""
    most = header.block_count + 1
    return most if gpu_layers < 0 else min(gpu_layers, most)


def _weights(header: GgufHeader, gpu_layers: int, *, heads: bool = False) -> tuple[int, int]:
    """Bytes of the model, or of its `heads`, on graphics cards and in the own memory."""
    count = header.block_count
    first = count + 1 - _moved(header, gpu_layers)
    on_gpu = in_ram = table = output = 0
    for tensor in header.tensors:
        layer = _layer(tensor, count)
        if (layer in header.head_layers) is not heads:
            continue
        if layer >= first:
            on_gpu += tensor.size_bytes
        else:
            in_ram += tensor.size_bytes
        if tensor.name == "token_embd.weight":
            table = tensor.size_bytes
        elif tensor.name == "output.weight":
            output = tensor.size_bytes
    if first <= count and not output:
        # The output is the token table once more; the first copy stays where it is.
        on_gpu += table
    return on_gpu, in_ram


def _tables(header: GgufHeader) -> int:
    return header.vocab_size * _BYTES_PER_TOKEN


def _layer(tensor: Tensor, count: int) -> int:
    """The layer a tensor belongs to; those after the last one count as one more, others as -1."""
    if found := re.match(r"blk\.(\d+)\.", tensor.name):
        return int(found[1])
    return count if tensor.name.startswith(("output", "nextn.")) else -1


def kv_bytes(layers: Layers, context: int, kv_type: KvType, batch: int, first: int = 0) -> int:
    """Keys and values of the layers from `first` on, and the state of recurrent layers.

    Source: llama-kv-cache.cpp and llama-kv-cache-iswa.cpp. batch: tokens evaluated at once.
    """
    state = 0 if first else layers.recurrent_bytes
    caches = tuple(cache for cache in layers.caches if cache.layer >= first)
    return state + _cache_bytes(caches, layers.window, context, kv_type, batch)


def _cache_bytes(
    caches: Iterable[CacheLayer], window: int, context: int, kv_type: KvType, batch: int
) -> int:
    kind = TENSOR_TYPES[KV_TYPES[kv_type]]
    cells = _padded(context)
    cells_sliding = min(cells, _padded(window + batch))
    total = 0
    for cache in caches:
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
    return batch * (4 * values + 2 * _masks(layers, context, batch)) + 4 * header.vocab_size


def _head_compute_bytes(header: GgufHeader, layers: Layers, context: int, batch: int) -> int:
    """As `compute_bytes`, for the graph of one prediction layer: attention, and twice the width."""
    values = (
        3 * layers.feed_forward
        + (4 + layers.experts_used) * header.embedding_length
        + layers.widest
    )
    return batch * (4 * values + 2 * _masks(layers, context, batch)) + 4 * header.vocab_size


def _masks(layers: Layers, context: int, batch: int) -> int:
    """Cells that a token's masks cover, over each of the caches."""
    cells = _padded(context)
    return cells + min(cells, _padded(layers.window + batch)) if layers.window else cells


def judge(need: int, have: int) -> Verdict:
    """The verdict where one memory holds everything."""
    if need > have:
        return "no"
    return "fits" if need <= _TIGHT * have else "tight"


def amount(count: int) -> str:
    """Bytes for people, decimal: 5.2 GB."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
