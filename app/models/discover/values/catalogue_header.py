"""Makes a file header of a catalogue model, so that the engine can estimate its memory: pure.

Facts that the catalogue lacks are set so that the estimate is an upper bound: how the layers
differ, that the token table can stay in the computer's own memory, and which part of a mixture of
experts its experts are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from engines.models.gguf.header import GgufHeader, Kind, Mtp
from engines.models.gguf.layers import CacheLayer, Layers
from engines.models.gguf.reader import Tensor

if TYPE_CHECKING:
    from app.models.discover.values.catalogue import Shape, Size

_F16: Final = 2
# The widest feed-forward layer, in token widths: an upper bound for all models on the list.
_FEED_FORWARD: Final = 5
# The planner derives from the architecture whether a model keeps a state and can roll it back.
_RECURRENT: Final = "qwen35"
_STATELESS: Final = "llama"
# In a model that keeps a state, one in this many layers keeps a KV cache, as an MTP head does.
_CACHED: Final = 4


def header_of(size: Size, weights: int, *, head: bool) -> GgufHeader:
    """Make the header of a model.

    Args:
        weights: Bytes of its file.
        head: Whether the file contains its MTP head.
    """
    shape = size.shape
    count = shape.layers.value
    output = shape.vocabulary.value * shape.width.value / (size.parameters.value * 1e9)
    # A prediction layer counts as the last one. Its weights are not known separately.
    return _header(
        size,
        "chat",
        "embedded" if head else "none",
        _layers(shape, count, head=head),
        _tensors(weights, count, round(weights * min(0.5, output))),
    )


def drafter_header(size: Size, weights: int) -> GgufHeader:
    """Make the header of a drafter: one layer, which reads the KV cache of its model.

    Prediction layers in a separate file keep a cache of their own.
    """
    layers = _layers(size.shape, 1, head=False, cached=False)
    if size.mtp.kind == "embedded":
        layers = replace(layers, head_caches=_head_caches(size.shape, 0))
    return _header(size, "drafter", "drafter", layers, _tensors(weights, 1, 0))


def _header(
    size: Size, kind: Kind, mtp: Mtp, layers: Layers, tensors: tuple[Tensor, ...]
) -> GgufHeader:
    shape = size.shape
    weights = sum(tensor.size_bytes for tensor in tensors)
    return GgufHeader(
        architecture=_RECURRENT if shape.state else _STATELESS,
        name=size.name,
        kind=kind,
        mtp=mtp,
        parameters=round(size.parameters.value * 1e9),
        size_bytes=weights,
        weight_bytes=weights,
        quantisation="",
        context_max=shape.context_max.value,
        embedding_length=shape.width.value,
        embedding_per_layer=0,
        vocab_size=shape.vocabulary.value,
        chat_template=None,
        can=("chat",),
        nextn_predict_layers=1 if mtp == "embedded" else 0,
        layers=layers,
        tensors=tensors,
    )


def _layers(shape: Shape, count: int, *, head: bool, cached: bool = True) -> Layers:
    """Spread a token's cache evenly over the layers, as most models do."""
    width = shape.width.value
    window = shape.window.value if shape.window and shape.window_kv else 0
    caches = _caches(shape.kv.value, count, sliding=False)
    if shape.window_kv and window:
        caches += _caches(shape.window_kv.value, count, sliding=True)
    state = shape.state.value if shape.state else 0
    every = count + head
    return Layers(
        count=every,
        heads=(1,) * every,
        kv_heads=(1,) * every,
        key_length=width,
        value_length=width,
        key_length_swa=width,
        value_length_swa=width,
        window=window,
        sliding=(bool(window),) * every,
        shared_kv=0,
        caches=caches if cached else (),
        head_caches=_head_caches(shape, count) if head else (),
        recurrent_bytes=state,
        recurrent_width=0,
        widest=width,
        feed_forward=_FEED_FORWARD * width,
        experts_used=0,
        recurrent=tuple(range(count)) if state else (),
    )


def _head_caches(shape: Shape, layer: int) -> tuple[CacheLayer, ...]:
    caching = shape.layers.value // _CACHED if shape.state else shape.layers.value
    return (CacheLayer(layer, -(-shape.kv.value // _F16 // caching), 0, False),)


def _caches(of_a_token: int, count: int, *, sliding: bool) -> tuple[CacheLayer, ...]:
    numbers = of_a_token // _F16
    return tuple(
        CacheLayer(layer, _share(numbers, layer, count), 0, sliding) for layer in range(count)
    )


def _tensors(weights: int, count: int, output: int) -> tuple[Tensor, ...]:
    """Return one tensor for each layer and one for the output, with all the bytes between them."""
    tensors = []
    end = 0
    for layer in range(count):
        size = _share(weights - output, layer, count)
        tensors.append(Tensor(f"blk.{layer}.weight", "", (size,), 0, size, end))
        end += size
    if output:
        tensors.append(Tensor("output.weight", "", (output,), 0, output, end))
    return tuple(tensors)


def _share(amount: int, layer: int, count: int) -> int:
    return amount // count + (layer < amount % count)
