"""Writes numbers within bounds as GBNF expressions: pure.

A bound is kept digit by digit: what has its first digits so far is followed by what is left of
it, and what has left it is free. Numbers with a bound are written without an exponent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

MOST_DIGITS: Final = 16
"""Of a whole number without a bound; what has more is not kept exactly by most readers."""

_MOST_LISTED: Final = 1000
"""Multiples between two bounds that are written out."""
_MOST_STATES: Final = 100
"""Remainders that multiples are followed by."""

INTEGER: Final = f'"-"? ("0" | [1-9] [0-9]{{0,{MOST_DIGITS - 1}}})'
NUMBER: Final = f'{INTEGER} ("." [0-9]{{1,{MOST_DIGITS}}})? ([eE] [-+]? [0-9]{{1,2}})?'

AddRule = Callable[[str, str], str]
"""Takes a rule's kind and body, returns its name."""


class NoNumber(Exception):
    """No number is within the bounds, or they cannot be kept. The text is a sentence."""


@dataclass(frozen=True)
class Bounds:
    """What a number has to keep to. None is no bound; the bounds themselves belong to it or not."""

    least: Decimal | None = None
    most: Decimal | None = None
    with_least: bool = True
    with_most: bool = True

    @property
    def none(self) -> bool:
        return self.least is None and self.most is None


def integers(bounds: Bounds) -> str:
    """Write the whole numbers within the bounds. Raises NoNumber."""
    if bounds.none:
        return INTEGER
    least, most = _whole(bounds)
    found = []
    if least < 0:
        found.append(f'"-" ({_naturals(max(1, -most), -least)})')
    if most >= 0:
        found.append(_naturals(max(0, least), most))
    return " | ".join(found)


def numbers(bounds: Bounds, places: int | None = None) -> str:
    """Write the numbers within the bounds, of so many decimal places. Raises NoNumber."""
    if bounds.none and places is None:
        return NUMBER
    least, most = _closed(bounds)
    # More digits than a double has could be rounded to a bound that is excluded; far from all
    # bounds they harm nothing, so a missing one has no say.
    given = (bound for bound in (bounds.least, bounds.most) if bound is not None)
    whole = max((len(str(abs(int(bound)))) for bound in given), default=1)
    left = max(1, MOST_DIGITS - 1 - whole) if places is None else places
    found = []
    if least < 0:
        below_zero = most < 0
        it = _magnitudes(
            -most if below_zero else Decimal(0),
            -least,
            with_least=below_zero and bounds.with_most,
            with_most=bounds.with_least,
            left=left,
        )
        found += [f'"-" ({text})' for text in it]
    if most >= 0:
        from_zero = least < 0
        found += _magnitudes(
            Decimal(0) if from_zero else least,
            most,
            with_least=from_zero or bounds.with_least,
            with_most=bounds.with_most,
            left=left,
        )
    if not found:
        raise NoNumber("No number is within its bounds.")
    return " | ".join(found)


def multiples(of: int, bounds: Bounds, add: AddRule) -> str:
    """Write the multiples of a whole number within the bounds. Raises NoNumber."""
    least, most = bounds.least, bounds.most
    if least is not None and most is not None:
        first, last = _whole(bounds)
        found = range(first + -first % of, last + 1, of)
        if not found:
            raise NoNumber("No multiple is within its bounds.")
        if len(found) <= _MOST_LISTED:
            return " | ".join(f'"{number}"' for number in found)
    positive = least == 0 and most is None
    if not (bounds.none or positive) or of > _MOST_STATES:
        raise NoNumber(f"Multiples of {of} cannot be kept together with its bounds.")
    # A rule for each remainder that what is written so far leaves.
    start = add("multiple", "")
    names = [start, *(add("multiple", "") for _ in range(of - 1))]
    for remainder, name in enumerate(names):
        steps = [f'"{digit}" {names[(10 * remainder + digit) % of]}' for digit in range(10)]
        add(name, " | ".join([*steps, '""'] if remainder == 0 else steps))
    firsts = " | ".join(f'"{digit}" {names[digit % of]}' for digit in range(1, 10))
    whole = f"({firsts})" if positive else f'"-"? ({firsts})'
    return whole if positive and not bounds.with_least else f'"0" | {whole}'


def _whole(bounds: Bounds) -> tuple[int, int]:
    """Return the least and the most whole number within the bounds."""
    low, high = _closed(bounds)
    least = int(low.to_integral_value("ROUND_CEILING"))
    most = int(high.to_integral_value("ROUND_FLOOR"))
    if bounds.least is not None and not bounds.with_least and least == low:
        least += 1
    if bounds.most is not None and not bounds.with_most and most == high:
        most -= 1
    if least > most:
        raise NoNumber("No whole number is within its bounds.")
    return least, most


def _closed(bounds: Bounds) -> tuple[Decimal, Decimal]:
    """Return both bounds, in place of a missing one what has a digit more than any usual number."""
    given = [bound for bound in (bounds.least, bounds.most) if bound is not None]
    if any(not bound.is_finite() or abs(bound.adjusted()) > 2 * MOST_DIGITS for bound in given):
        raise NoNumber("Its bounds have too many digits.")
    largest = max([MOST_DIGITS, *(bound.adjusted() + 2 for bound in given)])
    far = Decimal(10) ** largest - 1
    least = -far if bounds.least is None else bounds.least
    most = far if bounds.most is None else bounds.most
    if least > most or (least == most and not (bounds.with_least and bounds.with_most)):
        raise NoNumber("No number is within its bounds.")
    return least, most


def _naturals(least: int, most: int) -> str:
    """Write the whole numbers from `least` to `most`, neither of them negative."""
    found = []
    for length in range(len(str(least)), len(str(most)) + 1):
        low = max(least, 10 ** (length - 1) if length > 1 else 0)
        found.append(_of_one_length(str(low), str(min(most, 10**length - 1))))
    return " | ".join(found)


def _of_one_length(low: str, high: str) -> str:
    same = 0
    while same < len(low) and low[same] == high[same]:
        same += 1
    before = f'"{low[:same]}" ' if same else ""
    low, high = low[same:], high[same:]
    if not low:
        return before.strip()
    rest = len(low) - 1
    if set(low[1:]) <= {"0"} and set(high[1:]) <= {"9"}:
        return before + _digits(int(low[0]), int(high[0])) + _free(rest)
    found = [f'"{low[0]}" {_at_least(low[1:])}']
    if int(low[0]) + 1 < int(high[0]):
        found.append(_digits(int(low[0]) + 1, int(high[0]) - 1) + _free(rest))
    found.append(f'"{high[0]}" {_at_most(high[1:])}')
    return f"{before}({' | '.join(found)})"


def _at_least(digits: str) -> str:
    if set(digits) <= {"0"}:
        return _free(len(digits)).strip()
    found = [f'"{digits[0]}" {_at_least(digits[1:])}']
    if digits[0] < "9":
        found.append(_digits(int(digits[0]) + 1, 9) + _free(len(digits) - 1))
    return f"({' | '.join(found)})"


def _at_most(digits: str) -> str:
    if set(digits) <= {"9"}:
        return _free(len(digits)).strip()
    found = [f'"{digits[0]}" {_at_most(digits[1:])}']
    if digits[0] > "0":
        found.append(_digits(0, int(digits[0]) - 1) + _free(len(digits) - 1))
    return f"({' | '.join(found)})"


def _digits(low: int, high: int) -> str:
    return f'"{low}"' if low == high else f"[{low}-{high}]"


def _free(count: int) -> str:
    return f" [0-9]{{{count}}}" if count else ""


def _magnitudes(
    least: Decimal, most: Decimal, *, with_least: bool, with_most: bool, left: int
) -> list[str]:
    """Write the numbers from `least` to `most`, neither negative; the alternatives."""
    (low, after_low), (high, after_high) = _parts(least), _parts(most)
    if low == high:
        length = max(len(after_low), len(after_high))
        padded = after_low.ljust(length, "0"), after_high.ljust(length, "0")
        return _with_decimals(f'"{low}"', _between(*padded, with_least, with_most, left))
    found = _with_decimals(f'"{low}"', _above(after_low, with_least, left))
    if low + 1 < high:
        found += _with_decimals(f"({_naturals(low + 1, high - 1)})", _any_decimals(left))
    return found + _with_decimals(f'"{high}"', _below(after_high, with_most, left))


def _parts(number: Decimal) -> tuple[int, str]:
    """Split a number into its whole part and the digits behind the point."""
    whole, _, decimals = f"{number:f}".partition(".")
    return int(whole), decimals.rstrip("0")


@dataclass(frozen=True)
class _Decimals:
    """Ways to write the digits that are left, none of them empty; empty: none may be there, too."""

    ways: tuple[str, ...]
    empty: bool


def _with_decimals(whole: str, decimals: _Decimals) -> list[str]:
    found = [whole] if decimals.empty else []
    return [*found, f'{whole} "." ({" | ".join(decimals.ways)})'] if decimals.ways else found


def _behind(digit: str, decimals: _Decimals) -> list[str]:
    found = [f'"{digit}"'] if decimals.empty else []
    return [*found, f'"{digit}" ({" | ".join(decimals.ways)})'] if decimals.ways else found


def _any_decimals(left: int) -> _Decimals:
    return _Decimals((f"[0-9]{{1,{left}}}",) if left else (), empty=True)


def _above(digits: str, with_it: bool, left: int) -> _Decimals:
    """Write decimals of at least these."""
    if not digits.strip("0"):
        if with_it:
            return _any_decimals(left)
        ways = [f'"0"{{{zeros}}} [1-9]{_some(left - zeros - 1)}' for zeros in range(left)]
        return _Decimals(tuple(ways), empty=False)
    if not left:
        return _Decimals((), empty=False)
    ways = _behind(digits[0], _above(digits[1:], with_it, left - 1))
    if digits[0] < "9":
        ways.append(_digits(int(digits[0]) + 1, 9) + _some(left - 1))
    return _Decimals(tuple(ways), empty=False)


def _below(digits: str, with_it: bool, left: int) -> _Decimals:
    """Write decimals of at most these."""
    if not digits.strip("0"):
        zeros = (f'"0"{{1,{left}}}',) if left and with_it else ()
        return _Decimals(zeros, empty=with_it)
    if not left:
        return _Decimals((), empty=True)
    ways = _behind(digits[0], _below(digits[1:], with_it, left - 1))
    if digits[0] > "0":
        ways.append(_digits(0, int(digits[0]) - 1) + _some(left - 1))
    return _Decimals(tuple(ways), empty=True)


def _between(low: str, high: str, with_low: bool, with_high: bool, left: int) -> _Decimals:
    """Write decimals between these, which are of one length."""
    if low == high:
        if not (with_low and with_high):
            return _Decimals((), empty=False)
        digits = low.rstrip("0")
        if len(digits) > left:
            return _Decimals((), empty=False)
        return _Decimals(
            (f'"{digits}" "0"{{0,{left - len(digits)}}}',) if digits else (), not digits
        )
    empty = with_low and not low.strip("0")
    if not left:
        return _Decimals((), empty)
    if low[0] == high[0]:
        inner = _between(low[1:], high[1:], with_low, with_high, left - 1)
        return _Decimals(tuple(_behind(low[0], inner)), empty)
    ways = _behind(low[0], _above(low[1:], with_low, left - 1))
    if int(low[0]) + 1 < int(high[0]):
        ways.append(_digits(int(low[0]) + 1, int(high[0]) - 1) + _some(left - 1))
    ways += _behind(high[0], _below(high[1:], with_high, left - 1))
    return _Decimals(tuple(ways), empty)


def _some(most: int) -> str:
    return f" [0-9]{{0,{most}}}" if most else ""
