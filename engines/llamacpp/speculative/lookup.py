"""Prompt lookup: drafts the tokens that followed the same tokens earlier in the text."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from typing import Final

from engines.types import MAX_DEPTH

_KEY: Final = 3
"""Number of tokens that must have occurred before in the same order."""

_LONGEST: Final = 32
_CANDIDATES: Final = 4
_LENGTHS: Final = (4, 5, 6, 8, 12, 16, 24)


class PromptLookup:
    """Finds earlier occurrences of the last tokens in the sequence.

    It helps with text that is copied, quoted or edited: code, names, tables. It costs next to
    nothing and needs no model. Source: Saxena, "Prompt lookup decoding", 2023.

    Attributes:
        tokens: The sequence as far as it was observed.
    """

    def __init__(self) -> None:
        self.tokens: list[int] = []
        # For each key, the end of its last occurrence; and for each end, that of the previous one.
        self._last: dict[tuple[int, ...], int] = {}
        self._before: list[int] = []

    def observe(self, tokens: Sequence[int], start: int) -> None:
        """Note that the sequence has `tokens` from position `start` on."""
        self.roll_back(start)
        known, before, last = self.tokens, self._before, self._last
        for token in tokens:
            known.append(token)
            end = len(known)
            key = tuple(known[end - _KEY :]) if end >= _KEY else ()
            before.append(last.get(key, 0))
            last[key] = end

    def propose(self, token: int) -> tuple[list[int], int]:
        """Return the tokens that followed earlier, and the confidence, 0 to 7.

        The longer the match, the higher the confidence.

        Args:
            token: The next token of the sequence, not yet observed.
        """
        known = self.tokens
        count = len(known)
        if count < _KEY:
            return [], 0
        best, longest = 0, 0
        end = self._last.get((*known[count - _KEY + 1 :], token), 0)
        for _ in range(_CANDIDATES):
            if not end:
                break
            length = _KEY
            while length < min(_LONGEST, end) and known[end - 1 - length] == known[count - length]:
                length += 1
            if length > longest:
                best, longest = end, length
            end = self._before[end - 1]
        if not longest:
            return [], 0
        found = known[best : best + MAX_DEPTH]
        if len(found) < MAX_DEPTH:
            # The text is repeating itself at this point, so assume that it continues to do so.
            found = ([*found, token] * MAX_DEPTH)[:MAX_DEPTH]
        return found, bisect(_LENGTHS, longest)

    def roll_back(self, length: int) -> None:
        """Forget what was observed after the first `length` tokens."""
        known, before, last = self.tokens, self._before, self._last
        while len(known) > length:
            end = len(known)
            key = tuple(known[end - _KEY :]) if end >= _KEY else ()
            if earlier := before.pop():
                last[key] = earlier
            else:
                last.pop(key, None)
            known.pop()

    def forget(self) -> None:
        """Forget the whole sequence."""
        self.roll_back(0)
