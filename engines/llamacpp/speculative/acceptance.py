"""How often the drafts of one drafter turn out right, as learnt while answering.

Drafts are kept only as a chain: the second can be right only where the first was. Three things are
learnt, both with a memory that fades, so that code after prose is soon recognised as code:

- `chance` of each position, given that those before it were right. A position that was seldom
  reached borrows from the one before it, and is taken for a little worse;
- `cautious`, the tokens to be expected if each position is right less often than is believed, by
  one standard deviation of what was seen of it; at least half of the drafts expected to hold do;
- the share of right drafts among those of equal *confidence*, a small number that the drafter
  gives with each token. Where few were seen, the position's chance stands in.

A memory fades by letting new observations weigh more instead of taking from the old ones: one
multiplication, however many numbers are remembered. When a run of equal outcomes is too unlikely
under what was believed (six hits where three in ten were expected), the text has changed: the
run itself becomes the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

BUCKETS = 8
"""Confidence is a number from 0, a guess, to 7, sure."""

_GROWTH = 2 ** (1 / 24)  # half of a memory is gone after 24 observed drafts
_GROWTH_OF_BUCKETS = 2 ** (1 / 96)  # what confidence means changes slowly
_FIRST = 0.5  # chance of a first draft while nothing is known
_FALL = 0.96  # a position seldom reached against the one before it
_BORROWED = 2.0  # observations that the borrowed chance is worth
_BORROWED_BY_BUCKET = 8.0
_SURPRISE = 0.001
_SHORTEST_RUN = 3
_KEPT = 2.0  # observations that the old belief is worth after such a change
_CUT = 4.0  # and what confidence meant counts this much less
_HANDED_ON = 14.0  # most observations that count of the answers before
_CAUTION = 1.0  # standard deviations
_MOST_WEIGHT = 1e12


class Acceptance:
    """What is believed of one drafter, for chains of up to `limit` drafts."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._weight = 1.0
        self._right = [0.0] * limit
        self._seen = [0.0] * limit
        self._bucket_weight = 1.0
        self._bucket_right = [0.0] * BUCKETS
        self._bucket_seen = [0.0] * BUCKETS
        self._run, self._run_of, self._odds = 0, True, 1.0
        self.chances = [0.0] * limit
        self.expected = [1.0] * (limit + 1)
        self.cautious = [1.0] * (limit + 1)
        self._believe()

    @property
    def observations(self) -> float:
        """How many first drafts the memory still holds."""
        return self._seen[0] / self._weight

    def chance(self, position: int, bucket: int) -> float:
        """How likely the draft at `position`, from 0, of this confidence is right."""
        borrowed = _BORROWED_BY_BUCKET * self._bucket_weight
        right = self._bucket_right[bucket] + borrowed * self.chances[position]
        return right / (self._bucket_seen[bucket] + borrowed)

    def learn(self, buckets: Sequence[int], right: int, judged: int, age: float = 1.0) -> None:
        """The first `judged` drafts were compared with the text, the first `right` of them held.

        `right` is `judged`, or one less: what follows a wrong draft is never judged. age: how
        many times faster the memory fades this once, since much text went by unobserved.
        """
        if judged == 0:
            return
        self._weight *= _GROWTH**age
        self._bucket_weight *= _GROWTH_OF_BUCKETS
        for position in range(judged):
            held = position < right
            self._seen[position] += self._weight
            self._bucket_seen[buckets[position]] += self._bucket_weight
            if held:
                self._right[position] += self._weight
                self._bucket_right[buckets[position]] += self._bucket_weight
        self._watch(right > 0)
        if self._weight > _MOST_WEIGHT:
            self._rescale()
        self._believe()

    def doubt(self) -> None:
        """Another text may begin: what is remembered counts for a few observations at most."""
        for position, seen in enumerate(self._seen):
            most = _HANDED_ON * self._weight
            if seen > most:
                self._right[position] *= most / seen
                self._seen[position] = most
        self._believe()

    def _watch(self, held: bool) -> None:
        """Notice a run of first drafts that what is believed cannot explain."""
        if held is not self._run_of:
            self._run_of, self._run, self._odds = held, 0, 1.0
        self._run += 1
        self._odds *= self.chances[0] if held else 1 - self.chances[0]
        if self._odds < _SURPRISE and self._run >= _SHORTEST_RUN:
            self._bucket_weight *= _CUT
            rest = [0.0] * (self._limit - 1)
            right = self._run * held + _KEPT * self.chances[0]
            self._seen = [(self._run + _KEPT) * self._weight, *rest]
            self._right = [right * self._weight, *rest]
            self._odds = 1.0

    def _believe(self) -> None:
        """Work out the chances, and the tokens expected from chains of each length."""
        borrowed = _BORROWED * self._weight
        chance, reach, tokens = _FIRST / _FALL, 1.0, 1.0
        least_reach, least = 1.0, 1.0
        for position in range(self._limit):
            right = self._right[position] + borrowed * chance * _FALL
            seen = self._seen[position] + borrowed
            chance = right / seen
            self.chances[position] = chance
            reach *= chance
            tokens += reach
            self.expected[position + 1] = tokens
            off = sqrt(chance * (1 - chance) * self._weight / seen)
            least_reach *= max(0.0, chance - _CAUTION * off)
            least += least_reach
            self.cautious[position + 1] = max(least, (1 + tokens) / 2)

    def _rescale(self) -> None:
        for values in (self._right, self._seen):
            values[:] = [value / self._weight for value in values]
        for values in (self._bucket_right, self._bucket_seen):
            values[:] = [value / self._bucket_weight for value in values]
        self._weight = self._bucket_weight = 1.0
