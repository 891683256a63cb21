"""Make models with random weights and the starter's real tokenizer: they write nonsense, fast.

The attention is that of Llama; "mamba" has a recurrent state instead of a KV cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

from tests.support.made_gguf import STARTER, add_values, starter_tokens

__all__ = [
    "STARTER",
    "byte_tokenizer",
    "sentencepiece_tokenizer",
    "write_random_llama",
    "write_random_mamba",
]


@dataclass(frozen=True)
class Size:
    """Shape of a Llama; the defaults have 0.32 billion parameters."""

    layers: int = 26
    width: int = 1024
    heads: int = 16
    kv_heads: int = 8
    inner: int = 2816


Tokenizer = Mapping[str, object]
"""The values of a file whose keys begin with "tokenizer."."""

TINY = Size(layers=2, width=128, heads=4, kv_heads=2, inner=256)


def write_random_llama(
    path: Path,
    size: Size = TINY,
    *,
    quantised: bool = False,
    template: bool = True,
    tokenizer: Tokenizer | None = None,
    context: int = 4096,
) -> Path:
    """Write a Llama. Its matrices are Q8_0 if `quantised`, else F16.

    Its tokenizer is the starter's by default.
    """
    writer, vocabulary = _begin("llama", template=template, tokenizer=tokenizer)
    _add_shape(writer, "llama", size.layers, size.width, size.inner, context)
    writer.add_head_count(size.heads)
    writer.add_head_count_kv(size.kv_heads)
    head = size.width // size.heads
    writer.add_rope_dimension_count(head)
    matrices = {"token_embd": (vocabulary, size.width), "output": (vocabulary, size.width)}
    vectors: dict[str, tuple[int, ...]] = {"output_norm": (size.width,)}
    for layer in range(size.layers):
        block = f"blk.{layer}."
        vectors |= {block + "attn_norm": (size.width,), block + "ffn_norm": (size.width,)}
        matrices |= {
            block + "attn_q": (size.width, size.width),
            block + "attn_k": (size.kv_heads * head, size.width),
            block + "attn_v": (size.kv_heads * head, size.width),
            block + "attn_output": (size.width, size.width),
            block + "ffn_gate": (size.inner, size.width),
            block + "ffn_up": (size.inner, size.width),
            block + "ffn_down": (size.width, size.inner),
        }
    return _finish(writer, path, matrices, vectors, quantised=quantised)


def write_random_mamba(path: Path) -> Path:
    """Write a tiny model with a recurrent state and no KV cache."""
    width, inner, state, rank, kernel, layers = 64, 128, 16, 8, 4, 2
    writer, vocabulary = _begin("mamba", template=True)
    _add_shape(writer, "mamba", layers, width, 0)
    writer.add_head_count(0)
    writer.add_ssm_conv_kernel(kernel)
    writer.add_ssm_inner_size(inner)
    writer.add_ssm_state_size(state)
    writer.add_ssm_time_step_rank(rank)
    matrices = {"token_embd": (vocabulary, width)}
    vectors: dict[str, tuple[int, ...]] = {"output_norm": (width,)}
    for layer in range(layers):
        block = f"blk.{layer}."
        matrices |= {
            block + "ssm_in": (2 * inner, width),
            block + "ssm_x": (rank + 2 * state, inner),
            block + "ssm_dt": (inner, rank),
            block + "ssm_out": (width, inner),
        }
        vectors |= {
            block + "attn_norm": (width,),
            block + "ssm_conv1d": (inner, kernel),
            block + "ssm_conv1d.bias": (inner,),
            block + "ssm_dt.bias": (inner,),
            block + "ssm_a.": (inner, state),
            block + "ssm_d.": (inner,),
        }
    return _finish(writer, path, matrices, vectors, quantised=False)


def byte_tokenizer(pre: str, template: str | None = None) -> Tokenizer:
    """Return a BPE tokenizer whose only tokens are the bytes, the beginning and the end."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    letters = [chr(byte) for byte in plain] + [chr(256 + at) for at in range(len(others))]
    values: dict[str, object] = {
        "model": "gpt2",
        "pre": pre,
        "tokens": [*letters, "<s>", "</s>"],
        "token_type": [1] * 256 + [3] * 2,
        "merges": ["a a"],
        "bos_token_id": 256,
        "eos_token_id": 257,
        "add_bos_token": False,
    }
    named = {f"tokenizer.ggml.{key}": value for key, value in values.items()}
    return named | ({"tokenizer.chat_template": template} if template else {})


def sentencepiece_tokenizer(byte_tokens: int) -> Tokenizer:
    """Return a SentencePiece tokenizer with letters and the first of the 256 byte tokens."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(byte_tokens))]
    letters = ["▁", *(chr(code) for code in range(97, 123))]
    values: dict[str, object] = {
        "model": "llama",
        "tokens": [*tokens, *letters],
        "token_type": [2, 3, 3] + [6] * byte_tokens + [1] * len(letters),
        "scores": [0.0] * (len(tokens) + len(letters)),
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    return {f"tokenizer.ggml.{key}": value for key, value in values.items()}


def _begin(
    architecture: str, *, template: bool, tokenizer: Tokenizer | None = None
) -> tuple[gguf.GGUFWriter, int]:
    """Return a writer that contains the tokenizer, the starter's by default, and its size."""
    writer = gguf.GGUFWriter(None, architecture)
    writer.add_name("Random weights")
    values = starter_tokens().values if tokenizer is None else tokenizer
    add_values(
        writer,
        {key: value for key, value in values.items() if template or not key.endswith("template")},
    )
    tokens = values["tokenizer.ggml.tokens"]
    assert isinstance(tokens, list)
    return writer, len(tokens)


def _add_shape(
    writer: gguf.GGUFWriter,
    architecture: str,
    layers: int,
    width: int,
    inner: int,
    context: int = 4096,
) -> None:
    writer.add_block_count(layers)
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(inner)
    writer.add_layer_norm_rms_eps(1e-5)


def _finish(
    writer: gguf.GGUFWriter,
    path: Path,
    matrices: dict[str, tuple[int, int]],
    vectors: dict[str, tuple[int, ...]],
    *,
    quantised: bool,
) -> Path:
    random = np.random.default_rng(1)
    for name, shape in vectors.items():
        # State decay is negative; norms and the rest are near one.
        values = np.full(shape, -1.0 if "ssm_a" in name else 1.0, np.float32)
        ending = name.rstrip(".") if name.endswith(".") else f"{name}.weight"
        writer.add_tensor(name if name.endswith(".bias") else ending, values)
    for name, (rows, columns) in matrices.items():
        if quantised:
            blocks = np.empty((rows, columns // 32, 34), np.uint8)
            scale = np.full(blocks.shape[:2], 0.02 / 64, np.float16)
            blocks[:, :, :2] = scale.view(np.uint8).reshape(*scale.shape, 2)
            blocks[:, :, 2:] = random.integers(0, 256, (*blocks.shape[:2], 32), np.uint8)
            writer.add_tensor(f"{name}.weight", blocks.reshape(rows, -1), raw_dtype=Type.Q8_0)
        else:
            values = random.standard_normal((rows, columns), np.float32)
            writer.add_tensor(f"{name}.weight", (values / columns**0.5).astype(np.float16))
    writer.open_output_file(path)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
