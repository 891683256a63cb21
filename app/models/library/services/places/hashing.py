"""Hashes files that can have many gigabytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from app.base.errors import ModelNotRead
from engines.cancel import CancelToken
from engines.errors import Cancelled
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
    """Return a file's SHA-256 in hexadecimal.

    Raises:
        ModelNotRead, Cancelled
    """
    import hashlib

    digest = hashlib.sha256()
    try:
        with open_regular(path) as file:
            while piece := file.read(CHUNK):
                if cancel.cancelled:
                    raise Cancelled
                digest.update(piece)
                share.add(len(piece))
    except OSError as error:
        raise read_error(path, error) from error
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
