"""Keeps what people wrote from becoming a token with a meaning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from engines.text import SEAM


class Guard:
    """Knows the texts that stand for a token of their own."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_length: dict[int, set[str]] = defaultdict(set)
        for text in texts:
            if len(text) > 1:
                self._by_length[len(text)].add(text)
        self._first = frozenset(text[0] for of in self._by_length.values() for text in of)

    def protect(self, text: str) -> str:
        """`text` with a SEAM behind the first character of every such spelling in it."""
        text = text.replace(SEAM, "\N{REPLACEMENT CHARACTER}")
        if self._first.isdisjoint(text):
            return text
        return "".join(
            char + SEAM if char in self._first and self.begins(text, at) else char
            for at, char in enumerate(text)
        )

    def begins(self, text: str, at: int) -> bool:
        return any(text[at : at + length] in texts for length, texts in self._by_length.items())
