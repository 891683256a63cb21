"""Formats the numbers, dates and times of cells by a workbook's formats (ECMA-376, 18.8.31).

No maintained library does this in Python. Whatever depends on the computer's locale is written in
the English way: 1,234.50; dates in the computer's own short format as 2026-03-01.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Final

GENERAL: Final = "General"
_MOST_LONG: Final = 255
"""Maximum characters of a format; Office allows no more."""

_MOST_PLACES: Final = 30
"""Maximum digits after the point; Office shows no more."""

_TOKEN: Final = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_(?P<space>.)|\*(?P<fill>.)'
    r"|\[\$(?P<currency>[^\]-]*)(?:-(?P<locale>[0-9A-Fa-f]+)?[^\]]*)?\]"
    r"|\[(?P<elapsed>h+|m+|s+)\]|\[(?P<condition>(?:<=|>=|<>|<|>|=)\s*-?[\d.]+)\]|\[(?P<other>[^\]]*)\]"
    r"|(?P<general>General|Standard)|(?P<noon>AM/PM|A/P|上午/下午)|(?P<exponent>E[+-])|(?P<date>y+|m+|d+|h+|s+|e+|b+|g+)"
    r"|(?P<thousandths>\.0{1,3}(?![0#?]))|(?P<digit>[0#?])|(?P<sign>[.,%/@])"
    r"|(?P<else>.)",
    re.IGNORECASE | re.DOTALL,
)
_LOCAL: Final = {"mm-dd-yy": "yyyy-mm-dd", "m/d/yy h:mm": "yyyy-mm-dd hh:mm"}
"""Formats that are shown in the computer's own date format."""

_ENGLISH: Final = (
    "January February March April May June July August September October November December".split(),
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
)
_NAMES: Final = {
    0x07: (
        "Januar Februar März April Mai Juni Juli August September Oktober November"
        " Dezember".split(),
        "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag".split(),
    ),
    0x09: _ENGLISH,
    0x0A: (
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre"
        " diciembre".split(),
        "lunes martes miércoles jueves viernes sábado domingo".split(),
    ),
    0x0C: (
        "janvier février mars avril mai juin juillet août septembre octobre novembre"
        " décembre".split(),
        "lundi mardi mercredi jeudi vendredi samedi dimanche".split(),
    ),
    0x10: (
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre"
        " dicembre".split(),
        "lunedì martedì mercoledì giovedì venerdì sabato domenica".split(),
    ),
}
"""Names of months and days, by the primary part of a language id."""

_SHORT: Final = {0x07: 2}
"""Letters of an abbreviated day name, if not three."""


@dataclass(frozen=True)
class _Section:
    """A section of a format, for some values.

    Attributes:
        tokens: The kind and the text of its tokens, in order.
        condition: A comparison and its number; None if it has none.
        locale: The language id of month and day names.
    """

    tokens: tuple[tuple[str, str], ...]
    condition: tuple[str, float] | None
    locale: int
    is_date: bool
    is_text: bool


def shown_number(value: float, code: str, base: date) -> str:
    """Format a number as a cell with this format shows it.

    Args:
        code: The format.
        base: The day that dates are counted from.
    """
    if not math.isfinite(value):
        return str(value)
    sections = _sections(code)
    section, sign, size = _chosen(sections, value)
    if section is None or section.is_text:
        return _general(value)
    if section.is_date:
        if value >= 0:
            return _date(section, value, base)
        is_length = any(kind == "elapsed" for kind, _ in section.tokens)
        return f"-{_date(section, -value, base)}" if is_length else _general(value)
    try:
        text = _number(section, size)
        return sign + text.lstrip() if any(character in "123456789" for character in text) else text
    except (ArithmeticError, ValueError, LookupError):
        return _general(value)


def shown_text(text: str, code: str) -> str:
    """Format a text as a cell with this format shows it."""
    if "@" not in code:
        return text
    section = _sections(code)[-1]
    if not section.is_text:
        return text
    return "".join(text if kind == "text" else shown for kind, shown in section.tokens)


@lru_cache(maxsize=512)
def _sections(code: str) -> tuple[_Section, ...]:
    code = _LOCAL.get(code, code)[:_MOST_LONG]
    found: list[_Section] = []
    tokens: list[re.Match[str]] = []
    for token in _TOKEN.finditer(code):
        if token["else"] == ";":
            found.append(_section(tokens))
            tokens = []
        else:
            tokens.append(token)
    return (*found, _section(tokens))


def _section(found: list[re.Match[str]]) -> _Section:
    is_date = any(
        match["date"] or match["elapsed"] or match["noon"] for match in found
    ) and not any(match["digit"] or match["general"] for match in found)
    tokens: list[tuple[str, str]] = []
    condition, locale = None, 0x09
    for match in found:
        if match["condition"]:
            sign, number = re.findall(r"[<>=]+|[-\d.]+", match["condition"])[:2]
            condition = (sign, _float(number))
        elif match["locale"]:
            locale = int(match["locale"][-4:], 16) & 0x3FF
        if match["currency"]:
            tokens.append(("literal", match["currency"]))
        elif (kind_text := _token(match, is_date=is_date)) is not None:
            tokens.append(kind_text)
    is_text = any(kind == "text" for kind, _ in tokens)
    return _Section(tuple(tokens), condition, locale, is_date, is_text)


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


_SIGNS: Final = {".": "point", ",": "comma", "%": "percent", "/": "slash", "@": "text"}
_LITERAL: Final = {"quoted", "escaped", "else"}


def _token(match: re.Match[str], *, is_date: bool) -> tuple[str, str] | None:
    """Return the kind and text of a token; None for a colour or a fill character."""
    kind = match.lastgroup or ""
    text = match[kind] or ""
    if kind in {"fill", "other", "condition"}:
        return None
    if kind == "space":
        text = " "
    elif kind == "thousandths" and not is_date:
        return ("decimals", text[1:])
    is_literal = (
        kind in _LITERAL or kind == "space" or (kind == "sign" and is_date)
        or (kind == "date" and not is_date)
    )  # fmt: skip
    if is_literal:
        return ("literal", text)
    return (_SIGNS[text], text) if kind == "sign" else (kind, text)


def _chosen(sections: tuple[_Section, ...], value: float) -> tuple[_Section | None, str, float]:
    """Return the section for a value, the sign unless the section implies it, and the magnitude."""
    numbers = (
        [section for section in sections[:3] if not section.is_text]
        if len(sections) < 4
        else sections[:3]
    )
    if not numbers:
        return None, "", value
    for section in numbers:
        if section.condition is not None and _meets(section.condition, value):
            negative = "-" if value < 0 and section is numbers[0] else ""
            return section, negative, abs(value)
    if any(number.condition is not None for number in numbers):
        rest = [number for number in numbers if number.condition is None]
        return (rest[-1] if rest else None), "-" if value < 0 else "", abs(value)
    if value < 0 and len(numbers) > 1:
        return numbers[1], "", -value
    if value == 0 and len(numbers) > 2:
        return numbers[2], "", 0.0
    return numbers[0], "-" if value < 0 else "", abs(value)


def _meets(condition: tuple[str, float], value: float) -> bool:
    sign, number = condition
    return {
        "<": value < number,
        ">": value > number,
        "<=": value <= number,
        ">=": value >= number,
        "=": value == number,
        "<>": value != number,
    }.get(sign, False)


def _general(value: float) -> str:
    """Format a number like a cell without a format, but whole numbers with all digits."""
    if isinstance(value, int) or (value == int(value) and abs(value) < 1e21):
        return str(int(value))
    if not 1e-5 <= abs(value) < 1e21:
        return re.sub(r"\.?0+E", "E", f"{value:.5E}")
    whole = len(str(int(abs(value)))) if abs(value) >= 1 else 1
    text = f"{value:.{max(0, 10 - whole)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _number(section: _Section, value: float) -> str:
    tokens = list(section.tokens)
    if any(kind == "general" for kind, _ in tokens):
        return "".join(_general(value) if kind == "general" else text for kind, text in tokens)
    if not any(kind in {"digit", "decimals"} for kind, _ in tokens):
        return "".join(text for _, text in tokens)  # such as "-" for zero
    number = Decimal(repr(value))
    number *= 100 ** min(9, sum(kind == "percent" for kind, _ in tokens))
    slash = next((at for at, (kind, _) in enumerate(tokens) if kind == "slash"), None)
    if slash is not None and any(kind == "digit" for kind, _ in tokens[:slash]):
        return _as_fraction(tokens, slash, number)
    exponent = next((at for at, (kind, _) in enumerate(tokens) if kind == "exponent"), None)
    if exponent is not None:
        return _scientific(tokens, exponent, number)
    return _decimal(tokens, number)


def _decimal(tokens: list[tuple[str, str]], number: Decimal) -> str:
    """Format a number with its digits at the placeholders of a format."""
    point = next(
        (at for at, (kind, _) in enumerate(tokens) if kind in {"point", "decimals"}), len(tokens)
    )
    before, after = tokens[:point], tokens[point:]
    digits_at = [at for at, (kind, _) in enumerate(before) if kind == "digit"]
    last = digits_at[-1] if digits_at else -1
    commas = [at for at, (kind, _) in enumerate(before) if kind == "comma"]
    scaled = sum(at > last for at in commas) if digits_at else 0
    scaled += sum(kind == "comma" for kind, _ in after)
    groups = any(digits_at[0] < at < last for at in commas) if digits_at else False
    places = "".join(text for kind, text in after if kind in {"digit", "decimals"})[:_MOST_PLACES]
    with localcontext() as context:
        context.prec = 400
        number = (number / 1000**scaled).quantize(Decimal(1).scaleb(-len(places)), ROUND_HALF_UP)
        whole, _, rest = f"{number:f}".partition(".")
    written = _integer_digits(before, whole.lstrip("0"), groups=groups)
    return written + _fraction_digits(after, rest, places)


def _integer_digits(tokens: list[tuple[str, str]], digits: str, *, groups: bool) -> str:
    """Format the digits before the point, from the right, between the format's other characters."""
    left = [text for kind, text in tokens if kind == "digit"]
    parts: list[str] = []
    count = 0

    def add_digit(digit: str) -> None:
        nonlocal count
        if groups and count and count % 3 == 0:
            parts.append(",")
        parts.append(digit)
        count += 1

    for kind, text in reversed(tokens):
        if kind == "digit":
            left.pop()
            if digits:
                add_digit(digits[-1])
                digits = digits[:-1]
            elif text == "0":
                add_digit("0")
            elif text == "?":
                parts.append(" ")
            while not left and digits:
                add_digit(digits[-1])
                digits = digits[:-1]
        elif kind != "comma":
            parts.append(text[::-1])
    return "".join(parts)[::-1] + digits  # a format can begin with its point


def _fraction_digits(tokens: list[tuple[str, str]], digits: str, places: str) -> str:
    """Format the digits after the point; optional zeros at the end are dropped."""
    needed = max((at + 1 for at, digit in enumerate(places) if digit == "0"), default=0)
    needed_digits = max(needed, len(digits.rstrip("0")))
    written = ""
    at = 0
    for kind, text in tokens:
        if kind in {"point", "decimals"} and not at:
            written += "."
        if kind in {"digit", "decimals"}:
            for place in text:
                if at < needed_digits and at < len(digits):
                    written += digits[at]
                elif place == "?":
                    written += " "
                at += 1
        elif kind not in {"point", "comma"}:
            written += text
    return written


def _scientific(tokens: list[tuple[str, str]], at: int, number: Decimal) -> str:
    mantissa, power = tokens[:at], tokens[at + 1 :]
    point = next(
        (number for number, (kind, _) in enumerate(mantissa) if kind in {"point", "decimals"}), at
    )
    step = max(1, sum(kind == "digit" for kind, _ in mantissa[:point]))
    places = len("".join(text for kind, text in mantissa[point:] if kind in {"digit", "decimals"}))
    exponent = 0
    if number:
        exponent = number.adjusted() // step * step
        rounded = number.scaleb(-exponent).quantize(
            Decimal(1).scaleb(-min(places, _MOST_PLACES)), ROUND_HALF_UP
        )
        exponent += step if rounded.adjusted() >= step else 0
    sign = "-" if exponent < 0 else tokens[at][1][1].replace("-", "")
    exponent_text = _decimal(power, Decimal(abs(exponent)))
    return f"{_decimal(mantissa, number.scaleb(-exponent))}E{sign}{exponent_text}"


def _as_fraction(tokens: list[tuple[str, str]], at: int, number: Decimal) -> str:
    """Format a number as a fraction, as in 1 1/2; the denominator can be fixed."""
    before, after = tokens[:at], tokens[at + 1 :]
    runs = [
        digits
        for digits in re.split(" ", "".join("d" if k == "digit" else " " for k, _ in before))
        if digits
    ]
    has_whole = len(runs) > 1
    fixed = re.match(r"\d+", "".join(token for _, token in after).strip("#?"))
    exact = Fraction(number)
    whole = exact.numerator // exact.denominator if has_whole else 0
    rest = exact - whole
    if fixed and int(fixed[0][:9]):
        below = int(fixed[0][:9])
        above = int(rest * below + Fraction(1, 2))
    else:
        places = sum(kind == "digit" for kind, _ in after) or 1
        near = rest.limit_denominator(10 ** min(places, 7) - 1)
        above, below = near.numerator, near.denominator
    if has_whole and above == below:
        whole, above = whole + 1, 0
    first = next(i for i, (kind, _) in enumerate(before) if kind == "digit")
    front = "".join(text for _, text in before[:first])
    tail_at = max(
        (i for i, (kind, text) in enumerate(after) if kind == "digit" or text.isdigit()),
        default=-1,
    )
    tail = "".join(text for _, text in after[tail_at + 1 :])
    if has_whole and not above:
        return f"{front}{whole}{tail.rstrip()}"
    return f"{front}{f'{whole} ' if whole else ''}{above}/{below}{tail}"


# Dates and times


def _date(section: _Section, value: float, base: date) -> str:
    """Format a number of days since `base` as a date or time."""
    places = max(
        (len(text) - 1 for kind, text in section.tokens if kind == "thousandths"), default=0
    )
    seconds, part = divmod(round(value * 86_400 * 10**places), 10**places)
    try:
        leap = base.year < 1900 and value < 60  # Excel has a 29 February 1900
        when = datetime(base.year, base.month, base.day) + timedelta(leap, seconds)  # noqa: DTZ001
    except OverflowError:
        return _general(value)
    written = ""
    for at, (kind, text) in enumerate(section.tokens):
        match kind:
            case "literal":
                written += text
            case "elapsed":
                size = {"h": 3600, "m": 60, "s": 1}[text[0].lower()]
                written += str(seconds // size).rjust(len(text), "0")
            case "noon":
                written += ("PM" if when.hour >= 12 else "AM")[: 1 if len(text) == 3 else 2]
            case "thousandths":
                written += "." + str(part).rjust(places, "0")[: len(text) - 1]
            case "date":
                written += _part_of_date(section, at, text, when)
    return written


def _part_of_date(section: _Section, at: int, text: str, when: datetime) -> str:
    letter, width = text[0], min(len(text), 2)
    if letter == "m" and not _is_minute(section, at):
        return _month(section, len(text), when)
    if letter == "d":
        return _day(section, len(text), when)
    if letter in "hms":
        number = {"h": when.hour, "m": when.minute, "s": when.second}[letter]
        if letter == "h" and any(kind == "noon" for kind, _ in section.tokens):
            number = (number - 1) % 12 + 1
        return str(number).rjust(width, "0")
    short = letter == "y" and len(text) <= 2
    return f"{when.year % 100:02}" if short else f"{when.year:04}"


def _month(section: _Section, length: int, when: datetime) -> str:
    if length < 3:
        return str(when.month).rjust(length, "0")
    name = _NAMES.get(section.locale & 0xFF, _ENGLISH)[0][when.month - 1]
    return name[0] if length == 5 else name[:3] if length == 3 else name


def _day(section: _Section, length: int, when: datetime) -> str:
    if length < 3:
        return str(when.day).rjust(length, "0")
    name = _NAMES.get(section.locale & 0xFF, _ENGLISH)[1][when.weekday()]
    return name[: _SHORT.get(section.locale & 0xFF, 3)] if length == 3 else name


def _is_minute(section: _Section, at: int) -> bool:
    """Return whether an m stands for minutes: after hours, or before seconds."""
    parts = [
        (number, text[0].lower())
        for number, (kind, text) in enumerate(section.tokens)
        if kind in {"date", "elapsed"}
    ]
    index = parts.index((at, "m"))
    before = parts[index - 1][1] if index else ""
    after = parts[index + 1][1] if index + 1 < len(parts) else ""
    return before == "h" or after == "s"
