"""A made Mamba, and a small Llama that drafts for it; both write the same language."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.support.made_blocks import (
    NOISE,
    Random,
    Tensors,
    attention,
    common,
    ends,
    feed,
    given,
    named,
    vector,
)
from tests.support.made_gguf import Tokens, starter_tokens, write_model
from tests.support.made_language import make_language

_KERNEL = 4
_CONTEXT = 0.5
"""How much each layer adds that the draft model cannot know; it guesses nine tokens of ten."""


@dataclass(frozen=True)
class Mamba:
    """Shape of a Mamba, whose layers are all recurrent, and of its draft model."""

    layers: int = 4
    width: int = 128
    state: int = 16
    rank: int = 8
    small_layers: int = 1
    small_inner: int = 128


def write_mamba(
    path: Path, drafter: Path, shape: Mamba = Mamba(), *, tokens: Tokens | None = None
) -> tuple[Path, Path]:
    """Write a Mamba, and the Llama that drafts for it."""
    tokens = tokens or starter_tokens()
    language = make_language(tokens, shape.width)
    whole = ends(language) | {"output.weight": given(language.output)}
    random, inner = Random(4), 2 * shape.width
    values = common("mamba", "Made Mamba", shape.layers, shape.width, 0) | {
        "mamba.attention.head_count": 0,
        "mamba.ssm.conv_kernel": _KERNEL,
        "mamba.ssm.inner_size": inner,
        "mamba.ssm.state_size": shape.state,
        "mamba.ssm.time_step_rank": shape.rank,
    }
    tensors = dict(whole)
    for layer in range(shape.layers):
        tensors |= named(layer, _recurrent(random, shape, inner))
    write_model(path, "mamba", values | dict(tokens.values), tensors)

    heads, head = 2, 64
    values = common("llama", "Made draft model", shape.small_layers, shape.width, shape.small_inner)
    values |= {
        "llama.attention.head_count": heads,
        "llama.attention.key_length": head,
        "llama.attention.value_length": head,
        "llama.rope.dimension_count": head,
    }
    tensors = dict(whole)
    for layer in range(shape.small_layers):
        block = attention(random, shape.width, heads, heads, head, NOISE)
        block |= feed(random, shape.width, shape.small_inner, NOISE)
        del block["attn_q_norm"], block["attn_k_norm"]
        tensors |= named(layer, block | {"ffn_norm": vector(shape.width)})
    write_model(drafter, "llama", values | dict(tokens.values), tensors)
    return path, drafter


def _recurrent(random: Random, shape: Mamba, inner: int) -> Tensors:
    return {
        "attn_norm": vector(shape.width),
        "ssm_in": random.matrix(2 * inner, shape.width),
        "ssm_conv1d": random.matrix(inner, _KERNEL),
        "ssm_conv1d.bias": vector(inner, 0.0),
        "ssm_x": random.matrix(shape.rank + 2 * shape.state, inner),
        "ssm_dt": random.matrix(inner, shape.rank),
        "ssm_dt.bias": vector(inner, -2.0),
        "ssm_a": given(np.full((inner, shape.state), -1.0, np.float32)),
        "ssm_d": vector(inner),
        "ssm_out": random.matrix(shape.width, inner, _CONTEXT),
    }
