"""Cuts the prediction layers off a made model: target and head as two files.

Laid out as conversion/qwen.py of llama.cpp does with --no-mtp and with --mtp: the target has no
word of its heads, and the head keeps the count of all layers, the table of tokens, the last norm
and the output.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import gguf
import numpy as np

_NEXTN = "nextn_predict_layers"
_ENDS = {"token_embd.weight", "output_norm.weight", "output.weight"}


def cut_off(whole: Path, target: Path, head: Path) -> tuple[Path, Path]:
    """Write both files of a model with its heads in it; returns them."""
    reader = gguf.GGUFReader(whole)
    architecture = reader.fields["general.architecture"].contents()
    values = {name: field.contents() for name, field in reader.fields.items()}
    heads, count = values[f"{architecture}.{_NEXTN}"], values[f"{architecture}.block_count"]
    trunk = count - heads

    def predicts(name: str) -> bool:
        layer = re.match(r"blk\.(\d+)\.", name)
        return layer is not None and int(layer[1]) >= trunk

    without = {f"{architecture}.block_count": trunk, f"{architecture}.{_NEXTN}": None}
    _write(reader, target, without, lambda name: not predicts(name))
    _write(reader, head, {}, lambda name: predicts(name) or name in _ENDS)
    return target, head


def _write(
    reader: gguf.GGUFReader,
    path: Path,
    changes: dict[str, int | None],
    keep: Callable[[str], bool],
) -> None:
    architecture = reader.fields["general.architecture"].contents()
    writer = gguf.GGUFWriter(path, architecture)
    for name, field in reader.fields.items():
        value = changes.get(name, field.contents())
        if name.startswith("GGUF.") or name == "general.architecture" or value is None:
            continue
        kind = field.types[0]
        sub_type = field.types[-1] if kind is gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(name, value, kind, sub_type=sub_type)
    for tensor in reader.tensors:
        if keep(tensor.name):
            writer.add_tensor(tensor.name, np.array(tensor.data), raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
