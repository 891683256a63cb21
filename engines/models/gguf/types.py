"""The tensor types of ggml and the file types of GGUF, from llama.cpp's own package `gguf`.

The package loads NumPy, and its import takes a fifth of a second; so it waits until a whole header
is read. Facts that the pinned llama.cpp has and the newest package lacks are added here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from engines.types import KvType


@dataclass(frozen=True)
class TensorType:
    """A ggml type: `block` values are stored together in `size` bytes."""

    number: int
    name: str
    block: int
    size: int


# The package 0.19.0 gives Q8_1 two floats, but llama.cpp has two halves (block_q8_1 in
# ggml-common.h). The package does not know Q2_0 yet.
_CORRECTED: Final = (TensorType(9, "Q8_1", 32, 36), TensorType(42, "Q2_0", 64, 18))
_NEWER_FILE_TYPES: Final = {41: "Q2_0"}


@cache
def tensor_types() -> Mapping[int, TensorType]:
    """Return the types by number. Missing numbers were withdrawn."""
    from gguf import GGML_QUANT_SIZES

    types = [TensorType(kind.value, kind.name, *size) for kind, size in GGML_QUANT_SIZES.items()]
    return {kind.number: kind for kind in (*types, *_CORRECTED)}


@cache
def file_types() -> Mapping[int, str]:
    """Return the quantisation for each file type number, such as 15: "Q4_K_M"."""
    from gguf import LlamaFileType

    types = {kind.value: _label(kind.name) for kind in LlamaFileType if kind.name != "GUESSED"}
    return _NEWER_FILE_TYPES | types


def cache_type(name: KvType) -> TensorType:
    """Return the type of a KV cache by its name in the settings."""
    from gguf import GGMLQuantizationType

    return tensor_types()[GGMLQuantizationType[name.upper()]]


def _label(name: str) -> str:
    """Return MOSTLY_Q4_K_M as people write it. MXFP4 is used only for experts."""
    return name.removeprefix("MOSTLY_").removeprefix("ALL_").removesuffix("_MOE")
