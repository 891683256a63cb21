"""A drafter that guesses as well as it is told to, at the cost of a real one."""

from __future__ import annotations

import random
from collections.abc import Sequence

from engines.llamacpp.mtp import Drafter, More


class Oracle:
    """Has the real drafter work, and puts tokens of the known text in place of its guesses.

    text: the tokens of the prompt and of the answer to it, from a run without drafts; what comes
    after its end is guessed by the real drafter. right: probability that a guess is the token of
    the text. A wrong one is another token of the text, so it is never one that ends an answer.
    The guesses of a run depend on `seed` and on how many were asked for before.
    """

    def __init__(self, drafter: Drafter, text: Sequence[int], right: float, seed: int = 1) -> None:
        self._drafter = drafter
        self._text = text
        self._right = right
        self._random = random.Random(seed)
        self.kind = drafter.kind

    def propose(self, token: int, position: int, more: More) -> list[int]:
        guesses: list[int] = []

        def go_on(guess: int, sure: int) -> bool:
            at = position + 1 + len(guesses)
            guesses.append(self._guess(self._text[at]) if at < len(self._text) else guess)
            return more(guesses[-1], sure)

        self._drafter.propose(token, position, go_on)
        return guesses

    def _guess(self, token: int) -> int:
        if self._random.random() < self._right:
            return token
        others = [other for other in self._text if other != token]
        return self._random.choice(others)

    def prepare(self) -> None:
        self._drafter.prepare()

    def observe(self, tokens: Sequence[int], start: int) -> None:
        self._drafter.observe(tokens, start)

    def roll_back(self, length: int) -> None:
        self._drafter.roll_back(length)

    def save(self) -> bytearray | None:
        return self._drafter.save()

    def restore(self, saved: bytearray | None) -> None:
        self._drafter.restore(saved)
