"""What Auto may lose in an answer: so little that nobody would miss it."""

from __future__ import annotations

ALLOWANCE = 0.01  # credit for each token, and the part of the time spent on watching
_START = 0.8  # credit at the beginning of an answer, whatever the last one won or lost
_DEBT = 1.6  # how far below nothing it may be before what pays on a poor day is closed, too
_SAVED = 2.0  # how far the allowance adds up
_WON = 12.0  # how far what was won adds up
_AMPLE = 2.0  # from here on bad luck is borne


class Credit:
    """Of one answer: a little to begin with, a part of its tokens, and what drafting has won.

    have: what there is, in plain steps' time; less than nothing is debt.
    """

    def __init__(self) -> None:
        self.have = _START

    def pay(self, out: int, spent: float) -> None:
        """A step took the time of that many plain steps, and so many tokens came of it."""
        have = self.have + out - spent
        if have < _SAVED:
            have = min(_SAVED, have + ALLOWANCE * out)
        self.have = min(_WON, have)

    @property
    def stake(self) -> float:
        """What the next step may lose on a poor day."""
        return max(min(0.0, self.have + _DEBT), self.have)

    @property
    def left(self) -> float:
        """What there is before even that is closed, but for what pays by more than the debt."""
        return self.have + _DEBT

    @property
    def ample(self) -> bool:
        """Whether bad luck can be borne, and a cost that is little known be tried."""
        return self.have >= _AMPLE
