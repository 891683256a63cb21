"""Computes a model's memory at a context, in bytes, and judges whether it fits. Pure.

Weights and KV cache are exactly what llama.cpp allocates. The compute buffer is an upper estimate;
`need_by_library` uses the library's own figures instead. All assume the engine's way of opening a
context: flash attention, and one output row at a time plus one for each token drafted ahead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal

from engines.memory.buffers import CPU, Buffers
from engines.memory.formula.caches import cache_bytes, kv_bytes
from engines.memory.formula.compute import compute_bytes, graph_bytes, head_compute_bytes
from engines.memory.formula.weights import (
    Copies,
    copied_on_x86,
    head_bytes,
    nothing_copied,
    weights,
)
from engines.models.gguf.features import DrafterInputs
from engines.models.gguf.header import GgufHeader
from engines.types import HEAD_BATCH, KvType

Verdict = Literal["fits", "tight", "partial", "no"]

_CARD: Final = "card"
# The vocabulary's tables (measured: 150 to 460 bytes per token) and everything else.
_BYTES_PER_TOKEN: Final = 512
_FIXED: Final = 16 << 20
_TIGHT: Final = 0.9
# Compute buffers that several cards take, each; with two cards, 2.5 were measured.
_PIPELINED: Final = 3


@dataclass(frozen=True)
class DraftNeed:
    """The memory to reserve for drafting.

    Attributes:
        depth: Most tokens drafted ahead; 0 for no drafting.
        drafter: Header of a separate drafter file, if there is one.
    """

    depth: int = 0
    drafter: GgufHeader | None = None


@dataclass(frozen=True)
class Parts:
    """The parts of the needed memory, in bytes; `drafter` is everything that drafting adds."""

    weights: int = 0
    kv: int = 0
    compute: int = 0
    drafter: int = 0
    projector: int = 0

    @property
    def total(self) -> int:
        """All parts together, in bytes."""
        return self.weights + self.kv + self.compute + self.drafter + self.projector


@dataclass(frozen=True)
class Split:
    """The memory that a model needs on graphics cards and in the main memory."""

    gpu: Parts = Parts()
    ram: Parts = Parts()

    @property
    def parts(self) -> Parts:
        """The parts on the cards and in the main memory, added up."""
        return Parts(
            self.gpu.weights + self.ram.weights,
            self.gpu.kv + self.ram.kv,
            self.gpu.compute + self.ram.compute,
            self.gpu.drafter + self.ram.drafter,
            self.gpu.projector + self.ram.projector,
        )


@dataclass(frozen=True)
class Fit:
    """The verdict on whether a model fits, with its numbers.

    Attributes:
        verdict: "fits", "tight" (it takes nearly all free memory), "partial" (the graphics card
            holds a part of it and the main memory the rest) or "no".
        need_bytes: Needed bytes.
        have_bytes: Free bytes.
        split: Need on the cards and in the main memory.
        device: Names of the devices that would hold it.
        reason: One sentence with the numbers.
    """

    verdict: Verdict
    need_bytes: int
    have_bytes: int
    split: Split
    context: int
    device: str
    reason: str

    @property
    def parts(self) -> Parts:
        """The needed memory by its parts, on all devices together."""
        return self.split.parts


def need_by_formula(
    header: GgufHeader,
    context: int,
    kv_type: KvType,
    batch: int,
    gpu_layers: int,
    drafting: DraftNeed = DraftNeed(),
    *,
    mmap: bool = True,
    repack: bool = True,
    cards: int = 1,
    experts_in_ram: int = 0,
    sequences: int = 1,
) -> Split:
    """Compute the needed memory with a number of layers on graphics cards.

    llama.cpp moves the last layers first, and counts the output as one more layer.

    Args:
        context: Context in tokens.
        batch: Tokens that are evaluated at once.
        gpu_layers: Layers on cards; -1 for all.
        mmap: Weights on the processor are the mapped file, so copied weights take memory twice.
        repack: See `LlamaPlan`.
        cards: Number of cards that share the layers; each has its own compute buffer.
        experts_in_ram: See `LlamaPlan`.
        sequences: Number of sequences with their own context; see `LlamaPlan.parallel`.
    """
    layers = header.layers
    count = header.block_count
    moved = _moved(header, gpu_layers)
    first = count + 1 - moved
    copies = copied_on_x86 if repack else nothing_copied
    stay = experts_in_ram if moved else 0
    weigh = partial(_weights, gpu_layers=gpu_layers, mmap=mmap, copies=copies, experts=stay)
    on_gpu, in_ram = weigh(header)
    rows = min(batch, context)
    gpu_kv = sequences * kv_bytes(layers, context, kv_type, rows, first) if layers else 0
    kv = sequences * kv_bytes(layers, context, kv_type, rows) if layers else 0
    more_rows = (sequences - 1) * 4 * header.vocab_size
    compute = compute_bytes(header, context, rows) + more_rows
    gpu_drafts, ram_drafts = _drafting_bytes(
        header, context, kv_type, rows, bool(moved), drafting, weigh, sequences
    )
    return Split(
        Parts(on_gpu, gpu_kv, _on_cards(compute, cards) if moved else 0, gpu_drafts),
        Parts(
            in_ram,
            kv - gpu_kv,
            overhead_bytes(header, rows) + more_rows + (compute if moved <= count or stay else 0),
            ram_drafts,
        ),
    )


def _on_cards(compute: int, cards: int) -> int:
    """Add the copies of inputs that several cards need to compute at the same time."""
    return compute if cards == 1 else _PIPELINED * cards * compute


def need_by_library(
    buffers: Buffers,
    header: GgufHeader,
    context: int,
    kv_type: KvType,
    batch: int,
    drafting: DraftNeed = DraftNeed(),
    sequences: int = 1,
) -> Split:
    """Compute the memory from the library's own account of its allocations.

    That account leaves out the vocabulary's tables and the results of drafted tokens.
    """
    layers, rows = header.layers, min(batch, context)
    plain = sequences * kv_bytes(layers, context, kv_type, rows) if layers else 0
    heads = head_bytes(header) if drafting.depth else 0
    results = _result_bytes(header, rows, drafting, sequences)
    cards, own = buffers.cards, buffers.own
    on_card = min(heads, cards.weights) if cards.weights else 0
    all_kv = cards.kv + own.kv
    # The excess over the plain cache consists of copies of a recurrent state, made for drafting.
    copies = max(0, all_kv - plain)
    card_copies = copies * cards.kv // all_kv if all_kv else 0
    return Split(
        Parts(
            cards.weights - on_card,
            cards.kv - card_copies,
            cards.compute,
            cards.drafter + on_card + card_copies,
        ),
        Parts(
            own.weights - (heads - on_card),
            own.kv - (copies - card_copies),
            own.compute + overhead_bytes(header, rows) + (sequences - 1) * 4 * header.vocab_size,
            own.drafter + (heads - on_card) + (copies - card_copies) + results,
        ),
    )


def overhead_bytes(header: GgufHeader, batch: int) -> int:
    """Return the memory beside llama.cpp's buffers: tables, graphs and running code."""
    return _tables(header) + graph_bytes(header, batch) + _FIXED


def _drafting_bytes(
    header: GgufHeader,
    context: int,
    kv_type: KvType,
    batch: int,
    moved: bool,
    drafting: DraftNeed,
    weigh: Callable[..., tuple[int, int]],
    sequences: int,
) -> tuple[int, int]:
    """Compute the memory that drafting adds on graphics cards and in the main memory.

    Every kind of drafting adds a row of logits for each drafted token, in the graph and as a
    result. It also adds copies of the recurrent state: one for each drafted token if the engine can
    keep those, otherwise a single one. A drafter adds its weights and its context. Heads, and
    drafters with a cache of their own, keep the tokens that they read; any other drafter evaluates
    one token at a time and keeps nothing.
    """
    layers = header.layers
    if not drafting.depth or layers is None:
        return 0, 0
    has_drafter = drafting.drafter is not None or header.mtp == "embedded"
    states = drafting.depth if header.keeps_states and has_drafter else 0
    # The copies of one layer are made in the graph before they are stored.
    state_copy = layers.recurrent_bytes // len(layers.recurrent) if layers.recurrent else 0
    graph = sequences * (drafting.depth * 4 * header.vocab_size + states * state_copy)
    copies = sequences * max(1, states) * layers.recurrent_bytes
    results = _result_bytes(header, batch, drafting, sequences)
    on_gpu = in_ram = 0
    if drafting.drafter is not None:
        on_gpu, in_ram = weigh(drafting.drafter)
    if header.mtp == "embedded":
        whole_gpu, whole_ram = weigh(header, heads=True)
        plain_gpu, plain_ram = weigh(header)
        on_gpu, in_ram = on_gpu + whole_gpu - plain_gpu, in_ram + whole_ram - plain_ram
    for heads in _heads_of(header, drafting):
        if heads.layers is not None:
            rows = min(batch, HEAD_BATCH)
            graph += head_compute_bytes(heads, heads.layers, context, rows)
            head_layers = heads.layers
            head_cache = cache_bytes(
                head_layers.head_caches, head_layers.window, context, kv_type, rows
            )
            copies += sequences * head_cache
    if drafting.drafter is not None and not drafting.drafter.heads_alone:
        features = drafting.drafter.features
        has_own_cache = drafting.drafter.kind == "chat" or features is not None
        rows = min(batch, HEAD_BATCH) if has_own_cache else 1
        drafter = _without_window(drafting.drafter, context) if has_own_cache else drafting.drafter
        graph += compute_bytes(drafter, context, rows)
        if features is not None:
            # It has logits for every token, and two more hidden states.
            graph += rows * 4 * (header.vocab_size + 2 * drafter.embedding_length)
        if has_own_cache and (own := drafter.layers) is not None:
            copies += sequences * cache_bytes(own.caches, own.window, context, kv_type, rows)
    if moved:
        return on_gpu + graph + copies, in_ram + results
    return on_gpu, in_ram + graph + copies + results


def _result_bytes(header: GgufHeader, batch: int, drafting: DraftNeed, sequences: int) -> int:
    """Return the memory that drafting takes beside llama.cpp's named buffers.

    It consists of the logits of drafted tokens, the hidden states that a drafter receives, and the
    graphs of the drafter's context.
    """
    results = sequences * 4 * drafting.depth * header.vocab_size
    if not drafting.depth:
        return results
    hidden = 4 * header.embedding_length
    for heads in _heads_of(header, drafting):
        # The model gives a hidden state for each token of a batch. The head receives them, copies
        # them twice, and gives its own.
        rows = min(batch, HEAD_BATCH)
        results += graph_bytes(heads, rows)
        results += 4 * header.vocab_size + (batch + 4 * rows) * hidden
    drafter = drafting.drafter
    if drafter is None:
        return results
    results += _tables(drafter)
    if drafter.heads_alone:
        return results
    results += 4 * header.vocab_size
    if drafter.kind == "chat":
        return results + graph_bytes(drafter, min(batch, HEAD_BATCH))
    if (features := drafter.features) is not None:
        # The features of a batch are kept, also in the model's graph, and copied twice for the
        # drafter. An encoder reserves a row of logits for each token.
        rows = min(batch, HEAD_BATCH)
        logits = rows - 1 if features.block is None else drafting.depth
        results += graph_bytes(drafter, rows) + logits * 4 * header.vocab_size
        return results + (2 * batch + 3 * rows) * _feature_bytes(features) + 4 * rows * hidden
    return results + graph_bytes(drafter, 1) + (2 + drafting.depth) * hidden


def _without_window(drafter: GgufHeader, context: int) -> GgufHeader:
    """Return a drafter whose sliding layers keep all tokens, as they do in its own cache."""
    if drafter.layers is None or not drafter.layers.window:
        return drafter
    return replace(drafter, layers=replace(drafter.layers, window=context))


def _feature_bytes(features: DrafterInputs) -> int:
    """Return the bytes of features that a drafter receives for one token."""
    return 4 * len(features.layers) * features.width


def _heads_of(header: GgufHeader, drafting: DraftNeed) -> list[GgufHeader]:
    """List the files whose prediction layers run: the drafter's, the model's, or both."""
    heads_only = drafting.drafter is not None and drafting.drafter.heads_alone
    found = [drafting.drafter] if heads_only and drafting.drafter is not None else []
    return found + ([header] if header.mtp == "embedded" else [])


def _moved(header: GgufHeader, gpu_layers: int) -> int:
    """Return the number of layers that really go to graphics cards, counting the output as one."""
    most = header.block_count + 1
    return most if gpu_layers < 0 else min(gpu_layers, most)


def _weights(
    header: GgufHeader,
    *,
    gpu_layers: int,
    mmap: bool,
    copies: Copies,
    experts: int,
    heads: bool = False,
) -> tuple[int, int]:
    """Return the weights on graphics cards and in the main memory, with or without heads."""
    first = header.block_count + 1 - _moved(header, gpu_layers)
    found = weights(
        header,
        lambda layer: _CARD if layer >= first else CPU,
        mmap=mmap,
        heads=heads,
        copies=copies,
        experts_in_ram=experts,
    )
    return (found[_CARD].size if _CARD in found else 0), found[CPU].size


def _tables(header: GgufHeader) -> int:
    return header.vocab_size * _BYTES_PER_TOKEN


def judge(need: int, have: int) -> Verdict:
    """Judge whether a single memory holds everything."""
    if need > have:
        return "no"
    return "fits" if need <= _TIGHT * have else "tight"
