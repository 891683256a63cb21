"""Checkpoints for tests: sparse files of the size that they claim."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.paths import ROOT

PAIR = ROOT / "resources" / "starter" / "safetensors"
TARGET, DRAFTER = PAIR / "target", PAIR / "drafter"

GEMMA_31B: dict[str, Any] = {
    "architectures": ["Gemma4ForConditionalGeneration"],
    "model_type": "gemma4",
    "text_config": {
        "num_hidden_layers": 60, "num_attention_heads": 32, "num_key_value_heads": 16,
        "num_global_key_value_heads": 4, "head_dim": 256, "global_head_dim": 512,
        "layer_types": (["sliding_attention"] * 5 + ["full_attention"]) * 10,
        "sliding_window": 1024, "max_position_embeddings": 262_144, "hidden_size": 5376,
        "vocab_size": 262_144,
    },
}  # fmt: skip

QWEN2_AUDIO: dict[str, Any] = {
    "architectures": ["Qwen2AudioForConditionalGeneration"],
    "model_type": "qwen2_audio",
    "audio_config": {"model_type": "qwen2_audio_encoder", "d_model": 1280},
    "text_config": {
        "model_type": "qwen2", "max_position_embeddings": 8192, "vocab_size": 156_032,
        "intermediate_size": 11_008,
    },
}  # fmt: skip
"""A model that hears. It leaves the usual values of its language model out."""

QWEN3: dict[str, Any] = {
    "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "num_hidden_layers": 6,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "hidden_size": 64,
    "max_position_embeddings": 40_960, "vocab_size": 512,
}  # fmt: skip
"""A model of the shape that the drafters below were made for."""

EAGLE3: dict[str, Any] = {
    **QWEN3, "architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama",
    "num_hidden_layers": 1, "draft_vocab_size": 128, "max_position_embeddings": 2048,
}  # fmt: skip
EAGLE3_TENSORS = {
    "d2t": [128], "fc.weight": [64, 192], "lm_head.weight": [128, 64], "norm.weight": [64],
    "midlayer.self_attn.q_proj.weight": [64, 128],
}  # fmt: skip

SPECULATOR: dict[str, Any] = {
    "architectures": ["Eagle3Speculator"],
    "speculators_model_type": "eagle3",
    "draft_vocab_size": 128,
    "target_hidden_size": None,
    "transformer_layer_config": {
        "model_type": "llama", "num_hidden_layers": 1, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 16, "hidden_size": 64, "vocab_size": 512,
        "max_position_embeddings": 2048,
    },
    "speculators_config": {
        "algorithm": "eagle3",
        "proposal_methods": [{"proposal_type": "greedy", "speculative_tokens": 5}],
        "verifier": {"architectures": ["Qwen3ForCausalLM"], "name_or_path": "Qwen/Qwen3-8B"},
    },
}  # fmt: skip
"""An Eagle-3 drafter in the layout of the library “speculators”, as on the Hub."""
SPECULATOR_TENSORS = {
    "fc.weight": [64, 192],
    "layers.0.self_attn.q_proj.weight": [64, 128],
    "d2t": [128],
}

DFLASH: dict[str, Any] = {
    **QWEN3, "architectures": ["DFlashDraftModel"], "num_hidden_layers": 2, "block_size": 16,
    "num_target_layers": 6, "dflash_config": {"mask_token_id": 511, "target_layer_ids": [1, 4]},
}  # fmt: skip
DFLASH_TENSORS = {"fc.weight": [64, 128], "hidden_norm.weight": [64]}


def write_checkpoint(
    folder: Path,
    config: Mapping[str, Any],
    tensors: Mapping[str, list[int]] | None = None,
    size: int = 0,
    name: str = "model.safetensors",
) -> Path:
    """Write a checkpoint.

    Args:
        folder: Its folder.
        config: The content of its config.json.
        tensors: The shapes of its tensors by name; their type is bfloat16.
        size: The size of the file in bytes, if it is larger than its content.
        name: The name of the file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    header: dict[str, Any] = {}
    at = 0
    for tensor, shape in (tensors or {"model.some.weight": [8, 4]}).items():
        count = 2
        for length in shape:
            count *= length
        header[tensor] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + count]}
        at += count
    text = json.dumps(header).encode()
    with (folder / name).open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(max(size, 8 + len(text) + at))
    return folder
