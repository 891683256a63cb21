"""A made Qwen 3.5: gated delta nets, some full attention, and a head in the same file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.support.made_blocks import (
    CONTEXT,
    NOISE,
    Random,
    Tensors,
    attention,
    common,
    ends,
    feed,
    feed_experts,
    given,
    guess,
    named,
    vector,
)
from tests.support.made_gguf import Floats, Tensor, Tokens, starter_tokens, write_model
from tests.support.made_language import Language, make_language
from tests.support.made_look_back import ROPE_BASE, look_back, remembered

_ROTATED = 32


@dataclass(frozen=True)
class Qwen:
    """Shape of a Qwen 3.5; every fourth layer has full attention, the others a delta net.

    Attributes:
        experts: The number of experts in each layer, two of which are used per token; 0 for none.
        next: True for a Qwen3-Next, whose state llama.cpp does not keep token by token.
    """

    layers: int = 4
    width: int = 128
    heads: int = 2
    kv_heads: int = 1
    head: int = 64
    inner: int = 256
    state: int = 32
    key_heads: int = 2
    value_heads: int = 4
    experts: int = 0
    next: bool = False


QWEN_NEXT = Qwen(inner=128, experts=4, next=True)


def write_qwen(
    path: Path,
    shape: Qwen = Qwen(),
    *,
    context: float = CONTEXT,
    noise: float = NOISE,
    tokens: Tokens | None = None,
    drafts: bool = True,
) -> Path:
    """Write a Qwen 3.5 or a Qwen3-Next.

    Args:
        path: The file to write.
        shape: Its shape.
        context: How much its layers disturb the knowledge of a head.
        noise: How much the head's own layer disturbs its guess.
        tokens: The tokenizer; the starter's by default.
        drafts: True if its last block is a head that drafts.
    """
    tokens = tokens or starter_tokens()
    language = make_language(tokens, shape.width)
    random = Random(2)
    tensors = ends(language) | {"output.weight": given(language.output)}
    for layer in range(shape.layers):
        mix = _attention if layer % 4 == 3 else _delta_net
        block = mix(random, shape, context) | _feed(random, shape, context)
        if layer == 3:
            block |= _look_back(shape, language)
        tensors |= named(layer, block)
    if drafts:
        head = _attention(random, shape, noise) | _feed(random, shape, noise)
        head |= guess(random, remembered(language.memory, shape.width), noise)
        tensors |= named(shape.layers, head)
    kind = "qwen3next" if shape.next else "qwen35moe" if shape.experts else "qwen35"
    its: dict[str, object] = {
        "attention.head_count": shape.heads,
        "attention.head_count_kv": shape.kv_heads,
        "attention.key_length": shape.head,
        "attention.value_length": shape.head,
        "rope.freq_base": ROPE_BASE,
        "rope.dimension_count": _ROTATED,
        "ssm.conv_kernel": 4,
        "ssm.inner_size": shape.value_heads * shape.state,
        "ssm.state_size": shape.state,
        "ssm.time_step_rank": shape.value_heads,
        "ssm.group_count": shape.key_heads,
        "full_attention_interval": 4,
    }
    if drafts:
        its["nextn_predict_layers"] = 1
    if not shape.next:
        its["rope.dimension_sections"] = [6, 5, 5, 0]
    if shape.experts:
        its |= {
            "expert_count": shape.experts,
            "expert_used_count": 2,
            "expert_feed_forward_length": shape.inner,
            "expert_shared_feed_forward_length": shape.inner,
        }
    values = common(kind, "Made Qwen", shape.layers + drafts, shape.width, shape.inner)
    values |= {f"{kind}.{name}": value for name, value in its.items()}
    return write_model(path, kind, values | dict(tokens.values), tensors)


def _delta_net(random: Random, shape: Qwen, scale: float) -> Tensors:
    value = shape.value_heads * shape.state
    mixed = 2 * shape.key_heads * shape.state + value
    heads = shape.value_heads
    if shape.next:
        rates = {"ssm_ba": random.matrix(2 * heads, shape.width)}
    else:
        rates = {
            "ssm_alpha": random.matrix(heads, shape.width),
            "ssm_beta": random.matrix(heads, shape.width),
        }
    return {
        "attn_norm": vector(shape.width),
        "attn_qkv": random.matrix(mixed, shape.width),
        "attn_gate": random.matrix(value, shape.width),
        "ssm_conv1d": random.matrix(mixed, 4),
        # These two values halve the state about every five tokens.
        "ssm_dt.bias": vector(heads, -2.0),
        "ssm_a": vector(heads, -1.0),
        **rates,
        "ssm_norm": vector(shape.state),
        "ssm_out": random.matrix(shape.width, value, scale),
    }


def _attention(random: Random, shape: Qwen, scale: float) -> Tensors:
    sizes = shape.width, shape.heads, shape.kv_heads, shape.head
    # The second half of each query gates the result of its head.
    query = {"attn_q": random.matrix(2 * shape.heads * shape.head, shape.width)}
    return attention(random, *sizes, scale) | query


def _look_back(shape: Qwen, language: Language) -> Tensors:
    heads, width = shape.heads, shape.width
    # The gate of the heads is sigmoid(0): it passes half of their result.
    block = look_back(
        language.memory * 2, heads, shape.kv_heads, shape.head, _ROTATED, shape.head**-0.5
    )
    query = block["attn_q"]

    def make() -> Floats:
        gated = np.zeros((heads, 2, shape.head, width), np.float32)
        gated[:, 0] = query.make().reshape(heads, shape.head, width)
        return gated.reshape(-1, width)

    return block | {"attn_q": Tensor((2 * query.shape[0], width), make)}


def _feed(random: Random, shape: Qwen, scale: float) -> Tensors:
    norm = {"post_attention_norm": vector(shape.width)}
    if shape.experts:
        return norm | feed_experts(random, shape.experts, shape.width, shape.inner, scale)
    return norm | feed(random, shape.width, shape.inner, scale)
