"""A partly downloaded file: its bytes, and beside them the notes needed to continue."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from app.models.hub import disk
from app.models.hub.checksum import hasher
from engines.cancel import CancelToken
from engines.private import replacing

SUFFIX = ".hearth-part"
"""The suffix of every part, so that no tool takes it for a model or cleans it up."""

NOTES = ".json"
"""The suffix of a part's notes: which file the bytes belong to, and the server's validator."""

_READ_BYTES = 1 << 20
_WRITE_BYTES = 8 << 20


class PartFile:
    """The bytes of a file received so far; every write also updates their hash.

    The length of the part is the progress, so nothing is lost if the process is killed. Use it
    from one thread only. Opening and writing raise OSError.

    Args:
        path: Path of the part.
        size: Size of the whole file, in bytes.
        checksum: Checksum of the whole file; see `checksum.hasher`.
    """

    def __init__(self, path: Path, size: int, checksum: str) -> None:
        self.path = path
        self.full_size = size
        self._checksum = checksum
        self._file = path.open("r+b" if path.exists() else "x+b", buffering=0)
        self._notes = path.with_name(path.name + NOTES)
        self._hash = hasher(checksum, size)
        self.size = os.fstat(self._file.fileno()).st_size
        self._written_back = self.size
        self.host, self.etag = self._read_notes()
        if self.size > size:
            self.start_anew()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    @property
    def complete(self) -> bool:
        """True if all bytes have arrived, right or wrong."""
        return self.size == self.full_size

    @property
    def is_correct(self) -> bool:
        """True if the part is the whole file, by size and checksum."""
        return self.complete and self._hash.hexdigest() == self._checksum

    def reserve(self) -> None:
        """Reserve disk space for the whole file, where the system can do that at once."""
        if not self.complete:
            disk.reserve(self._file.fileno(), self.full_size)

    def rehash(self, progress: Callable[[int], None], cancel: CancelToken) -> None:
        """Hash the bytes that an earlier run received.

        Args:
            progress: Receives the number of bytes read so far.
        """
        self._hash = hasher(self._checksum, self.full_size)
        self._file.seek(0)
        done = 0
        while done < self.size and not cancel.cancelled:
            piece = self._file.read(min(_READ_BYTES, self.size - done))
            if not piece:
                raise OSError(f"{self.path} became shorter while it was read")
            self._hash.update(piece)
            done += len(piece)
            progress(done)

    def write(self, data: bytes) -> None:
        """Append data; if an error occurs, the bytes written before it are counted and hashed."""
        remaining = memoryview(data)
        while remaining:
            count = self._file.write(remaining) or 0
            self._hash.update(remaining[:count])
            self.size += count
            remaining = remaining[count:]
        waiting = self.size - self._written_back
        if waiting >= _WRITE_BYTES:
            disk.begin_writing(self._file.fileno(), self._written_back, waiting)
            self._written_back = self.size

    def start_anew(self) -> None:
        """Discard all bytes."""
        self._file.seek(0)
        self._file.truncate(0)
        self.size = self._written_back = 0
        self._hash = hasher(self._checksum, self.full_size)
        self.remember("", None)

    def remember(self, host: str, etag: str | None) -> None:
        """Save the server's strong validator of these bytes, for If-Range (RFC 9110, 13.1.5)."""
        if (host, etag) == (self.host, self.etag):
            return
        self.host, self.etag = host, etag
        notes = {"size": self.full_size, "checksum": self._checksum, "host": host, "etag": etag}
        with replacing(self._notes) as unfinished:
            unfinished.write_text(json.dumps(notes), encoding="utf-8")

    def sync(self) -> None:
        """Wait until the bytes are on the disk."""
        os.fsync(self._file.fileno())

    def _read_notes(self) -> tuple[str, str | None]:
        """Return the server and its validator from the notes.

        If the notes are broken or missing, there is no validator. If they belong to another file,
        all bytes are discarded as well.
        """
        try:
            notes = json.loads(self._notes.read_text(encoding="utf-8"))
            if (notes["size"], notes["checksum"]) == (self.full_size, self._checksum):
                return str(notes["host"]), notes["etag"]
        except (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError):
            return "", None
        self.size = self._written_back = 0
        self._file.truncate(0)
        return "", None


def remove_part(path: Path) -> None:
    """Remove a part and its notes, if they exist."""
    path.unlink(missing_ok=True)
    path.with_name(path.name + NOTES).unlink(missing_ok=True)


def arrived(path: Path) -> tuple[int, int]:
    """Return how many bytes of a part are here, and how many bytes of disk it takes."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0  # it does not exist; any other reason is reported when the part is opened
    # Windows does not count blocks, but nothing is reserved there either.
    return status.st_size, max(status.st_size, getattr(status, "st_blocks", 0) * 512)
