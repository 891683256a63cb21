"""Writes the numbers of lists and clauses: 4, iv, D, 4th."""

# ruff: noqa: RUF001  letters of other scripts are meant as such

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

_ROMAN: Final = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
    (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip
_MOST_ROMAN: Final = 4999
_MOST_LETTERS: Final = 780
_CHINESE: Final = "〇一二三四五六七八九"
_RUSSIAN: Final = "абвгдежзиклмнопрстуфхцчшщэюя"
_GREEK: Final = "αβγδεζηθικλμνξοπρστυφχψω"
_ARABIC: Final = "أبتثجحخدذرزسشصضطظعغفقكلمنهوي"
_ABJAD: Final = "أبجدهوزحطيكلمنسعفصقرشتثخذضظغ"
_HEBREW: Final = (
    (400, "ת"), (300, "ש"), (200, "ר"), (100, "ק"), (90, "צ"), (80, "פ"), (70, "ע"), (60, "ס"),
    (50, "נ"), (40, "מ"), (30, "ל"), (20, "כ"), (10, "י"), (9, "ט"), (8, "ח"), (7, "ז"), (6, "ו"),
    (5, "ה"), (4, "ד"), (3, "ג"), (2, "ב"), (1, "א"),
)  # fmt: skip
_ENGLISH: Final = (
    "Zero One Two Three Four Five Six Seven Eight Nine Ten Eleven Twelve Thirteen Fourteen Fifteen"
    " Sixteen Seventeen Eighteen Nineteen Twenty"
).split()
_ORDINALS: Final = (
    "Zeroth First Second Third Fourth Fifth Sixth Seventh Eighth Ninth Tenth Eleventh Twelfth"
    " Thirteenth Fourteenth Fifteenth Sixteenth Seventeenth Eighteenth Nineteenth Twentieth"
).split()


def roman(number: int) -> str:
    """Write a number as an upper-case Roman numeral, up to 4,999."""
    if not 0 < number <= _MOST_ROMAN:
        return str(number)
    written, left = "", number
    for value, sign in _ROMAN:
        count, left = divmod(left, value)
        written += sign * count
    return written


def letters(number: int, alphabet: str = "abcdefghijklmnopqrstuvwxyz") -> str:
    """Write a number as letters, as Word does: a to z, then aa, bb, cc."""
    if not 0 < number <= _MOST_LETTERS:
        return str(number)
    rounds, at = divmod(number - 1, len(alphabet))
    return alphabet[at] * (rounds + 1)


def _chinese(number: int) -> str:
    """Write a number below 10,000 in the Chinese and Japanese way: 二十三."""
    if not 0 < number < 10_000:
        return str(number)
    written, gap, left = "", False, number
    for value, sign in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, left = divmod(left, value)
        if digit:
            written += ("〇" if gap and written else "") + _CHINESE[digit] + sign
        gap = not digit
    return written.removeprefix("一") if written.startswith("一十") else written


def _hebrew(number: int) -> str:
    if not 0 < number < 500:
        return str(number)
    written, left = "", number
    for value, sign in _HEBREW:
        while left >= value and left not in {15, 16}:  # these would spell names of God
            left -= value
            written += sign
    return written + {15: "טו", 16: "טז"}.get(left, "")


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in {11, 12, 13} else ending}"


def _listed(names: Sequence[str]) -> Callable[[int], str]:
    return lambda number: names[number] if 0 <= number < len(names) else str(number)


def _enclosed(before: str, after: str) -> Callable[[int], str]:
    return lambda number: f"{before}{number}{after}"


def _circled(number: int) -> str:
    return chr(0x2460 + number - 1) if 0 < number <= 20 else str(number)


def _wide(number: int) -> str:
    return str(number).translate({0x30 + digit: 0xFF10 + digit for digit in range(10)})


_FORMS: Final[Mapping[str, Callable[[int], str]]] = {
    "none": lambda _: "",
    "upperRoman": roman,
    "lowerRoman": lambda number: roman(number).lower(),
    "upperLetter": lambda number: letters(number).upper(),
    "lowerLetter": letters,
    "decimalZero": lambda number: f"{number:02}",
    "ordinal": _ordinal,
    "cardinalText": _listed(_ENGLISH),
    "ordinalText": _listed(_ORDINALS),
    "russianLower": lambda number: letters(number, _RUSSIAN),
    "russianUpper": lambda number: letters(number, _RUSSIAN).upper(),
    "lowerGreek": lambda number: letters(number, _GREEK),
    "arabicAlpha": lambda number: letters(number, _ARABIC),
    "arabicAbjad": lambda number: letters(number, _ABJAD),
    "hebrew1": _hebrew,
    "hebrew2": _hebrew,
    **dict.fromkeys(
        (
            "chineseCounting",
            "chineseCountingThousand",
            "japaneseCounting",
            "taiwaneseCounting",
            "taiwaneseCountingThousand",
            "ideographDigital",
        ),
        _chinese,
    ),
    "decimalEnclosedCircle": _circled,
    "decimalEnclosedCircleChinese": _circled,
    "decimalEnclosedParen": _enclosed("(", ")"),
    "decimalEnclosedFullstop": _enclosed("", "."),
    "numberInDash": _enclosed("- ", " -"),
    "decimalFullWidth": _wide,
    "decimalFullWidth2": _wide,
}


def numeral(number: int, form: str) -> str:
    """Write a number in one of Office's list formats; an unknown format counts as decimal."""
    write = _FORMS.get(form)
    return write(number) if write is not None else str(number)
