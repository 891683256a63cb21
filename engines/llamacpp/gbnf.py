"""Translates a grammar in GBNF, the notation of llama.cpp, for llguidance. Pure.

Every mistake is reported with its place. A grammar without recursive rules becomes one regular
expression with exactly the same meaning. In other grammars, each part that uses no recursive rule
becomes one terminal; but if the longest match of that terminal could take text of the next part,
its single characters become terminals instead. Notation: grammars/README.md of llama.cpp, without
the references to tokens, <name> and !<name>.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

from engines.errors import GrammarInvalid
from engines.llamacpp.lark import Lark
from engines.sentences import N_

ROOT: Final = "root"
MAX_LENGTH: Final = 200_000
"""The most characters in a grammar."""
MAX_NESTING: Final = 100
"""The most nested parentheses."""
MAX_REPETITIONS: Final = 2000
"""The most repetitions of an item, multiplied with nested repetitions; as in llama.cpp."""
MAX_ELEMENTS: Final = 100_000
"""The most characters and references in all rules together."""

_NO_TEXT: Final = re.compile(r"[\0\uD800-\uDFFF]")
_NAME: Final = re.compile(r"[A-Za-z0-9-]+")
_BLANK: Final = re.compile(r"(?:[ \t]|#[^\r\n]*)*")
_BLANK_OR_BREAK: Final = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")
_BREAK: Final = re.compile(r"\r\n?|\n")
_ESCAPE: Final = re.compile(
    r'\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([trn\\"\[\]-]))'
)
_BRACES: Final = re.compile(r"\{[ \t]*([0-9]+)[ \t]*(?:(,)[ \t]*([0-9]+)?[ \t]*)?\}")
_CONTROLS: Final = {"t": "\t", "r": "\r", "n": "\n"}


Ranges = tuple[tuple[int, int], ...]
"""Ranges of code points (first, last), in ascending order and without overlaps."""


@dataclass(frozen=True)
class Characters:
    """One character: any in `ranges` of code points, or any outside them if `negated`."""

    ranges: tuple[tuple[int, int], ...]
    negated: bool = False


@dataclass(frozen=True)
class Reference:
    """A reference to a rule; `at` is its index in the text."""

    name: str
    at: int


@dataclass(frozen=True)
class PartRun:
    """Parts that follow one another."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Alternatives:
    """Parts of which exactly one is chosen."""

    options: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """An item that is repeated `least` to `most` times; None means no limit."""

    item: Node
    least: int
    most: int | None


Node = Characters | Reference | PartRun | Alternatives | Repeat


class NotGbnf(Exception):
    """The error for a grammar that cannot be read.

    Attributes:
        line: Line of the mistake, counted from 1.
        column: Column of the mistake, counted from 1.
        why: The reason, as a sentence.
    """

    def __init__(self, line: int, column: int, why: str) -> None:
        super().__init__(why)
        self.line, self.column, self.why = line, column, why


def write(text: str, lark: Lark) -> str:
    """Write the rules of a grammar in GBNF to `lark`, and return the name of its root rule.

    Raises:
        GrammarInvalid: The grammar cannot be read, or no text matches it.
    """
    try:
        rules = parse(text)
    except NotGbnf as error:
        raise invalid(f"Line {error.line}, column {error.column}: {error.why}.") from error
    if ROOT not in rules:
        raise invalid("It has no rule “root”, with which every answer begins.")
    if ROOT not in _can_end(rules):
        raise invalid("The rule “root” needs itself wherever it could end, so it would never end.")
    return _Writer(rules, lark).name(ROOT)


def invalid(why: str) -> GrammarInvalid:
    """Return the error for a grammar that cannot be used."""
    return GrammarInvalid(
        N_("The grammar cannot be used."), why, N_("Correct the grammar, or ask without it.")
    )


def parse(text: str) -> dict[str, Node]:
    """Return the rules of a grammar by their names. Raises NotGbnf."""
    return _Parser(text).rules()


def _references(node: Node) -> Iterator[str]:
    waiting: list[Node] = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Reference):
            yield part.name
        elif isinstance(part, PartRun):
            waiting += part.parts
        elif isinstance(part, Alternatives):
            waiting += part.options
        elif isinstance(part, Repeat):
            waiting.append(part.item)


def _extent(node: Node) -> tuple[int, int]:
    """Return the product of nested repetitions, and the number of parts that they make."""
    if isinstance(node, Repeat):
        times, size = _extent(node.item)
        often = node.most or node.least or 1
        return times * often, size * often
    parts: tuple[Node, ...] = ()
    if isinstance(node, PartRun):
        parts = node.parts
    elif isinstance(node, Alternatives):
        parts = node.options
    found = [_extent(part) for part in parts] or [(1, 1)]
    return max(times for times, _ in found), sum(size for _, size in found)


def _can_end(rules: dict[str, Node]) -> set[str]:
    """Return the names of the rules that match some text."""
    users: dict[str, set[str]] = {name: set() for name in rules}
    for name, node in rules.items():
        for used in _references(node):
            users[used].add(name)
    ending: set[str] = set()

    def ends(node: Node) -> bool:
        if isinstance(node, Reference):
            return node.name in ending
        if isinstance(node, PartRun):
            return all(map(ends, node.parts))
        if isinstance(node, Alternatives):
            return any(map(ends, node.options))
        return not isinstance(node, Repeat) or not node.least or ends(node.item)

    waiting = list(rules)
    while waiting:
        name = waiting.pop()
        if name not in ending and ends(rules[name]):
            ending.add(name)
            waiting += users[name] - ending
    return ending


def _recursive(rules: dict[str, Node]) -> tuple[list[str], set[str]]:
    """Return the rules in an order in which each comes after the rules that it uses.

    Rules that use themselves, or a rule that does, have no such order; their names are returned as
    the second value.
    """
    uses = {name: set(_references(node)) for name, node in rules.items()}
    users: dict[str, set[str]] = {name: set() for name in rules}
    for name, used in uses.items():
        for other in used:
            users[other].add(name)
    left = {name: len(used) for name, used in uses.items()}
    ready = [name for name, count in left.items() if not count]
    order = []
    while ready:
        name = ready.pop()
        order.append(name)
        for user in users[name]:
            left[user] -= 1
            if not left[user]:
                ready.append(user)
    return order, rules.keys() - set(order)


@dataclass(frozen=True)
class _Shape:
    """Properties of the texts that match a part.

    Attributes:
        empty: Whether the empty text matches.
        first: The characters that a match can begin with.
        more: The characters that can extend a match to a longer one.
        all: All characters in matches.
    """

    empty: bool
    first: Ranges
    more: Ranges
    all: Ranges


class _Writer:
    """Writes the rules of one grammar."""

    def __init__(self, rules: dict[str, Node], lark: Lark) -> None:
        self._rules = rules
        self._lark = lark
        order, self._recursive = _recursive(rules)
        self._shapes: dict[str, _Shape] = {}
        self._terminals: dict[str, str] = {}
        self._written: dict[str, str] = {}
        for name in order:
            self._shapes[name] = self._shape(rules[name])
            self._terminals[name] = lark.terminal(self._regular(rules[name]))
        for name in self._recursive:
            self._written[name] = lark.reserve()
        for name in self._recursive:
            lark.add(self._written[name], self._rule(rules[name]))

    def name(self, rule: str) -> str:
        """Return the name under which a rule was written."""
        return self._terminals.get(rule) or self._written[rule]

    def _shape(self, node: Node) -> _Shape:
        """Return the shape of a part that uses no recursive rule."""
        if isinstance(node, Characters):
            ranges = _without(node.ranges) if node.negated else _joined(node.ranges)
            return _Shape(empty=False, first=ranges, more=(), all=ranges)
        if isinstance(node, Reference):
            return self._shapes[node.name]
        if isinstance(node, PartRun):
            shape = _NOTHING
            for part in node.parts:
                shape = _followed_by(shape, self._shape(part))
            return shape
        if isinstance(node, Alternatives):
            return _either([self._shape(option) for option in node.options])
        return _repeated(self._shape(node.item), node.least, node.most)

    def _regular(self, node: Node) -> str:
        """Write a part within a terminal."""
        if isinstance(node, Reference):
            return self._terminals[node.name]
        return self._expression(node, self._regular)

    def _rule(self, node: Node) -> str:
        """Write a part within a rule; each part of it that can be a terminal becomes one."""
        if self._is_regular(node):
            return self._lark.terminal(self._regular(node))
        if isinstance(node, Reference):
            return self._written[node.name]
        if isinstance(node, PartRun):
            return " ".join(self._parts(node.parts)) or '""'
        return self._expression(node, self._rule)

    def _parts(self, parts: Sequence[Node]) -> Iterator[str]:
        for at, part in enumerate(parts):
            safe = self._is_regular(part) and not self._can_continue(part, parts[at + 1 :])
            if safe or not self._is_regular(part):
                yield self._rule(part)
            else:
                yield self._single(part)

    def _can_continue(self, part: Node, following: Iterable[Node]) -> bool:
        """Return whether the longest match of a part could take text of the parts after it."""
        more = self._shape(part).more
        for other in following:
            if not self._is_regular(other):
                return False
            shape = self._shape(other)
            if _meet(more, shape.first):
                return True
            if not shape.empty:
                return False
        return False

    def _single(self, node: Node) -> str:
        """Write a part within a rule, with each of its characters as a terminal."""
        if isinstance(node, Characters):
            return self._lark.terminal(_set(node))
        if isinstance(node, Reference):
            key = f"{node.name} apart"
            if key not in self._written:
                self._written[key] = self._lark.reserve()
                body = self._single(self._rules[node.name])
                self._lark.add(self._written[key], body)
            return self._written[key]
        return self._expression(node, self._single)

    def _is_regular(self, node: Node) -> bool:
        return self._recursive.isdisjoint(_references(node))

    def _expression(self, node: Node, write_part: Callable[[Node], str]) -> str:
        if isinstance(node, Characters):
            return _set(node)
        if isinstance(node, Alternatives):
            return f"({' | '.join(map(write_part, node.options))})"
        if isinstance(node, PartRun):
            return f"({' '.join(map(write_part, node.parts))})" if node.parts else '""'
        if isinstance(node, Repeat):
            if node.most == 0:
                return '""'
            most = "" if node.most is None else node.most
            return f"({write_part(node.item)}){{{node.least},{most}}}"
        raise TypeError(node)


_LAST: Final = 0x10FFFF
_MOST_RANGES: Final = 200
"""More ranges than this are merged into one from the first to the last, to be on the safe side."""


def _joined(*several: Iterable[tuple[int, int]]) -> Ranges:
    found: list[tuple[int, int]] = []
    for low, high in sorted(
        one_range for ranges in several for one_range in ranges if one_range[0] <= one_range[1]
    ):
        if found and low <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return ((found[0][0], found[-1][1]),) if len(found) > _MOST_RANGES else tuple(found)


def _without(ranges: Iterable[tuple[int, int]]) -> Ranges:
    found, begin = [], 0
    for low, high in sorted(ranges):
        if begin < low:
            found.append((begin, low - 1))
        begin = max(begin, high + 1)
    return _joined(found, [(begin, _LAST)])


def _meet(one: Ranges, other: Ranges) -> bool:
    return any(low <= top and bottom <= high for low, high in one for bottom, top in other)


_NOTHING: Final = _Shape(empty=True, first=(), more=(), all=())


def _followed_by(one: _Shape, other: _Shape) -> _Shape:
    """Return the shape of one part followed by another."""
    both = _joined(one.all, other.all)
    more = other.more
    if other.empty:
        more = _joined(more, one.more, other.first)
    if _meet(one.more, other.first):
        more = both  # the border between them can be elsewhere
    return _Shape(
        empty=one.empty and other.empty,
        first=_joined(one.first, other.first if one.empty else ()),
        more=more,
        all=both,
    )


def _either(options: Sequence[_Shape]) -> _Shape:
    first = _joined(*(shape.first for shape in options))
    every = _joined(*(shape.all for shape in options))
    more = _joined(*(shape.more for shape in options))
    empty = any(shape.empty for shape in options)
    apart = sum(high - low + 1 for shape in options for low, high in shape.first) == sum(
        high - low + 1 for low, high in first
    )
    if not apart:
        more = every  # another alternative can continue where one ends
    elif empty:
        more = _joined(more, first)
    return _Shape(empty=empty, first=first, more=more, all=every)


def _repeated(item: _Shape, least: int, most: int | None) -> _Shape:
    more = item.more
    if least != most or item.empty:
        more = _joined(more, item.first)
    if most != 1 and _meet(item.more, item.first):
        more = item.all
    return _Shape(empty=item.empty or not least, first=item.first, more=more, all=item.all)


def _set(node: Characters) -> str:
    """Write one character as a regular expression."""
    ranges = [
        f"{in_set(low)}-{in_set(high)}" if low < high else in_set(low) for low, high in node.ranges
    ]
    if not node.ranges:
        return "/(?s:.)/"
    return f"/[{'^' if node.negated else ''}{''.join(ranges)}]/"


def in_set(code: int) -> str:
    """Write a code point for use in a set of a regular expression."""
    return f"\\x{{{code:X}}}"


class _Parser:
    """Reads the rules of one grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._elements = 0
        self._rules: dict[str, Node] = {}
        self._mentioned: dict[str, int] = {}

    def rules(self) -> dict[str, Node]:
        """Return all rules by their names. Raises NotGbnf."""
        if len(self._text) > MAX_LENGTH:
            self._fail(f"it is longer than {MAX_LENGTH} characters", MAX_LENGTH)
        if found := _NO_TEXT.search(self._text):
            self._fail("this is a null character or half a character", found.start())
        self._skip(_BLANK_OR_BREAK)
        while self._at < len(self._text):
            self._definition()
        for name, at in self._mentioned.items():
            if name not in self._rules:
                self._fail(f"there is no rule “{name}”", at)
        return self._rules

    def _definition(self) -> None:
        name = self._name("a rule's name is expected here")
        self._skip(_BLANK)
        if not self._text.startswith("::=", self._at):
            self._fail("“::=” is expected here")
        self._at += 3
        self._skip(_BLANK_OR_BREAK)
        self._rules[name] = self._alternatives(_BLANK)
        if self._at < len(self._text) and not self._skip(_BREAK):
            self._fail("this character does not belong here")
        self._skip(_BLANK_OR_BREAK)

    def _alternatives(self, blank: re.Pattern[str]) -> Node:
        found = [self._sequence(blank)]
        while self._peek() == "|":
            self._at += 1
            self._skip(_BLANK_OR_BREAK)
            found.append(self._sequence(blank))
        return found[0] if len(found) == 1 else Alternatives(tuple(found))

    def _sequence(self, blank: re.Pattern[str]) -> Node:
        parts: list[Node] = []
        while char := self._peek():
            if char in "*+?{":
                self._repeat(parts)
            elif char in "|)\r\n":
                break
            else:
                parts.append(self._item(char))
            self._skip(blank)
        return parts[0] if len(parts) == 1 else PartRun(tuple(parts))

    def _item(self, char: str) -> Node:
        self._count(1, self._at)
        if char == '"':
            return self._literal()
        if char == "[":
            return self._set()
        if char == "(":
            return self._group()
        if char == ".":
            self._at += 1
            return Characters((), negated=True)
        if char in "<!":
            self._fail("a reference to a token, which Hearth does not take")
        at = self._at
        return Reference(self._name("this character does not belong here", mentioned=True), at)

    def _literal(self) -> Node:
        begin = self._at
        self._at += 1
        found: list[Node] = []
        while self._peek() != '"':
            code = self._character("a text begins here and has no end", begin)
            found.append(Characters(((code, code),)))
        self._at += 1
        self._count(len(found), begin)
        return PartRun(tuple(found))

    def _set(self) -> Node:
        begin = self._at
        self._at += 1
        no_end = "a set of characters begins here and has no end"
        if negated := self._peek() == "^":
            self._at += 1
        ranges = []
        while self._peek() != "]":
            low = high = self._character(no_end, begin)
            if self._peek() == "-" and not self._text.startswith("-]", self._at):
                self._at += 1
                high = self._character(no_end, begin)
            if high < low:
                self._fail("a range in this set has no order", begin)
            ranges.append((low, high))
        self._at += 1
        self._count(len(ranges), begin)
        # llama.cpp treats an empty set as no character.
        return Characters(tuple(ranges), negated) if ranges else PartRun(())

    def _group(self) -> Node:
        begin = self._at
        self._depth += 1
        if self._depth > MAX_NESTING:
            self._fail(f"more than {MAX_NESTING} parentheses are open")
        self._at += 1
        self._skip(_BLANK_OR_BREAK)
        inner = self._alternatives(_BLANK_OR_BREAK)
        if self._peek() != ")":
            if self._at == len(self._text):
                self._fail("this parenthesis is never closed", begin)
            self._fail("this character does not belong here")
        self._at += 1
        self._depth -= 1
        return inner

    def _repeat(self, parts: list[Node]) -> None:
        """Apply the repetition at this place to the last part."""
        begin = self._at
        least, most = self._times()
        if not parts:
            self._fail("there is nothing to repeat before this", begin)
        repeated = Repeat(parts[-1], least, most)
        times, size = _extent(repeated)
        if max(least, times) > MAX_REPETITIONS:
            self._fail(f"this repeats more than {MAX_REPETITIONS} times", begin)
        self._count(size, begin)
        parts[-1] = repeated

    def _times(self) -> tuple[int, int | None]:
        """Read the least and the most repetitions that this sign means; None means no limit."""
        sign = self._peek()
        if sign != "{":
            self._at += 1
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
        if (found := _BRACES.match(self._text, self._at)) is None:
            self._fail("a repetition is written {3}, {3,} or {3,5}")
        least_digits, comma, most_digits = found.groups()
        if max(len(least_digits), len(most_digits or "")) > 9:
            self._fail(f"this repeats more than {MAX_REPETITIONS} times")
        least = int(least_digits)
        most = int(most_digits) if most_digits else None if comma else least
        if most is not None and most < least:
            self._fail(f"at most {most} and at least {least} cannot be")
        self._at = found.end()
        return least, most

    def _character(self, missing: str, begin: int) -> int:
        """Read the code point of the next character, which can be an escape."""
        char = self._peek()
        if not char:
            self._fail(missing, begin)
        if char != "\\":
            self._at += 1
            return ord(char)
        if (found := _ESCAPE.match(self._text, self._at)) is None:
            self._fail("there is no such escape")
        self._at = found.end()
        if letter := found[4]:
            return ord(_CONTROLS.get(letter, letter))
        return int(found[1] or found[2] or found[3], 16)

    def _name(self, missing: str, *, mentioned: bool = False) -> str:
        if (found := _NAME.match(self._text, self._at)) is None:
            self._fail(missing)
        if mentioned:
            self._mentioned.setdefault(found[0], self._at)
        self._at = found.end()
        return found[0]

    def _count(self, elements: int, at: int) -> None:
        self._elements += elements
        if self._elements > MAX_ELEMENTS:
            self._fail(f"the grammar has more than {MAX_ELEMENTS} parts", at)

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        found = pattern.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        return found is not None

    def _fail(self, why: str, at: int | None = None) -> NoReturn:
        before = self._text[: self._at if at is None else at]
        line = before.count("\n") + 1
        raise NotGbnf(line, len(before) - (before.rfind("\n") + 1) + 1, why)
