"""Prompt lookup: drafts what followed when the same tokens stood in the text before."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from typing import Final

from engines.types import MAX_DEPTH

_KEY: Final = 3
"""Tokens that must have come before in the same order."""

_LONGEST: Final = 32
_CANDIDATES: Final = 4
_LENGTHS: Final = (4, 5, 6, 8, 12, 16, 24)


class PromptLookup:
    """Finds where the last tokens stood before in the sequence.

    For text that is copied, quoted or edited: code, names, tables. It costs next to nothing and
    needs no model. Source: Saxena, "Prompt lookup decoding", 2023.

    tokens: the sequence as far as it was observed.
    """

    def __init__(self) -> None:
        self.tokens: list[int] = []
        # For each key, where it ended last; and from there, where it had ended before.
        self._last: dict[tuple[int, ...], int] = {}
        self._before: list[int] = []

    def observe(self, tokens: Sequence[int], start: int) -> None:
        """Take in that the sequence has `tokens` from position `start` on."""
        self.roll_back(start)
        held, before, last = self.tokens, self._before, self._last
        for token in tokens:
            held.append(token)
            end = len(held)
            key = tuple(held[end - _KEY :]) if end >= _KEY else ()
            before.append(last.get(key, 0))
            last[key] = end

    def propose(self, token: int) -> tuple[list[int], int]:
        """Return what followed the tokens up to `token` before, and the confidence, 0 to 7.

        token: the next of the sequence, not yet observed. The longer the match, the surer.
        """
        held = self.tokens
        here = len(held)
        if here < _KEY:
            return [], 0
        best, longest = 0, 0
        end = self._last.get((*held[here - _KEY + 1 :], token), 0)
        for _ in range(_CANDIDATES):
            if not end:
                break
            length = _KEY
            while length < min(_LONGEST, end) and held[end - 1 - length] == held[here - length]:
                length += 1
            if length > longest:
                best, longest = end, length
            end = self._before[end - 1]
        if not longest:
            return [], 0
        found = held[best : best + MAX_DEPTH]
        if len(found) < MAX_DEPTH:
            # The text repeats itself right here: then it goes on in the same circle.
            found = ([*found, token] * MAX_DEPTH)[:MAX_DEPTH]
        return found, bisect(_LENGTHS, longest)

    def roll_back(self, length: int) -> None:
        """Forget what was observed behind the first `length` tokens."""
        held, before, last = self.tokens, self._before, self._last
        while len(held) > length:
            end = len(held)
            key = tuple(held[end - _KEY :]) if end >= _KEY else ()
            if earlier := before.pop():
                last[key] = earlier
            else:
                last.pop(key, None)
            held.pop()

    def forget(self) -> None:
        self.roll_back(0)
