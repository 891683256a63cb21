"""How often a growing answer is drawn: often, but most of the processor is left to the model."""

from __future__ import annotations

SHORTEST_S = 0.033
_CALM_S = 0.1
"""Text that grows ten times a second still flows."""
_SHARE = 32.0
"""Of the time, drawing takes one part in so many, as far as the text flows then."""
_MOST = 4.0
"""And never more than one part in so many."""
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
        return max(SHORTEST_S, min(_CALM_S, _SHARE * self._cost), _MOST * self._cost)
