"""The process at work on an answer or a download, so that another start can tell a crash."""

from __future__ import annotations

import functools
import os


@functools.cache
def this_process() -> str:
    """Name this process, told apart from a later one with the same number by when it started."""
    import psutil

    pid = os.getpid()
    return f"{pid}:{psutil.Process(pid).create_time():.2f}"


def is_alive(name: str | None) -> bool:
    """Tell whether the process that `this_process` named so still runs."""
    if not name:
        return False
    import psutil

    pid, _, started = name.partition(":")
    try:
        return f"{psutil.Process(int(pid)).create_time():.2f}" == started
    except (psutil.Error, ValueError):
        # Of a process that may not be looked at, only the number is ours.
        return False
