"""The content of a file of the loopback Hub: bytes, a file on the disk, or made while read."""

from __future__ import annotations

import hashlib
import random
import struct
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

BLOCK = 64 * 1024
HASHED_AT_MOST = 64 * 1024**2
"""In bytes. The digest of a larger made file is made up, so that the file costs nothing."""

GGUF_START = struct.pack(
    "<4sIQQ Q20s I Q5s", b"GGUF", 3, 0, 1, 20, b"general.architecture", 8, 5, b"llama"
)
"""The shortest beginning of a file that passes for a model: one value, its architecture."""


class Content(Protocol):
    """Bytes that can be read from any position."""

    @property
    def size(self) -> int: ...

    def read(self, start: int, length: int) -> bytes:
        """Return at most `length` bytes from `start`; fewer only at the end."""


@dataclass(frozen=True)
class Bytes:
    """Bytes in memory."""

    data: bytes = b""

    @property
    def size(self) -> int:
        return len(self.data)

    def read(self, start: int, length: int) -> bytes:
        return self.data[start : start + length]


@dataclass(frozen=True)
class OnDisk:
    """A file on the disk, read on request."""

    path: Path

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def read(self, start: int, length: int) -> bytes:
        with self.path.open("rb") as file:
            file.seek(start)
            return file.read(length)


@dataclass(frozen=True)
class Made:
    """A file of any size that takes no space. No two of its 64 KiB blocks are the same.

    Attributes:
        size: Its size in bytes.
        seed: Another seed gives other bytes.
        head: Its beginning, such as a real GGUF header.
    """

    size: int
    seed: int = 0
    head: bytes = field(default=b"", repr=False)

    @cached_property
    def _noise(self) -> bytes:
        return random.Random(self.seed).randbytes(BLOCK - 8)

    def read(self, start: int, length: int) -> bytes:
        end = min(start + length, self.size)
        first, last = start // BLOCK, (max(end, start + 1) - 1) // BLOCK
        blocks = b"".join(n.to_bytes(8, "big") + self._noise for n in range(first, last + 1))
        piece = blocks[start - first * BLOCK : max(end - first * BLOCK, 0)]
        overlap = self.head[start:end]
        return overlap + piece[len(overlap) :]


@dataclass(frozen=True)
class Part:
    """`size` bytes of another content, from `start`."""

    whole: Content
    start: int
    size: int

    def read(self, start: int, length: int) -> bytes:
        return self.whole.read(self.start + start, min(length, max(self.size - start, 0)))


@dataclass(frozen=True)
class Flipped:
    """Another content with the byte at `at` inverted: of the same length, and wrong."""

    whole: Content
    at: int

    @property
    def size(self) -> int:
        return self.whole.size

    def read(self, start: int, length: int) -> bytes:
        piece = bytearray(self.whole.read(start, length))
        if start <= self.at < start + len(piece):
            piece[self.at - start] ^= 0xFF
        return bytes(piece)


@dataclass(frozen=True)
class Joined:
    """One content after another."""

    parts: tuple[Content, ...]

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts)

    def read(self, start: int, length: int) -> bytes:
        pieces = []
        for part in self.parts:
            piece = part.read(start, length) if start < part.size else b""
            pieces.append(piece)
            length -= len(piece)
            start = max(start - part.size, 0)
        return b"".join(pieces)


def as_content(given: bytes | str | Path | Content) -> Content:
    """Return the content for bytes, text, the path of a file, or a content."""
    if isinstance(given, bytes):
        return Bytes(given)
    if isinstance(given, str):
        return Bytes(given.encode())
    return OnDisk(given) if isinstance(given, Path) else given


def sha256_of(content: Content) -> str:
    """Return the SHA-256 in hexadecimal; made up for a made file above `HASHED_AT_MOST` bytes."""
    if isinstance(content, Made) and content.size > HASHED_AT_MOST:
        return hashlib.sha256(repr(content).encode()).hexdigest()
    digest = hashlib.sha256()
    for start in range(0, content.size, 1 << 20):
        digest.update(content.read(start, 1 << 20))
    return digest.hexdigest()


def git_blob_id(data: bytes) -> str:
    """Return git's name of a file: the SHA-1 of a short header and its bytes."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
