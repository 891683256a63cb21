"""The layers of a model and what each keeps in the KV cache."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CacheLayer:
    """A layer with keys and values of its own, and how many numbers of each a token takes.

    layer: its place in the model, from 0.
    sliding: only the tokens inside the model's window are kept.
    """

    layer: int
    key_width: int
    value_width: int
    sliding: bool = False


@dataclass(frozen=True)
class Layers:
    """The attention of a model, layer by layer.

    window: tokens seen by the sliding layers, 0 if there are none.
    caches: of the layers that own a cache, in order; a layer that shares another's is left out.
    head_caches: of the prediction layers, which the model itself leaves out.
    recurrent: the layers with a state. recurrent_bytes: the fixed state of all of them together,
    the same for every context.
    recurrent_width: values of a token that one of them mixes, 0 if there are none.
    widest: most query values of one layer for a token. feed_forward: values of the widest inner
    layer for a token, of all `experts_used` together where there are experts.
    """

    count: int
    heads: tuple[int, ...]
    kv_heads: tuple[int, ...]
    key_length: int
    value_length: int
    key_length_swa: int
    value_length_swa: int
    window: int
    sliding: tuple[bool, ...]
    shared_kv: int
    caches: tuple[CacheLayer, ...]
    recurrent_bytes: int
    recurrent_width: int
    widest: int
    feed_forward: int
    experts_used: int
    head_caches: tuple[CacheLayer, ...] = ()
    recurrent: tuple[int, ...] = ()
