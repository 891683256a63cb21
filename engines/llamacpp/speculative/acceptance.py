"""The acceptance of a drafter's tokens, as learnt while answering.

Drafts are kept only as a chain: the second can be right only where the first was. Four things are
learnt, with memories that fade, so that code after prose is soon recognised as code:

- the share of all drafts that were right lately, at whatever position: it belongs to the text;
- how much seldomer each position is right than that, which belongs to the drafter, and is learnt
  slowly over all texts;
- `chance` of each position, given that those before it were right: what was seen of it, and as
  long as that is little, the text's share at the position's usual distance from it;
- the share of right drafts among those of equal *confidence*, a small number that the drafter
  gives with each token. Where few were seen, the position's chance stands in.

`cautious` are the tokens to be expected if the text's share is worse than is believed, by a little
more than one standard deviation; at least half of the drafts expected to hold do.

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

_GROWTH = 2 ** (1 / 28)  # half of a memory is gone after 28 drafts that were judged
_GROWTH_OF_BUCKETS = 2 ** (1 / 96)  # after as many chains: what confidence means changes slowly
_FIRST = 0.5  # the share of right drafts while nothing is known
_BELIEVED = 2.0  # judged drafts that this counts as
_FALL = 0.96  # a position against the one before it, while nothing is known
_FALL_BELIEVED = 16.0  # and as many drafts judged there
_FALL_KEPT = 0.995  # of what is known of a position's fall, with each draft judged there
_BORROWED = 2.0  # judged drafts that the text's share is worth at one position
_BORROWED_BY_BUCKET = 8.0
_SURPRISE = 0.003
_SHORTEST_RUN = 3
_KEPT = 2.0  # judged drafts that the old belief is worth after such a change
_CUT = 4.0  # and what confidence meant counts this much less
_HANDED_ON = 50.0  # most judged drafts that count of the answers before
_CAUTION = 1.15  # standard deviations
_LEAST_WRONG = 0.02  # the share of wrong drafts that caution always reckons with
_MOST_WEIGHT = 1e12


class Acceptance:
    """The acceptance of one drafter, as it is believed, for chains of up to `limit` drafts."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._weight = 1.0
        self._right = [0.0] * limit
        self._seen = [0.0] * limit
        self._share = _FIRST
        self._fell = [_FALL_BELIEVED * _FALL**position for position in range(limit)]
        self._fell_from = [_FALL_BELIEVED] * limit
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
        """Return how likely the draft at `position`, from 0, of this confidence is right."""
        borrowed = _BORROWED_BY_BUCKET * self._bucket_weight
        right = self._bucket_right[bucket] + borrowed * self.chances[position]
        return right / (self._bucket_seen[bucket] + borrowed)

    def learn(
        self, buckets: Sequence[int], right: int, judged: int, age: float = 1.0, start: int = 0
    ) -> None:
        """Learn that of `judged` drafts compared with the text, the first `right` held.

        `right` is `judged`, or one less: what follows a wrong draft is never judged. age: how
        many times faster the memory fades this once, since much text went by unobserved. start:
        how many drafts of the chain were judged before, all of which held; `buckets` begins
        behind them.
        """
        if judged == 0:
            return
        self._weight *= _GROWTH ** (age * judged)
        for position, bucket in enumerate(buckets[:judged], start):
            held = position - start < right
            self._seen[position] += self._weight
            self._right[position] += self._weight * held
            self._bucket_seen[bucket] += self._bucket_weight
            self._bucket_right[bucket] += self._bucket_weight * held
            if position:
                self._fell[position] = _FALL_KEPT * self._fell[position] + held
                self._fell_from[position] = _FALL_KEPT * self._fell_from[position] + self._share
        if start == 0:
            self._bucket_weight *= _GROWTH_OF_BUCKETS
            self._watch(right > 0)
        if self._weight > _MOST_WEIGHT:
            self._rescale()
        self._believe()

    def doubt(self) -> None:
        """Let what is remembered count for some observations at most: another text may begin."""
        seen, most = sum(self._seen), _HANDED_ON * self._weight
        if seen > most:
            self._seen = [one * most / seen for one in self._seen]
            self._right = [one * most / seen for one in self._right]
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
        weight, borrowed = self._weight, _BORROWED * self._weight
        falls = []
        seen = _BELIEVED * weight
        for own, all_, one in zip(self._fell, self._fell_from, self._seen, strict=True):
            fall = own / all_ if own < all_ else 1.0
            falls.append(fall)
            seen += one * fall
        share = min(1.0, (sum(self._right) + _BELIEVED * _FIRST * weight) / seen)
        off = _CAUTION * sqrt(share * max(_LEAST_WRONG, 1 - share) * weight / seen)
        lent = borrowed * share
        reach, tokens, least_reach, least = 1.0, 1.0, 1.0, 1.0
        known = zip(falls, self._right, self._seen, strict=True)
        for position, (fall, right, judged) in enumerate(known):
            chance = (right + lent * fall) / (judged + borrowed)
            self.chances[position] = chance
            reach *= chance
            tokens += reach
            self.expected[position + 1] = tokens
            least_reach *= chance - off if chance > off else 0.0
            least += least_reach
            half = (1 + tokens) / 2
            self.cautious[position + 1] = max(half, least)
        self._share = share

    def _rescale(self) -> None:
        for values in (self._right, self._seen):
            values[:] = [value / self._weight for value in values]
        for values in (self._bucket_right, self._bucket_seen):
            values[:] = [value / self._bucket_weight for value in values]
        self._weight = self._bucket_weight = 1.0
