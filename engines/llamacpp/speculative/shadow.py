"""Drafts that nobody checks: what the text says to them, token by token.

A draft is compared with the tokens that the model draws. Those that were checked are compared in
the same step, all others as plain steps come to their places, as long as the chain holds.
"""

from __future__ import annotations

from collections.abc import Sequence

from engines.llamacpp.speculative.acceptance import Acceptance
from engines.llamacpp.speculative.costs import Costs

WORTH_TRYING = 1.02
"""A gain that is possible at all must be at least this."""

_OLDEST = 3.0  # times faster that memory fades over text that went by unobserved


class Shadow:
    """Of one answer. hit: the last comparison held. idle: steps since the last draft."""

    def __init__(self) -> None:
        self.hit = False
        self.idle = 0
        self._left: Sequence[int] = ()
        self._held = 0
        self._age = 1.0

    @property
    def follows(self) -> bool:
        """Whether there are drafts that the coming tokens are compared with."""
        return len(self._left) > 0

    def take(self, drafted: Sequence[int]) -> None:
        """A step begins to be learnt from; it drafted these, told by their confidence, or none."""
        if not drafted:
            self.idle += 1
            return
        self._left, self._held = drafted, 0
        self._age = max(1.0, min(_OLDEST, self.idle / 8))
        self.idle = 0

    def compare(self, known: Acceptance, right: int, out: int) -> bool:
        """`out` tokens came out, of which `right` equal the drafts that are left; False if none."""
        if not self._left:
            return False
        judged = min(right + 1, out, len(self._left))
        known.learn(self._left, right, judged, self._age, self._held)
        self._age = 1.0
        self.hit = right == judged
        self._left = self._left[judged:] if self.hit else ()
        self._held += judged
        return True


def longest(costs: Costs, room: int, credit: float) -> int:
    """Drafts of the longest shadow: as deep as they could ever pay, if the credit lasts."""
    if not costs.draft:
        return 1
    depths = range(room, 0, -1)
    could = (k for k in depths if k + 1 >= WORTH_TRYING * (costs.ratios[k] + k * costs.draft))
    return max(1, min(next(could, 1), int(credit / costs.draft)))
