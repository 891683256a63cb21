"""Which process is writing an answer, so that another start can tell a crash from work."""

from __future__ import annotations

import functools
import os


@functools.cache
def this_writer() -> str:
    """This process, told apart from a later one with the same number by when it started."""
    import psutil

    pid = os.getpid()
    return f"{pid}:{psutil.Process(pid).create_time():.2f}"


def is_alive(writer: str | None) -> bool:
    if not writer:
        return False
    import psutil

    pid, _, started = writer.partition(":")
    try:
        return f"{psutil.Process(int(pid)).create_time():.2f}" == started
    except (psutil.NoSuchProcess, ValueError):
        return False
    except psutil.AccessDenied:
        return True
