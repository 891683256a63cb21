"""A made Gemma 4 and its drafter, a small model that reads the cache of the large one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.support.made_blocks import (
    CONTEXT,
    NOISE,
    Random,
    Tensors,
    beside,
    common,
    ends,
    given,
    named,
    vector,
)
from tests.support.made_gguf import Tokens, starter_tokens, write_model
from tests.support.made_language import Language, make_language
from tests.support.made_look_back import ROPE_BASE, SHARE, look_back, remembered


@dataclass(frozen=True)
class Gemma:
    """Shape of a Gemma 4 and its drafter; every `period`th layer has full attention.

    Attributes:
        per_layer: The width of the embeddings that each layer has for itself, or 0.
    """

    layers: int = 4
    width: int = 192
    heads: int = 2
    kv_heads: int = 1
    head: int = 64
    full_head: int = 128
    inner: int = 256
    period: int = 2
    window: int = 128
    per_layer: int = 0
    drafter_layers: int = 2
    drafter_width: int = 128
    drafter_inner: int = 256


def write_gemma(
    target: Path,
    drafter: Path,
    shape: Gemma = Gemma(),
    *,
    context: float = CONTEXT,
    noise: float = NOISE,
    tokens: Tokens | None = None,
) -> tuple[Path, Path]:
    """Write a Gemma 4 and its drafter, which reads the target's KV cache and hidden state."""
    tokens = tokens or starter_tokens()
    language = make_language(tokens, shape.width, shape.drafter_width)
    _write_target(target, shape, language, tokens, context)
    _write_drafter(drafter, shape, language, tokens, noise)
    return target, drafter


def _write_target(
    path: Path, shape: Gemma, language: Language, tokens: Tokens, context: float
) -> None:
    random = Random(3)
    # llama.cpp multiplies the embedding of a Gemma by the square root of its width.
    tensors = ends(language, shape.width**-0.5) | {"output.weight": given(language.output)}
    tensors["rope_freqs.weight"] = vector(shape.full_head // 2)
    if shape.per_layer:
        all_layers = shape.per_layer * shape.layers
        tensors |= {
            "per_layer_token_embd.weight": random.matrix(tokens.count, all_layers),
            "per_layer_model_proj.weight": random.matrix(all_layers, shape.width),
            "per_layer_proj_norm.weight": vector(shape.per_layer),
        }
    for layer in range(shape.layers):
        full = (layer + 1) % shape.period == 0
        block = _gemma_block(random, shape, shape.width, shape.inner, full, context)
        size = shape.full_head if full else shape.head
        block |= {
            "attn_k": random.matrix(shape.kv_heads * size, shape.width),
            "attn_v": random.matrix(shape.kv_heads * size, shape.width),
            "attn_k_norm": vector(size),
        }
        if layer == 0:
            sizes = shape.heads, shape.kv_heads, size, size
            block |= look_back(language.memory, *sizes, 1.0)
            block["post_attention_norm"] = vector(shape.width, SHARE)
        if shape.per_layer:
            block |= {
                "inp_gate": random.matrix(shape.per_layer, shape.width),
                "proj": random.matrix(shape.width, shape.per_layer),
                "post_norm": vector(shape.width, context),
            }
        tensors |= named(layer, block)
    values = _gemma_values("gemma4", "Made Gemma", shape, shape.layers, shape.period)
    values |= common("gemma4", "Made Gemma", shape.layers, shape.width, shape.inner)
    values["gemma4.embedding_length_per_layer_input"] = shape.per_layer
    write_model(path, "gemma4", values | dict(tokens.values), tensors)


def _write_drafter(
    path: Path, shape: Gemma, language: Language, tokens: Tokens, noise: float
) -> None:
    random = Random(4)
    width, kind = shape.drafter_width, "gemma4-assistant"
    tensors = {
        "token_embd.weight": given(language.truncated()),
        "output_norm.weight": vector(width),
        "rope_freqs.weight": vector(shape.full_head // 2),
    }
    hidden = random.matrix(width, shape.width, noise)
    known = remembered(language.memory, width, unit=(shape.width / width) ** 0.5)
    tensors["nextn.pre_projection.weight"] = beside(width, shape.width, hidden, known)
    tensors["nextn.post_projection.weight"] = given(np.eye(shape.width, width, dtype=np.float32))
    for layer in range(shape.drafter_layers):
        full = layer == shape.drafter_layers - 1
        block = _gemma_block(random, shape, width, shape.drafter_inner, full, noise)
        tensors |= named(layer, block)
    values = _gemma_values(kind, "Made drafter", shape, shape.drafter_layers, shape.drafter_layers)
    values |= common(kind, "Made drafter", shape.drafter_layers, width, shape.drafter_inner)
    values |= {
        f"{kind}.embedding_length_out": shape.width,
        f"{kind}.nextn_predict_layers": shape.drafter_layers,
        f"{kind}.attention.shared_kv_layers": shape.drafter_layers,
    }
    write_model(path, kind, values | dict(tokens.values), tensors)


def _gemma_values(
    kind: str, name: str, shape: Gemma, layers: int, period: int
) -> dict[str, object]:
    """Return the values that target and drafter have in common: they share a KV cache."""
    return {
        f"{kind}.attention.head_count": shape.heads,
        f"{kind}.attention.head_count_kv": shape.kv_heads,
        f"{kind}.attention.key_length": shape.full_head,
        f"{kind}.attention.value_length": shape.full_head,
        f"{kind}.attention.key_length_swa": shape.head,
        f"{kind}.attention.value_length_swa": shape.head,
        f"{kind}.attention.sliding_window": shape.window,
        f"{kind}.attention.sliding_window_pattern": [
            (layer + 1) % period != 0 for layer in range(layers)
        ],
        f"{kind}.attention.shared_kv_layers": 0,
        f"{kind}.rope.freq_base": 1e6,
        f"{kind}.rope.freq_base_swa": ROPE_BASE,
        f"{kind}.rope.dimension_count": shape.full_head,
        f"{kind}.rope.dimension_count_swa": shape.head,
        f"{kind}.embedding_length_per_layer_input": 0,
    }


def _gemma_block(
    random: Random, shape: Gemma, width: int, inner: int, full: bool, scale: float
) -> Tensors:
    """Return a layer, each half of which adds `scale` to a residual stream of size one."""
    size = shape.heads * (shape.full_head if full else shape.head)
    return {
        "attn_norm": vector(width),
        "attn_q": random.matrix(size, width),
        "attn_q_norm": vector(size // shape.heads),
        "attn_output": random.matrix(width, size),
        "post_attention_norm": vector(width, scale),
        "ffn_norm": vector(width),
        "ffn_gate": random.matrix(inner, width),
        "ffn_up": random.matrix(inner, width),
        "ffn_down": random.matrix(width, inner),
        "post_ffw_norm": vector(width, scale),
        "layer_output_scale": vector(1),
    }
