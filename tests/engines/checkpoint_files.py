"""Checkpoints for tests: as large as they say, and otherwise holes."""

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


def write_checkpoint(
    folder: Path,
    config: Mapping[str, Any],
    tensors: Mapping[str, list[int]] | None = None,
    size: int = 0,
    name: str = "model.safetensors",
) -> Path:
    """tensors: shapes by name, of bfloat16. size: bytes of the file, at least what is in it."""
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
