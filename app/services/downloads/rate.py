"""How fast a download is, smoothed: pure."""

from __future__ import annotations

import math

_SETTLES_S = 4.0


class Rate:
    """Bytes over seconds, both with less weight the longer ago they were."""

    def __init__(self) -> None:
        self._last: tuple[int, float] | None = None
        self._bytes = self._seconds = 0.0

    def update(self, done: int, now: float) -> None:
        """`done` bytes are here at `now` seconds. Fewer than before begin a new measurement."""
        if self._last is not None and done < self._last[0]:
            self.stop()
        if self._last is not None:
            seconds = now - self._last[1]
            kept = math.exp(-seconds / _SETTLES_S)
            self._bytes = self._bytes * kept + (done - self._last[0])
            self._seconds = self._seconds * kept + seconds
        self._last = (done, now)

    def stop(self) -> None:
        """Nothing comes at the moment."""
        self._last = None
        self._bytes = self._seconds = 0.0

    @property
    def bytes_per_s(self) -> float | None:
        return self._bytes / self._seconds if self._seconds > 0 else None

    def seconds_left(self, left: int) -> float | None:
        """Until so many bytes have come; None if nobody can tell."""
        rate = self.bytes_per_s
        return left / rate if rate else None
