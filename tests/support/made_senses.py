"""Made models that see and hear, each with its projector: Qwen 3 VL, Gemma 4, Qwen audio.

Their weights are random, so their answers are nonsense, but each picture and sound changes them.
"""

from __future__ import annotations

import io
import math
import struct
import wave
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.support.made_blocks import (
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
from tests.support.made_gemma import Gemma, write_gemma
from tests.support.made_gguf import Tensor, Tokens, starter_tokens, write_model
from tests.support.made_language import make_language

MARKERS = (
    "<|vision_start|>", "<|vision_end|>", "<|image>", "<image|>", "<|audio>", "<audio|>",
    "<|audio_start|>", "<|audio_end|>",
)  # fmt: skip
"""Control tokens that the families put around pictures and sounds."""

_CONTROL = 3
_PATCH = 8


def sensing_tokens() -> Tokens:
    """Return the starter's tokenizer with the markers of pictures and sounds."""
    plain = starter_tokens()
    count = len(plain.types)
    more = starter_tokens(count + len(MARKERS))
    values = dict(more.values)
    tokens = values["tokenizer.ggml.tokens"]
    assert isinstance(tokens, list)
    values["tokenizer.ggml.tokens"] = [*tokens[:count], *MARKERS]
    types = np.array([*plain.types, *[_CONTROL] * len(MARKERS)], np.int32)
    values["tokenizer.ggml.token_type"] = types.tolist()
    return Tokens(values, types)


def write_qwen3vl(
    path: Path, *, width: int = 128, deepstack: int = 2, layers: int = 3, context: float = 1.5
) -> Path:
    """Write a Qwen 3 VL: positions of four parts, first layers that its projector also feeds."""
    tokens, random = sensing_tokens(), Random(11)
    language = make_language(tokens, width)
    heads, kv_heads, head, inner = 2, 1, 64, 256
    tensors = ends(language) | {"output.weight": given(language.output)}
    for layer in range(layers):
        block = attention(random, width, heads, kv_heads, head, context)
        block |= feed(random, width, inner, context) | {"ffn_norm": vector(width)}
        tensors |= named(layer, block)
    its: dict[str, object] = {
        "attention.head_count": heads,
        "attention.head_count_kv": kv_heads,
        "attention.key_length": head,
        "attention.value_length": head,
        "rope.freq_base": 10000.0,
        "rope.dimension_count": head,
        "rope.dimension_sections": [12, 10, 10, 0],
        "n_deepstack_layers": deepstack,
    }
    values = common("qwen3vl", "Made Qwen VL", layers, width, inner)
    values |= {f"qwen3vl.{name}": value for name, value in its.items()}
    return write_model(path, "qwen3vl", values | dict(tokens.values), tensors)


def write_gemma4(path: Path, *, width: int = 192, context: float = 0.6, layers: int = 4) -> Path:
    """Write a Gemma 4, which reads a picture as a whole and has a window in half of its layers."""
    shape = replace(Gemma(), width=width, layers=layers)
    drafter = path.with_name(f"drafter-{path.name}")
    write_gemma(path, drafter, shape, context=context, tokens=sensing_tokens())
    return path


def qwen3vl_projector(
    path: Path,
    *,
    width: int = 128,
    deepstack: int = 2,
    kind: str = "qwen3vl_merger",
    eye: int = 64,
    layers: int = 3,
    heads: int = 2,
) -> Path:
    """Write a vision projector for a Qwen 3 VL.

    Args:
        path: The file to write.
        width: The width of the model.
        deepstack: The number of layers that feed the model's first layers.
        kind: The type of the projector.
        eye: The width of the projector itself.
        layers: The number of its layers.
        heads: The number of its heads.
    """
    random, inner = Random(12), 2 * eye
    merged = 4 * eye
    tensors: Tensors = {
        "v.patch_embd.weight": _patches(random, eye),
        "v.patch_embd.weight.1": _patches(random, eye),
        "v.patch_embd.bias": vector(eye, 0.0),
        "v.position_embd.weight": _table(random, 16 * 16, eye),
        "v.post_ln.weight": vector(eye),
        "v.post_ln.bias": vector(eye, 0.0),
        "mm.0.weight": random.matrix(merged, merged),
        "mm.0.bias": vector(merged, 0.0),
        "mm.2.weight": random.matrix(width, merged, 6.0),
        "mm.2.bias": vector(width, 0.0),
    }
    for layer in range(layers):
        block: Tensors = {
            "attn_qkv.weight": random.matrix(3 * eye, eye),
            "attn_qkv.bias": vector(3 * eye, 0.0),
            "attn_out.weight": random.matrix(eye, eye),
            "attn_out.bias": vector(eye, 0.0),
            "ln1.weight": vector(eye),
            "ln1.bias": vector(eye, 0.0),
            "ln2.weight": vector(eye),
            "ln2.bias": vector(eye, 0.0),
            "ffn_up.weight": random.matrix(inner, eye),
            "ffn_up.bias": vector(inner, 0.0),
            "ffn_down.weight": random.matrix(eye, inner),
            "ffn_down.bias": vector(eye, 0.0),
        }
        tensors |= {f"v.blk.{layer}.{name}": tensor for name, tensor in block.items()}
        if layer < deepstack:
            more: Tensors = {
                "norm.weight": vector(merged),
                "norm.bias": vector(merged, 0.0),
                "fc1.weight": random.matrix(merged, merged),
                "fc1.bias": vector(merged, 0.0),
                "fc2.weight": random.matrix(width, merged),
                "fc2.bias": vector(width, 0.0),
            }
            tensors |= {f"v.deepstack.{layer}.{name}": tensor for name, tensor in more.items()}
    values = _eyes(kind, layers, eye, inner, heads, width) | {"clip.vision.spatial_merge_size": 2}
    return write_model(path, "clip", values, tensors)


def gemma4_projector(
    path: Path, *, width: int = 192, ears: bool = False, eye: int = 64, layers: int = 2
) -> Path:
    """Write a vision projector for a Gemma 4.

    Args:
        path: The file to write.
        width: The width of the model.
        ears: True to add an encoder of sounds.
        eye: The width of the projector itself.
        layers: The number of its layers.
    """
    random, inner, heads = Random(13), 2 * eye, 2
    tensors: Tensors = {
        "v.patch_embd.weight": _patches(random, eye),
        "v.position_embd.weight": _normal(random, (2, 512, eye)),
        "mm.input_projection.weight": random.matrix(width, eye),
    }
    for layer in range(layers):
        block: Tensors = {
            **{f"attn_{name}.weight": random.matrix(eye, eye) for name in ("q", "k", "v", "out")},
            "attn_q_norm.weight": vector(eye // heads),
            "attn_k_norm.weight": vector(eye // heads),
            "ln1.weight": vector(eye),
            "ln2.weight": vector(eye),
            "attn_post_norm.weight": vector(eye),
            "ffn_post_norm.weight": vector(eye),
            "ffn_gate.weight": random.matrix(inner, eye),
            "ffn_up.weight": random.matrix(inner, eye),
            "ffn_down.weight": random.matrix(eye, inner),
        }
        tensors |= {f"v.blk.{layer}.{name}": tensor for name, tensor in block.items()}
    values = _eyes("gemma4v", layers, eye, inner, heads, width)
    values |= {"clip.vision.projector.scale_factor": 2}
    if ears:
        del values["clip.projector_type"]
        values |= {"clip.vision.projector_type": "gemma4v"} | _ears("gemma4a", 2, 64, 128, width)
        tensors |= _gemma4_ears(random, 2, 64, 128, width)
    return write_model(path, "clip", values, tensors)


def qwen3a_projector(path: Path, *, width: int = 128) -> Path:
    """Write an audio projector of a Qwen 3 for a model of this width, without vision."""
    random, layers, inner, ear, channels = Random(14), 2, 128, 64, 32
    tensors: Tensors = {
        "a.conv2d.1.weight": _normal(random, (channels, 1, 3, 3), 0.4),
        "a.conv2d.2.weight": _normal(random, (channels, channels, 3, 3), 0.1),
        "a.conv2d.3.weight": _normal(random, (channels, channels, 3, 3), 0.1),
        **{f"a.conv2d.{number}.bias": vector(channels, 0.0) for number in (1, 2, 3)},
        "a.conv_out.weight": random.matrix(ear, channels * 16),
        "a.position_embd.weight": _table(random, 64, ear),
        "a.post_ln.weight": vector(ear),
        "a.post_ln.bias": vector(ear, 0.0),
        "mm.a.mlp.1.weight": random.matrix(ear, ear),
        "mm.a.mlp.1.bias": vector(ear, 0.0),
        "mm.a.mlp.2.weight": random.matrix(width, ear, 2.0),
        "mm.a.mlp.2.bias": vector(width, 0.0),
    }
    for layer in range(layers):
        block: Tensors = {
            **{f"attn_{name}.weight": random.matrix(ear, ear) for name in ("q", "k", "v", "out")},
            **{f"attn_{name}.bias": vector(ear, 0.0) for name in ("q", "v", "out")},
            "ln1.weight": vector(ear),
            "ln1.bias": vector(ear, 0.0),
            "ln2.weight": vector(ear),
            "ln2.bias": vector(ear, 0.0),
            "ffn_up.weight": random.matrix(inner, ear),
            "ffn_up.bias": vector(inner, 0.0),
            "ffn_down.weight": random.matrix(ear, inner),
            "ffn_down.bias": vector(ear, 0.0),
        }
        tensors |= {f"a.blk.{layer}.{name}": tensor for name, tensor in block.items()}
    values = {"general.type": "mmproj", "clip.projector_type": "qwen3a"}
    return write_model(path, "clip", values | _ears("qwen3a", layers, ear, inner, width), tensors)


def png(width: int, height: int, seed: int = 1) -> bytes:
    """Return a picture of coloured waves, the same one for the same numbers."""
    random = np.random.default_rng(seed)
    across, down = np.meshgrid(np.linspace(0, 1, width), np.linspace(0, 1, height))
    waves = [np.sin(9 * (across * x + down * y) + z) for x, y, z in random.normal(size=(3, 3))]
    pixels = ((np.stack(waves, axis=-1) + 1) * 127.5).astype(np.uint8)
    rows = b"".join(b"\0" + pixels[row].tobytes() for row in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _png_part(b"IHDR", head),
            _png_part(b"IDAT", zlib.compress(rows)),
            _png_part(b"IEND", b""),
        )
    )


def wav(seconds: float, pitch: float = 440.0) -> bytes:
    """Return a tone that grows louder."""
    rate = 16_000
    count = int(seconds * rate)
    tone = [
        int(20_000 * at / count * math.sin(2 * math.pi * pitch * at / rate)) for at in range(count)
    ]
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(rate)
        written.writeframes(struct.pack(f"<{count}h", *tone))
    return file.getvalue()


def _png_part(kind: bytes, data: bytes) -> bytes:
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)


def _eyes(
    kind: str, layers: int, eye: int, inner: int, heads: int, width: int
) -> dict[str, object]:
    return {
        "general.type": "mmproj",
        "general.name": f"Made {kind}",
        "clip.has_vision_encoder": True,
        "clip.projector_type": kind,
        "clip.use_gelu": True,
        "clip.vision.image_size": 128,
        "clip.vision.patch_size": _PATCH,
        "clip.vision.embedding_length": eye,
        "clip.vision.feed_forward_length": inner,
        "clip.vision.block_count": layers,
        "clip.vision.projection_dim": width,
        "clip.vision.attention.head_count": heads,
        "clip.vision.attention.layer_norm_epsilon": 1e-6,
        "clip.vision.image_mean": [0.5, 0.5, 0.5],
        "clip.vision.image_std": [0.5, 0.5, 0.5],
    }


def _ears(kind: str, layers: int, ear: int, inner: int, width: int) -> dict[str, object]:
    return {
        "clip.has_audio_encoder": True,
        "clip.audio.projector_type": kind,
        "clip.audio.num_mel_bins": 128,
        "clip.audio.embedding_length": ear,
        "clip.audio.feed_forward_length": inner,
        "clip.audio.block_count": layers,
        "clip.audio.projection_dim": width,
        "clip.audio.attention.head_count": 2,
        "clip.audio.attention.layer_norm_epsilon": 1e-5,
    }


def _gemma4_ears(random: Random, layers: int, ear: int, inner: int, width: int) -> Tensors:
    first, second = 16, 8
    tensors: Tensors = {
        "a.conv1d.0.weight": _normal(random, (first, 1, 3, 3), 0.4),
        "a.conv1d.0.norm.weight": vector(first),
        "a.conv1d.1.weight": _normal(random, (second, first, 3, 3), 0.1),
        "a.conv1d.1.norm.weight": vector(second),
        "a.input_projection.weight": random.matrix(ear, second * 32),
        "a.pre_encode.out.weight": random.matrix(ear, ear),
        "mm.a.input_projection.weight": random.matrix(width, ear),
    }
    for layer in range(layers):
        block: Tensors = {
            **{f"attn_{name}.weight": random.matrix(ear, ear) for name in ("q", "k", "v", "out")},
            "attn_k_rel.weight": random.matrix(ear, ear),
            "per_dim_scale.weight": vector(ear // 2),
            **{
                f"{name}.weight": vector(ear)
                for name in (
                    "ffn_norm", "ffn_post_norm", "ffn_norm_1", "ffn_post_norm_1", "ln1", "ln2",
                    "attn_pre_norm", "attn_post_norm", "conv_norm", "norm_conv",
                )
            },
            "ffn_up.weight": random.matrix(inner, ear),
            "ffn_down.weight": random.matrix(ear, inner),
            "ffn_up_1.weight": random.matrix(inner, ear),
            "ffn_down_1.weight": random.matrix(ear, inner),
            "conv_pw1.weight": random.matrix(2 * ear, ear),
            "conv_dw.weight": random.matrix(ear, 5),
            "conv_pw2.weight": random.matrix(ear, ear),
        }  # fmt: skip
        tensors |= {f"a.blk.{layer}.{name}": tensor for name, tensor in block.items()}
    return tensors


def _patches(random: Random, eye: int) -> Tensor:
    return _normal(random, (eye, 3, _PATCH, _PATCH), 0.3)


def _table(random: Random, rows: int, columns: int) -> Tensor:
    """Return a table that llama.cpp interpolates, which it can only do in F32."""
    plain = _normal(random, (1, rows, columns), 0.3)
    return Tensor((1, rows, columns), plain.make)


def _normal(random: Random, shape: tuple[int, ...], scale: float = 0.3) -> Tensor:
    flat = random.matrix(1, math.prod(shape), scale * math.prod(shape) ** 0.5)

    def make() -> np.ndarray:
        return flat.make().reshape(shape)

    return Tensor(shape, make)
