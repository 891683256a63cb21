"""What the layers of a model keep in the KV cache, from the values of its GGUF header.

Source: the hyperparameters as llama.cpp reads them (llama-model.cpp, llama-hparams.cpp,
src/models/*.cpp) and the layers its caches leave out (llama-kv-cache.cpp, `has_kv`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from engines.models.gguf.reader import BadGguf, Value

# Sliding layers where the file gives no pattern: of each `period` layers one sees the whole
# context, the last of them, or the first ("dense first").
_PERIODS: Final = {
    "afmoe": 4, "cohere2": 4, "exaone-moe": 4, "exaone4": 4, "gemma-embedding": 6, "gemma2": 2,
    "gemma3": 6, "gemma3n": 5, "gpt-oss": 2, "llama4": 4, "mellum": 4, "muse-glimmer": 4,
    "olmo2": 4, "plamo3": 8,
}  # fmt: skip
_PERIODS_DENSE_FIRST: Final = {"cohere2moe": 4, "laguna": 4, "modern-bert": 3, "smallthinker": 4}
# Architectures whose window is known to llama.cpp rather than to the file.
_WINDOWS: Final = {"exaone4": 4096, "gemma2": 4096, "smallthinker": 4096, "llama4": 8192}
_WINDOW_IGNORED: Final = {"phi3"}
_RECURRENT_INTERVAL: Final = {"qwen3next": 4, "qwen35": 4, "qwen35moe": 4, "qwen4exp": 4}
# What the state of a recurrent layer is made of: Mamba and delta nets, KDA, short convolutions.
_STATES: Final = ("ssm.state_size", "kda.head_dim", "shortconv.l_cache")
_GEMMA3N_LAYERS_WITH_CACHE: Final = 20
MAX_LAYERS: Final = 512


@dataclass(frozen=True)
class CacheLayer:
    """A layer with keys and values of its own: how many numbers of each it keeps for a token.

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


class Keys:
    """The values of one architecture, checked for their type.

    Raises BadGguf when a value is not of the kind that llama.cpp expects there.
    """

    def __init__(self, architecture: str, values: Mapping[str, Value]) -> None:
        self.architecture = architecture
        self._values = values

    def __contains__(self, key: str) -> bool:
        return f"{self.architecture}.{key}" in self._values

    @property
    def known(self) -> bool:
        """Whether the file says anything at all of its architecture."""
        return any(key.startswith(f"{self.architecture}.") for key in self._values)

    def number(self, key: str, default: int = 0) -> int:
        value = self._values.get(f"{self.architecture}.{key}", default)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 32:
            raise BadGguf(f"its value {self.architecture}.{key} is not a whole number")
        return value

    def real(self, key: str, default: float) -> float:
        value = self._values.get(f"{self.architecture}.{key}", default)
        if not isinstance(value, float):
            raise BadGguf(f"its value {self.architecture}.{key} is not a decimal number")
        return value

    def text(self, key: str, default: str) -> str:
        value = self._values.get(f"{self.architecture}.{key}", default)
        if not isinstance(value, str):
            raise BadGguf(f"its value {self.architecture}.{key} is not a text")
        return value

    def per_layer(self, key: str, count: int, default: tuple[int, ...]) -> tuple[int, ...]:
        """A value for each of `count` layers; a single one stands for all of them."""
        value = self._values.get(f"{self.architecture}.{key}")
        if value is None:
            return default
        if not isinstance(value, tuple):
            return (self.number(key),) * count
        numbers = tuple(number for number in value if isinstance(number, int) and number >= 0)
        if len(numbers) != len(value) or len(numbers) < count:
            raise BadGguf(f"its list {self.architecture}.{key} does not fit its {count} layers")
        return numbers[:count]

    def numbers(self, key: str) -> tuple[int, ...]:
        """The whole numbers of a list; none if there is no such list."""
        value = self._values.get(f"{self.architecture}.{key}", ())
        if not isinstance(value, tuple) or not all(isinstance(number, int) for number in value):
            raise BadGguf(f"its value {self.architecture}.{key} is not a list of whole numbers")
        return tuple(number for number in value if isinstance(number, int))

    def is_list(self, key: str) -> bool:
        return isinstance(self._values.get(f"{self.architecture}.{key}"), tuple)


def read_layers(keys: Keys) -> Layers:
    """Raises BadGguf for values on which llama.cpp would end the whole process."""
    count = keys.number("block_count")
    if not 1 <= count <= MAX_LAYERS:
        raise BadGguf(f"it claims {count} layers; 1 to {MAX_LAYERS} are possible")
    trunk = count - keys.number("nextn_predict_layers")
    if trunk < 0:
        raise BadGguf("it claims more prediction layers than it has layers")
    heads = keys.per_layer("attention.head_count", count, (0,) * count)
    kv_heads = keys.per_layer("attention.head_count_kv", count, heads)
    default = keys.number("embedding_length") // heads[0] if heads[0] else 0
    key_length = keys.number("attention.key_length", default)
    value_length = keys.number("attention.value_length", default)
    key_swa = keys.number("attention.key_length_swa", key_length)
    value_swa = keys.number("attention.value_length_swa", value_length)
    window = _window(keys)
    sliding = _sliding(keys, count, trunk) if window else (False,) * count
    shared = _shared(keys, count)
    recurrent = _recurrent(keys, count, trunk)
    compressed = "attention.key_length_mla" in keys

    def cache(layer: int) -> CacheLayer:
        key, value = (key_swa, value_swa) if sliding[layer] else (key_length, value_length)
        value_width = 0 if compressed else kv_heads[layer] * value
        return CacheLayer(layer, kv_heads[layer] * key, value_width, sliding[layer])

    own = min(trunk or count, count - shared)
    owners = [layer for layer in range(count) if kv_heads[layer] and not recurrent[layer]]
    longest = max(key_length, key_swa, keys.number("attention.key_length_mla"))
    inner = keys.per_layer("feed_forward_length", count, (0,) * count)
    experts = keys.per_layer("expert_feed_forward_length", count, inner)
    used = max(keys.per_layer("expert_used_count", count, (0,) * count))
    return Layers(
        count=count,
        heads=heads,
        kv_heads=kv_heads,
        key_length=key_length,
        value_length=value_length,
        key_length_swa=key_swa,
        value_length_swa=value_swa,
        window=window if any(sliding) else 0,
        sliding=sliding,
        shared_kv=shared,
        caches=tuple(cache(layer) for layer in owners if layer < own),
        head_caches=tuple(cache(layer) for layer in owners if 0 < trunk <= layer),
        recurrent=tuple(layer for layer in range(count) if recurrent[layer]),
        recurrent_bytes=sum(recurrent) * _state_bytes(keys),
        recurrent_width=_mixed_at_once(keys) if any(recurrent) else 0,
        widest=max(heads) * longest,
        feed_forward=max(*inner, max(experts) * used),
        experts_used=used,
    )


def _window(keys: Keys) -> int:
    if keys.architecture in _WINDOW_IGNORED:
        return 0
    given = keys.number("attention.sliding_window", _WINDOWS.get(keys.architecture, 0))
    # llama.cpp takes this window for Llama 4 whatever the file says, unless it says zero.
    return _WINDOWS["llama4"] if keys.architecture == "llama4" and given else given


def _sliding(keys: Keys, count: int, trunk: int) -> tuple[bool, ...]:
    """Which layers have a window. Unknown architectures get none: the larger estimate."""
    pattern = "attention.sliding_window_pattern"
    if keys.is_list(pattern):
        return tuple(bool(flag) for flag in keys.per_layer(pattern, count, ()))
    dense_first = _PERIODS_DENSE_FIRST.get(keys.architecture)
    default = dense_first or _PERIODS.get(keys.architecture)
    if default is None:
        return (False,) * count
    period = keys.number(pattern, default)
    dense = 0 if dense_first else period - 1
    return tuple(
        layer < trunk and (period == 0 or layer % period != dense) for layer in range(count)
    )


def _shared(keys: Keys, count: int) -> int:
    if keys.architecture == "gemma3n":
        return max(0, count - _GEMMA3N_LAYERS_WITH_CACHE)
    if keys.architecture == "gemma4-assistant":
        return count  # a drafter reads the cache of its target
    shared = keys.number("attention.shared_kv_layers")
    if shared and count - shared < 2:
        raise BadGguf(f"{shared} of its {count} layers share a KV cache; two must own one")
    return shared


def _recurrent(keys: Keys, count: int, trunk: int) -> tuple[bool, ...]:
    if "attention.recurrent_layers" in keys:
        flags = keys.per_layer("attention.recurrent_layers", count, (0,) * count)
        return tuple(bool(flag) for flag in flags)
    if keys.architecture not in _RECURRENT_INTERVAL:
        has_state = any(keys.number(key) for key in _STATES)
        none = (0,) * count
        kv_heads = keys.per_layer("attention.head_count_kv", count, none)
        # A layer of Nemotron H either mixes, attends or feeds forward; of others it feeds as well.
        feeds = keys.architecture in {"nemotron_h", "nemotron_h_moe"}
        inner = keys.per_layer("feed_forward_length", count, none) if feeds else none
        return tuple(
            layer < trunk and has_state and not kv_heads[layer] and not inner[layer]
            for layer in range(count)
        )
    interval = keys.number("full_attention_interval", _RECURRENT_INTERVAL[keys.architecture])
    if interval == 0:
        raise BadGguf("its interval of attention layers is zero")
    return tuple(layer < trunk and (layer + 1) % interval != 0 for layer in range(count))


def _mixed(keys: Keys) -> int:
    return keys.number("ssm.inner_size") + 2 * keys.number("ssm.group_count") * keys.number(
        "ssm.state_size"
    )


def _mixed_at_once(keys: Keys) -> int:
    """Half of the values that a token of a recurrent layer has at once."""
    inner = keys.number("ssm.inner_size")
    # Mamba 1 has the gate, the convolution, the time step and the result of the scan beside it.
    return _mixed(keys) if keys.number("ssm.group_count") else 5 * inner // 2


def _state_bytes(keys: Keys) -> int:
    """The float32 state of one recurrent layer: convolution and recurrence (llama_hparams)."""
    if taps := keys.number("shortconv.l_cache"):
        return 4 * (taps - 1) * keys.number("embedding_length")
    if head := keys.number("kda.head_dim"):
        heads = keys.per_layer("attention.head_count", 1, (0,))[0]
        taps = keys.number("ssm.conv_kernel", 4) - 1
        return 4 * heads * head * (3 * taps + head)
    taps = max(keys.number("ssm.conv_kernel"), 1) - 1
    recurrence = keys.number("ssm.inner_size") * keys.number("ssm.state_size")
    return 4 * (taps * _mixed(keys) + recurrence)
