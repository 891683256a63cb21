"""Write LoRA adapters with random weights in GGUF, as convert_lora_to_gguf.py lays them out."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np

_RANK = 4


def write_adapter(
    path: Path, model: Path, *, seed: int = 1, strength: float = 1.0, architecture: str = ""
) -> Path:
    """Write an adapter for the attention of a model.

    Args:
        path: The file to write.
        model: The model that the adapter is for.
        seed: The seed of its weights.
        strength: The size of its changes; 0.0 changes nothing.
        architecture: Another architecture to name in the file.
    """
    reader = gguf.GGUFReader(model)
    named = architecture or str(reader.fields["general.architecture"].contents())
    writer = gguf.GGUFWriter(path, named)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", float(_RANK))
    random = np.random.default_rng(seed)
    for tensor in reader.tensors:
        if tensor.name.endswith(("attn_q.weight", "attn_v.weight", "ffn_down.weight")):
            columns, rows = map(int, tensor.shape)
            down = random.standard_normal((_RANK, columns), np.float32) / np.float32(columns**0.5)
            up = random.standard_normal((rows, _RANK), np.float32) * np.float32(strength)
            writer.add_tensor(f"{tensor.name}.lora_a", down)
            writer.add_tensor(f"{tensor.name}.lora_b", up)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
