"""Linux system calls for large files that Python lacks; they do nothing on other systems."""

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
    """Reserve disk space for a whole file with fallocate(2); the file's length does not change.

    The C library's posix_fallocate is avoided: where the file system cannot reserve space, it
    writes zeros to the whole file.

    Raises:
        OSError: There is too little space.
    """
    library = _library()
    if library is not None and library.fallocate(file, _KEEP_SIZE, 0, size) != 0:
        number = ctypes.get_errno()
        if number not in _CANNOT_RESERVE:
            raise OSError(number, os.strerror(number))


def begin_writing(file: int, start: int, count: int) -> None:
    """Start writing these bytes to the disk with sync_file_range(2), without waiting for it.

    Otherwise gigabytes would wait in memory for the fsync at the end, which also reports any
    error that this call ignores.
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
