"""The layers of a model, read from a GGUF header by the key names of llama.cpp's package.

Source: the hyperparameters as llama.cpp reads them (llama-model.cpp, llama-hparams.cpp,
src/models/*.cpp) and the layers that its caches leave out (llama-kv-cache.cpp, `has_kv`). No
package says which rule applies to which architecture; the names are those of llama-arch.cpp.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gguf import Keys as Names

from engines.models.gguf.layers import CacheLayer, Layers
from engines.models.gguf.reader import BadGguf, Value, whole_number
from engines.sentences import N_

# Sliding layers if the file gives no pattern: of each `period` layers one sees the whole context,
# either the last of them or the first ("dense first").
PERIODS: Final = {
    "afmoe": 4, "cohere2": 4, "exaone-moe": 4, "exaone4": 4, "gemma-embedding": 6, "gemma2": 2,
    "gemma3": 6, "gemma3n": 5, "gpt-oss": 2, "llama4": 4, "mellum": 4, "muse-glimmer": 4,
    "olmo2": 4, "plamo3": 8,
}  # fmt: skip
PERIODS_DENSE_FIRST: Final = {"cohere2moe": 4, "laguna": 4, "modern-bert": 3, "smallthinker": 4}
# Architectures whose window is fixed in llama.cpp rather than in the file.
WINDOWS: Final = {"exaone4": 4096, "gemma2": 4096, "smallthinker": 4096, "llama4": 8192}
WINDOW_IGNORED: Final = {"phi3"}
RECURRENT_INTERVAL: Final = {"qwen3next": 4, "qwen35": 4, "qwen35moe": 4, "qwen4exp": 4}
# The keys for a recurrent layer's state: of Mamba and delta nets, KDA, short convolutions.
_STATES: Final = (Names.SSM.STATE_SIZE, Names.KDA.HEAD_DIM, Names.ShortConv.L_CACHE)
_GEMMA3N_LAYERS_WITH_CACHE: Final = 20
MAX_LAYERS: Final = 512
# The only key that the pinned llama.cpp reads and the package 0.19.0 has no name for.
_RECURRENT_LAYERS: Final = "{arch}.attention.recurrent_layers"


class Hyperparameters:
    """The values of one architecture, checked for their type.

    Keys are written as in the package, such as "{arch}.block_count". Raises BadGguf if a value is
    not of the type that llama.cpp expects.
    """

    def __init__(self, architecture: str, values: Mapping[str, Value]) -> None:
        self.architecture = architecture
        self._values = values

    def __contains__(self, key: str) -> bool:
        return self.full_key(key) in self._values

    @property
    def has_values(self) -> bool:
        """True if the file contains any value for its architecture."""
        return any(key.startswith(f"{self.architecture}.") for key in self._values)

    def number(self, key: str, default: int = 0) -> int:
        """Return a whole number below 2³², or the default."""
        return whole_number(self._values, self.full_key(key), default)

    def real(self, key: str, default: float) -> float:
        """Return a decimal number, or the default."""
        value = self._values.get(self.full_key(key), default)
        if not isinstance(value, float):
            raise BadGguf(N_("its value {key} is not a decimal number", key=self.full_key(key)))
        return value

    def text(self, key: str, default: str) -> str:
        """Return a text, or the default."""
        value = self._values.get(self.full_key(key), default)
        if not isinstance(value, str):
            raise BadGguf(N_("its value {key} is not a text", key=self.full_key(key)))
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        """Return a truth value, or the default."""
        value = self._values.get(self.full_key(key), default)
        if not isinstance(value, bool):
            raise BadGguf(N_("its value {key} is not yes or no", key=self.full_key(key)))
        return value

    def per_layer(self, key: str, count: int, default: tuple[int, ...]) -> tuple[int, ...]:
        """Return a value for each of `count` layers; a single value stands for all of them."""
        value = self._values.get(self.full_key(key))
        if value is None:
            return default
        if not isinstance(value, tuple):
            return (self.number(key),) * count
        numbers = tuple(number for number in value if isinstance(number, int) and number >= 0)
        if len(numbers) != len(value) or len(numbers) < count:
            raise BadGguf(
                N_(
                    "its list {key} does not fit its {count} layers",
                    key=self.full_key(key),
                    count=count,
                )
            )
        return numbers[:count]

    def numbers(self, key: str) -> tuple[int, ...]:
        """Return the whole numbers of a list; () if there is no such list."""
        value = self._values.get(self.full_key(key), ())
        if not isinstance(value, tuple) or not all(isinstance(number, int) for number in value):
            raise BadGguf(
                N_("its value {key} is not a list of whole numbers", key=self.full_key(key))
            )
        return tuple(number for number in value if isinstance(number, int))

    def is_list(self, key: str) -> bool:
        """Return whether the file has a list under this key."""
        return isinstance(self._values.get(self.full_key(key)), tuple)

    def full_key(self, key: str) -> str:
        """Return the key as it stands in the file, with the architecture filled in."""
        return key.replace("{arch}", self.architecture)


def read_layers(hparams: Hyperparameters) -> Layers:
    """Read the layers. Raises BadGguf for values on which llama.cpp would abort."""
    count = hparams.number(Names.LLM.BLOCK_COUNT)
    if not 1 <= count <= MAX_LAYERS:
        raise BadGguf(
            N_(
                "it claims {count} layers; 1 to {max_layers} are possible",
                count=count,
                max_layers=MAX_LAYERS,
            )
        )
    trunk = count - hparams.number(Names.LLM.NEXTN_PREDICT_LAYERS)
    if trunk < 0:
        raise BadGguf(N_("it claims more prediction layers than it has layers"))
    heads = hparams.per_layer(Names.Attention.HEAD_COUNT, count, (0,) * count)
    kv_heads = hparams.per_layer(Names.Attention.HEAD_COUNT_KV, count, heads)
    default = hparams.number(Names.LLM.EMBEDDING_LENGTH) // heads[0] if heads[0] else 0
    key_length = hparams.number(Names.Attention.KEY_LENGTH, default)
    value_length = hparams.number(Names.Attention.VALUE_LENGTH, default)
    key_swa = hparams.number(Names.Attention.KEY_LENGTH_SWA, key_length)
    value_swa = hparams.number(Names.Attention.VALUE_LENGTH_SWA, value_length)
    window = _window(hparams)
    sliding = _sliding(hparams, count, trunk) if window else (False,) * count
    shared = _shared(hparams, count)
    recurrent = _recurrent(hparams, count, trunk)
    compressed = Names.Attention.KEY_LENGTH_MLA in hparams

    def cache(layer: int) -> CacheLayer:
        key, value = (key_swa, value_swa) if sliding[layer] else (key_length, value_length)
        value_width = 0 if compressed else kv_heads[layer] * value
        return CacheLayer(layer, kv_heads[layer] * key, value_width, sliding[layer])

    own_count = min(trunk or count, count - shared)
    owners = [layer for layer in range(count) if kv_heads[layer] and not recurrent[layer]]
    longest = max(key_length, key_swa, hparams.number(Names.Attention.KEY_LENGTH_MLA))
    inner = hparams.per_layer(Names.LLM.FEED_FORWARD_LENGTH, count, (0,) * count)
    experts = hparams.per_layer(Names.LLM.EXPERT_FEED_FORWARD_LENGTH, count, inner)
    active_experts = max(hparams.per_layer(Names.LLM.EXPERT_USED_COUNT, count, (0,) * count))
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
        caches=tuple(cache(layer) for layer in owners if layer < own_count),
        head_caches=tuple(cache(layer) for layer in owners if 0 < trunk <= layer),
        recurrent=tuple(layer for layer in range(count) if recurrent[layer]),
        recurrent_bytes=sum(recurrent) * _state_bytes(hparams),
        recurrent_width=_peak_width(hparams) if any(recurrent) else 0,
        widest=max(heads) * longest,
        feed_forward=max(*inner, max(experts) * active_experts),
        experts_used=active_experts,
    )


def _window(hparams: Hyperparameters) -> int:
    if hparams.architecture in WINDOW_IGNORED:
        return 0
    window = hparams.number(Names.Attention.SLIDING_WINDOW, WINDOWS.get(hparams.architecture, 0))
    # llama.cpp uses this window for Llama 4 whatever the file says, unless it says zero.
    return WINDOWS["llama4"] if hparams.architecture == "llama4" and window else window


def _sliding(hparams: Hyperparameters, count: int, trunk: int) -> tuple[bool, ...]:
    """Return which layers have a window; unknown architectures get none: the larger estimate."""
    pattern = Names.Attention.SLIDING_WINDOW_PATTERN
    if hparams.is_list(pattern):
        return tuple(bool(flag) for flag in hparams.per_layer(pattern, count, ()))
    dense_first = PERIODS_DENSE_FIRST.get(hparams.architecture)
    default = dense_first or PERIODS.get(hparams.architecture)
    if default is None:
        return (False,) * count
    period = hparams.number(pattern, default)
    dense = 0 if dense_first else period - 1
    return tuple(
        layer < trunk and (period == 0 or layer % period != dense) for layer in range(count)
    )


def _shared(hparams: Hyperparameters, count: int) -> int:
    if hparams.architecture == "gemma3n":
        return max(0, count - _GEMMA3N_LAYERS_WITH_CACHE)
    if hparams.architecture == "gemma4-assistant":
        return count  # a drafter reads the cache of its target
    shared = hparams.number(Names.Attention.SHARED_KV_LAYERS)
    if shared and count - shared < 2:
        raise BadGguf(
            N_(
                "{shared} of its {count} layers share a KV cache; two must own one",
                shared=shared,
                count=count,
            )
        )
    return shared


def _recurrent(hparams: Hyperparameters, count: int, trunk: int) -> tuple[bool, ...]:
    if _RECURRENT_LAYERS in hparams:
        flags = hparams.per_layer(_RECURRENT_LAYERS, count, (0,) * count)
        return tuple(bool(flag) for flag in flags)
    if hparams.architecture not in RECURRENT_INTERVAL:
        has_state = any(hparams.number(key) for key in _STATES)
        none = (0,) * count
        kv_heads = hparams.per_layer(Names.Attention.HEAD_COUNT_KV, count, none)
        # A layer of Nemotron H is either recurrent, attention or feed-forward; in other models
        # every layer also has a feed-forward part.
        has_feed_forward = hparams.architecture in {"nemotron_h", "nemotron_h_moe"}
        inner = (
            hparams.per_layer(Names.LLM.FEED_FORWARD_LENGTH, count, none)
            if has_feed_forward
            else none
        )
        return tuple(
            layer < trunk and has_state and not kv_heads[layer] and not inner[layer]
            for layer in range(count)
        )
    default_interval = RECURRENT_INTERVAL[hparams.architecture]
    interval = hparams.number(Names.LLM.FULL_ATTENTION_INTERVAL, default_interval)
    if interval == 0:
        raise BadGguf(N_("its interval of attention layers is zero"))
    return tuple(layer < trunk and (layer + 1) % interval != 0 for layer in range(count))


def _mixed_width(hparams: Hyperparameters) -> int:
    groups, state = hparams.number(Names.SSM.GROUP_COUNT), hparams.number(Names.SSM.STATE_SIZE)
    return hparams.number(Names.SSM.INNER_SIZE) + 2 * groups * state


def _peak_width(hparams: Hyperparameters) -> int:
    """Return half of the values that a recurrent layer holds at once for a token."""
    inner = hparams.number(Names.SSM.INNER_SIZE)
    # Mamba 1 holds the gate, the convolution, the time step and the scan's result beside the input.
    return _mixed_width(hparams) if hparams.number(Names.SSM.GROUP_COUNT) else 5 * inner // 2


def _state_bytes(hparams: Hyperparameters) -> int:
    """Return the bytes of one recurrent layer's state: convolution and recurrence, in float32."""
    if taps := hparams.number(Names.ShortConv.L_CACHE):
        return 4 * (taps - 1) * hparams.number(Names.LLM.EMBEDDING_LENGTH)
    if head := hparams.number(Names.KDA.HEAD_DIM):
        heads = hparams.per_layer(Names.Attention.HEAD_COUNT, 1, (0,))[0]
        taps = hparams.number(Names.SSM.CONV_KERNEL, 4) - 1
        return 4 * heads * head * (3 * taps + head)
    taps = max(hparams.number(Names.SSM.CONV_KERNEL), 1) - 1
    recurrence = hparams.number(Names.SSM.INNER_SIZE) * hparams.number(Names.SSM.STATE_SIZE)
    return 4 * (taps * _mixed_width(hparams) + recurrence)
