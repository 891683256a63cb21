"""How often a growing answer is drawn: often, but never more than a quarter of the time."""

from __future__ import annotations

SHORTEST_S = 0.033
_SHARE = 4.0
_SMOOTHING = 0.3


class Pace:
    """Times are in seconds."""

    def __init__(self) -> None:
        self._cost = 0.0

    def drew(self, cost: float) -> None:
        """Tell what one drawing took."""
        self._cost += _SMOOTHING * (cost - self._cost)

    @property
    def interval(self) -> float:
        """The time to leave between the begin of one drawing and that of the next."""
        return max(SHORTEST_S, _SHARE * self._cost)
