"""Calls of Linux for large files that Python does not have; elsewhere they do nothing."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache

_KEEP_SIZE = 1
_WRITE = 2
_CANNOT_RESERVE = {errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}


def reserve(file: int, size: int) -> None:
    """Reserve the space of a whole file, by fallocate(2); its length stays as it is.

    The C library's posix_fallocate is not asked: where the file system cannot reserve, it writes
    the whole file full of zeros. Raises OSError where there is no room.
    """
    library = _library()
    if library is not None and library.fallocate(file, _KEEP_SIZE, 0, size) != 0:
        number = ctypes.get_errno()
        if number not in _CANNOT_RESERVE:
            raise OSError(number, os.strerror(number))


def begin_writing(file: int, start: int, count: int) -> None:
    """Start writing these bytes to the disk, by sync_file_range(2), without waiting for it.

    Without it gigabytes would wait in memory for the fsync at the end. An error is left to that.
    """
    library = _library()
    if library is not None:
        library.sync_file_range(file, start, count, _WRITE)


@cache
def _library() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None, use_errno=True)
    offset = ctypes.c_int64
    library.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, offset, offset)
    library.sync_file_range.argtypes = (ctypes.c_int, offset, offset, ctypes.c_uint)
    return library
