"""Locks between processes, which end with those who hold them."""

from __future__ import annotations

import sys


def try_lock(descriptor: int) -> bool:
    """Lock an open file for as long as it is open; False when another process holds it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
