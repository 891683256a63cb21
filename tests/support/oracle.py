"""A drafter with a chosen rate of right guesses, and a sampler that writes a known text.

Both have the costs of real ones.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from engines.llamacpp.context import Context
from engines.llamacpp.mtp import Drafter, More
from engines.llamacpp.sampling import Sampler


class Oracle:
    """A drafter that lets the real one work, and replaces its guesses by tokens of a known text.

    Which tokens can be guessed depends only on the text and on `seed`: they are the same for any
    number of drafts at a time, so that ways of drafting are compared on equal terms. A wrong guess
    is another token of the text, so it is never one that ends an answer.

    Args:
        drafter: The real drafter. It also guesses the tokens after the end of the text.
        text: The tokens of the prompt and of the answer to it, from a run without drafts.
        right: The probability that a guess is the token of the text.
        seed: The seed of the random numbers.
    """

    def __init__(self, drafter: Drafter, text: Sequence[int], right: float, seed: int = 1) -> None:
        self._drafter = drafter
        chance = random.Random(seed)
        self._guesses = [
            token if chance.random() < right else _another(token, text, chance) for token in text
        ]
        self.kind = drafter.kind
        self.at_once = drafter.at_once

    def propose(self, token: int, position: int, more: More) -> list[int]:
        guesses: list[int] = []

        def go_on(guess: int, sure: int) -> bool:
            at = position + 1 + len(guesses)
            guesses.append(self._guesses[at] if at < len(self._guesses) else guess)
            return more(guesses[-1], sure)

        self._drafter.propose(token, position, go_on)
        return guesses

    def prepare(self) -> None:
        self._drafter.prepare()

    def join(self, held: Sequence[int]) -> None:
        self._drafter.join(held)

    def observe(self, tokens: Sequence[int], start: int) -> None:
        self._drafter.observe(tokens, start)

    def roll_back(self, length: int) -> None:
        self._drafter.roll_back(length)

    def save(self) -> bytearray | None:
        return self._drafter.save()

    def restore(self, saved: bytearray | None) -> None:
        self._drafter.restore(saved)


def _another(token: int, text: Sequence[int], chance: random.Random) -> int:
    others = [other for other in text if other != token]
    return chance.choice(others) if others else token


class Dictated:
    """A sampler that really draws every token, but returns the next one of a known answer.

    The kernels' last bits depend on how many tokens are evaluated at once, and random weights cause
    many near ties: an answer with drafts soon leaves the text of the one without, and from then on
    the chosen rate of right guesses is lost.
    """

    def __init__(self, sampler: Sampler, answer: Sequence[int]) -> None:
        self._sampler = sampler
        self._answer = iter(answer)

    def draw(self, context: Context, row: int = -1) -> int:
        drawn = self._sampler.draw(context, row)
        return next(self._answer, drawn)

    def take(self, token: int) -> None:
        self._sampler.take(token)

    def guide(self, *, on: bool) -> None:
        self._sampler.guide(on=on)

    def close(self) -> None:
        self._sampler.close()
