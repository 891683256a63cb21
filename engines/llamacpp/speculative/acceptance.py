"""The acceptance of a drafter's tokens, as learnt while answering.

Drafts are only kept as a chain: the second can be right only if the first was. Four things are
learnt, with memories that fade, so that code after prose is soon recognised as code:

- the share of all recent drafts that were right, at any position: a property of the text;
- how much less often each position is right than that: a property of the drafter, learnt slowly
  over all texts;
- the `chance` of each position, given that those before it were right: what was observed there,
  and as long as that is little, the text's share with the position's usual difference from it;
- the share of right drafts among those with equal *confidence*, a small number that the drafter
  gives with each token. If few were observed, the position's chance is used instead.

`cautious` are the tokens to expect if the text's share is lower than believed by a little more than
one standard deviation, but at least half of the drafts that are expected to hold.

A memory fades because new observations weigh more, instead of reducing the old ones: this is one
multiplication, however many numbers are remembered. If a run of equal outcomes is too unlikely
under the current belief (six hits where three in ten were expected), the text has changed, and the
run itself becomes the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

BUCKETS = 8
"""Number of confidence values, from 0 for a guess to 7 for certainty."""

_GROWTH = 2 ** (1 / 28)  # half of a memory is gone after 28 judged drafts
_GROWTH_OF_BUCKETS = 2 ** (1 / 96)  # half is gone after 96 chains: its meaning changes slowly
_FIRST = 0.5  # the share of right drafts while nothing is known
_BELIEVED = 2.0  # this counts as so many judged drafts
_FALL = 0.96  # acceptance of a position relative to the one before, while nothing is known
_FALL_BELIEVED = 16.0  # this counts as so many drafts judged there
_FALL_MEMORY = 0.995  # share of a position's known fall that each draft judged there leaves
_BORROWED = 2.0  # the text's share counts as so many judged drafts at one position
_BORROWED_BY_BUCKET = 8.0
_SURPRISE = 0.003
_SHORTEST_RUN = 3
_OLD_BELIEF = 2.0  # after such a change, the old belief counts as so many judged drafts
_CUT = 4.0  # and the old meaning of confidence counts this many times less
_HANDED_ON = 50.0  # the most judged drafts that count from earlier answers
_CAUTION = 1.15  # the number of standard deviations that `cautious` subtracts
_LEAST_WRONG = 0.02  # the least share of wrong drafts that caution assumes
_MOST_WEIGHT = 1e12


class Acceptance:
    """The believed acceptance of one drafter, for chains of up to `limit` drafts.

    Attributes:
        chances: For each position, the chance that its draft is right if those before it were.
        expected: For each number of drafts, the tokens expected from a step.
        cautious: The same, if the text's share is lower than believed.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._weight = 1.0
        self._right = [0.0] * limit
        self._judged = [0.0] * limit
        self._share = _FIRST
        self._fell = [_FALL_BELIEVED * _FALL**position for position in range(limit)]
        self._fell_from = [_FALL_BELIEVED] * limit
        self._bucket_weight = 1.0
        self._bucket_right = [0.0] * BUCKETS
        self._bucket_judged = [0.0] * BUCKETS
        self._run, self._run_of, self._odds = 0, True, 1.0
        self.chances = [0.0] * limit
        self.expected = [1.0] * (limit + 1)
        self.cautious = [1.0] * (limit + 1)
        self._believe()

    @property
    def observations(self) -> float:
        """Number of first drafts that the memory still holds."""
        return self._judged[0] / self._weight

    def chance(self, position: int, bucket: int) -> float:
        """Return the chance that a draft with this confidence at `position`, from 0, is right."""
        borrowed = _BORROWED_BY_BUCKET * self._bucket_weight
        right = self._bucket_right[bucket] + borrowed * self.chances[position]
        return right / (self._bucket_judged[bucket] + borrowed)

    def learn(
        self, buckets: Sequence[int], right: int, judged: int, age: float = 1.0, start: int = 0
    ) -> None:
        """Learn that of `judged` drafts compared with the text, the first `right` held.

        Args:
            buckets: The confidence of each draft, from number `start` on.
            right: Number of right drafts: `judged`, or one less, as drafts after a wrong one are
                never judged.
            judged: Number of drafts that were compared with the text.
            age: How many times faster the memory fades this once, because much text went by
                unobserved.
            start: Number of drafts of the chain that were judged before, all of them right.
        """
        if judged == 0:
            return
        self._weight *= _GROWTH ** (age * judged)
        for position, bucket in enumerate(buckets[:judged], start):
            is_right = position - start < right
            self._judged[position] += self._weight
            self._right[position] += self._weight * is_right
            self._bucket_judged[bucket] += self._bucket_weight
            self._bucket_right[bucket] += self._bucket_weight * is_right
            if position:
                self._fell[position] = _FALL_MEMORY * self._fell[position] + is_right
                self._fell_from[position] = _FALL_MEMORY * self._fell_from[position] + self._share
        if start == 0:
            self._bucket_weight *= _GROWTH_OF_BUCKETS
            self._watch(right > 0)
        if self._weight > _MOST_WEIGHT:
            self._rescale()
        self._believe()

    def doubt(self) -> None:
        """Limit the weight of what is remembered, as another text may begin."""
        judged, most = sum(self._judged), _HANDED_ON * self._weight
        if judged > most:
            self._judged = [one * most / judged for one in self._judged]
            self._right = [one * most / judged for one in self._right]
        self._believe()

    def _watch(self, is_right: bool) -> None:
        """Notice a run of first drafts that the current belief cannot explain."""
        if is_right is not self._run_of:
            self._run_of, self._run, self._odds = is_right, 0, 1.0
        self._run += 1
        self._odds *= self.chances[0] if is_right else 1 - self.chances[0]
        if self._odds < _SURPRISE and self._run >= _SHORTEST_RUN:
            self._bucket_weight *= _CUT
            rest = [0.0] * (self._limit - 1)
            right = self._run * is_right + _OLD_BELIEF * self.chances[0]
            self._judged = [(self._run + _OLD_BELIEF) * self._weight, *rest]
            self._right = [right * self._weight, *rest]
            self._odds = 1.0

    def _believe(self) -> None:
        """Compute the chances, and the tokens expected from chains of each length."""
        weight, borrowed = self._weight, _BORROWED * self._weight
        falls = []
        all_judged = _BELIEVED * weight
        for own, all_, one in zip(self._fell, self._fell_from, self._judged, strict=True):
            fall = own / all_ if own < all_ else 1.0
            falls.append(fall)
            all_judged += one * fall
        share = min(1.0, (sum(self._right) + _BELIEVED * _FIRST * weight) / all_judged)
        off = _CAUTION * sqrt(share * max(_LEAST_WRONG, 1 - share) * weight / all_judged)
        lent = borrowed * share
        reach, tokens, least_reach, least = 1.0, 1.0, 1.0, 1.0
        known = zip(falls, self._right, self._judged, strict=True)
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
        for values in (self._right, self._judged):
            values[:] = [value / self._weight for value in values]
        for values in (self._bucket_right, self._bucket_judged):
            values[:] = [value / self._bucket_weight for value in values]
        self._weight = self._bucket_weight = 1.0
