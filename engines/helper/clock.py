"""Limits a process by its processor time, so that a limit means the same on a busy computer.

If other programs use the processor, a process needs more wall-clock time, but no more processor
time.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Final

STALLED_S: Final = 20.0
"""Least number of seconds without any work after which a process counts as stuck."""

_CHECK_S: Final = 0.2
_TIME_LIMIT_CODE: Final = 124
"""Exit code on Windows, which has no signal for this."""


class WorkClock:
    """Checks whether another process has worked too long, or has done nothing for too long.

    Args:
        limit_s: Processor time of all its threads that it can use from now on, in seconds.
        stalled_s: Seconds that it can go without using any.
    """

    def __init__(self, pid: int, limit_s: float, stalled_s: float | None = None) -> None:
        self._pid = pid
        self._limit_s = limit_s
        self._stalled_s = max(limit_s, STALLED_S) if stalled_s is None else stalled_s
        self._first_work = self._last_work = _work_of(pid) or 0.0
        self._progress_at = time.monotonic()

    def is_over(self) -> bool:
        """Return whether a limit is exceeded; False if the process has ended by itself."""
        work = _work_of(self._pid)
        if work is None:
            return False
        now = time.monotonic()
        if work > self._last_work:
            self._last_work, self._progress_at = work, now
        return work - self._first_work > self._limit_s or now - self._progress_at > self._stalled_s


def _work_of(pid: int) -> float | None:
    """Return the processor time that a process has used, in seconds; None if it has ended."""
    import psutil

    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return None
    return float(times.user + times.system)


def limit_work(limit_s: float | None) -> None:
    """End this process after some more processor time, replacing an earlier limit.

    Args:
        limit_s: Seconds, which the system rounds up to whole ones; None for no limit.
    """
    if sys.platform == "win32":
        _watched[0] = end = None if limit_s is None else time.process_time() + limit_s
        if end is not None:
            threading.Thread(target=_watch, args=(end,), daemon=True).start()
        return
    import math
    import resource

    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = hard
    if limit_s is not None:
        soft = math.ceil(time.process_time() + limit_s)
        if hard != resource.RLIM_INFINITY:
            soft = min(soft, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


_watched: list[float | None] = [None]
"""Processor time at which this process has to end, on Windows."""


def _watch(end: float) -> None:
    """End the process at a processor time, unless another time has been set since."""
    while _watched[0] == end:
        if time.process_time() > end:
            os._exit(_TIME_LIMIT_CODE)
        time.sleep(_CHECK_S)


def worked_too_long(code: int) -> bool:
    """Return whether `limit_work` ended a process, from the exit code that `subprocess` gives."""
    return code == (_TIME_LIMIT_CODE if os.name == "nt" else -getattr(signal, "SIGXCPU", 0))
