"""Small models of many architectures, with zeros for weights, for tests of their memory.

Their files are sparse. Widths, heads, windows and states differ from one another, so that a sum
that confuses two of them is wrong. They have the starter's tokenizer, with more tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from gguf import GGMLQuantizationType as Type

from tests.engines import gguf_files as files
from tests.engines.gguf_files import Values, llama_tensors, write_gguf
from tests.support.made_gguf import starter_tokens

TOKENS: Final = 8192

Shapes = dict[str, list[int]]

BASE: Final[Values] = {
    "block_count": 4,
    "context_length": 32768,
    "embedding_length": 512,
    "feed_forward_length": 1280,
    "attention.head_count": 8,
    "attention.head_count_kv": 2,
    "attention.layer_norm_rms_epsilon": 1e-5,
    "rope.dimension_count": 64,
    "vocab_size": TOKENS,
}
_KEY_LENGTH: Final[Values] = {"attention.key_length": 64, "attention.value_length": 64}
_WIDE: Final[Values] = {
    "attention.key_length": 128, "attention.value_length": 128, "rope.dimension_count": 128,
}  # fmt: skip
_SSM: Final[Values] = {"ssm.conv_kernel": 4, "ssm.inner_size": 1024, "ssm.state_size": 128}
_EXPERTS: Final[Values] = {
    "expert_count": 8, "expert_used_count": 2, "expert_feed_forward_length": 768,
}  # fmt: skip


def _number(values: Values, key: str) -> int:
    value = values[key]
    assert isinstance(value, int)
    return value


def _each(values: Values, shapes: Shapes, more: Mapping[str, list[int]]) -> Shapes:
    """Add tensors to every layer."""
    count = _number(values, "block_count")
    added = {f"blk.{i}.{name}": shape for i in range(count) for name, shape in more.items()}
    return shapes | added


def _without(shapes: Shapes, *endings: str) -> Shapes:
    return {name: shape for name, shape in shapes.items() if not name.endswith(endings)}


def _plain(values: Values) -> Shapes:
    return llama_tensors(values)


def _untied(values: Values) -> Shapes:
    output = [TOKENS, _number(values, "embedding_length")]
    return llama_tensors(values) | {"output.weight": output}


def _post_norms(values: Values) -> Shapes:
    width = [_number(values, "embedding_length")]
    norms = {"post_attention_norm.weight": width, "post_ffw_norm.weight": width}
    return _each(values, llama_tensors(values), norms)


def _biased(values: Values) -> Shapes:
    width = _number(values, "embedding_length")
    kv = (
        width
        // _number(values, "attention.head_count")
        * _number(values, "attention.head_count_kv")
    )
    biases = {"attn_q.bias": [width], "attn_k.bias": [kv], "attn_v.bias": [kv]}
    return _each(values, _untied(values), biases)


def _normed(values: Values) -> Shapes:
    head = [_number(values, "attention.key_length")]
    norms = {"attn_q_norm.weight": head, "attn_k_norm.weight": head}
    return _each(values, llama_tensors(values), norms)


def _with_experts(values: Values, shapes: Shapes) -> Shapes:
    width, count = _number(values, "embedding_length"), _number(values, "expert_count")
    inner = _number(values, "expert_feed_forward_length")
    experts = {
        "ffn_gate_inp.weight": [count, width],
        "ffn_gate_exps.weight": [count, inner, width],
        "ffn_up_exps.weight": [count, inner, width],
        "ffn_down_exps.weight": [count, width, inner],
    }
    kept = _without(shapes, "ffn_gate.weight", "ffn_up.weight", "ffn_down.weight")
    return _each(values, kept, experts)


def _qwen3moe(values: Values) -> Shapes:
    return _with_experts(values, _normed(values))


def _mixtral(values: Values) -> Shapes:
    """Return the tensors of a Mixtral: its experts are as wide as a feed-forward layer."""
    return _with_experts(
        {**values, "expert_feed_forward_length": values["feed_forward_length"]}, _untied(values)
    )


def _gemma4_with_experts(values: Values) -> Shapes:
    """Add experts to the feed-forward layer: gate and up in one tensor, and a scale per expert."""
    width, count = _number(values, "embedding_length"), _number(values, "expert_count")
    inner = _number(values, "expert_feed_forward_length")
    more = {
        "ffn_gate_inp.weight": [count, width],
        "ffn_gate_inp.scale": [width],
        "ffn_gate_up_exps.weight": [count, 2 * inner, width],
        "ffn_down_exps.weight": [count, width, inner],
        "ffn_down_exps.scale": [count],
        "pre_ffw_norm_2.weight": [width],
        "post_ffw_norm_1.weight": [width],
        "post_ffw_norm_2.weight": [width],
    }
    return _each(values, files.gemma4_tensors(values), more)


def _gpt_oss(values: Values) -> Shapes:
    width, count = _number(values, "embedding_length"), _number(values, "expert_count")
    inner, heads = _number(values, "expert_feed_forward_length"), 8
    more = {
        "post_attention_norm.weight": [width],
        "attn_output.bias": [width],
        "attn_sinks.weight": [heads],
        "ffn_gate_inp.bias": [count],
        "ffn_gate_exps.bias": [count, inner],
        "ffn_up_exps.bias": [count, inner],
        "ffn_down_exps.bias": [count, width],
    }
    shapes = _without(_untied(values), "ffn_norm.weight")
    return _each(values, _with_experts(values, shapes), more)


def _fused(values: Values) -> Shapes:
    """Return tensors like Phi's: one for query, key and value, and one for gate and up."""
    width, inner = _number(values, "embedding_length"), _number(values, "feed_forward_length")
    kv = (
        width
        // _number(values, "attention.head_count")
        * _number(values, "attention.head_count_kv")
    )
    kept = _without(
        _untied(values), "attn_q.weight", "attn_k.weight", "attn_v.weight", "ffn_gate.weight"
    )
    fused = {"attn_qkv.weight": [width + 2 * kv, width], "ffn_up.weight": [2 * inner, width]}
    return _each(values, kept, fused)


def _glm4(values: Values) -> Shapes:
    inner, width = _number(values, "feed_forward_length"), _number(values, "embedding_length")
    kept = _without(_post_norms(values), "ffn_gate.weight")
    return _each(values, kept, {"ffn_up.weight": [2 * inner, width]})


def _gemma3n(values: Values) -> Shapes:
    width, count = _number(values, "embedding_length"), _number(values, "block_count")
    extra, streams, rank = 256, 4, 64
    more = {
        "inp_gate.weight": [extra, width],
        "proj.weight": [width, extra],
        "post_norm.weight": [width],
        "altup_correct_coef.weight": [streams, streams],
        "altup_correct_scale.weight": [width],
        "altup_predict_coef.weight": [streams * streams, streams],
        "altup_router.weight": [streams, width],
        "altup_router_norm.weight": [width],
        "laurel_l.weight": [rank, width],
        "laurel_r.weight": [width, rank],
        "laurel_post_norm.weight": [width],
    }
    shapes = _normed(values) | _post_norms(values)
    return _each(values, shapes, more) | {
        "altup_proj.weight": [streams - 1, width, width],
        "altup_unembd_proj.weight": [streams - 1, width, width],
        "per_layer_token_embd.weight": [TOKENS, extra * count],
        "per_layer_model_proj.weight": [extra * count, width],
        "per_layer_proj_norm.weight": [extra],
    }


def _deepseek2(values: Values) -> Shapes:
    """Return tensors with latent keys and values, a dense first layer and a shared expert."""
    width, heads = _number(values, "embedding_length"), _number(values, "attention.head_count")
    rank, rope = _number(values, "attention.kv_lora_rank"), _number(values, "rope.dimension_count")
    key = _number(values, "attention.key_length_mla")
    value = _number(values, "attention.value_length_mla")
    queries = _number(values, "attention.q_lora_rank")
    attention = {
        "attn_q_a.weight": [queries, width],
        "attn_q_a_norm.weight": [queries],
        "attn_q_b.weight": [heads * key, queries],
        "attn_kv_a_mqa.weight": [rank + rope, width],
        "attn_kv_a_norm.weight": [rank],
        "attn_k_b.weight": [heads, rank, key - rope],
        "attn_v_b.weight": [heads, value, rank],
        "attn_output.weight": [width, heads * value],
    }
    dense = llama_tensors({**values, "attention.head_count_kv": 1})
    dense = _without(dense, "attn_q.weight", "attn_k.weight", "attn_v.weight")
    moe = _with_experts(values, dense)
    inner = _number(values, "expert_feed_forward_length")
    shared = {
        "ffn_gate_shexp.weight": [inner, width],
        "ffn_up_shexp.weight": [inner, width],
        "ffn_down_shexp.weight": [width, inner],
    }
    moe = _each(values, moe, shared)
    mixed = {name: shape for name, shape in moe.items() if not name.startswith("blk.0.")}
    first = {name: shape for name, shape in dense.items() if name.startswith("blk.0.")}
    return _each(values, mixed | first, attention)


def _mamba(values: Values) -> Shapes:
    width, inner = _number(values, "embedding_length"), _number(values, "ssm.inner_size")
    state, rank = _number(values, "ssm.state_size"), _number(values, "ssm.time_step_rank")
    ends = {"token_embd.weight": [TOKENS, width], "output_norm.weight": [width]}
    return _each(
        values,
        ends,
        {
            "attn_norm.weight": [width],
            "ssm_in.weight": [2 * inner, width],
            "ssm_conv1d.weight": [inner, 4],
            "ssm_conv1d.bias": [inner],
            "ssm_x.weight": [rank + 2 * state, inner],
            "ssm_dt.weight": [inner, rank],
            "ssm_dt.bias": [inner],
            "ssm_a": [inner, state],
            "ssm_d": [inner],
            "ssm_out.weight": [width, inner],
        },
    )


def _granite_hybrid(values: Values) -> Shapes:
    """Return tensors with attention in the second layer and Mamba 2 in the others."""
    width, inner = _number(values, "embedding_length"), _number(values, "ssm.inner_size")
    state, heads = _number(values, "ssm.state_size"), _number(values, "ssm.time_step_rank")
    mixed = inner + 2 * state
    attends = llama_tensors({**values, "attention.head_count_kv": 2})
    recurrent = {
        "ssm_in.weight": [inner + mixed + heads, width],
        "ssm_conv1d.weight": [mixed, 4],
        "ssm_conv1d.bias": [mixed],
        "ssm_dt.bias": [heads],
        "ssm_a": [heads, 1],
        "ssm_d": [heads, 1],
        "ssm_norm.weight": [1, inner],
        "ssm_out.weight": [width, inner],
    }
    others = [0, 2, 3]
    kept = {
        name: shape
        for name, shape in attends.items()
        if not (name.startswith(tuple(f"blk.{i}." for i in others)) and ".attn_" in name)
        or name.endswith("attn_norm.weight")
    }
    return kept | {f"blk.{i}.{name}": shape for i in others for name, shape in recurrent.items()}


Model = tuple[str, Type, Callable[[Values], Shapes], Values]

MODELS: Final[Mapping[str, Model]] = {
    "llama": ("llama", Type.Q4_0, _untied, BASE),
    "llama tied": ("llama", Type.Q4_K, _plain, BASE),
    "smollm3": ("smollm3", Type.Q8_0, _plain, BASE),
    "mistral3": ("mistral3", Type.Q4_K, _untied, {**BASE, **_KEY_LENGTH}),
    "qwen2": ("qwen2", Type.Q5_K, _biased, BASE),
    "qwen3": ("qwen3", Type.Q4_0, _normed, {**BASE, **_WIDE}),
    "qwen3moe": ("qwen3moe", Type.Q4_K, _qwen3moe, {**BASE, **_WIDE, **_EXPERTS}),
    "mixtral": (
        "llama", Type.Q4_K, _mixtral,
        {**BASE, **_EXPERTS, "expert_feed_forward_length": None},
    ),
    "gpt-oss": (
        "gpt-oss", Type.MXFP4, _gpt_oss,
        {**BASE, **_EXPERTS, **_KEY_LENGTH, "attention.sliding_window": 128},
    ),
    "gemma2": (
        "gemma2", Type.Q4_K, _post_norms,
        {**BASE, **_KEY_LENGTH, "attention.sliding_window": 1024},
    ),
    "gemma3": (
        "gemma3", Type.Q4_0, lambda values: _normed(values) | _post_norms(values),
        {**BASE, **_KEY_LENGTH, "block_count": 7, "attention.sliding_window": 512},
    ),
    "gemma3n": (
        "gemma3n", Type.Q8_0, _gemma3n,
        {
            **BASE, **_KEY_LENGTH, "block_count": 25, "attention.sliding_window": 512,
            "embedding_length_per_layer_input": 256, "attention.shared_kv_layers": 5,
        },
    ),
    "gemma4": ("gemma4", Type.Q4_0, files.gemma4_tensors, {
        **files.GEMMA4, "vocab_size": TOKENS, "context_length": 32768,
    }),
    "gemma4 with experts": ("gemma4", Type.Q8_0, _gemma4_with_experts, {
        **files.GEMMA4, **_EXPERTS, "vocab_size": TOKENS, "context_length": 32768,
    }),
    "phi3": ("phi3", Type.Q4_K, _fused, BASE),
    "granite": ("granite", Type.Q6_K, _plain, {**BASE, "logit_scale": 8.0}),
    "granitehybrid": (
        "granitehybrid", Type.Q4_K, _granite_hybrid,
        {
            **BASE, **_SSM, "ssm.time_step_rank": 16, "ssm.group_count": 1,
            "attention.head_count_kv": [0, 2, 0, 0],
        },
    ),
    "lfm2": ("lfm2", Type.Q8_0, files.lfm2_tensors, {
        **files.LFM2, "vocab_size": TOKENS, "context_length": 32768,
    }),
    "qwen35": ("qwen35", Type.F16, files.qwen35_tensors, {
        **files.QWEN35, "vocab_size": TOKENS, "context_length": 32768,
    }),
    "deepseek2": (
        "deepseek2", Type.Q4_0, _deepseek2,
        {
            **BASE, **_EXPERTS, "attention.head_count_kv": 1, "attention.kv_lora_rank": 256,
            "attention.q_lora_rank": 192,
            "attention.key_length": 320, "attention.value_length": 256,
            "attention.key_length_mla": 192, "attention.value_length_mla": 128,
            "expert_shared_count": 1, "leading_dense_block_count": 1,
        },
    ),
    "mamba": (
        "mamba", Type.Q8_0, _mamba,
        {
            **BASE, **_SSM, "ssm.state_size": 16, "ssm.time_step_rank": 32,
            "attention.head_count": 0, "attention.head_count_kv": None, "feed_forward_length": 0,
        },
    ),
    "glm4": ("glm4", Type.Q4_K, _glm4, {**BASE, **_KEY_LENGTH}),
}  # fmt: skip
"""By name: the architecture, the type of the matrices, the tensors, and the header's values."""

EXACT: Final = ("ssm_conv1d.weight", "ssm_a", "ssm_d", "ssm_norm.weight", "gate_inp.weight",
                 "shortconv.conv.weight")  # fmt: skip
_NARROW: Final = 32


@cache
def tokenizer() -> Values:
    return dict(starter_tokens(TOKENS).values)


def write_made(folder: Path, name: str) -> Path:
    """Write one of MODELS, within a fraction of a second."""
    architecture, matrix, tensors, values = MODELS[name]
    shapes = tensors(values)
    exact = {
        tensor
        for tensor, shape in shapes.items()
        if tensor.endswith((*EXACT, ".bias")) or "altup_" in tensor or shape[-1] < _NARROW
    }
    path = folder / f"{name.replace(' ', '-')}.gguf"
    return write_gguf(path, architecture, values, shapes, tokenizer(), matrix=matrix, exact=exact)
