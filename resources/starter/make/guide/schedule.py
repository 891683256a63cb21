"""A training budget in minutes, and the learning rate that follows from its used share."""

import math
import time


class Budget:
    """Counts down `minutes` from the moment it is made."""

    def __init__(self, minutes: float) -> None:
        self._seconds = minutes * 60
        self._start = time.monotonic()

    @property
    def used(self) -> float:
        """The used share of the time, 0 to 1."""
        return min((time.monotonic() - self._start) / self._seconds, 1.0)


def learning_rate(used: float, peak: float, warm_up: float = 0.03) -> float:
    """Return the rate: a linear warm-up, then half a cosine down to 2 % of `peak`."""
    if used < warm_up:
        return peak * (used + 0.001) / warm_up
    falling = (used - warm_up) / (1 - warm_up)
    return peak * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * falling)))
