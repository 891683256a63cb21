"""The normal form of a text, in which quotes are compared.

It removes differences that do not matter in a quote: kinds of white space, hyphens at line ends,
shapes of quotation marks, ligatures, combining characters, and the two ways to write a power (10²
and 10^2). In scripts without spaces white space is removed, because it only shows where a line
ended. A tab separates two cells of a table, whatever separated them before.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Final

from app.search.folding import UNSPACED

BREAK: Final = "\x01"
"""A hyphen at the end of a line, which can be part of the word or not."""
HIDDEN: Final = "\x03"
ADDRESS: Final = "\x04"
"""Placeholders for characters that Markdown hides: marks of emphasis, and link addresses."""
INDEX: Final = "\x05"
"""A mark before a subscript number, as in H₂O."""
CELL: Final = "\t"
"""A mark between two cells of a row."""

_WIDE_SIGNS: Final = (
    "\u3001-\u3020\u3030-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
_NUMERALS: Final = "〇零一二三四五六七八九十百千万億亿萬兆两兩廿卅壹贰叁肆伍陆柒捌玖拾佰仟"
_IS_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_IS_WIDE: Final = re.compile(f"[{UNSPACED}{_WIDE_SIGNS}]")
_MOST_HIDDEN: Final = 9

_MARKS: Final = {
    **dict.fromkeys("“”„‟«»″「」『』《》〈〉﹁﹂﹃﹄｢｣", '"'),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2039\u203a\u2032", "'"),
    **dict.fromkeys("\u2010\u2011", "-"),
    **dict.fromkeys("\u00ad\u200b\u2060\ufeff", ""),
    "\ufb00": "ff",
    "\ufb01": "fi",
    "\ufb02": "fl",
    "\ufb03": "ffi",
    "\ufb04": "ffl",
    "\ufb05": "st",
    "\ufb06": "st",
    "\u017ft": "st",  # PDFium returns the ligature like this
}
_RAISED: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿ\u2212", "0123456789+-()n-")
_LOWERED: Final = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋₍₎\u2212", "0123456789+-()-")
_ONE_SPACE: Final = (
    rf"|(?<=[{UNSPACED}{_WIDE_SIGNS}{HIDDEN}]) | (?=[{UNSPACED}{_WIDE_SIGNS}{HIDDEN}])"
)


def _special(one_space: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<hyphen>(?<=[^\W\d_])[-\u2010\u00ad][ \t]*\n[\s{HIDDEN}]*(?=[^\W\d_]))"
        rf"|(?P<range>(?<=\w)[-\u2010][ \t]*\n[\s{HIDDEN}]*(?=\w))"
        r"|(?P<cell>[ \t]++\|[ \t|]*+|(?:\A|(?<=\n))\|[ \t|]*+)"
        rf"|(?P<space>[^\S ]\s*| \s+{one_space})"
        rf"|(?P<mark>[{''.join(mark for mark in _MARKS if len(mark) == 1)}]|\u017ft)"
        r"|(?P<composed>.[\u0300-\u036f]+)"
        r"|(?P<power>[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿ]+|\^[{(][-+\u2212]?\w{1,9}[)}]|\^\u2212)"
        r"|(?P<index>[₀₁₂₃₄₅₆₇₈₉₊₋₍₎]+|(?<=\w)_[{(][-+\u2212]?\w{1,9}[)}])"
    )


_SPECIAL: Final = _special("")
_SPECIAL_UNSPACED: Final = _special(_ONE_SPACE)


def special(text: str) -> re.Pattern[str]:
    """Return a pattern for the parts of a text that differ in its normal form."""
    return _SPECIAL_UNSPACED if _IS_WIDE.search(text) else _SPECIAL


def normalised(text: str) -> str:
    """Return the normal form of a text."""
    return special(text).sub(replaced, text)


def replaced(found: re.Match[str]) -> str:
    """Return the normal form of a match of `special`."""
    return _WRITTEN[found.lastgroup or ""](found)


def _space(found: re.Match[str]) -> str:
    """Return the normal form of white space: none next to a letter of a script without spaces."""
    if CELL in found[0] and "\n" not in found[0]:
        return CELL
    before, after = (
        _neighbour(found.string, found.start() - 1, -1),
        _neighbour(found.string, found.end(), 1),
    )
    if is_numeral(before) and is_numeral(after):
        return " "
    return "" if _IS_WIDE.match(before) or _IS_WIDE.match(after) else " "


def _neighbour(text: str, at: int, step: int) -> str:
    """Return the nearest character that is not hidden; "" at an end of the text.

    Args:
        step: 1 to search forwards, -1 to search backwards.
    """
    for _ in range(_MOST_HIDDEN):
        if not 0 <= at < len(text):
            return ""
        if text[at] not in (HIDDEN, ADDRESS):
            return text[at]
        at += step
    return ""


_WRITTEN: Final[dict[str, Callable[[re.Match[str]], str]]] = {
    "hyphen": lambda _found: BREAK,
    "range": lambda _found: "-",  # between digits, which would form another number without it
    "cell": lambda _found: CELL,
    "space": _space,
    "mark": lambda found: _MARKS[found[0]],
    "composed": lambda found: unicodedata.normalize("NFC", found[0]),
    "power": lambda found: "^" + found[0].translate(_RAISED).strip("^{}()"),
    "index": lambda found: INDEX + found[0].translate(_LOWERED).strip("_{}()"),
}


def is_unspaced(character: str) -> bool:
    """Return whether a character is a letter of a script without spaces between words."""
    return bool(_IS_UNSPACED.match(character))


def is_numeral(character: str) -> bool:
    """Return whether a character is a digit or a Chinese numeral."""
    return bool(character) and (character.isdigit() or character in _NUMERALS)


def as_shown(text: str) -> str:
    """Remove the placeholders of hidden characters."""
    return text.replace(HIDDEN, "").replace(ADDRESS, "")


_FENCED: Final = re.compile(r"^ {0,3}(`{3,}+|~{3,}+)[^\n]*\n(?s:.*?)(?:^ {0,3}\1|\Z)", re.MULTILINE)
_MARKUP: Final = re.compile(
    r"(?P<blank>\n[ \t]*\n)|(?P<escape>\\[!-/:-@\[-`{-~])|(?P<run>\*+|_+|`+|~+)"
    r"|(?P<open>(?<!!)\[)|(?P<link>\]\([^()\s]{0,2000}(?:[ ]\"[^\"\n]{0,200}\")?\))"
    r"|(?P<quoted>(?<=\n)[ ]{0,3}>[ >]*)"
)
_MOST_RUN: Final = 3
QUOTED_LINE: Final = re.compile(r"^[ \t]*>[> \t]*", re.MULTILINE)
"""The marks at the beginning of a line that quotes another message."""


def hide_markup(text: str) -> str:
    """Replace each character that Markdown hides by a placeholder."""
    hidden: list[tuple[int, int]] = []
    at = 0
    for block in (*_FENCED.finditer(text), None):
        end = block.start() if block is not None else len(text)
        hidden += _hidden_in(text, at, end)
        at = block.end() if block is not None else end
    parts: list[str] = []
    at = 0
    for start, end in sorted(hidden):
        sign = ADDRESS if text[start] == "]" else HIDDEN
        parts += (text[at:start], sign * (end - start))
        at = end
    return "".join((*parts, text[at:]))


def hide_quoted(text: str) -> str:
    """Replace the marks of quoted lines by placeholders."""
    return QUOTED_LINE.sub(lambda found: HIDDEN * len(found[0]), text)


def _hidden_in(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans that Markdown hides; emphasis and links end with the paragraph."""
    opened: dict[str, tuple[int, int]] = {}
    for found in _MARKUP.finditer(text, start, end):
        place = found.span()
        code = next((mark for mark in opened if mark[0] == "`"), "")
        if found["blank"]:
            opened.clear()
        elif found["quoted"]:
            yield place
        elif code and found[0] != code:
            continue
        elif found["open"]:
            opened["["] = place
        elif found["link"] and "[" in opened:
            yield from (opened.pop("["), place)
        elif found["run"] and len(found[0]) <= _MOST_RUN:
            yield from _emphasis(text, found[0], place, opened)


def _emphasis(
    text: str, run: str, place: tuple[int, int], opened: dict[str, tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """Return the spans of a run of marks and of the run it closes, or record that it can open."""
    before, after = text[place[0] - 1 : place[0]], text[place[1] : place[1] + 1]
    if run in opened and not before.isspace() and not after.isalnum():
        return opened.pop(run), place
    if after and not after.isspace() and not before.isalnum():
        opened[run] = place
    return ()
