"""A sequence that is not live, as a value in memory or a file.

A file is a prelude, a description in JSON, the tokens, then the parts one after the other:

    magic (8 bytes) | version | bytes of the description | number of tokens | CRC-32 of the last two
    {"place", "build", "digest", "ahead", "parts": [{"kind", "length", "bytes", "crc"}, ...]}
    tokens (int32 each)
    state | snapshots | the drafter's state

CRC-32 protects against bad disks and half-written files, and checks some GB per second, five times
as much as BLAKE2. It need not protect against attackers: anyone who can change the files can change
the app as well.
"""

from __future__ import annotations

import json
import struct
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from engines.llamacpp.resume.snapshots import StateSnapshot

VERSION: Final = 2
_MAGIC: Final = b"HearthKV"
_PRELUDE: Final = struct.Struct("<8sIIII")
_MOST_DESCRIPTION: Final = 1 << 20


class DamagedState(Exception):
    """A file that is not as it was written: cut off, changed, or of another version."""


@dataclass(frozen=True)
class StateKey:
    """The values that must agree before a state can be used.

    Attributes:
        place: A hash of the model file's path.
        build: The llama.cpp that writes and reads the state, see `Native.build`.
        digest: A hash of everything else that must agree.
    """

    place: str
    build: str
    digest: str


@dataclass(frozen=True)
class StateRecord:
    """A sequence: its tokens and the bytes of their KV cache.

    Attributes:
        tokens: The evaluated tokens.
        state: The bytes of their KV cache.
        snapshots: The sequence's state snapshots.
        chat: The chat that the sequence belongs to; only sequences of named chats may go to disk.
        extra: The drafter's state for the same tokens.
        used: The time when it was last live, in nanoseconds since the epoch.
        ahead: The tokens that follow in the conversation, drawn but not evaluated.
        adapter: The LoRA adapter that it was computed with, "" for none; in a file, this is part of
            the key.
    """

    tokens: array[int]
    state: bytearray
    snapshots: tuple[StateSnapshot, ...] = ()
    chat: str | None = None
    extra: bytearray | None = None
    used: int = 0
    ahead: tuple[int, ...] = ()
    adapter: str = ""

    @property
    def size(self) -> int:
        """The bytes of memory, without the tokens."""
        return sum(len(data) for _, _, data in self.parts())

    def parts(self) -> Iterator[tuple[str, int, bytearray]]:
        """Yield the kind, the number of tokens and the bytes of each part."""
        yield "state", len(self.tokens), self.state
        for snapshot in self.snapshots:
            yield "checkpoint", snapshot.length, snapshot.state
        if self.extra is not None:
            yield "extra", len(self.tokens), self.extra


@dataclass(frozen=True)
class StatePart:
    """The description of one part of a file.

    Attributes:
        kind: "state", "checkpoint" or "extra".
        length: Number of tokens that the part covers.
        bytes: Its size in bytes.
        crc: Its CRC-32.
    """

    kind: str
    length: int
    bytes: int
    crc: int


@dataclass(frozen=True)
class Head:
    """The head of a file.

    Attributes:
        key: The key of the state.
        tokens: The evaluated tokens.
        ahead: The tokens that follow, drawn but not evaluated.
        parts: The descriptions of the parts.
        offset: The offset of the first part in the file, in bytes.
    """

    key: StateKey
    tokens: array[int]
    ahead: tuple[int, ...]
    parts: tuple[StatePart, ...]
    offset: int

    @property
    def snapshots(self) -> list[int]:
        """The lengths, in tokens, of the state snapshots."""
        return [part.length for part in self.parts if part.kind == "checkpoint"]


def encode_head(key: StateKey, record: StateRecord) -> bytes:
    """Return the bytes that precede the parts in the file."""
    parts = [
        {"kind": kind, "length": length, "bytes": len(data), "crc": zlib.crc32(data)}
        for kind, length, data in record.parts()
    ]
    fields = {**vars(key), "ahead": record.ahead, "parts": parts}
    description = json.dumps(fields).encode()
    tokens = record.tokens.tobytes()
    crc = zlib.crc32(tokens, zlib.crc32(description))
    prelude = _PRELUDE.pack(_MAGIC, VERSION, len(description), len(record.tokens), crc)
    return prelude + description + tokens


def read_head(file: BinaryIO, size: int) -> Head:
    """Read the head of a file of `size` bytes. Raises DamagedState, OSError."""
    prelude = file.read(_PRELUDE.size)
    if len(prelude) < _PRELUDE.size:
        raise DamagedState("it is cut off in its prelude")
    magic, version, described, count, crc = _PRELUDE.unpack(prelude)
    if (magic, version) != (_MAGIC, VERSION):
        raise DamagedState("it has another format or version")
    offset = _PRELUDE.size + described + 4 * count
    if described > _MOST_DESCRIPTION or offset > size:
        raise DamagedState("it is shorter than its head")
    description, packed = file.read(described), file.read(4 * count)
    if zlib.crc32(packed, zlib.crc32(description)) != crc:
        raise DamagedState("its head has the wrong checksum")
    try:
        fields = json.loads(description)
        key = StateKey(fields["place"], fields["build"], fields["digest"])
        ahead = tuple(map(int, fields["ahead"]))
        parts = tuple(StatePart(**part) for part in fields["parts"])
    except (ArithmeticError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamagedState("its description is not one") from error
    if offset + sum(part.bytes for part in parts) != size:
        raise DamagedState("its length is not that of its parts")
    tokens = array("i")
    tokens.frombytes(packed)
    return Head(key, tokens, ahead, parts, offset)


def read_record(file: BinaryIO, head: Head) -> StateRecord:
    """Read everything after the head. Raises DamagedState, OSError."""
    file.seek(head.offset)
    state, snapshots, extra = bytearray(), [], None
    for part in head.parts:
        data = bytearray(part.bytes)
        if file.readinto(data) != part.bytes or zlib.crc32(data) != part.crc:  # type: ignore[attr-defined]
            raise DamagedState(f"its {part.kind} has the wrong checksum")
        if part.kind == "checkpoint":
            snapshots.append(StateSnapshot(part.length, data))
        elif part.kind == "extra":
            extra = data
        else:
            state = data
    return StateRecord(head.tokens, state, tuple(snapshots), extra=extra, ahead=head.ahead)
