"""The speed limit that all downloads share: a token bucket."""

from __future__ import annotations

import threading
import time

from engines.cancel import CancelToken

_BURST_S = 0.2


class Bucket:
    """A token bucket that shares a rate among several transfers.

    It tells each transfer how long to wait for its bytes, in the order in which they ask. It has
    no side effects beyond its own state.
    """

    def __init__(self) -> None:
        self._free_at = 0.0

    def take(self, count: int, rate: float, now: float) -> float:
        """Return how many seconds to wait before `count` bytes can pass at `rate` bytes/s."""
        self._free_at = max(self._free_at, now - _BURST_S) + count / rate
        return max(0.0, self._free_at - now)


class Limiter:
    """The speed limit that all transfers share; for use from any thread.

    Attributes:
        rate: The limit in bytes/s, which can be changed at any time; 0 means no limit.
    """

    def __init__(self, rate: float = 0.0) -> None:
        self.rate = rate
        self._bucket = Bucket()
        self._lock = threading.Lock()

    def pass_through(self, count: int, cancel: CancelToken) -> None:
        """Wait until `count` bytes can pass; return at once when cancelled."""
        rate = self.rate
        if rate <= 0:
            return
        with self._lock:
            seconds = self._bucket.take(count, rate, time.monotonic())
        cancel.wait(seconds)
