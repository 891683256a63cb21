"""Superscripts and subscripts in a line of plain text: 10², x₁, a^(n+1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Final, Literal

Shift = Literal["", "raised", "lowered"]
"""The position of a character relative to its line."""

_RAISED: Final = {
    ord(one): other for one, other in zip("0123456789+-\u2212()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾ⁿ", strict=True)
}
_LOWERED: Final = {
    ord(one): other for one, other in zip("0123456789+-\u2212", "₀₁₂₃₄₅₆₇₈₉₊₋₋", strict=True)
}

_ORDINAL: Final = re.compile(
    r"st|nd|rd|th|er|ère|re|e|è|ème|eme|ième|nde?|ds?|o|a|os|as|ᵉ|[ºª]", re.IGNORECASE
)
"""Raised text after a number that is not a power: 1st, 2ème, 3o."""
_ABBREVIATED: Final = re.compile(r"me|mes|lle|lles|gr|os?|rs?|TM|SM", re.IGNORECASE)
"""Raised text after a letter that abbreviates a word: Mme, no."""
_MARK: Final = re.compile(r"[^\w+\-\u2212=<>]+|\[[^\[\]]*\]|TM|SM|MC|MD")
"""A footnote or trademark sign; being raised has no other meaning."""
_ONE: Final = re.compile(r"\w")


def raised(text: str) -> str:
    """Write a text of number signs as superscripts; a text with other characters stays as it is."""
    return _translated(text, _RAISED) or text


def in_line(pieces: Iterable[tuple[Shift, str]]) -> str:
    """Join the pieces of a line so that superscripts do not become digits of the line.

    Neighbours with the same shift are one piece.
    """
    found = [
        (shift, "".join(text for _, text in group)) for shift, group in groupby(pieces, _shift_of)
    ]
    line = ""
    for number, (shift, text) in enumerate(found):
        if not shift or not text.strip():
            line += text
            continue
        after = found[number + 1][1] if number + 1 < len(found) else ""
        line += shifted(line, shift, text.strip(), after)
        line += " " if text[-1].isspace() and not after[:1].isspace() else ""
    return line


def shifted(before: str, shift: Shift, text: str, after: str = "") -> str:
    """Write a superscript or subscript after another text.

    Args:
        before: The text before it.
        after: The text after it.
    """
    if signs := _translated(text, _RAISED if shift == "raised" else _LOWERED):
        return signs
    if shift == "raised" and _is_plain(before, text):
        return text
    sign = "^" if shift == "raised" else "_"
    is_single = _ONE.fullmatch(text) and not after[:1].isalnum()
    return f"{sign}{text}" if is_single else f"{sign}({text})"


def _is_plain(before: str, text: str) -> bool:
    """Return whether a raised text means the same when it is not raised."""
    last = before[-1:]
    return bool(
        _MARK.fullmatch(text)
        or (last.isdigit() and _ORDINAL.fullmatch(text))
        or (last.isalpha() and _ABBREVIATED.fullmatch(text))
    )


def _translated(text: str, signs: dict[int, str]) -> str:
    return (
        text.translate(signs) if all(ord(character) in signs for character in text.strip()) else ""
    )


def _shift_of(piece: tuple[Shift, str]) -> Shift:
    return piece[0]
