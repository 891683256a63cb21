"""The checksums of files as the Hub names them: SHA-256, or git's own for small files."""

from __future__ import annotations

import re
from typing import Protocol

_SHA256 = re.compile(r"[0-9a-f]{64}")
_GIT = re.compile(r"[0-9a-f]{40}")

UNKNOWN = "0" * 40
"""The checksum of no file: Git uses it for what does not exist."""


class Hasher(Protocol):
    """A hash that takes bytes piece by piece, as in hashlib."""

    def update(self, data: bytes | memoryview, /) -> None: ...

    def hexdigest(self) -> str: ...


def hasher(checksum: str, size: int) -> Hasher:
    """Make the hash that `checksum` is the value of.

    The Hub names large files by their SHA-256 (Git LFS) and small ones as Git does: the SHA-1 of
    "blob", the size in bytes and the content.
    """
    import hashlib

    if is_sha256(checksum):
        return hashlib.sha256()
    git = hashlib.sha1(usedforsecurity=False)
    git.update(f"blob {size}\0".encode())
    return git


def is_sha256(checksum: str) -> bool:
    return _SHA256.fullmatch(checksum) is not None


def is_checksum(text: str) -> bool:
    return is_sha256(text) or _GIT.fullmatch(text) is not None


def plain(etag: str | None) -> str | None:
    """Take an ETag out of what HTTP puts around it; None if there is none."""
    return None if etag is None else etag.removeprefix("W/").strip('"')
