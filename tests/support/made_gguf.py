"""Write GGUF files for tests: the starter's tokenizer, named values, one tensor at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray

from tests.support.paths import ROOT

STARTER = ROOT / "resources" / "starter" / "starter.gguf"

NORMAL = 1
"""The type of a text token; the other types are control tokens, bytes and the like."""

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Tensor:
    """A tensor of a file.

    Attributes:
        shape: Rows before columns, as in NumPy.
        make: Returns the values when they are written.
    """

    shape: tuple[int, ...]
    make: Callable[[], Floats | NDArray[np.int64]]


@dataclass(frozen=True)
class Tokens:
    """The tokenizer of a file.

    Attributes:
        values: The values whose keys begin with "tokenizer.".
        types: The type of each token.
    """

    values: Mapping[str, object]
    types: NDArray[np.int32]

    @property
    def count(self) -> int:
        return len(self.types)


@cache
def starter_tokens(count: int = 0) -> Tokens:
    """Return the starter's tokenizer, with made words at its end up to `count` tokens."""
    fields = gguf.GGUFReader(STARTER).fields
    values = {
        name: field.contents() for name, field in fields.items() if name.startswith("tokenizer.")
    }
    key = "tokenizer.ggml."
    more = range(len(values[key + "tokens"]), count)
    values[key + "tokens"] = [*values[key + "tokens"], *(f"▁word{index}" for index in more)]
    values[key + "scores"] = [*values[key + "scores"], *(-1000.0 for _ in more)]
    values[key + "token_type"] = [*values[key + "token_type"], *(NORMAL for _ in more)]
    return Tokens(values, np.array(values[key + "token_type"], np.int32))


def write_model(
    path: Path, architecture: str, values: Mapping[str, object], tensors: Mapping[str, Tensor]
) -> Path:
    """Write a model, with one tensor at a time in memory.

    Matrices become F16, everything else F32; `d2t` keeps its type.
    """
    writer = gguf.GGUFWriter(None, architecture)
    add_values(writer, values)
    for name, tensor in tensors.items():
        type_ = np.dtype(_type(name, tensor))
        size = int(np.prod(tensor.shape)) * type_.itemsize
        writer.add_tensor_info(name, tensor.shape, type_, size)
    writer.open_output_file(path)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for name, tensor in tensors.items():
        writer.write_tensor_data(np.ascontiguousarray(tensor.make().astype(_type(name, tensor))))
    writer.close()
    return path


def add_values(writer: gguf.GGUFWriter, values: Mapping[str, object]) -> None:
    """Add values to a file. Numbers become uint32 or float32, depending on their Python type."""
    add: dict[type, Callable[[str, Any], None]] = {
        str: writer.add_string,
        bool: writer.add_bool,
        int: writer.add_uint32,
        float: writer.add_float32,
        list: writer.add_array,
    }
    for key, value in values.items():
        add[type(value)](key, value)


def _type(name: str, tensor: Tensor) -> type[np.generic]:
    if name == "d2t":
        return np.int64
    added = name in ("token_types.weight", "position_embd.weight")  # llama.cpp adds them as F32
    matrix = len(tensor.shape) == 2 and tensor.shape[1] >= 32 and not added
    return np.float16 if matrix else np.float32
