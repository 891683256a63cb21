"""Parts of made models: random matrices, and the parts that all architectures share."""

from __future__ import annotations

import numpy as np

from tests.support.made_gguf import Floats, Tensor
from tests.support.made_language import Language

Tensors = dict[str, Tensor]

CONTEXT = 0.15
"""How much each layer of the target disturbs a head's knowledge, beside a stream of size one."""

NOISE = 0.15
"""How much the layers of a head disturb its guess."""


def common(kind: str, name: str, layers: int, width: int, inner: int) -> dict[str, object]:
    return {
        "general.name": name,
        "general.file_type": 1,
        f"{kind}.block_count": layers,
        f"{kind}.context_length": 4096,
        f"{kind}.embedding_length": width,
        f"{kind}.feed_forward_length": inner,
        f"{kind}.attention.layer_norm_rms_epsilon": 1e-6,
    }


def attention(
    random: Random, width: int, heads: int, kv_heads: int, head: int, scale: float
) -> Tensors:
    """Return an attention layer.

    Args:
        random: Makes the weights.
        width: The width of the residual stream.
        heads: The number of query heads.
        kv_heads: The number of key and value heads.
        head: The width of a head.
        scale: The size of its contribution to the residual stream, whose size is one.
    """
    return {
        "attn_norm": vector(width),
        "attn_q": random.matrix(heads * head, width),
        "attn_k": random.matrix(kv_heads * head, width),
        "attn_v": random.matrix(kv_heads * head, width),
        "attn_q_norm": vector(head),
        "attn_k_norm": vector(head),
        "attn_output": random.matrix(width, heads * head, scale),
    }


def feed(random: Random, width: int, inner: int, scale: float) -> Tensors:
    return {
        "ffn_gate": random.matrix(inner, width),
        "ffn_up": random.matrix(inner, width),
        "ffn_down": random.matrix(width, inner, scale),
    }


def feed_experts(random: Random, count: int, width: int, inner: int, scale: float) -> Tensors:
    """Return a mixture of `count` experts, and one expert that all tokens share."""
    return {
        "ffn_gate_inp": random.matrix(count, width),
        "ffn_gate_exps": random.matrices(count, inner, width),
        "ffn_up_exps": random.matrices(count, inner, width),
        "ffn_down_exps": random.matrices(count, width, inner, scale),
        "ffn_gate_inp_shexp": vector(width, 0.0),
        **{f"{name}_shexp": tensor for name, tensor in feed(random, width, inner, scale).items()},
    }


def guess(random: Random, memory: Floats, noise: float) -> Tensors:
    """Return the first and last tensors of a head in the model's own file.

    Args:
        random: Makes the weights.
        memory: The memory of the language; see made_look_back.
        noise: How much its hidden state disturbs its guess.
    """
    width = len(memory)
    return {
        "nextn.eh_proj": beside(width, width, random.matrix(width, width, noise), memory),
        "nextn.enorm": vector(width),
        "nextn.hnorm": vector(width),
        "nextn.shared_head_norm": vector(width),
    }


def ends(language: Language, scale: float = 1.0) -> Tensors:
    embedding = language.embedding
    return {
        "token_embd.weight": Tensor(embedding.shape, lambda: embedding * np.float32(scale)),
        "output_norm.weight": vector(embedding.shape[1]),
    }


def named(layer: int, block: Tensors) -> Tensors:
    """Add the layer to the names. Biases and some values of a recurrence have no “.weight”."""
    plain = ("ssm_a", "ssm_d", "ssm_dt.bias", "ssm_conv1d.bias")
    return {
        f"blk.{layer}.{name}" + ("" if name in plain else ".weight"): tensor
        for name, tensor in block.items()
    }


class Random:
    """A source of random tensors, whose numbers are drawn when the tensors are written."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def matrix(self, rows: int, columns: int, scale: float = 1.0) -> Tensor:
        """Return a matrix whose products have `scale` times the size of the other factor."""
        return self._normal((rows, columns), scale)

    def matrices(self, count: int, rows: int, columns: int, scale: float = 1.0) -> Tensor:
        """Return this many matrices in one tensor, as a mixture stores its experts."""
        return self._normal((count, rows, columns), scale)

    def _normal(self, shape: tuple[int, ...], scale: float) -> Tensor:
        def make() -> Floats:
            values = self._random.standard_normal(shape, np.float32)
            return values * np.float32(scale / shape[-1] ** 0.5)

        return Tensor(shape, make)


def vector(count: int, value: float = 1.0) -> Tensor:
    return Tensor((count,), lambda: np.full(count, value, np.float32))


def given(values: Floats) -> Tensor:
    return Tensor(values.shape, lambda: values)


def beside(rows: int, seen: int, noise: Tensor, known: Floats) -> Tensor:
    """Return a matrix that passes on the first `rows` of `seen` numbers.

    It adds the other numbers times `noise` plus `known`.
    """

    def make() -> Floats:
        parts = [np.eye(rows, seen, dtype=np.float32), noise.make() + known]
        return np.concatenate(parts, axis=1)

    return Tensor((rows, seen + noise.shape[1]), make)
