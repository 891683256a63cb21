"""Split a made model into a target and a head, or cut layers out of any model.

Target and head are laid out as conversion/qwen.py of llama.cpp does with --no-mtp and with --mtp:
the target does not mention its heads, and the head keeps the count of all layers, the token
embeddings, the last norm and the output.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path

import gguf
import numpy as np

_NEXTN = "nextn_predict_layers"
_ENDS = {"token_embd.weight", "output_norm.weight", "output.weight"}


def cut_off(whole: Path, target: Path, head: Path) -> tuple[Path, Path]:
    """Write target and head of a model with heads as two files; return their paths."""
    reader = gguf.GGUFReader(whole)
    architecture = reader.fields["general.architecture"].contents()
    values = {name: field.contents() for name, field in reader.fields.items()}
    heads, count = values[f"{architecture}.{_NEXTN}"], values[f"{architecture}.block_count"]
    trunk = count - heads

    def predicts(name: str) -> bool:
        layer = re.match(r"blk\.(\d+)\.", name)
        return layer is not None and int(layer[1]) >= trunk

    without = {f"{architecture}.block_count": trunk, f"{architecture}.{_NEXTN}": None}
    _write(reader, target, without, lambda name: None if predicts(name) else name)
    _write(reader, head, {}, lambda name: name if predicts(name) or name in _ENDS else None)
    return target, head


def without_layers(whole: Path, path: Path, left_out: Collection[int]) -> Path:
    """Write a model without these layers; return its path.

    It is smaller and answers differently.
    """
    reader = gguf.GGUFReader(whole)
    architecture = reader.fields["general.architecture"].contents()
    count = reader.fields[f"{architecture}.block_count"].contents()
    places = {layer: at for at, layer in enumerate(sorted({*range(count)} - {*left_out}))}

    def renamed(name: str) -> str | None:
        layer = re.match(r"blk\.(\d+)\.(.+)", name)
        if layer is None:
            return name
        place = places.get(int(layer[1]))
        return None if place is None else f"blk.{place}.{layer[2]}"

    _write(reader, path, {f"{architecture}.block_count": len(places)}, renamed)
    return path


def _write(
    reader: gguf.GGUFReader,
    path: Path,
    changes: dict[str, int | None],
    name_of: Callable[[str], str | None],
) -> None:
    """Write the contents of a model's file, with changes.

    Args:
        reader: The file to read.
        path: The file to write.
        changes: Values by their names; None drops a value.
        name_of: Returns a tensor's new name; None drops the tensor.
    """
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
        if (kept := name_of(tensor.name)) is not None:
            writer.add_tensor(kept, np.array(tensor.data), raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
