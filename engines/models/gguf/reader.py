"""The structure of a GGUF file, versions 2 and 3, little endian: its values and its tensor list.

Source: the format's specification and ggml/src/gguf.cpp; files that those refuse are refused too.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import BinaryIO, Final

from engines.models.gguf.types import tensor_types
from engines.sentences import N_

MAGIC: Final = b"GGUF"
CHUNK: Final = 1 << 20
# Far more than every real model has, far less than a damaged count could make a program allocate.
MAX_VALUES: Final = 10_000
MAX_TENSORS: Final = 200_000
MAX_STRING: Final = 16 << 20
MAX_ARRAY: Final = 1 << 24
MAX_KEPT_ARRAY: Final = (
    1024  # llama.cpp allows 512 layers; longer lists, such as of tokens, are only counted
)
MAX_NAME: Final = 64
MAX_DIMENSIONS: Final = 4

# These names are spelled out here because they are read from every file of a long list, before the
# package `gguf` with all the other names is loaded. tests/engines/models/gguf compares them with
# it.
ARCHITECTURE: Final = "general.architecture"
TYPE: Final = "general.type"
BASENAME: Final = "general.basename"
CHAT_TEMPLATE: Final = "tokenizer.chat_template"
BLOCKS: Final = "{arch}.block_count"
WIDTH: Final = "{arch}.embedding_length"
HEADS: Final = "{arch}.nextn_predict_layers"
POOLING: Final = "{arch}.pooling_type"
PROJECTION: Final = ("clip.vision.projection_dim", "clip.audio.projection_dim")
TOKENS: Final = "tokenizer.ggml.tokens"
ALIGNMENT: Final = "general.alignment"
_STRING, _ARRAY, _BOOL = 8, 9, 7
_SCALARS: Final = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "B", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip


class BadGguf(Exception):
    """An error for a file that contradicts the format; the text says where, in plain words."""


class Truncated(BadGguf):
    """An error for a file that ends before its header does."""


@dataclass(frozen=True)
class LongArray:
    """An array that is too long to keep; only its length is kept.

    Attributes:
        digest: Digest of a token list, for comparing two lists; "" for other arrays.
    """

    count: int
    digest: str = ""


Scalar = str | int | float | bool
Value = Scalar | tuple[Scalar, ...] | LongArray


@dataclass(frozen=True)
class Tensor:
    """An entry of the tensor list.

    Attributes:
        offset: Bytes from the start of the file's data section.
    """

    name: str
    type: str
    shape: tuple[int, ...]
    elements: int
    size_bytes: int
    offset: int


@dataclass(frozen=True)
class Gguf:
    """A file's header, with the positions of its parts in bytes from the start of the file.

    Attributes:
        end: Length that the file must have to hold all its tensors.
        value_spans: Start and end of each value, including its key.
        tensor_list_span: Start and end of the list of tensors.
        data: Start of the tensors' bytes, at a multiple of `alignment`.
    """

    values: Mapping[str, Value]
    tensors: tuple[Tensor, ...]
    end: int
    value_spans: Mapping[str, tuple[int, int]]
    tensor_list_span: tuple[int, int]
    data: int
    alignment: int


def read_gguf(file: BinaryIO, size: int) -> Gguf:
    """Read the header of a file.

    The tensor data is not read, so `file` can contain the header only; compare `Gguf.end`.

    Args:
        file: The file, at its start. The caller has checked the magic.
        size: Its length in bytes.

    Raises:
        BadGguf: The header is invalid. Errors of `file` pass through.
    """
    source = _Source(file, size)
    source.skip(len(MAGIC))
    version = source.number("I")
    if version & 0xFFFF == 0:
        raise BadGguf(
            N_("it was written for big-endian computers, which llama.cpp cannot read here")
        )
    if version not in {2, 3}:
        raise BadGguf(
            N_("it says GGUF version {version}; versions 2 and 3 are known", version=version)
        )
    tensor_count, value_count = source.number("Q"), source.number("Q")
    if tensor_count > MAX_TENSORS or value_count > MAX_VALUES:
        raise BadGguf(
            N_(
                "it claims {tensor_count} tensors and {value_count} values",
                tensor_count=tensor_count,
                value_count=value_count,
            )
        )
    values: dict[str, Value] = {}
    value_spans: dict[str, tuple[int, int]] = {}
    for _ in range(value_count):
        start = source.position
        key = source.text("a key")
        if not key or key in values:
            raise BadGguf(N_("the key {key} is empty or occurs twice", key=f"{key!r}"))
        values[key] = source.value(source.number("I"), distinct=key == TOKENS)
        value_spans[key] = start, source.position
    tensors: list[Tensor] = []
    names: set[str] = set()
    alignment = _alignment(values)
    expected, start = 0, source.position
    for _ in range(tensor_count):
        tensor = _tensor(source)
        if tensor.name in names:
            raise BadGguf(N_("the tensor {name} occurs twice", name=f"{tensor.name!r}"))
        if tensor.offset != expected:
            raise BadGguf(
                N_("the tensor {name} is not where it should be", name=f"{tensor.name!r}")
            )
        names.add(tensor.name)
        tensors.append(tensor)
        expected += padded(tensor.size_bytes, alignment)
    tensor_list_span = start, source.position
    data = padded(source.position, alignment)
    end = data + tensors[-1].offset + tensors[-1].size_bytes if tensors else source.position
    return Gguf(values, tuple(tensors), end, value_spans, tensor_list_span, data, alignment)


def read_start(file: BinaryIO, size: int) -> tuple[int, dict[str, Value]]:
    """Return the number of tensors, and the values before the token list.

    `file` can end early: all values that it contains completely are returned. Raises BadGguf.
    """
    source = _Source(file, size)
    values: dict[str, Value] = {}
    try:
        source.skip(len(MAGIC))
        source.number("I")
        tensors, count = source.number("Q"), source.number("Q")
    except Truncated:
        return 0, values
    for _ in range(min(count, MAX_VALUES)):
        try:
            key = source.text("a key")
            if key == TOKENS:
                break
            values[key] = source.value(source.number("I"))
        except Truncated:
            break
    return tensors, values


def read_value(file: BinaryIO, size: int, key: str) -> Value | None:
    """Read one value of a file that `read_gguf` can read, and nothing after it."""
    source = _Source(file, size)
    source.skip(len(MAGIC))
    source.number("I")
    _, count = source.number("Q"), source.number("Q")
    for _ in range(min(count, MAX_VALUES)):
        name = source.text("a key")
        value = source.value(source.number("I"))
        if name == key:
            return value
    return None


def whole_number(values: Mapping[str, Value], key: str, default: int = 0) -> int:
    """Return a number that fits 32 bits unsigned, as llama.cpp reads it. Raises BadGguf."""
    value = values.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 32:
        raise BadGguf(N_("its value {key} is not a whole number", key=key))
    return value


def padded(size: int, alignment: int) -> int:
    """Return the size rounded up to a multiple of `alignment`."""
    return -(-size // alignment) * alignment


def _alignment(values: Mapping[str, Value]) -> int:
    alignment = values.get(ALIGNMENT, 32)
    if not isinstance(alignment, int) or alignment < 1 or alignment & (alignment - 1):
        raise BadGguf(
            N_("its alignment is {alignment}, which is not a power of two", alignment=alignment)
        )
    return alignment


def _tensor(source: _Source) -> Tensor:
    name = source.text(N_("a tensor's name"))
    if len(name.encode()) >= MAX_NAME:
        raise BadGguf(N_("a tensor's name is too long"))
    dimensions = source.number("I")
    if dimensions > MAX_DIMENSIONS:
        raise BadGguf(
            N_(
                "the tensor {name} has {dimensions} dimensions",
                name=f"{name!r}",
                dimensions=dimensions,
            )
        )
    shape = tuple(source.number("Q") for _ in range(dimensions))
    kind = tensor_types().get(number := source.number("I"))
    if kind is None:
        raise BadGguf(
            N_(
                "the tensor {name} is of type {number}, which is not known",
                name=f"{name!r}",
                number=number,
            )
        )
    elements = prod(shape)
    if not 0 < elements < 1 << 63 or (shape and shape[0] % kind.block):
        raise BadGguf(N_("the tensor {name} has an impossible shape", name=f"{name!r}"))
    size = -(-elements // kind.block) * kind.size
    return Tensor(name, kind.name, shape, elements, size, source.number("Q"))


class _Source:
    """The file as a stream of little-endian values, read in chunks of about CHUNK bytes."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size
        self._chunk = b""
        self._offset = 0  # where the next value starts in the chunk
        self._start = 0  # where the chunk starts in the file

    @property
    def position(self) -> int:
        return self._start + self._offset

    def _require(self, count: int) -> None:
        """Make the next `count` bytes available in the current chunk."""
        available = len(self._chunk) - self._offset
        if available >= count:
            return
        if self.position + count > self._size:
            raise Truncated(N_("it ends in the middle of its header"))
        data = self._file.read(max(count - available, CHUNK))
        self._chunk, self._start, self._offset = (
            self._chunk[self._offset :] + data,
            self.position,
            0,
        )
        if len(self._chunk) < count:
            raise Truncated(N_("it ends in the middle of its header"))

    def skip(self, count: int) -> None:
        if self.position + count > self._size:
            raise Truncated(N_("it ends in the middle of its header"))
        while count:
            self._require(1)
            step = min(count, len(self._chunk) - self._offset)
            self._offset += step
            count -= step

    def number(self, code: str) -> int:
        return int(self._unpack(code, 1)[0])

    def _unpack(self, code: str, count: int) -> tuple[int | float, ...]:
        layout = struct.Struct(f"<{count}{code}")
        self._require(layout.size)
        numbers = layout.unpack_from(self._chunk, self._offset)
        self._offset += layout.size
        return numbers

    def text(self, what: str) -> str:
        """Read a string, which must be UTF-8 since llama.cpp compares it with its own names."""
        try:
            return next(self._strings(1)).decode()
        except UnicodeDecodeError:
            raise BadGguf(N_("{what} is not readable text", what=what)) from None

    def value(self, kind: int, *, distinct: bool = False) -> Value:
        """Read a value; check a list of strings that must be `distinct`."""
        if kind == _ARRAY:
            return self._array(self.number("I"), self.number("Q"), distinct=distinct)
        return self._values(kind, 1)[0]

    def _values(self, kind: int, count: int) -> tuple[Scalar, ...]:
        if kind == _STRING:
            return tuple(text.decode(errors="replace") for text in self._strings(count))
        if kind not in _SCALARS:
            raise BadGguf(N_("it contains a value of type {kind}, which is not known", kind=kind))
        numbers = self._unpack(_SCALARS[kind], count)
        return tuple(bool(number) for number in numbers) if kind == _BOOL else numbers

    def _array(self, kind: int, count: int, *, distinct: bool) -> Value:
        if count > MAX_ARRAY:
            raise BadGguf(N_("it contains a list that claims to have {count} entries", count=count))
        if kind == _STRING and distinct:
            return LongArray(count, self._skip_distinct(count))
        if count <= MAX_KEPT_ARRAY:
            return self._values(kind, count)
        if kind == _STRING:
            for _ in self._strings(count):
                pass
        elif kind in _SCALARS:
            self.skip(count * struct.calcsize(f"<{_SCALARS[kind]}"))
        else:
            raise BadGguf(N_("it contains a list of type {kind}, which is not known", kind=kind))
        return LongArray(count)

    def _skip_distinct(self, count: int) -> str:
        """Skip a token list and return its digest.

        llama.cpp crashes if a token is in it twice. In llama.cpp a text ends at its first NUL, and
        empty tokens get names of their own.
        """
        from hashlib import blake2b

        seen: set[bytes] = set()
        texts: list[bytes] = []
        for text in self._strings(count):
            texts.append(text)
            token = text.split(b"\0", 1)[0] if b"\0" in text else text
            if token in seen:
                raise BadGguf(
                    N_(
                        "the token {token} occurs twice",
                        token=f"{token.decode(errors='replace')!r}",
                    )
                )
            if token:
                seen.add(token)
        return blake2b(b"\0".join(texts), digest_size=16).hexdigest()

    def _strings(self, count: int) -> Iterator[bytes]:
        """Read strings without a call for each: a token list has a quarter of a million."""
        length_at = struct.Struct("<Q").unpack_from
        for _ in range(count):
            if self._offset + 8 > len(self._chunk):
                self._require(8)
            length = length_at(self._chunk, self._offset)[0]
            if length > MAX_STRING:
                raise BadGguf(
                    N_("it contains a text that claims to be {length} bytes long", length=length)
                )
            if self._offset + 8 + length > len(self._chunk):
                self._require(8 + length)
            start = self._offset + 8
            self._offset = start + length
            yield self._chunk[start : self._offset]
