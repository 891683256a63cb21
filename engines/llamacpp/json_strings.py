r"""Writes strings of JSON as GBNF expressions, among them those that match a pattern: pure.

Of ECMA-262's regular expressions this reads characters, sets, groups, alternatives, repetitions
and anchors at the ends, which is what a grammar can say. Where readers differ on \d, \w and \s,
what is written pleases them all. As in a schema, a pattern without anchors may match anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, NoReturn

PLAIN: Final = r'[^"\\\x00-\x1F\x7F]'
"""A character that a string has as it is."""

CHARACTER: Final = (
    PLAIN + r' | "\\" (["\\/bfnrt] | "u" ([0-9a-cefA-CEF] [0-9a-fA-F]{3}'
    r" | [dD] [0-7] [0-9a-fA-F]{2}))"
)
"""One character of a string, or its escape; never half of a surrogate pair."""

_BLOCK: Final = 100
"""Repetitions are written in blocks of so many, as llama.cpp makes a rule of each."""

_MOST: Final = 1_000_000
"""Repetitions; no context is that long."""

_DAYS = (
    r"(0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|1\d|2[0-8])"
)
_LEAP = r"([1-9]\d(0[48]|[2468][048]|[13579][26])|([2468][048]|1[26]|[3579][26])00)-02-29"
_DATE = rf"([1-9]\d{{3}}-({_DAYS})|{_LEAP})"
_TIME = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)"
_BYTE = r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_WORD = r"[A-Za-z0-9_+-]{1,30}"
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,20}[A-Za-z0-9])?"

FORMATS: Final = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{_DATE}T{_TIME}",
    "duration": (
        r"P((\d{1,4}Y(\d{1,4}M(\d{1,4}D)?)?|\d{1,4}M(\d{1,4}D)?|\d{1,4}D)"
        r"(T(\d{1,4}H(\d{1,4}M(\d{1,4}S)?)?|\d{1,4}M(\d{1,4}S)?|\d{1,4}S))?"
        r"|T(\d{1,4}H(\d{1,4}M(\d{1,4}S)?)?|\d{1,4}M(\d{1,4}S)?|\d{1,4}S)|\d{1,4}W)"
    ),
    "uuid": r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
    "ipv4": rf"{_BYTE}(\.{_BYTE}){{3}}",
    "ipv6": r"([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}",
    "hostname": rf"{_LABEL}(\.{_LABEL}){{0,5}}",
    "email": rf"{_WORD}(\.{_WORD}){{0,3}}@{_LABEL}(\.{_LABEL}){{1,4}}",
    "uri": (
        r"https?://[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?){0,5}"
        r"(:[1-9]\d{0,3})?(/[A-Za-z0-9._~-]{0,60}){0,20}"
    ),
}
"""Patterns of whole strings of a format: RFC 3339, RFC 4122 and their like; some that a format
also allows, as a year before 1000, are left out."""

_RANGES: Final = {
    "d": ((0x30, 0x39),),
    "w": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    "s": ((0x09, 0x0D), (0x20, 0x20)),
}
_UNICODE: Final[Mapping[str, Callable[[str], bool]]] = {
    "d": str.isdecimal,
    "w": lambda char: char.isalnum() or char == "_",
    "s": str.isspace,
}
_BREAKS: Final = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
_CONTROLS: Final = {"t": 0x09, "n": 0x0A, "v": 0x0B, "f": 0x0C, "r": 0x0D, "0": 0x00}
_WRITTEN: Final = ((0x20, 0x21), (0x23, 0x5B), (0x5D, 0x7E), (0x80, 0xD7FF), (0xE000, 0x10FFFF))
"""What a string of JSON has as it is; of the rest it has escapes."""
_ESCAPED: Final = {0x08: "b", 0x09: "t", 0x0A: "n", 0x0C: "f", 0x0D: "r", 0x22: '"', 0x5C: "\\"}
_LAST: Final = 0x10FFFF

ANY: Final = "char"
"""The rule of any character, `CHARACTER`."""

_COUNTS: Final = re.compile(r"\{(\d{1,7})(,(\d{1,7})?)?\}")
_HEX: Final = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})")
_DEEPEST: Final = 50

Ranges = tuple[tuple[int, int], ...]
"""Code points, from and to."""


class NoPattern(Exception):
    """A pattern is none that a grammar can say. The text is a sentence."""


def literal(text: str) -> str:
    """Write a text as it is."""
    return '"' + "".join(map(_shown, map(ord, text))) + '"'


def characters(ranges: Ranges) -> str:
    """Write one character of a string of JSON that is in the ranges. Raises NoPattern."""
    plain = _both(ranges, _WRITTEN)
    found = [_set(plain)] if plain else []
    if escapes := [char for code, char in _ESCAPED.items() if _both(ranges, ((code, code),))]:
        found.append(rf'"\\" [{"".join(_shown(ord(char)) for char in escapes)}]')
    if not found:
        raise NoPattern("It asks for a character that cannot be written.")
    return found[0] if plain and len(found) == 1 else f"({' | '.join(found)})"


def without(ranges: Ranges) -> Ranges:
    """Return the code points that are in none of the ranges."""
    found, begin = [], 0
    for low, high in sorted(ranges):
        if begin < low:
            found.append((begin, low - 1))
        begin = max(begin, high + 1)
    return (*found, (begin, _LAST)) if begin <= _LAST else tuple(found)


@cache
def _wide(letter: str) -> Ranges:
    """Return all that any of the usual readers of patterns takes for a digit, letter or space."""
    belongs = _UNICODE[letter]
    found = [code for code in range(_LAST + 1) if belongs(chr(code))]
    runs: list[list[int]] = []
    for code in found:
        if runs and runs[-1][1] == code - 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return tuple((low, high) for low, high in runs)


def times(item: str, least: int, most: int | None) -> str:
    """Write so many of an item, which is a name or in parentheses. Raises NoPattern."""
    if max(least, most or 0) > _MOST:
        raise NoPattern(f"It counts to more than {_MOST}.")
    rest = f"{item}*" if most is None else _up_to(item, most - least)
    return f"{_exactly(item, least)} {rest}".strip() or '""'


def _exactly(item: str, count: int) -> str:
    blocks, rest = divmod(count, _BLOCK)
    written = _exactly(f"({item}{{{_BLOCK}}})", blocks) if blocks else ""
    return f"{written} {item}{{{rest}}}".strip() if rest else written


def _up_to(item: str, count: int) -> str:
    if count <= 0:
        return ""
    if count < 2 * _BLOCK:
        return f"{item}{{0,{count}}}"
    # Blocks first: what is left has one way to be written for each number of them.
    blocks, rest = divmod(count, _BLOCK)
    return f"{_up_to(f'({item}{{{_BLOCK}}})', blocks - 1)} {item}{{0,{_BLOCK + rest}}}"


def matching(pattern: str, least: int = 0, most: int | None = None, *, whole: bool = False) -> str:
    """Write what is between the quotes of a string that matches a pattern.

    least, most: its length. whole: the pattern is of the whole string, and has no anchors.
    Raises NoPattern.
    """
    written = []
    for piece, from_start, to_end in _Pattern(pattern, whole=whole).alternatives():
        closed = from_start and to_end
        if closed and piece.repeated is not None:
            item, low, high = piece.repeated
            lengths = max(low, least), _least_of(high, most)
            if lengths[1] is None or lengths[0] <= lengths[1]:
                written.append(times(item, *lengths))
            continue
        if piece.least < least or (
            most is not None and (not closed or piece.most is None or piece.most > most)
        ):
            if closed and (narrowed := _narrowed(piece.parts, least, most)) is not None:
                written.append(narrowed)
                continue
            raise NoPattern("It cannot be kept together with a length.")
        before = "" if from_start else f"{ANY}* "
        written.append(f"{before}{piece.text}{'' if to_end else f' {ANY}*'}")
    if not written:
        raise NoPattern("Nothing matches it that has the length.")
    return " | ".join(written)


@dataclass(frozen=True)
class _Piece:
    """A part of a pattern: how it is written, and how many characters it has.

    repeated: where it is one set, how that is written and how often it comes. parts: those of a
    sequence.
    """

    text: str
    least: int
    most: int | None
    repeated: tuple[str, int, int | None] | None = None
    parts: tuple[_Piece, ...] = ()


def _narrowed(parts: Sequence[_Piece], least: int, most: int | None) -> str | None:
    """Write a sequence of these lengths, kept by how often one set comes; None if none can."""
    for at, part in enumerate(parts):
        others = [*parts[:at], *parts[at + 1 :]]
        longest = [it.most for it in others if it.most is not None]
        if part.repeated is None or (most is not None and len(longest) < len(others)):
            continue
        item, fewest, often = part.repeated
        fewest = max(fewest, least - sum(it.least for it in others))
        often = _least_of(often, None if most is None else most - sum(longest))
        if often is None or fewest <= often:
            texts = [it.text for it in parts]
            return " ".join([*texts[:at], times(item, fewest, often), *texts[at + 1 :]])
    return None


class _Pattern:
    def __init__(self, text: str, *, whole: bool) -> None:
        self._text = text
        self._whole = whole
        self._at = 0
        self._depth = 0

    def alternatives(self) -> list[tuple[_Piece, bool, bool]]:
        """Parse the pattern: its alternatives, and whether each has to begin and end the string."""
        if self._whole:
            return [(self._either(), True, True)]
        found = [self._anchored()]
        while self._skip("|"):
            found.append(self._anchored())
        if self._at < len(self._text):
            self._fail("a parenthesis was never opened")
        return found

    def _anchored(self) -> tuple[_Piece, bool, bool]:
        start = self._skip("^")
        piece = self._sequence()
        return piece, start, self._skip("$")

    def _either(self) -> _Piece:
        pieces = [self._sequence()]
        while self._skip("|"):
            pieces.append(self._sequence())
        if len(pieces) == 1:
            return pieces[0]
        mosts = [piece.most for piece in pieces]
        return _Piece(
            f"({' | '.join(piece.text for piece in pieces)})",
            min(piece.least for piece in pieces),
            None if None in mosts else max(most for most in mosts if most is not None),
        )

    def _sequence(self) -> _Piece:
        pieces = []
        while (char := self._peek()) not in ("", "|", ")"):
            if char == "$" and not self._depth and self._text[self._at + 1 :][:1] in ("", "|"):
                break
            pieces.append(self._repeated(self._atom(char)))
        if len(pieces) == 1:
            return pieces[0]
        mosts = [piece.most for piece in pieces]
        return _Piece(
            " ".join(piece.text for piece in pieces) or '""',
            sum(piece.least for piece in pieces),
            None if None in mosts else sum(most for most in mosts if most is not None),
            parts=tuple(pieces),
        )

    def _atom(self, char: str) -> _Piece:
        if char == "(":
            return self._group()
        if char in "^$":
            self._fail("“^” and “$” are for its beginning and its end")
        if char in "*+?" or (char == "{" and _COUNTS.match(self._text, self._at)):
            self._fail(f"before “{char}” there is nothing to repeat")
        self._at += 1
        if char == "[":
            ranges = self._members()
        elif char == ".":
            ranges = without(_BREAKS)
        elif char == "\\":
            ranges = self._escape()
        else:
            ranges = ((ord(char), ord(char)),)
        text = characters(ranges)
        return _Piece(text, 1, 1, (text, 1, 1))

    def _group(self) -> _Piece:
        self._depth += 1
        if self._depth > _DEEPEST:
            self._fail(f"more than {_DEEPEST} parentheses are open")
        self._at += 1
        if self._skip("?") and not self._skip(":"):
            self._fail("a group that begins with “(?” is not known but for “(?:”")
        piece = self._either()
        if not self._skip(")"):
            self._fail("a parenthesis is never closed")
        self._depth -= 1
        return _Piece(f"({piece.text})", piece.least, piece.most, piece.repeated)

    def _repeated(self, piece: _Piece) -> _Piece:
        counts = self._counts()
        if counts is None:
            return piece
        self._skip("?")  # how greedy it is makes no difference to what matches
        least, most = counts
        if most is not None and most < least:
            self._fail(f"at most {most} and at least {least} cannot be")
        return _Piece(
            times(piece.text, least, most),
            least * piece.least,
            None if most is None or piece.most is None else most * piece.most,
            (piece.text, least, most) if (piece.least, piece.most) == (1, 1) else None,
        )

    def _counts(self) -> tuple[int, int | None] | None:
        for sign, counts in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._skip(sign):
                return counts
        if (found := _COUNTS.match(self._text, self._at)) is None:
            return None
        self._at = found.end()
        least = int(found[1])
        return least, least if not found[2] else int(found[3]) if found[3] else None

    def _members(self) -> Ranges:
        negated = self._skip("^")
        found: list[tuple[int, int]] = []
        while not self._skip("]"):
            first = self._member(wide=negated)
            dashed = self._peek() == "-" and self._text[self._at + 1 :][:1] not in ("]", "")
            if not dashed or len(first) > 1 or first[0][0] != first[0][1]:
                found += first
                continue
            self._at += 1
            last = self._member(wide=negated)
            if len(last) > 1 or last[0][0] != last[0][1] or last[0][0] < first[0][0]:
                self._fail("a range in a set has no order")
            found.append((first[0][0], last[0][0]))
        return without(tuple(found)) if negated else tuple(found)

    def _member(self, *, wide: bool) -> Ranges:
        char = self._peek()
        if not char:
            self._fail("a set is never closed")
        self._at += 1
        if char != "\\":
            return ((ord(char), ord(char)),)
        return ((0x08, 0x08),) if self._skip("b") else self._escape(wide=wide)

    def _escape(self, *, wide: bool = False) -> Ranges:
        """Read what is behind a backslash. wide: what any reader takes for it, to leave it out."""
        letter = self._peek()
        if (kind := letter.lower()) in _RANGES:
            self._at += 1
            ranges = _wide(kind) if wide != letter.isupper() else _RANGES[kind]
            return without(ranges) if letter.isupper() else ranges
        if found := _HEX.match(self._text, self._at):
            self._at = found.end()
            code = int(found[1] or found[2], 16)
        elif letter in _CONTROLS:
            self._at += 1
            code = _CONTROLS[letter]
        elif not letter or letter.isalnum():
            self._fail(f"“\\{letter}” is not known")
        else:
            self._at += 1
            code = ord(letter)
        return ((code, code),)

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip(self, sign: str) -> bool:
        if not self._text.startswith(sign, self._at):
            return False
        self._at += 1
        return True

    def _fail(self, why: str) -> NoReturn:
        raise NoPattern(f"At its character {self._at + 1}, {why}.")


def _least_of(one: int | None, other: int | None) -> int | None:
    return min((it for it in (one, other) if it is not None), default=None)


def _both(some: Ranges, others: Ranges) -> Ranges:
    """Return the code points that are in both, in order."""
    found = ((max(low, from_), min(high, to)) for low, high in some for from_, to in others)
    return tuple(sorted({it for it in found if it[0] <= it[1]}))


def _set(ranges: Ranges) -> str:
    members = (
        _shown(low) if low == high else f"{_shown(low)}-{_shown(high)}" for low, high in ranges
    )
    return f"[{''.join(members)}]"


def _shown(code: int) -> str:
    """Write a character of a text or set of GBNF."""
    char = chr(code)
    if char == " " or (char.isascii() and char.isprintable() and char not in '"\\[]^-'):
        return char
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
