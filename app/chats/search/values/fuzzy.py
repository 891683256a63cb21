"""Finding a title by a few letters: a score of how well it fits what was typed."""

from __future__ import annotations

import unicodedata

_WHOLE = 100
_BEGINS = 60
_WORD_BEGINS = 40
_WITHIN = 20


def folded(text: str) -> str:
    """Fold a text as people type when they search: lower case, without accents."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def fit(typed: str, title: str) -> float | None:
    """Score how well every word that was typed is found in a title; None if one is not.

    A word counts most as the whole title, then at its beginning, at the beginning of a word, as a
    part of one, and least as letters that come one after the other with gaps between them. Among
    equals the shorter title fits better. Both are `folded` already; nothing typed fits anything.
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
    """Score letters found in order, more for those that begin a word; None if too far apart."""
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
