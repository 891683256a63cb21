"""Reads a regular expression of a JSON schema and writes it as GBNF: pure.

Patterns are those of ECMA-262 without what looks around or back. The rules stand for the text of a
JSON string, so a quote is written with its backslash. Sources: JSON Schema Validation 2020-12, 6.3;
RFC 8259, 7; ECMA-262, 22.2.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, NoReturn

MAX_PATTERN: Final = 2000
"""Characters of a pattern."""
MAX_REPETITIONS: Final = 1000
"""Times that a pattern may count one of its parts; each is a rule of the grammar."""
_MAX_NESTING: Final = 50

Ranges = tuple[tuple[int, int], ...]
"""Sorted ranges of code points that do not touch."""

NewRule = Callable[[str], str]
"""Adds a rule with this body to a grammar and returns its name."""


class NotAPattern(Exception):
    """A pattern cannot be followed; the message is the end of a sentence."""


@dataclass(frozen=True)
class OneOf:
    """One character of a set."""

    ranges: Ranges


@dataclass(frozen=True)
class Chain:
    """One part after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Either:
    """One of several parts."""

    options: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """A part several times; `most` None is no limit."""

    item: Node
    least: int
    most: int | None


Node = OneOf | Chain | Either | Repeat

_TOP: Final = 0x10FFFF
ANY: Final[Ranges] = ((0, 0xD7FF), (0xE000, _TOP))
"""All characters: halves of one are none."""


@dataclass(frozen=True)
class _Class:
    """A class of which programs disagree: `inner` is in it for all, `outer` for some."""

    inner: Ranges
    outer: Ranges

    def __invert__(self) -> _Class:
        return _Class(_without(ANY, self.outer), _without(ANY, self.inner))


# In ECMA-262 digits and letters are those of ASCII, in Python and Rust those of Unicode, too.
_DIGITS: Final[Ranges] = ((0x30, 0x39),)
_LETTERS: Final[Ranges] = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_CLASSES: Final = {
    "d": _Class(_DIGITS, (*_DIGITS, (0x660, _TOP))),
    "w": _Class(_LETTERS, (*_LETTERS, (0x80, _TOP))),
    "s": _Class(
        ((0x09, 0x0D), (0x20, 0x20)),
        ((0x09, 0x0D), (0x1C, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680),
         (0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F),
         (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
    ),
}  # fmt: skip
_DOT: Final = OneOf(((0, 0x09), (0x0B, 0x0C), (0x0E, 0x2027), (0x202A, 0xD7FF), ANY[1]))
_CONTROLS: Final = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "0": 0}
_HEX: Final = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}")
_COUNT: Final = re.compile(r"\{([0-9]{1,9})(?:(,)([0-9]{1,9})?)?\}")
_NAMED_GROUP: Final = re.compile(r"\?P?<[A-Za-z_][A-Za-z0-9_]*>")


def parse_pattern(text: str) -> Node:
    """Parse a pattern for a whole text, so what it leaves open around it is part of the result.

    Raises NotAPattern.
    """
    return _Parser(text).whole()


def lengths(node: Node) -> tuple[int, int | None]:
    """Return the least and the most characters of what a pattern takes; None is no limit."""
    if isinstance(node, OneOf):
        return 1, 1
    if isinstance(node, Repeat):
        least, most = lengths(node.item)
        if most == 0 or node.most == 0:
            return 0, 0
        return least * node.least, None if most is None or node.most is None else most * node.most
    found = [lengths(part) for part in (node.parts if isinstance(node, Chain) else node.options)]
    highest = [most for _, most in found if most is not None]
    if isinstance(node, Either):
        return min(low for low, _ in found), max(highest) if len(highest) == len(found) else None
    return sum(low for low, _ in found), sum(highest) if len(highest) == len(found) else None


def within(node: Node, least: int, most: int | None) -> Node:
    """Narrow a pattern to texts of these lengths, by the times one of its parts is repeated.

    Raises NotAPattern where that does not hold them.
    """
    if _inside(node, least, most):
        return node
    parts = node.parts if isinstance(node, Chain) else (node,)
    for at, part in enumerate(parts):
        if not isinstance(part, Repeat) or lengths(part.item) != (1, 1):
            continue
        low, high = lengths(Chain(parts[:at] + parts[at + 1 :]))
        if high is None or (most is not None and high > most):
            continue
        times = most - high if most is not None else None
        if part.most is not None:
            times = part.most if times is None else min(part.most, times)
        fewest = max(part.least, least - low)
        if times is None or fewest <= times:
            return Chain((*parts[:at], Repeat(part.item, fewest, times), *parts[at + 1 :]))
    raise NotAPattern("cannot be kept together with the limits of its length")


def _inside(node: Node, least: int, most: int | None) -> bool:
    low, high = lengths(node)
    return low >= least and (most is None or (high is not None and high <= most))


def write_pattern(node: Node, new_rule: NewRule) -> str:
    """Write a pattern in GBNF. Raises NotAPattern where a set has no character that can be."""
    if isinstance(node, OneOf):
        return _write_set(node.ranges)
    if isinstance(node, Chain):
        return " ".join(write_pattern(part, new_rule) for part in node.parts)
    if isinstance(node, Either):
        return f"({' | '.join(write_pattern(option, new_rule) for option in node.options)})"
    item = write_pattern(node.item, new_rule)
    if not item or node.most == 0:
        return ""
    name = new_rule(item)
    if node.most is None:
        return f"{name}{{{node.least},}}"
    # A limit that no text of a model reaches need not be counted.
    most = max(node.least, min(node.most, MAX_REPETITIONS))
    return f"{name}{{{node.least},{most}}}"


def literal(text: str) -> str:
    """Write a text in GBNF, as it is."""
    return '"' + "".join(_escaped(ord(char)) for char in text) + '"'


def _escaped(code: int) -> str:
    char = chr(code)
    if code < 0x80 and (char.isalnum() or char in " _.,:;/@#$%&*+=<>{}()!?'|~`"):
        return char
    if code < 0x100:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


_QUOTED: Final = {0x22: '"', 0x5C: "\\", 0x08: "b", 0x09: "t", 0x0A: "n", 0x0C: "f", 0x0D: "r"}
"""Characters that a JSON string has with a backslash, and the letter behind that."""


def _write_set(ranges: Ranges) -> str:
    plain = _without(ranges, ((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C), (0x7F, 0x7F)))
    options = []
    if plain:
        spans = (
            _escaped(low) if low == high else f"{_escaped(low)}-{_escaped(high)}"
            for low, high in plain
        )
        options.append(f"[{''.join(spans)}]")
    options += [
        literal("\\" + letter)
        for code, letter in _QUOTED.items()
        if any(low <= code <= high for low, high in ranges)
    ]
    if not options:
        raise NotAPattern("asks for characters that cannot be written in a JSON string")
    return options[0] if len(options) == 1 else f"({' | '.join(options)})"


def _union(ranges: Iterable[tuple[int, int]]) -> Ranges:
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return tuple(found)


def _without(ranges: Ranges, others: Iterable[tuple[int, int]]) -> Ranges:
    left = list(ranges)
    for low, high in others:
        left = [
            part
            for begin, end in left
            for part in ((begin, min(end, low - 1)), (max(begin, high + 1), end))
            if part[0] <= part[1]
        ]
    return tuple(left)


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def whole(self) -> Node:
        if len(self._text) > MAX_PATTERN:
            raise NotAPattern(f"is longer than {MAX_PATTERN} characters")
        anything = Repeat(OneOf(ANY), 0, None)
        options: list[Node] = []
        while True:
            begins = self._takes("^")
            body = self._chain()
            ends = self._takes("$")
            around = (() if begins else (anything,), () if ends else (anything,))
            options.append(Chain((*around[0], *body.parts, *around[1])))
            if not self._takes("|"):
                break
        if self._at < len(self._text):
            self._fail("does not belong there")
        return options[0] if len(options) == 1 else Either(tuple(options))

    def _chain(self) -> Chain:
        parts: list[Node] = []
        while (char := self._peek()) and char not in "|)$":
            parts.append(self._repeated(self._item()))
        return Chain(tuple(parts))

    def _item(self) -> Node:
        char = self._peek()
        if char == "(":
            return self._group()
        if char == "[":
            return OneOf(self._set())
        if char in "*+?{^":
            self._fail("does not belong there")
        self._at += 1
        if char == ".":
            return _DOT
        if char != "\\":
            return OneOf(((ord(char), ord(char)),))
        found = self._escape()
        return OneOf(found.inner if isinstance(found, _Class) else ((found, found),))

    def _group(self) -> Node:
        self._depth += 1
        if self._depth > _MAX_NESTING:
            raise NotAPattern(f"has more than {_MAX_NESTING} parentheses within each other")
        self._at += 1
        if self._text.startswith("?:", self._at):
            self._at += 2
        elif found := _NAMED_GROUP.match(self._text, self._at):
            self._at = found.end()
        elif self._peek() == "?":
            raise NotAPattern("looks ahead or behind, or sets a mode")
        options: list[Node] = [self._chain()]
        while self._takes("|"):
            options.append(self._chain())
        if self._peek() == "$":
            self._fail("stands before the end of the pattern")
        if not self._takes(")"):
            raise NotAPattern("has a parenthesis that is never closed")
        self._depth -= 1
        return options[0] if len(options) == 1 else Either(tuple(options))

    def _repeated(self, item: Node) -> Node:
        least: int
        most: int | None
        if found := _COUNT.match(self._text, self._at):
            least = int(found[1])
            most = int(found[3]) if found[3] else None if found[2] else least
            self._at = found.end()
        elif (char := self._peek()) and char in "*+?":
            least, most = int(char == "+"), 1 if char == "?" else None
            self._at += 1
        else:
            return item
        if least > MAX_REPETITIONS or (most is not None and most < least):
            raise NotAPattern(
                f"repeats a part {least} times or more: {MAX_REPETITIONS} is the most"
                if least > MAX_REPETITIONS
                else f"repeats a part at least {least} and at most {most} times"
            )
        # “As few as possible” takes the same texts.
        self._takes("?")
        if (char := self._peek()) and char in "*+?":
            self._fail("does not belong there")
        return Repeat(item, least, most)

    def _set(self) -> Ranges:
        self._at += 1
        negated = self._takes("^")
        inner: list[tuple[int, int]] = []
        outer: list[tuple[int, int]] = []
        while not self._takes("]"):
            low = self._member()
            if isinstance(low, _Class):
                inner += low.inner
                outer += low.outer
                continue
            high = low
            if self._peek() == "-" and not self._text.startswith("-]", self._at):
                self._at += 1
                end = self._member()
                if isinstance(end, _Class) or end < low:
                    raise NotAPattern("has a range of characters that has no end")
                high = end
            inner.append((low, high))
            outer.append((low, high))
        members = _Class(_union(inner), _union(outer))
        found = (~members if negated else members).inner
        if not found:
            raise NotAPattern("has a set of characters with none in it")
        return found

    def _member(self) -> int | _Class:
        char = self._peek()
        if not char:
            raise NotAPattern("has a set of characters that is never closed")
        self._at += 1
        if char != "\\":
            return ord(char)
        if self._takes("b"):
            return 8
        return self._escape()

    def _escape(self) -> int | _Class:
        char = self._peek()
        if found := _HEX.match(self._text, self._at):
            self._at = found.end()
            code = int(found[1] or found[2] or found[3], 16)
            if code > _TOP or 0xD800 <= code < 0xE000:
                raise NotAPattern("names half a character, or one that is none")
            return code
        self._at += 1
        if char in _CONTROLS and char:
            return _CONTROLS[char]
        if char.lower() in _CLASSES and char:
            kind = _CLASSES[char.lower()]
            return ~kind if char.isupper() else kind
        if not char or char.isalnum():
            raise NotAPattern(
                f"has “\\{char}”, which cannot be followed while an answer is written"
            )
        return ord(char)

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _takes(self, char: str) -> bool:
        found = self._text.startswith(char, self._at)
        self._at += found
        return found

    def _fail(self, why: str) -> NoReturn:
        raise NotAPattern(f"has “{self._peek()}” at character {self._at + 1}, which {why}")
