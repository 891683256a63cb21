"""Writes the decimal numbers between two bounds in GBNF: pure.

A number is in a range if its digits, read from the left, are above those of the lower bound or
equal to them as long as they last, and so with the upper. Each function writes one such comparison.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Final

LARGEST: Final = 10**15
"""Beyond it two numbers that differ by their fraction are one for programs."""

_DIGITS: Final = 15
"""Digits that survive in a number of 64 bits (DBL_DIG)."""


def write_integers(low: int | None, high: int | None) -> str:
    """Write the integers from `low` to `high`; None is no limit. There has to be one."""
    low = -_far(high) if low is None else low
    high = _far(low) if high is None else high
    options = []
    if low < 0:
        options.append(f'"-" {_naturals(max(1, -high), -low)}')
    if high >= 0:
        options.append(_naturals(max(low, 0), high))
    return _either(options)


def _far(bound: int | None) -> int:
    return int(10 ** max(len(str(abs(bound or 0))) + 1, _DIGITS)) - 1


def write_numbers(
    low: Decimal | None, high: Decimal | None, *, low_open: bool, high_open: bool
) -> str:
    """Write the numbers from `low` to `high`; an open end is not among them.

    None is no limit; numbers beyond LARGEST are left out. There has to be one.
    """
    first, last = Decimal(-LARGEST), Decimal(LARGEST)
    if low is None or low < first:
        low, low_open = first, False
    if high is None or high > last:
        high, high_open = last, False
    options = []
    if low < 0:
        end, end_open = (-high, high_open) if high <= 0 else (Decimal(0), False)
        options.append(f'"-" {_positive(end, -low, low_open=end_open, high_open=low_open)}')
    if high > 0 or (high == 0 and not high_open):
        begin, begin_open = (low, low_open) if low >= 0 else (Decimal(0), False)
        options.append(_positive(begin, high, low_open=begin_open, high_open=high_open))
    return _either(options)


def _either(options: Iterable[str | None]) -> str:
    found = [option for option in options if option is not None]
    return found[0] if len(found) == 1 else f"({' | '.join(found)})"


def _text(digits: str) -> str:
    return f'"{digits}"' if digits else ""


def _digit(low: int, high: int) -> str | None:
    """Write one digit of a range; None where there is none."""
    if low > high:
        return None
    return f'"{low}"' if low == high else f"[{low}-{high}]"


def _any(count: int) -> str:
    return f"[0-9]{{{count}}}" if count else ""


def _naturals(low: int, high: int) -> str:
    options = []
    full: list[int] = []
    for size in range(len(str(low)), len(str(high)) + 1):
        least, most = (10 ** (size - 1) if size > 1 else 0), 10**size - 1
        if size > 1 and low <= least and most <= high:
            full.append(size)
        else:
            options.append(_between(str(max(low, least)), str(min(high, most))))
    if full:
        options.append(f"[1-9] [0-9]{{{full[0] - 1},{full[-1] - 1}}}")
    return _either(options)


def _between(low: str, high: str) -> str:
    """Write the numbers of as many digits as both have."""
    if set(low) <= {"0"} and set(high) <= {"9"}:
        return _any(len(low))
    if low[0] == high[0]:
        same = 1
        while same < len(low) and low[same] == high[same]:
            same += 1
        return f"{_text(low[:same])} {_between(low[same:], high[same:])}".strip()
    rest = len(low) - 1
    begin, end = int(low[0]), int(high[0])
    options = []
    if set(low[1:]) - {"0"}:
        options.append(f"{_text(low[0])} {_between(low[1:], '9' * rest)}")
        begin += 1
    if set(high[1:]) - {"9"}:
        options.append(f"{_text(high[0])} {_between('0' * rest, high[1:])}")
        end -= 1
    if (middle := _digit(begin, end)) is not None:
        options.append(f"{middle} {_any(rest)}".strip())
    return _either(options)


def _positive(low: Decimal, high: Decimal, *, low_open: bool, high_open: bool) -> str:
    fine = _Fractions(max(1, _DIGITS - 1 - len(str(int(high)))))
    (under, under_part), (over, over_part) = _split(low), _split(high)
    if under == over:
        part = fine.between(under_part, over_part, low_open=low_open, high_open=high_open)
        return f"{_text(str(under))} {part}"
    options: list[str | None] = [f"{_text(str(under))} {fine.above(under_part, is_open=low_open)}"]
    if under + 1 < over:
        options.append(f"{_naturals(under + 1, over - 1)} {fine.any}")
    if (part_below := fine.below(over_part, is_open=high_open)) is not None:
        options.append(f"{_text(str(over))} {part_below}")
    return _either(options)


def _split(number: Decimal) -> tuple[int, str]:
    """Return the whole part and the digits behind the point, without zeros at their end."""
    whole, _, part = f"{number:f}".partition(".")
    return int(whole), part.rstrip("0")


class _Fractions:
    """Writes what may stand behind the whole part of a number.

    places: most digits behind those of a bound.
    """

    def __init__(self, places: int) -> None:
        self._rest = f"[0-9]{{0,{places}}}"
        self._zeros = f'"0"{{0,{places}}}'
        self.any = f'("." [0-9]{{1,{places}}})?'

    def above(self, part: str, *, is_open: bool) -> str:
        if not part and not is_open:
            return self.any
        return f'"." {self._above(part, is_open=is_open)}'

    def _above(self, part: str, *, is_open: bool) -> str:
        if not part:
            return f"{self._zeros} [1-9] {self._rest}" if is_open else self._rest
        higher = _digit(int(part[0]) + 1, 9)
        return _either(
            [
                f"{higher} {self._rest}" if higher else None,
                f"{_text(part[0])} {self._above(part[1:], is_open=is_open)}",
            ]
        )

    def below(self, part: str, *, is_open: bool) -> str | None:
        if not part:
            return None if is_open else f'("." "0" {self._zeros})?'
        return f'("." {self._below(part, is_open=is_open)})?'

    def _below(self, part: str, *, is_open: bool) -> str:
        """Write digits that are below those of `part`, which has some."""
        lower, equal = _digit(0, int(part[0]) - 1), self._equal_then_below(part, is_open=is_open)
        return _either([f"{lower} {self._rest}" if lower else None, equal])

    def _equal_then_below(self, part: str, *, is_open: bool) -> str | None:
        if part[1:]:
            return f"{_text(part[0])} ({self._below(part[1:], is_open=is_open)})?"
        return None if is_open else f"{_text(part[0])} {self._zeros}"

    def between(self, low: str, high: str, *, low_open: bool, high_open: bool) -> str:
        if low == high:
            return f'"." {_text(low)} {self._zeros}' if low else f'("." "0" {self._zeros})?'
        part = f'"." {self._between(low, high, low_open=low_open, high_open=high_open)}'
        return part if low or low_open else f"({part})?"

    def _between(self, low: str, high: str, *, low_open: bool, high_open: bool) -> str:
        """Write digits between those of `low`, which may have ended, and of `high`."""
        first, last = int(low[:1] or "0"), int(high[0])
        if first == last:
            rest = self._between(low[1:], high[1:], low_open=low_open, high_open=high_open)
            return f"{_text(high[0])} {rest if low[1:] or low_open else f'({rest})?'}"
        middle = _digit(first + 1, last - 1)
        return _either(
            [
                f"{_text(str(first))} {self._above(low[1:], is_open=low_open)}",
                f"{middle} {self._rest}" if middle else None,
                self._equal_then_below(high, is_open=high_open),
            ]
        )
