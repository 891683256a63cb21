"""A GGUF file taken apart into values and tensors, to be put together again with faults."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from math import prod

from engines.models.gguf.types import tensor_types

STRING, ARRAY = 8, 9
SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "B",
    10: "Q",
    11: "q",
    12: "d",
}
ALIGNMENT = 32


@dataclass
class Value:
    """A value of a file.

    Attributes:
        kind: The number of its type.
        data: Its bytes in the file, after that number.
    """

    key: bytes
    kind: int
    data: bytes


@dataclass
class Tensor:
    """A tensor of a file.

    Attributes:
        offset: Its offset; None for its place when the file is put together.
    """

    name: bytes
    shape: tuple[int, ...]
    kind: int
    data: bytes
    offset: int | None = None


@dataclass
class Parts:
    """The parts of a file.

    Attributes:
        tensor_count: The stated number of tensors; None for the real one.
        value_count: The stated number of values; None for the real one.
    """

    values: list[Value]
    tensors: list[Tensor]
    magic: bytes = b"GGUF"
    version: int = 3
    tensor_count: int | None = None
    value_count: int | None = None
    header_bytes: int = field(default=0, compare=False)

    def copy(self) -> Parts:
        values = [Value(v.key, v.kind, v.data) for v in self.values]
        tensors = [Tensor(t.name, t.shape, t.kind, t.data, t.offset) for t in self.tensors]
        return Parts(values, tensors, header_bytes=self.header_bytes)


def string(text: bytes) -> bytes:
    return struct.pack("<Q", len(text)) + text


def scalar(kind: int, number: float) -> bytes:
    return struct.pack(f"<{SCALARS[kind]}", number)


def is_list_of_texts(value: Value) -> bool:
    return value.kind == ARRAY and value.data[0] == STRING and len(value.data) > 12


def texts_of(value: Value) -> list[bytes]:
    count, at, texts = struct.unpack_from("<Q", value.data, 4)[0], 12, []
    for _ in range(count):
        text, at = _string(value.data, at)
        texts.append(text)
    return texts


def list_of_texts(texts: list[bytes]) -> bytes:
    return struct.pack("<IQ", STRING, len(texts)) + b"".join(map(string, texts))


def take_apart(data: bytes) -> Parts:
    """Take a file apart as the gguf package writes it: valid, version 3, aligned to 32 bytes."""
    at = 8
    tensor_count, value_count = struct.unpack_from("<QQ", data, at)
    at += 16
    values = []
    for _ in range(value_count):
        key, at = _string(data, at)
        kind = struct.unpack_from("<I", data, at)[0]
        end = _end_of_value(data, at + 4, kind)
        values.append(Value(key, kind, data[at + 4 : end]))
        at = end
    listed = []
    for _ in range(tensor_count):
        name, at = _string(data, at)
        dimensions = struct.unpack_from("<I", data, at)[0]
        *shape, kind, offset = struct.unpack_from(f"<{dimensions}QIQ", data, at + 4)
        at += 4 + 8 * dimensions + 12
        listed.append((name, tuple(shape), kind, offset))
    start = -(-at // ALIGNMENT) * ALIGNMENT
    tensors = [
        Tensor(name, shape, kind, data[start + offset : start + offset + size_of(shape, kind)])
        for name, shape, kind, offset in listed
    ]
    return Parts(values, tensors, header_bytes=at)


def size_of(shape: tuple[int, ...], kind: int) -> int:
    found = tensor_types()[kind]
    return prod(shape) // found.block * found.size


def put_together(parts: Parts) -> bytes:
    tensor_count = len(parts.tensors) if parts.tensor_count is None else parts.tensor_count
    value_count = len(parts.values) if parts.value_count is None else parts.value_count
    out = bytearray(parts.magic + struct.pack("<IQQ", parts.version, tensor_count, value_count))
    for value in parts.values:
        out += string(value.key) + struct.pack("<I", value.kind) + value.data
    expected = 0
    for tensor in parts.tensors:
        offset = expected if tensor.offset is None else tensor.offset
        dimensions = len(tensor.shape)
        out += string(tensor.name) + struct.pack("<I", dimensions)
        out += struct.pack(f"<{dimensions}QIQ", *tensor.shape, tensor.kind, offset)
        expected += -(-len(tensor.data) // ALIGNMENT) * ALIGNMENT
    for tensor in parts.tensors:
        out += bytes(-len(out) % ALIGNMENT) + tensor.data
    return bytes(out)


def _string(data: bytes, at: int) -> tuple[bytes, int]:
    length = struct.unpack_from("<Q", data, at)[0]
    return data[at + 8 : at + 8 + length], at + 8 + length


def _end_of_value(data: bytes, at: int, kind: int) -> int:
    if kind == STRING:
        return _string(data, at)[1]
    if kind != ARRAY:
        return at + struct.calcsize(SCALARS[kind])
    inner, count = struct.unpack_from("<IQ", data, at)
    at += 12
    if inner != STRING:
        return at + int(count) * struct.calcsize(SCALARS[inner])
    for _ in range(count):
        at = _string(data, at)[1]
    return at
