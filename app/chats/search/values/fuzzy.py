"""Finds titles by a few letters, with a score of how well they match the typed text."""

from __future__ import annotations

import unicodedata

_WHOLE = 100
_BEGINS = 60
_WORD_BEGINS = 40
_WITHIN = 20


def folded(text: str) -> str:
    """Fold a text to the form people type in a search: lower case, without accents."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def fit(typed: str, title: str) -> float | None:
    """Score how well the typed words match a title; return None if one of them does not.

    A word scores most as the whole title, then at its beginning, at the beginning of a word, inside
    a word, and least as letters in order with gaps between them. Among equals the shorter title
    scores higher. Empty input matches every title.

    Args:
        typed: The typed words, already `folded`.
        title: The title, already `folded`.
    """
    words = typed.split()
    total = 0.0
    for word in words:
        found = _fit_of_word(word, title)
        if found is None:
            return None
        total += found
    return total - len(title) / 1000


def _fit_of_word(word: str, title: str) -> float | None:
    if word == title:
        return _WHOLE
    if title.startswith(word):
        return _BEGINS
    if f" {word}" in title:
        return _WORD_BEGINS
    if word in title:
        return _WITHIN
    return _scattered(word, title)


def _scattered(word: str, title: str) -> float | None:
    """Score letters found in order, higher if they begin words; None if they are too far apart."""
    score, at, began = 0.0, -1, -1
    for letter in word:
        at = title.find(letter, at + 1)
        if at < 0:
            return None
        began = at if began < 0 else began
        score += 2 if at == 0 or title[at - 1] in " -_.:/" else 0.5
    spread = at - began + 1
    if spread > 4 * len(word) and score < 2 * len(word):
        return None
    return min(score, _WITHIN / 2) - spread / 100
