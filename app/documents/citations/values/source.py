"""Finds the words of a quote in a document, only as whole words."""

from __future__ import annotations

import bisect
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from app.documents.citations.values.normal import (
    ADDRESS,
    BREAK,
    CELL,
    HIDDEN,
    INDEX,
    QUOTED_LINE,
    as_shown,
    hide_markup,
    hide_quoted,
    is_numeral,
    is_unspaced,
    normalised,
    replaced,
    special,
)
from app.documents.values.documents import Document, DocumentKind

_ALL_HIDDEN: Final = f"(?:{HIDDEN}|{ADDRESS}++){{0,9}}+"
"""Hidden characters allowed between two others; more would let a hostile file slow the search."""

_SPECIAL: Final = {"-": f"(?:-|{BREAK})", BREAK: f"(?:-|{BREAK})?", "|": f"[|{CELL}]"}
_MARKS_OF_EMPHASIS: Final = "*_`~"
_LONG_RUN: Final = re.compile(f"[{_MARKS_OF_EMPHASIS}]{{4}}")
_EDGE: Final = "\x02"
_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1f]")
_ROW: Final = re.compile(r"\S[ ]*(?:\t| \| )|^[ \t]*\|.*\|\s*$")
"""Recognises a table row, which the next line does not continue."""
_BARRED_ROW: Final = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
"""A table row in Markdown."""
_WITH_QUOTED_LINES: Final = {DocumentKind.EMAIL, DocumentKind.TEXT}

_WITHIN_NUMBERS: Final = ".,:/'"
_SIGNS: Final = "-+\u2212\u00b1<>\u2264\u2265~\u2248\u2013"
_COMPARING: Final = "<>\u2264\u2265\u2248\u00b1~"
_SIGN_BEFORE: Final = re.compile(
    r"(?:[\u2212\u00b1<>\u2264\u2265\u2248]|(?:[=(] |\t ?)[-+~\u2013]) $"
)
"""The sign of a number with a space after it; a dash between two words is not one."""
_GROUP: Final = re.compile(r"\d{3}(?!\d)")
_GROUP_BEFORE: Final = re.compile(r"(?<!\d)\d{1,3} $")
_GROUP_END: Final = re.compile(r"(?<!\d)\d{1,3}$")
"""The digits of a number in groups of three with spaces between them."""
_FRACTION: Final = re.compile(r"[\u00bc-\u00be\u2150-\u215e]|\d{1,2}[/\u2044]\d")
"""A fraction that forms one number with a whole number before it, as in “1 ½”."""

_BEFORE_NOTE: Final = re.compile(r"[^\W\d_]{4}$")
"""A word before a footnote number; a unit with an exponent is shorter."""

_UNITS: Final = "%\u2030\u00b0$\u20ac\u00a3\u00a5\uff05￥\uff04℃℉"
"""Signs that belong to a number; without them it is a different one."""
_UNIT: Final = re.compile(
    rf"[{_UNITS}]|(?:[kcmµμnMG]?[mgWVAJNLl]|ml|kWh|MWh|Wh|h|min|s|ms|[kMGT]?Hz|[kKMGT]i?B|B|K|bar|"
    r"[hkM]?Pa|mol|dB|pt|px|dpi|ppm|EUR|USD|CHF|GBP|Uhr|[ap]m|[ap]\.m\.)(?!\w)"
)
"""A unit after a number; the white space before it does not matter."""

_NEGATIONS: Final = "不未无無非没沒勿弗毋"
_NEGATED_BEFORE: Final = ("ไม่", "มิ", "分之", "第")
"""Words that change the meaning of what follows, so a quote cannot leave them out."""
_HIRAGANA: Final = re.compile("[\u3041-\u3096]")
_NEGATED_AFTER: Final = ("ない", "なか", "なけ", "なく", "なし", "ませ", "ぬ", "ざる", "ず", "まい")
_KATAKANA: Final = re.compile("[\u30a1-\u30fa\u30fc-\u30fe\uff66-\uff9f]")
_LEADING_VOWELS: Final = "เแโใไ"
_TRAILING_VOWELS: Final = "ะาำๅๆ"
_SMALL_KANA: Final = "ぁぃぅぇぉっゃゅょゎー々"


class SearchedText:
    """A document in its normal form, to search for quotes.

    The results are positions in the document's own text.
    """

    def __init__(self, document: Document) -> None:
        self._text = document.text
        self._is_table = document.kind in {DocumentKind.CSV, DocumentKind.XLSX}
        self._is_markdown = document.kind is DocumentKind.MARKDOWN
        self._has_quoted_lines = document.kind in _WITH_QUOTED_LINES

    @cached_property
    def _normal(self) -> tuple[str, list[int], list[int]]:
        """The normal form, and the positions of its pieces there and in the original."""
        parts: list[str] = []
        normal_starts, original_starts = [0], [0]
        length = at = 0
        text = _BARRED_ROW.sub(lambda row: row[0].replace("|", CELL), self._text)
        if self._is_markdown:
            text = hide_markup(text)
        elif self._has_quoted_lines:
            text = hide_quoted(text)
        for found in special(text).finditer(text):
            before = text[at : found.start()]
            piece = "\n" if self._ends_row(found) else replaced(found)
            parts += (before, piece)
            length += len(before)
            normal_starts.append(length)
            original_starts.append(found.start())
            length += len(piece)
            at = found.end()
            normal_starts.append(length)
            original_starts.append(at)
        parts.append(text[at:])
        return "".join(parts), normal_starts, original_starts

    def _ends_row(self, found: re.Match[str]) -> bool:
        """Return whether no quote can continue across this white space.

        It ends a table row, or the lines quoted by a message.
        """
        space = found["space"]
        if not space or "\n" not in space:
            return False
        if self._is_table:
            return True
        start, end = (
            self._text.rfind("\n", 0, found.start()) + 1,
            self._text.find("\n", found.end()),
        )
        above = self._text[start : found.start() + 1]
        below = self._text[self._text.rfind("\n", 0, found.end()) + 1 : end if end >= 0 else None]
        if self._has_quoted_lines and _depth(above) != _depth(below):
            return True
        return bool(_ROW.search(above) or _ROW.search(below))

    @property
    def _between(self) -> str:
        """A pattern for what can be between two consecutive characters of a quote."""
        hides = self._is_markdown or self._has_quoted_lines
        return f"{_ALL_HIDDEN}{BREAK}?" if hides else f"{BREAK}?"

    def find(self, quote: str) -> Iterator[tuple[int, int]]:
        """Yield the start and the end of each occurrence of a quote in the original text."""
        normal, normal_starts, original_starts = self._normal
        if _CONTROL.search(quote):
            return
        if self._is_markdown:
            quote = as_shown(hide_markup(quote))
        elif self._has_quoted_lines:
            quote = as_shown(hide_quoted(quote))
        needle = normalised(quote).strip(f" \n|{CELL}")
        if not needle:
            return
        for found in _pattern(needle, self._between).finditer(normal):
            if _is_whole(normal, found.start(), found.end()):
                yield (
                    _original(found.start(), normal_starts, original_starts),
                    _original(found.end(), normal_starts, original_starts),
                )


def _depth(line: str) -> int:
    """Count the quotation marks (>) before a line that quotes another message."""
    marks = QUOTED_LINE.match(line)
    return marks[0].count(">") if marks else 0


def _original(at: int, normal_starts: Sequence[int], original_starts: Sequence[int]) -> int:
    piece = bisect.bisect_right(normal_starts, at) - 1
    return original_starts[piece] + at - normal_starts[piece]


def _pattern(needle: str, between: str) -> re.Pattern[str]:
    """Return a pattern for a quote in its normal form."""
    return re.compile(
        between.join(_index(needle, at) or _character(needle, at) for at in range(len(needle)))
    )


def _index(needle: str, at: int) -> str:
    """Return a pattern for a part of a subscript, or "" for any other character.

    H₂O can be quoted as H_2O or H2O. After a digit it would be another number, and file_2 is not
    file2.
    """
    character, before = needle[at], needle[at - 1 : at]
    if character == INDEX:
        return f"[{INDEX}_]?" if before.isalpha() else f"[{INDEX}_]"
    if not before.isalpha():
        return ""
    if character == "_":
        return f"(?:[{INDEX}_]|(?<={HIDDEN}))" if needle[at + 1 : at + 2].isdigit() else ""
    return f"{INDEX}?{re.escape(character)}" if character.isdigit() else ""


def _character(needle: str, at: int) -> str:
    """Return a pattern for a character of a quote; a hyphen also matches at the end of a line."""
    character = needle[at]
    before, after = needle[at - 1 : at], needle[at + 1 : at + 2]
    if character in _SPECIAL:
        return _SPECIAL[character]
    if character in " \t":
        return _white_space(needle, at)
    if _may_be_apart(needle, at, before):
        return f" ?{re.escape(character)}"
    if character in "\"'" and not before.isdigit() and not (before.isalpha() and after.isalpha()):
        return "[\"']"  # inner quotes can use the other kind of marks
    if character in _MARKS_OF_EMPHASIS and not _LONG_RUN.search(needle[max(0, at - 3) : at + 4]):
        # The matching mark can be outside the quote.
        return f"(?:{re.escape(character)}|(?<={HIDDEN}))"
    return re.escape(character)


def _white_space(needle: str, at: int) -> str:
    """Return a pattern for white space of a quote, which can also be between two cells of a row."""
    character, before = needle[at], needle[max(0, at - 4) : at]
    if before[-1:].isdigit() and (
        _FRACTION.match(needle, at + 1)
        or (_GROUP_END.search(before) and _GROUP.match(needle, at + 1))
    ):
        return character  # two cells with digits are not one number
    if character == " " and _may_be_apart(needle, at + 1, before[-1:]):
        return f"[ {CELL}]?"
    return f"[ {CELL}]"


def _may_be_apart(needle: str, at: int, before: str) -> bool:
    """Return whether white space before a character does not matter, as before a unit."""
    if needle[at : at + 1].isdigit():
        return bool(before) and (before in _COMPARING or before in "$€£¥￥\uff04")
    if not before.isdigit():
        return False
    unit = _UNIT.match(needle, at)
    return unit is not None and not needle[unit.end() : unit.end() + 1].isdigit()


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether no word or number continues beyond the ends of an occurrence."""
    before = as_shown(text[max(0, start - 20) : start])[-5:].rjust(5, _EDGE)
    after = as_shown(text[end : end + 20])[:5].ljust(5, _EDGE)
    first, last = text[start], text[end - 1]
    if _joins(before[-1], first) or _joins(last, after[0]):
        return False
    if _linked(before[-2], before[-1], first) or _linked(last, after[0], after[1]):
        return False
    if (before[-1] == "^" and first.isalnum()) or (
        after[0] == "^"
        and last.isalnum()
        and not (after[1].isdigit() and _BEFORE_NOTE.search(text, max(0, end - 20), end))
    ):
        return False
    if _is_turned(before, first, last, after):
        return False
    return not (
        (
            (first.isdigit() or _FRACTION.match(first))
            and _is_of_number_before(before, text[start : start + 4])
        )
        or (last.isdigit() and _is_of_number_after(text[max(0, end - 4) : end], after))
    )


def _joins(one: str, other: str) -> bool:
    """Return whether two characters belong to one word; few do in scripts without spaces."""
    if not (_is_of_word(one) and _is_of_word(other)):
        return False
    if is_numeral(one) and is_numeral(other):
        return True
    if not (is_unspaced(one) or is_unspaced(other)):
        return True
    return (
        (is_unspaced(one) and not other.isalnum())  # a combining mark belongs to its letter
        or (bool(_KATAKANA.match(one)) and bool(_KATAKANA.match(other)))
        or one in _LEADING_VOWELS
        or other in _TRAILING_VOWELS
        or other in _SMALL_KANA
    )


def _is_turned(before: str, first: str, last: str, after: str) -> bool:
    """Return whether a quote leaves out a neighbouring sign that reverses its meaning."""
    if is_unspaced(first) and (before[-1] in _NEGATIONS or before.endswith(_NEGATED_BEFORE[:2])):
        return True
    if is_numeral(first) and before.endswith(_NEGATED_BEFORE[2:]):
        return True
    return bool(_HIRAGANA.match(last)) and after.startswith(_NEGATED_AFTER)


def _is_of_word(character: str) -> bool:
    return (
        character.isalnum()
        or character in {"_", BREAK, INDEX}
        or unicodedata.category(character) in {"Mn", "Mc", "Me", "Cf"}
    )


def _linked(one: str, between: str, other: str) -> bool:
    """Return whether a sign such as a hyphen joins its neighbours into one word or number."""
    if is_unspaced(one) or is_unspaced(other):
        return False
    return between in "-'.@/" and one.isalnum() and other.isalnum()


def _is_of_number_before(before: str, first: str) -> bool:
    """Return whether a number begins before the first digits of an occurrence."""
    mark, further = before[-1], before[-2]
    if mark in _WITHIN_NUMBERS and (further.isdigit() or (mark in ".," and not further.isalnum())):
        return True
    if mark in _UNITS or mark in _SIGNS or _SIGN_BEFORE.search(before):
        return True
    if mark == " " and further.isdigit() and _FRACTION.match(first):
        return True
    return bool(_GROUP_BEFORE.search(before) and _GROUP.match(first))


def _is_of_number_after(last: str, after: str) -> bool:
    """Return whether a number continues after the last digits of an occurrence."""
    mark, further = after[0], after[1]
    if mark in _WITHIN_NUMBERS + "\u2013^" and further.isdigit():
        return True
    if mark == " " and _FRACTION.match(after[1:]):
        return True
    if mark in _UNITS or (mark == " " and further in _UNITS and not after[2].isdigit()):
        return True
    return bool(_GROUP_END.search(last) and _GROUP.match(after[1:]) and mark == " ")
