"""Reads, hashes and writes files that can have many gigabytes, piece by piece."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from app.base.errors import ModelNotRead
from app.base.folder import as_user_errors
from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.private import private
from engines.regular import open_regular
from engines.sentences import N_

Progress = Callable[[float], None]
"""Receives the share that is done, from 0.0 to 1.0."""

CHUNK: Final = 4 << 20


class Share:
    """Reports the progress of work that is measured in bytes."""

    def __init__(self, total: int, progress: Progress) -> None:
        self._total = max(1, total)
        self._progress = progress
        self._done = 0

    def add(self, count: int) -> None:
        """Report that `count` more bytes are done."""
        self._done += count
        self._progress(min(1.0, self._done / self._total))


def sha256_of(path: Path, share: Share, cancel: CancelToken) -> str:
    """Return a file's SHA-256 in hexadecimal. Raises ModelNotRead and Cancelled."""
    import hashlib

    digest = hashlib.sha256()
    with open_model(path) as file:
        for piece in pieces_of(file, path, cancel):
            digest.update(piece)
            share.add(len(piece))
    return digest.hexdigest()


def open_model(path: Path) -> BinaryIO:
    """Open a file of a model to read its bytes. Raises ModelNotRead."""
    try:
        return open_regular(path)
    except OSError as error:
        raise read_error(path, error) from error


def pieces_of(file: BinaryIO, path: Path, cancel: CancelToken) -> Iterator[bytes]:
    """Yield the rest of an open file. Raises ModelNotRead and Cancelled.

    Args:
        path: The file's path, for the error.
    """
    while True:
        if cancel.cancelled:
            raise Cancelled
        try:
            piece = file.read(CHUNK)
        except OSError as error:
            raise read_error(path, error) from error
        if not piece:
            return
        yield piece


def write_hashed(path: Path, pieces: Iterable[bytes], share: Share) -> str:
    """Write a file to the disk, for its owner only, and return its SHA-256 in hexadecimal.

    Raises:
        DiskFull: The disk has no free space.
        DataFolderReadOnly: The system does not allow writing there.
        The errors of `pieces`.
    """
    import hashlib

    digest = hashlib.sha256()
    with as_user_errors(path), open(path, "wb", opener=private) as writing:
        for piece in pieces:
            digest.update(piece)
            writing.write(piece)
            share.add(len(piece))
        writing.flush()
        os.fsync(writing.fileno())
    return digest.hexdigest()


def link_target(path: Path) -> Path:
    """Return the target of a link in the Hub's cache: it is the same in every snapshot."""
    return path.resolve() if path.is_symlink() else path


def read_error(path: Path, error: OSError) -> ModelNotRead:
    """Make the error for a file that cannot be read."""
    return ModelNotRead(
        N_("“{name}” cannot be read.", name=path.name),
        N_(
            "The system says of {folder}: {strerror}.",
            folder=path,
            strerror=error.strerror or error,
        ),
        N_("Check that you may read the file and that its disk is connected."),
    )
