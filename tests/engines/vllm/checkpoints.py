"""Make checkpoints of a few bytes, for tests that read their headers."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

GEMMA: dict[str, Any] = {
    "architectures": ["Gemma4ForCausalLM"],
    "model_type": "gemma4_text",
    "max_position_embeddings": 131072,
    "vocab_size": 64,
    "hidden_size": 192,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 64,
}
QWEN: dict[str, Any] = {
    **GEMMA,
    "architectures": ["Qwen3_5ForCausalLM"],
    "model_type": "qwen3_5",
    "mtp_num_hidden_layers": 1,
}
ASSISTANT: dict[str, Any] = {
    "model_type": "gemma4_assistant",
    "backbone_hidden_size": 192,
    "text_config": {
        "vocab_size": 64,
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 64,
    },
}


def made(
    folder: Path, config: Mapping[str, Any], tensors: tuple[str, ...] = ("model.norm.weight",)
) -> Path:
    """Make a folder with a configuration and tensors of two numbers each."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    header = {
        name: {"dtype": "BF16", "shape": [2], "data_offsets": [4 * at, 4 * at + 4]}
        for at, name in enumerate(tensors)
    }
    packed = json.dumps(header).encode()
    data = struct.pack("<Q", len(packed)) + packed + bytes(4 * len(tensors))
    (folder / "model.safetensors").write_bytes(data)
    return folder
