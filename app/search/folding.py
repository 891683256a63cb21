"""Folding of text for comparison: no case, no accents, and no signs that keyboards lack."""

from __future__ import annotations

import re
import unicodedata

UNSPACED = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
    "\u0e01-\u0e2e\u0e30-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u1780-\u17d3"
)
"""Letters of scripts without spaces between words, as a class of a regular expression: Han, kana,
Thai, Lao, Burmese and Khmer, with the marks of the last four.
"""

_WORD = re.compile(r"\w")
_REPLACEMENTS = {
    "ø": "o",
    "đ": "d",
    "ł": "l",
    "ħ": "h",
    "\u0131": "i",
    "æ": "ae",
    "œ": "oe",
    "þ": "th",
}
"""Letters that Unicode does not decompose, and what people type for them."""

_ACCENTS = (("\u0300", "\u036f"), ("\u064b", "\u065f"), ("\u0591", "\u05c7"))
"""Ranges of marks that writers leave out: of Latin, Greek and Cyrillic, of Arabic, of Hebrew."""

_VOWELS = ("\u0900", "\u1cff")
"""The range of the scripts of South and South-East Asia, whose marks are indispensable vowels."""


class _Folding(dict[int, str]):
    """The translation of each character, filled on first use."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold(chr(code))
        return folded


_FOLDING = _Folding()


def fold(text: str) -> str:
    """Return a text in lower case, without accents, with a space for each sign beyond ASCII."""
    return text.translate(_FOLDING)


def fold_each(text: str) -> tuple[str, list[int]]:
    """Fold a text; return it with the index in `text` that each of its characters comes from."""
    places: list[int] = []
    for place, character in enumerate(text):
        places += [place] * len(_FOLDING[ord(character)])
    return fold(text), places


def _fold(character: str) -> str:
    if character.isascii():
        return character.lower()
    parts = unicodedata.normalize("NFKD", character).casefold()
    bare = "".join(part for part in parts if not _is_accent(part))
    folded = "".join(_REPLACEMENTS.get(part, part) for part in unicodedata.normalize("NFC", bare))
    return "".join(part if _WORD.match(part) or _is_vowel(part) else " " for part in folded)


def _is_accent(character: str) -> bool:
    return any(first <= character <= last for first, last in _ACCENTS)


def _is_vowel(character: str) -> bool:
    first, last = _VOWELS
    return first <= character <= last and unicodedata.category(character) in {"Mn", "Mc"}
