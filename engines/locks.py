"""Locks between processes; the system releases them when their process ends."""

from __future__ import annotations

import sys


def try_lock(descriptor: int) -> bool:
    """Lock an open file for as long as it stays open; return False if another process holds it."""
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
