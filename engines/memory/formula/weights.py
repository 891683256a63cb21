"""Computes where a model's weights go, and which take memory twice, in bytes. Pure.

Source: load_tensors in llama-model.cpp, create_tensor and get_mapping_range in
llama-model-loader.cpp. Weights on the processor are the file itself, mapped into memory from the
first such tensor to the last. Without a graphics card, matrices of some types are also copied into
a layout that suits the processor; their place in the mapped file remains.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from engines.memory.buffers import CPU
from engines.models.gguf.header import GgufHeader
from engines.models.gguf.reader import Tensor

# Source: ggml-cpu/repack.cpp, for x86. ARM has layouts for more types, but the processor determines
# which of them are used.
_COPIED: Final = {"Q4_0", "Q4_K", "IQ4_NL", "MXFP4", "Q2_K"}
_ROWS: Final = 8
_TABLE: Final = "token_embd.weight"
_OUTPUT: Final = "output.weight"
_LOOKUP_TABLES: Final = (_TABLE, "per_layer_token_embd.weight", "position_embd.weight")
_OUTPUT_FIRST: Final = {"gemma3n", "gemma4"}
EXPERTS: Final = r"ffn_(?:up|down|gate|gate_up)_(?:ch|)exps"
"""Matches the names of a mixture's experts after the name of their layer."""
_FIRST_LAYER_PREFIXES: Final = ("rope_f", "per_layer_model_proj", "per_layer_proj_norm")
_OUTPUT_PREFIXES: Final = ("output", "nextn.", "altup_", "dense_", "cls")

Device = Callable[[int], str]
"""Returns the device of a layer; the output counts as one more layer, and the input is -1."""

Copies = Callable[[Tensor], bool]
"""Returns whether a matrix for multiplications is copied into another layout."""


@dataclass(frozen=True)
class Weights:
    """The weights on a device, in bytes.

    Attributes:
        mapped: Part that is the mapped file itself, which the system can evict.
    """

    device: str
    size: int
    mapped: int = 0


def copied_on_x86(tensor: Tensor) -> bool:
    """Return whether llama.cpp copies a matrix on x86."""
    return tensor.type in _COPIED and tensor.shape[1] % _ROWS == 0


def nothing_copied(_tensor: Tensor) -> bool:
    """Return False, for a plan without repacking."""
    return False


def weights(
    header: GgufHeader,
    device: Device,
    *,
    mmap: bool,
    heads: bool,
    copies: Copies = copied_on_x86,
    experts_in_ram: int = 0,
) -> dict[str, Weights]:
    """Return the model's weights by device.

    Args:
        device: Returns the device of a layer.
        mmap: Weights on the processor are the mapped file.
        heads: Include prediction layers.
        copies: Returns whether a matrix is copied.
        experts_in_ram: See `LlamaPlan`.
    """
    count, left_out = header.block_count, range(0) if heads else header.head_layers
    used = [tensor for tensor in header.tensors if layer_of(tensor, count) not in left_out]
    sizes: dict[str, int] = {}
    own: list[Tensor] = []
    for tensor in used:
        layer = layer_of(tensor, count)
        device_name = CPU if layer < experts_in_ram and _is_expert(tensor) else device(layer)
        if device_name == CPU:
            own.append(tensor)
        else:
            sizes[device_name] = sizes.get(device_name, 0) + tensor.size_bytes
    table = next((tensor for tensor in used if tensor.name == _TABLE), None)
    tied = table is not None and all(tensor.name != _OUTPUT for tensor in used)
    if table is not None and tied and (device_name := device(count)) != CPU:
        # The output uses the token table again; the first copy stays where it is.
        sizes[device_name] = sizes.get(device_name, 0) + table.size_bytes
    by_device = {device_name: Weights(device_name, size) for device_name, size in sizes.items()}
    cpu_only = not sizes
    uncopied = [
        tensor for tensor in own if not (cpu_only and _is_matrix(tensor) and copies(tensor))
    ]
    copied = sum(tensor.size_bytes for tensor in own) - sum(
        tensor.size_bytes for tensor in uncopied
    )
    if table is not None and tied and cpu_only and copies(table):
        copied += table.size_bytes
    mapped = _span(header.tensors, {tensor.name for tensor in uncopied}) if mmap else 0
    rest = 0 if mmap else sum(tensor.size_bytes for tensor in uncopied)
    if table is not None and tied and header.architecture in _OUTPUT_FIRST and not mmap:
        # Its output is created first, and then the table a second time.
        rest += 0 if cpu_only and copies(table) else table.size_bytes
    return by_device | {CPU: Weights(CPU, mapped + rest + copied, mapped)}


def copied_bytes(header: GgufHeader, copies: Copies = copied_on_x86) -> int:
    """Return the bytes that are copied into another layout if no graphics card is used."""
    matrices = (tensor for tensor in header.tensors if _is_matrix(tensor) and copies(tensor))
    return sum(tensor.size_bytes for tensor in matrices)


def head_bytes(header: GgufHeader) -> int:
    """Return the bytes of prediction layers in the model's own file, counted once."""
    count = header.block_count
    return sum(
        tensor.size_bytes
        for tensor in header.tensors
        if layer_of(tensor, count) in header.head_layers
    )


def layer_of(tensor: Tensor, count: int) -> int:
    """Return the layer of a tensor.

    Tensors after the last layer count as one more layer, and all others outside the layers as -1. A
    tensor that every layer uses belongs to the first layer.
    """
    return _layer_named(tensor.name, count)


@lru_cache(maxsize=1 << 14)  # planning weighs the same tensors many times
def _layer_named(name: str, count: int) -> int:
    if found := re.match(r"blk\.(\d+)\.", name):
        return int(found[1])
    if name.startswith(_FIRST_LAYER_PREFIXES):
        return 0
    return count if name.startswith(_OUTPUT_PREFIXES) else -1


def experts_from(header: GgufHeader) -> int:
    """Return the number of layers up to the last one with experts; 0 for a model without."""
    return max(
        (
            layer_of(tensor, header.block_count) + 1
            for tensor in header.tensors
            if _is_expert(tensor)
        ),
        default=0,
    )


def _is_expert(tensor: Tensor) -> bool:
    return _names_experts(tensor.name)


@lru_cache(maxsize=1 << 14)
def _names_experts(name: str) -> bool:
    return re.search(rf"^blk\.\d+\.{EXPERTS}", name) is not None


def _is_matrix(tensor: Tensor) -> bool:
    """Return whether a tensor is a matrix for multiplications that has another layout."""
    dimensions = 3 if "_exps." in tensor.name else 2
    return tensor.name not in _LOOKUP_TABLES and len(tensor.shape) == dimensions


def _span(tensors: Iterable[Tensor], names: set[str]) -> int:
    """Return the span from the first to the last of the named tensors, summed over all files."""
    total = first = last = 0
    started = False
    for tensor in tensors:
        if tensor.offset == 0:  # the next file begins here
            total, started = total + last - first, False
            first = last = 0
        if tensor.name in names:
            if not started:
                first, started = tensor.offset, True
            last = tensor.offset + tensor.size_bytes
    return total + last - first
