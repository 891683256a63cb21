"""Estimates an upper limit of the buffers for intermediate values, in bytes."""

from __future__ import annotations

from typing import Final

from engines.memory.formula.caches import masked_cells
from engines.models.gguf.header import GgufHeader
from engines.models.gguf.layers import Layers

_STREAMS: Final = 4
# llama.cpp keeps three graphs for each context, and reserves memory in them for this many
# operations, more if a layer computes its state step by step. Source: graph_max_nodes in
# llama-context.cpp.
_GRAPHS: Final = 3
_BYTES_PER_NODE: Final = 432
_NODES_PER_TENSOR: Final = 8
_LEAST_NODES: Final = 1024
_STEPWISE: Final = {"qwen3next", "qwen35", "qwen35moe"}
_STEPWISE_PER_TENSOR: Final = 32
_STEPWISE_PER_TOKEN: Final = 40


def compute_bytes(header: GgufHeader, context: int, batch: int) -> int:
    """Return the buffer for intermediate values while `batch` tokens are evaluated.

    This is an upper estimate of llama.cpp's worst case. Each token has the three values of the
    widest feed-forward layer, four of the model's width (and one for each active expert), the
    widest query, two values of a recurrent layer, the per-layer embeddings and, as 16-bit numbers,
    a mask over each cache. Gemma 3n computes four streams at once.
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
    if header.architecture == "gemma3n":
        values += _STREAMS * _STREAMS * header.embedding_length
        values += header.embedding_per_layer * layers.count
    return batch * (4 * values + 2 * masked_cells(layers, context, batch)) + 4 * header.vocab_size


def head_compute_bytes(header: GgufHeader, layers: Layers, context: int, batch: int) -> int:
    """Return the buffer for the graph of one prediction layer: attention, and twice the width."""
    values = (
        3 * layers.feed_forward
        + (4 + layers.experts_used) * header.embedding_length
        + layers.widest
    )
    return batch * (4 * values + 2 * masked_cells(layers, context, batch)) + 4 * header.vocab_size


def graph_bytes(header: GgufHeader, batch: int) -> int:
    """Return the memory in which a context describes its graphs, beside its named buffers."""
    tensors = len(header.tensors)
    if header.architecture in _STEPWISE:
        nodes = max(_STEPWISE_PER_TOKEN * batch, _STEPWISE_PER_TENSOR * tensors)
    else:
        nodes = max(_LEAST_NODES, _NODES_PER_TENSOR * tensors)
    return _GRAPHS * nodes * _BYTES_PER_NODE
