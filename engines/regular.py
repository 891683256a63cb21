"""Functions that open files which a user names or a scan finds: ordinary files only.

Reading a pipe that lies under a model's name would wait for ever, and so would some devices.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Final

from engines.sentences import N_

_AT_ONCE: Final = getattr(os, "O_NONBLOCK", 0)
_KINDS: Final = (
    (stat.S_ISFIFO, N_("it is a pipe")),
    (stat.S_ISSOCK, N_("it is a socket")),
    (stat.S_ISCHR, N_("it is a device")),
    (stat.S_ISBLK, N_("it is a device")),
)


def open_regular(path: Path) -> BufferedReader:
    """Open an ordinary file to read its bytes.

    Raises:
        IsADirectoryError: It is a folder.
        OSError: It is a pipe, a socket or a device, or cannot be opened.
    """
    return open(path, "rb", opener=_opener)


def _opener(path: str, flags: int) -> int:
    require_regular(Path(path))
    descriptor = os.open(path, flags | _AT_ONCE)
    try:
        _refuse(path, os.fstat(descriptor))  # the file may have been replaced meanwhile
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def require_regular(path: Path) -> os.stat_result:
    """Return the stat result of an ordinary file; raise as `open_regular` does."""
    status = path.stat()
    _refuse(path, status)
    return status


def read_regular(path: Path) -> bytes:
    """Read an ordinary file; raise as `open_regular` does."""
    with open_regular(path) as file:
        return file.read()


def read_regular_text(path: Path, encoding: str = "utf-8", errors: str = "strict") -> str:
    """Read an ordinary text file; raise as `open_regular` does, or UnicodeDecodeError."""
    with open(path, encoding=encoding, errors=errors, opener=_opener) as file:
        return file.read()


def _refuse(path: str | Path, status: os.stat_result) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, N_("it is a folder"), str(path))
    kinds = (words for is_kind, words in _KINDS if is_kind(status.st_mode))
    raise OSError(errno.EINVAL, next(kinds, N_("it is no file")), str(path))
