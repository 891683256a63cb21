"""Write small embedding and ranking models with random weights: a BERT, and a Llama that pools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.support.made_gguf import Floats, Tensor, Tokens, starter_tokens, write_model

MEAN, CLS, LAST, RANK = 1, 2, 3, 4
"""Values of `enum llama_pooling_type`."""

CONTEXT = 128
WORDS = "the a cat dog sat sits on mat rug is blue sky red apple what where who ?".split()

_WIDTH, _HEADS, _INNER, _LAYERS = 64, 4, 128, 2


def write_bert(path: Path, pooling: int | None = MEAN) -> Path:
    """Write a BERT that knows a few words.

    Args:
        path: The file to write.
        pooling: The type of pooling; None leaves it out of the file.
    """
    vectors = {
        "token_embd_norm.weight": 1.0, "token_embd_norm.bias": 0.0,
    }  # fmt: skip
    random = np.random.default_rng(3)
    count = len(_bert_tokens())
    tensors = {
        "token_embd.weight": _matrix(random, count, _WIDTH),
        "token_types.weight": _matrix(random, 2, _WIDTH),
        "position_embd.weight": _matrix(random, CONTEXT, _WIDTH),
    }
    for name, value in vectors.items():
        tensors[name] = _vector(_WIDTH, value)
    for layer in range(_LAYERS):
        block = f"blk.{layer}."
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            tensors[f"{block}{name}.weight"] = _matrix(random, _WIDTH, _WIDTH)
            tensors[f"{block}{name}.bias"] = _vector(_WIDTH, 0.0)
        tensors[f"{block}ffn_up.weight"] = _matrix(random, _INNER, _WIDTH)
        tensors[f"{block}ffn_up.bias"] = _vector(_INNER, 0.0)
        tensors[f"{block}ffn_down.weight"] = _matrix(random, _WIDTH, _INNER)
        tensors[f"{block}ffn_down.bias"] = _vector(_WIDTH, 0.0)
        for name in ("attn_output_norm", "layer_output_norm"):
            tensors[f"{block}{name}.weight"] = _vector(_WIDTH, 1.0)
            tensors[f"{block}{name}.bias"] = _vector(_WIDTH, 0.0)
    if pooling == RANK:
        tensors |= {
            "cls.weight": _matrix(random, _WIDTH, _WIDTH),
            "cls.bias": _vector(_WIDTH, 0.0),
            "cls.output.weight": _matrix(random, 1, _WIDTH),
            "cls.output.bias": _vector(1, 0.0),
        }
    values: dict[str, object] = {
        "general.name": "Made BERT",
        "bert.block_count": _LAYERS,
        "bert.context_length": CONTEXT,
        "bert.embedding_length": _WIDTH,
        "bert.feed_forward_length": _INNER,
        "bert.attention.head_count": _HEADS,
        "bert.attention.layer_norm_epsilon": 1e-6,
        "bert.attention.causal": False,
        **_bert_vocabulary(),
    }
    if pooling is not None:
        values["bert.pooling_type"] = pooling
    return write_model(path, "bert", values, tensors)


def write_pooling_llama(path: Path, pooling: int = LAST, tokens: Tokens | None = None) -> Path:
    """Write a Llama that pools, like Qwen3-Embedding: it makes one vector of all tokens."""
    tokens = tokens or starter_tokens()
    random = np.random.default_rng(4)
    tensors = {
        "token_embd.weight": _matrix(random, tokens.count, _WIDTH),
        "output_norm.weight": _vector(_WIDTH, 1.0),
    }
    for layer in range(_LAYERS):
        block = f"blk.{layer}."
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            tensors[f"{block}{name}.weight"] = _matrix(random, _WIDTH, _WIDTH)
        tensors[f"{block}ffn_gate.weight"] = _matrix(random, _INNER, _WIDTH)
        tensors[f"{block}ffn_up.weight"] = _matrix(random, _INNER, _WIDTH)
        tensors[f"{block}ffn_down.weight"] = _matrix(random, _WIDTH, _INNER)
        for name in ("attn_norm", "ffn_norm"):
            tensors[f"{block}{name}.weight"] = _vector(_WIDTH, 1.0)
    values: dict[str, object] = {
        "general.name": "Made embedding Llama",
        "llama.block_count": _LAYERS,
        "llama.context_length": CONTEXT,
        "llama.embedding_length": _WIDTH,
        "llama.feed_forward_length": _INNER,
        "llama.attention.head_count": _HEADS,
        "llama.attention.head_count_kv": _HEADS,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": _WIDTH // _HEADS,
        "llama.pooling_type": pooling,
        **tokens.values,
    }
    return write_model(path, "llama", values, tensors)


def _bert_tokens() -> list[str]:
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    pieces = [*letters, *(f"▁{it}" for it in (*letters, *WORDS))]
    return list(dict.fromkeys(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *pieces]))


def _bert_vocabulary() -> dict[str, object]:
    tokens = _bert_tokens()
    key = "tokenizer.ggml."
    return {
        key + "model": "bert",
        key + "tokens": tokens,
        key + "token_type": [3 if token.startswith("[") else 1 for token in tokens],
        key + "scores": [0.0] * len(tokens),
        key + "padding_token_id": 0,
        key + "unknown_token_id": 1,
        key + "cls_token_id": 2,
        key + "bos_token_id": 2,
        key + "seperator_token_id": 3,
        key + "mask_token_id": 4,
        key + "token_type_count": 2,
    }


def _matrix(random: np.random.Generator, rows: int, columns: int) -> Tensor:
    def make() -> Floats:
        return random.standard_normal((rows, columns), np.float32) / np.float32(columns**0.5)

    return Tensor((rows, columns), make)


def _vector(count: int, value: float) -> Tensor:
    make: Callable[[], Floats] = lambda: np.full(count, value, np.float32)  # noqa: E731
    return Tensor((count,), make)
