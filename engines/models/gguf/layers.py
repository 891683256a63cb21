"""The layers of a model and what each of them keeps in the KV cache."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CacheLayer:
    """A layer with keys and values of its own.

    Attributes:
        layer: Its index in the model, from 0.
        key_width: Values in the keys of one token.
        value_width: Values in the values of one token.
        sliding: Whether only the tokens inside the model's window are kept.
    """

    layer: int
    key_width: int
    value_width: int
    sliding: bool = False


@dataclass(frozen=True)
class Layers:
    """The attention of a model, layer by layer.

    Attributes:
        window: Tokens that the sliding layers see; 0 if there are none.
        caches: Of the layers that own a cache, in order; layers that share another's are left out.
        recurrent_bytes: The fixed state of all recurrent layers together, the same for every
            context.
        recurrent_width: Values that a recurrent layer mixes for a token; 0 if there are none.
        widest: Most query values of one layer for a token.
        feed_forward: Values of the widest feed-forward layer for a token; with experts, of all
            `experts_used` together.
        head_caches: Of the prediction layers, which the model itself leaves out.
        recurrent: Indexes of the layers with a recurrent state.
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
