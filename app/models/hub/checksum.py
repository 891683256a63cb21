"""The checksums by which the Hub names files: SHA-256, or Git's own for small files."""

from __future__ import annotations

import re
from typing import Protocol

_SHA256 = re.compile(r"[0-9a-f]{64}")
_GIT = re.compile(r"[0-9a-f]{40}")

UNKNOWN = "0" * 40
"""A checksum that no file has: Git uses it for objects that do not exist."""


class Hasher(Protocol):
    """A hash that is fed piece by piece, like those of hashlib."""

    def update(self, data: bytes | memoryview, /) -> None:
        """Feed the next bytes."""

    def hexdigest(self) -> str:
        """Return the hash of all bytes so far, in hexadecimal."""


def hasher(checksum: str, size: int) -> Hasher:
    """Make a hash of the kind that produced `checksum`.

    The Hub names large files by their SHA-256 (Git LFS), and small ones as Git does: by the SHA-1
    of "blob", the size in bytes and the content.
    """
    import hashlib

    if is_sha256(checksum):
        return hashlib.sha256()
    git = hashlib.sha1(usedforsecurity=False)
    git.update(f"blob {size}\0".encode())
    return git


def is_sha256(checksum: str) -> bool:
    """Return whether the text is a SHA-256 in hexadecimal."""
    return _SHA256.fullmatch(checksum) is not None


def is_checksum(text: str) -> bool:
    """Return whether the text is a SHA-256 or one of Git's own checksums."""
    return is_sha256(text) or _GIT.fullmatch(text) is not None


def plain(etag: str | None) -> str | None:
    """Strip an ETag of the marks that HTTP puts around it; None if there is no ETag."""
    return None if etag is None else etag.removeprefix("W/").strip('"')
