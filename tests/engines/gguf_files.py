"""Make GGUF model files of any shape for tests: sparse files, whose weights are zeros."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

Shapes = Mapping[str, Sequence[int]]
Values = Mapping[str, object]

LLAMA: Values = {
    "block_count": 4,
    "context_length": 2048,
    "embedding_length": 256,
    "feed_forward_length": 512,
    "attention.head_count": 8,
    "attention.head_count_kv": 2,
    "attention.layer_norm_rms_epsilon": 1e-5,
    "rope.dimension_count": 32,
    "vocab_size": 1000,
}
GEMMA4: Values = {
    "block_count": 6,
    "context_length": 4096,
    "embedding_length": 256,
    "embedding_length_per_layer_input": 32,
    "feed_forward_length": 512,
    "attention.head_count": 4,
    "attention.head_count_kv": 1,
    "attention.key_length": 128,
    "attention.value_length": 128,
    "attention.key_length_swa": 64,
    "attention.value_length_swa": 64,
    "attention.layer_norm_rms_epsilon": 1e-6,
    "attention.sliding_window": 512,
    "attention.sliding_window_pattern": [True, True, True, False, True, False],
    "attention.shared_kv_layers": 2,
    "rope.dimension_count": 128,
    "rope.dimension_count_swa": 64,
    "vocab_size": 1000,
}
ASSISTANT: Values = {
    **{key: value for key, value in GEMMA4.items() if key != "embedding_length_per_layer_input"},
    "block_count": 4,
    "nextn_predict_layers": 4,
    "embedding_length": 128,
    "embedding_length_out": 256,
    "feed_forward_length": 256,
    "attention.sliding_window_pattern": [True, True, True, False],
    "attention.shared_kv_layers": 4,
}
GEMMA3: Values = {
    **{key: value for key, value in LLAMA.items() if key != "rope.dimension_count"},
    "block_count": 14,
    "attention.key_length": 64,
    "attention.value_length": 64,
    "attention.sliding_window": 300,
}
QWEN35: Values = {
    **LLAMA,
    "block_count": 9,
    "nextn_predict_layers": 1,
    "attention.head_count": 4,
    "attention.key_length": 64,
    "attention.value_length": 64,
    "rope.dimension_count": 32,
    "rope.dimension_sections": [6, 5, 5, 0],
    "ssm.conv_kernel": 4,
    "ssm.inner_size": 512,
    "ssm.state_size": 64,
    "ssm.time_step_rank": 8,
    "ssm.group_count": 4,
}
LFM2: Values = {
    **LLAMA,
    "block_count": 6,
    "attention.head_count_kv": [0, 0, 2, 0, 0, 2],
    "shortconv.l_cache": 3,
}


def _at(value: object, layer: int) -> int:
    chosen = value[layer] if isinstance(value, list) else value
    assert isinstance(chosen, int)
    return chosen


def llama_tensors(values: Values) -> dict[str, list[int]]:
    """Return shapes with the fastest dimension last, as numpy and the gguf package write them."""
    width = _at(values["embedding_length"], 0)
    vocab = _at(values["vocab_size"], 0)
    shapes = {"token_embd.weight": [vocab, width], "output_norm.weight": [width]}
    for layer in range(_at(values["block_count"], 0)):
        heads = _at(values["attention.head_count"], layer)
        kv_heads = _at(values["attention.head_count_kv"], layer)
        inner = _at(values["feed_forward_length"], layer)
        head = _at(values.get("attention.key_length", width // heads), 0)
        shapes |= {
            f"blk.{layer}.attn_norm.weight": [width],
            f"blk.{layer}.attn_q.weight": [heads * head, width],
            f"blk.{layer}.attn_k.weight": [kv_heads * head, width],
            f"blk.{layer}.attn_v.weight": [kv_heads * head, width],
            f"blk.{layer}.attn_output.weight": [width, heads * head],
            f"blk.{layer}.ffn_norm.weight": [width],
            f"blk.{layer}.ffn_gate.weight": [inner, width],
            f"blk.{layer}.ffn_up.weight": [inner, width],
            f"blk.{layer}.ffn_down.weight": [width, inner],
        }
    return shapes


def gemma4_tensors(values: Values) -> dict[str, list[int]]:
    width = _at(values["embedding_length"], 0)
    vocab = _at(values["vocab_size"], 0)
    count = _at(values["block_count"], 0)
    extra = _at(values["embedding_length_per_layer_input"], 0)
    pattern = values["attention.sliding_window_pattern"]
    shapes = {
        "token_embd.weight": [vocab, width],
        "output_norm.weight": [width],
        "rope_freqs.weight": [_at(values["attention.key_length"], 0) // 2],
    }
    if extra:
        shapes |= {
            "per_layer_token_embd.weight": [vocab, extra * count],
            "per_layer_model_proj.weight": [extra * count, width],
            "per_layer_proj_norm.weight": [extra],
        }
    for layer in range(count):
        assert isinstance(pattern, list)
        suffix = "_swa" if pattern[layer] else ""
        heads = _at(values["attention.head_count"], layer)
        kv_heads = _at(values["attention.head_count_kv"], layer)
        head = _at(values[f"attention.key_length{suffix}"], 0)
        inner = _at(values["feed_forward_length"], layer)
        shapes |= {
            f"blk.{layer}.attn_norm.weight": [width],
            f"blk.{layer}.attn_q.weight": [heads * head, width],
            f"blk.{layer}.attn_k.weight": [kv_heads * head, width],
            f"blk.{layer}.attn_v.weight": [kv_heads * head, width],
            f"blk.{layer}.attn_output.weight": [width, heads * head],
            f"blk.{layer}.attn_q_norm.weight": [head],
            f"blk.{layer}.attn_k_norm.weight": [head],
            f"blk.{layer}.post_attention_norm.weight": [width],
            f"blk.{layer}.ffn_norm.weight": [width],
            f"blk.{layer}.ffn_gate.weight": [inner, width],
            f"blk.{layer}.ffn_up.weight": [inner, width],
            f"blk.{layer}.ffn_down.weight": [width, inner],
            f"blk.{layer}.post_ffw_norm.weight": [width],
        }
        if extra:
            shapes |= {
                f"blk.{layer}.inp_gate.weight": [extra, width],
                f"blk.{layer}.proj.weight": [width, extra],
                f"blk.{layer}.post_norm.weight": [width],
            }
    return shapes


def gemma3_tensors(values: Values) -> dict[str, list[int]]:
    width = _at(values["embedding_length"], 0)
    head = _at(values["attention.key_length"], 0)
    shapes = llama_tensors(values)
    for layer in range(_at(values["block_count"], 0)):
        shapes |= {
            f"blk.{layer}.post_attention_norm.weight": [width],
            f"blk.{layer}.attn_q_norm.weight": [head],
            f"blk.{layer}.attn_k_norm.weight": [head],
            f"blk.{layer}.post_ffw_norm.weight": [width],
        }
    return shapes


def qwen35_tensors(values: Values) -> dict[str, list[int]]:
    """Return three recurrent layers before each one with attention, and a prediction layer last."""
    width = _at(values["embedding_length"], 0)
    count = _at(values["block_count"], 0)
    state = _at(values["ssm.state_size"], 0)
    ranks = _at(values["ssm.time_step_rank"], 0)
    mixed = 2 * state * _at(values["ssm.group_count"], 0) + state * ranks
    heads = _at(values["attention.head_count"], 0) * _at(values["attention.key_length"], 0)
    shapes = llama_tensors(values)
    for layer in range(count):
        del shapes[f"blk.{layer}.ffn_norm.weight"]
        shapes[f"blk.{layer}.post_attention_norm.weight"] = [width]
        if (layer + 1) % 4 and layer < count - 1:
            for name in ("q", "k", "v", "output"):
                del shapes[f"blk.{layer}.attn_{name}.weight"]
            shapes |= {
                f"blk.{layer}.attn_qkv.weight": [mixed, width],
                f"blk.{layer}.attn_gate.weight": [state * ranks, width],
                f"blk.{layer}.ssm_conv1d.weight": [mixed, _at(values["ssm.conv_kernel"], 0)],
                f"blk.{layer}.ssm_dt.bias": [ranks],
                f"blk.{layer}.ssm_a": [ranks],
                f"blk.{layer}.ssm_beta.weight": [ranks, width],
                f"blk.{layer}.ssm_alpha.weight": [ranks, width],
                f"blk.{layer}.ssm_norm.weight": [state],
                f"blk.{layer}.ssm_out.weight": [width, state * ranks],
            }
        else:
            shapes[f"blk.{layer}.attn_q.weight"] = [2 * heads, width]
            shapes[f"blk.{layer}.attn_q_norm.weight"] = [heads // 4]
            shapes[f"blk.{layer}.attn_k_norm.weight"] = [heads // 4]
    last = f"blk.{count - 1}.nextn"
    return shapes | {
        f"{last}.eh_proj.weight": [width, 2 * width],
        f"{last}.enorm.weight": [width],
        f"{last}.hnorm.weight": [width],
    }


def write_gguf(
    path: Path,
    architecture: str,
    values: Values,
    tensors: Shapes,
    general: Values | None = None,
    matrix: Type = Type.F16,
    exact: Container[str] = (),
) -> Path:
    """Write a file.

    Matrices have the type `matrix`; vectors and the tensors in `exact` are F32. Values of None are
    left out.

    Args:
        path: The file to write.
        architecture: Its architecture.
        values: Values whose names get the architecture as a prefix.
        tensors: Shapes by name.
        general: Values whose names get no prefix.
        matrix: The type of matrices.
        exact: The names of matrices in F32.
    """
    writer = gguf.GGUFWriter(None, architecture)
    prefixed = {f"{architecture}.{key}": value for key, value in values.items()}
    defaults = {"tokenizer.ggml.model": "none", "general.name": "Test model"}
    add: dict[type, Callable[[str, Any], None]] = {
        str: writer.add_string,
        bool: writer.add_bool,
        int: writer.add_uint32,
        float: writer.add_float32,
        list: writer.add_array,
    }
    for key, value in (defaults | prefixed | dict(general or {})).items():
        if value is not None:
            add[type(value)](key, value)
    for name, shape in tensors.items():
        kind = Type.F32 if len(shape) == 1 or name in exact else matrix
        block, size = gguf.GGML_QUANT_SIZES[kind]
        elements = 1
        for dimension in shape:
            elements *= dimension
        bytes_shape = [*shape[:-1], shape[-1] // block * size]
        writer.add_tensor_info(
            name,
            bytes_shape if block > 1 else list(shape),
            np.dtype(np.uint8 if block > 1 else np.float32),
            elements // block * size,
            raw_dtype=kind,
        )
    writer.open_output_file(path)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    assert writer.fout is not None
    for file in writer.fout:
        total = sum(
            gguf.GGUFWriter.ggml_pad(info.nbytes, 32) for info in writer.tensors[0].values()
        )
        start = gguf.GGUFWriter.ggml_pad(file.tell(), 32)
        file.truncate(start + total)
    writer.close()
    return path


def write_llama(path: Path, matrix: Type = Type.F16, **changes: object) -> Path:
    values = {**LLAMA} | {key.replace("__", "."): value for key, value in changes.items()}
    return write_gguf(path, "llama", values, llama_tensors(values), matrix=matrix)


def write_gemma4(path: Path, matrix: Type = Type.F16, **changes: object) -> Path:
    values = {**GEMMA4} | {key.replace("__", "."): value for key, value in changes.items()}
    return write_gguf(path, "gemma4", values, gemma4_tensors(values), matrix=matrix)


def write_gemma3(path: Path, matrix: Type = Type.F16) -> Path:
    return write_gguf(path, "gemma3", GEMMA3, gemma3_tensors(GEMMA3), matrix=matrix)


def write_qwen35(path: Path, matrix: Type = Type.F32) -> Path:
    return write_gguf(path, "qwen35", QWEN35, qwen35_tensors(QWEN35), matrix=matrix)


def assistant_tensors(values: Values) -> dict[str, list[int]]:
    """Return the tensors of a Gemma 4's drafter: queries only, as it uses the target's cache."""
    width = _at(values["embedding_length"], 0)
    target = _at(values["embedding_length_out"], 0)
    pattern = values["attention.sliding_window_pattern"]
    shapes = {
        "token_embd.weight": [_at(values["vocab_size"], 0), width],
        "output_norm.weight": [width],
        "rope_freqs.weight": [_at(values["attention.key_length"], 0) // 2],
        "nextn.pre_projection.weight": [width, 2 * target],
        "nextn.post_projection.weight": [target, width],
    }
    for layer in range(_at(values["block_count"], 0)):
        assert isinstance(pattern, list)
        suffix = "_swa" if pattern[layer] else ""
        head = _at(values[f"attention.key_length{suffix}"], 0)
        heads = _at(values["attention.head_count"], layer)
        inner = _at(values["feed_forward_length"], layer)
        shapes |= {
            f"blk.{layer}.attn_norm.weight": [width],
            f"blk.{layer}.attn_q.weight": [heads * head, width],
            f"blk.{layer}.attn_output.weight": [width, heads * head],
            f"blk.{layer}.attn_q_norm.weight": [head],
            f"blk.{layer}.post_attention_norm.weight": [width],
            f"blk.{layer}.layer_output_scale.weight": [1],
            f"blk.{layer}.ffn_norm.weight": [width],
            f"blk.{layer}.ffn_gate.weight": [inner, width],
            f"blk.{layer}.ffn_up.weight": [inner, width],
            f"blk.{layer}.ffn_down.weight": [width, inner],
            f"blk.{layer}.post_ffw_norm.weight": [width],
        }
    return shapes


def write_assistant(path: Path, matrix: Type = Type.F16, **changes: object) -> Path:
    """Write the drafter for the model of `write_gemma4`."""
    values = {**ASSISTANT} | {key.replace("__", "."): value for key, value in changes.items()}
    return write_gguf(path, "gemma4-assistant", values, assistant_tensors(values), matrix=matrix)


def lfm2_tensors(values: Values) -> dict[str, list[int]]:
    """Return tensors with short convolutions, and attention in every third layer."""
    width = _at(values["embedding_length"], 0)
    shapes = llama_tensors(values)
    shapes["token_embd_norm.weight"] = shapes.pop("output_norm.weight")
    head = width // _at(values["attention.head_count"], 0)
    for layer in range(_at(values["block_count"], 0)):
        if _at(values["attention.head_count_kv"], layer):
            shapes[f"blk.{layer}.attn_q_norm.weight"] = [head]
            shapes[f"blk.{layer}.attn_k_norm.weight"] = [head]
            continue
        for name in ("q", "k", "v", "output"):
            del shapes[f"blk.{layer}.attn_{name}.weight"]
        shapes |= {
            f"blk.{layer}.shortconv.conv.weight": [width, _at(values["shortconv.l_cache"], 0)],
            f"blk.{layer}.shortconv.in_proj.weight": [3 * width, width],
            f"blk.{layer}.shortconv.out_proj.weight": [width, width],
        }
    return shapes


def write_lfm2(path: Path, matrix: Type = Type.F32) -> Path:
    return write_gguf(path, "lfm2", LFM2, lfm2_tensors(LFM2), matrix=matrix)
