"""Raised and lowered signs in a line of plain text: 10², x₁, a^(n+1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Final, Literal

Shift = Literal["", "raised", "lowered"]
"""Where a sign stands beside its line."""

_RAISED: Final = {
    ord(one): other for one, other in zip("0123456789+-\u2212()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾ⁿ", strict=True)
}
_LOWERED: Final = {
    ord(one): other for one, other in zip("0123456789+-\u2212", "₀₁₂₃₄₅₆₇₈₉₊₋₋", strict=True)
}
LOWERED_DIGITS: Final = "₀₁₂₃₄₅₆₇₈₉"

_ORDINAL: Final = re.compile(
    r"st|nd|rd|th|er|ère|re|e|è|ème|eme|ième|nde?|ds?|o|a|os|as|ᵉ|[ºª]", re.IGNORECASE
)
"""What stands raised behind a number and means no power: 1st, 2ème, 3o."""
_ABBREVIATED: Final = re.compile(r"me|mes|lle|lles|gr|os?|rs?|TM|SM", re.IGNORECASE)
"""What stands raised behind a letter and shortens a word: Mme, no."""
_MARK: Final = re.compile(r"[^\w+\-\u2212=<>]+|\[[^\[\]]*\]|TM|SM|MC|MD")
"""A mark of a note or of a brand; its place above the line says nothing else."""
_ONE: Final = re.compile(r"\w")


def raised(text: str) -> str:
    """Write the signs of numbers as raised ones; a text with others is returned as it is."""
    return _translated(text, _RAISED) or text


def in_line(pieces: Iterable[tuple[Shift, str]]) -> str:
    """Write pieces of a line one after the other, so that raised ones do not become digits of it.

    Neighbours with the same shift are one piece.
    """
    found = [(it, "".join(text for _, text in group)) for it, group in groupby(pieces, _shift_of)]
    line = ""
    for number, (shift, text) in enumerate(found):
        if not shift or not text.strip():
            line += text
            continue
        behind = found[number + 1][1] if number + 1 < len(found) else ""
        line += shifted(line, shift, text.strip(), behind)
        line += " " if text[-1].isspace() and not behind[:1].isspace() else ""
    return line


def shifted(before: str, shift: Shift, text: str, behind: str = "") -> str:
    """Write a raised or lowered text behind another one."""
    if signs := _translated(text, _RAISED if shift == "raised" else _LOWERED):
        return signs
    if shift == "raised" and _is_plain(before, text):
        return text
    sign = "^" if shift == "raised" else "_"
    alone = _ONE.fullmatch(text) and not behind[:1].isalnum()
    return f"{sign}{text}" if alone else f"{sign}({text})"


def _is_plain(before: str, text: str) -> bool:
    """Tell whether a raised text means the same as one in the line."""
    last = before[-1:]
    return bool(
        _MARK.fullmatch(text)
        or (last.isdigit() and _ORDINAL.fullmatch(text))
        or (last.isalpha() and _ABBREVIATED.fullmatch(text))
    )


def _translated(text: str, signs: dict[int, str]) -> str:
    return text.translate(signs) if all(ord(it) in signs for it in text.strip()) else ""


def _shift_of(piece: tuple[Shift, str]) -> Shift:
    return piece[0]
