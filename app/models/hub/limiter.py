"""The speed limit of all downloads together: a token bucket."""

from __future__ import annotations

import threading
import time

from engines.cancel import CancelToken

_BURST_S = 0.2


class Bucket:
    """Shares a rate among transfers: it tells each how long to wait for its bytes.

    Each is told in the order in which they come. Pure but for what it remembers.

    Each taker is told how long to wait for its bytes, in the order in which they come, so that
    several share the rate.
    """

    def __init__(self) -> None:
        self._free_at = 0.0

    def take(self, count: int, rate: float, now: float) -> float:
        """Return how many seconds to wait before `count` bytes may pass at `rate` bytes/s."""
        self._free_at = max(self._free_at, now - _BURST_S) + count / rate
        return max(0.0, self._free_at - now)


class Limiter:
    """The speed limit that all transfers share; may be used from any thread.

    rate: in bytes/s, may be set at any time; 0 is no limit.
    """

    def __init__(self, rate: float = 0.0) -> None:
        self.rate = rate
        self._bucket = Bucket()
        self._lock = threading.Lock()

    def pass_through(self, count: int, cancel: CancelToken) -> None:
        """Wait until so many bytes may pass; returns at once when cancelled."""
        rate = self.rate
        if rate <= 0:
            return
        with self._lock:
            seconds = self._bucket.take(count, rate, time.monotonic())
        cancel.wait(seconds)
