"""A made Step 3.5: attention only, and several heads in the file, each of which drafts one token.

Its architecture is "step35"; the experts of the real ones are optional.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.support.made_blocks import (
    CONTEXT,
    NOISE,
    Random,
    Tensors,
    attention,
    common,
    ends,
    feed,
    given,
    guess,
    named,
    vector,
)
from tests.support.made_gguf import Tokens, starter_tokens, write_model
from tests.support.made_language import make_language
from tests.support.made_look_back import ROPE_BASE, look_back, remembered


@dataclass(frozen=True)
class Step:
    """Shape of a Step 3.5; every other layer has full attention, the rest a window."""

    layers: int = 4
    drafters: int = 3
    width: int = 128
    heads: int = 4
    kv_heads: int = 2
    head: int = 32
    inner: int = 256
    window: int = 128


def write_step(
    path: Path,
    shape: Step = Step(),
    *,
    context: float = CONTEXT,
    noise: float = NOISE,
    tokens: Tokens | None = None,
) -> Path:
    """Write a Step 3.5 whose last blocks are the heads; the n-th drafts the n-th token."""
    tokens = tokens or starter_tokens()
    language = make_language(tokens, shape.width)
    random = Random(5)
    tensors = ends(language) | {"output.weight": given(language.output)}
    for layer in range(shape.layers):
        block = _block(random, shape, context)
        if layer == 0:
            sizes = shape.heads, shape.kv_heads, shape.head, shape.head
            block |= look_back(language.memory, *sizes, shape.head**-0.5)
        tensors |= named(layer, block)
    known = remembered(language.memory, shape.width)
    for layer in range(shape.layers, shape.layers + shape.drafters):
        head = _block(random, shape, noise) | guess(random, known, noise)
        tensors |= named(layer, head)
    blocks = shape.layers + shape.drafters
    values = common("step35", "Made Step", blocks, shape.width, shape.inner) | {
        "step35.attention.head_count": shape.heads,
        "step35.attention.head_count_kv": shape.kv_heads,
        "step35.attention.key_length": shape.head,
        "step35.attention.value_length": shape.head,
        "step35.attention.sliding_window": shape.window,
        "step35.attention.sliding_window_pattern": [
            layer >= shape.layers or layer % 2 == 0 for layer in range(blocks)
        ],
        "step35.expert_feed_forward_length": 0,
        "step35.rope.dimension_count": shape.head,
        "step35.rope.freq_base": 1e6,
        "step35.rope.freq_base_swa": ROPE_BASE,
        "step35.nextn_predict_layers": shape.drafters,
    }
    return write_model(path, "step35", values | dict(tokens.values), tensors)


def _block(random: Random, shape: Step, scale: float) -> Tensors:
    sizes = shape.width, shape.heads, shape.kv_heads, shape.head
    norm = {"ffn_norm": vector(shape.width)}
    return attention(random, *sizes, scale) | norm | feed(random, shape.width, shape.inner, scale)
