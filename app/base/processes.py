"""The identity of the process that works on an answer or a download, for detecting a crash."""

from __future__ import annotations

import functools
import os


@functools.cache
def this_process() -> str:
    """Return a name for this process that differs from a later one's with the same process id."""
    import psutil

    pid = os.getpid()
    return f"{pid}:{psutil.Process(pid).create_time():.2f}"


def is_alive(name: str | None) -> bool:
    """Return whether the process that `this_process` gave this name is still running."""
    if not name:
        return False
    import psutil

    pid, _, started = name.partition(":")
    try:
        return f"{psutil.Process(int(pid)).create_time():.2f}" == started
    except (psutil.Error, ValueError):
        # A process that may not be inspected only has the same id; it is not ours.
        return False
