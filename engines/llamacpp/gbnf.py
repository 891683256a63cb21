"""Reads a grammar in GBNF, the notation of llama.cpp, into rules: pure.

llama.cpp's parser writes its complaints past the log, never returns from {5,3}, and runs out of
stack in deep parentheses. What this one lets through is safe to hand over, and what it refuses it
can place. Repetition becomes the rules that it makes there, so that what is counted here is what
llama.cpp would build. Notation: grammars/README.md of llama.cpp, without the references to tokens,
<name> and !<name>: where letters come before one, llama_grammar_accept_token ends the process.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NoReturn

MAX_LENGTH: Final = 200_000
"""Characters of a grammar."""
MAX_NESTING: Final = 100
"""Parentheses within each other; each costs llama.cpp's parser a part of its stack."""
MAX_REPETITIONS: Final = 2000
"""MAX_REPETITION_THRESHOLD in llama-grammar.cpp; above it a limit is not kept there."""
MAX_ELEMENTS: Final = 100_000
"""Characters and references of all rules, once repetition is written out."""

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


class NotGbnf(Exception):
    """A grammar cannot be read. line, column: where, from 1 on. why: a sentence."""

    def __init__(self, line: int, column: int, why: str) -> None:
        super().__init__(why)
        self.line, self.column, self.why = line, column, why


@dataclass(frozen=True)
class Characters:
    """A set of characters: any in `ranges` of code points, or any outside them if `negated`."""

    ranges: tuple[tuple[int, int], ...]
    negated: bool = False

    def match(self, code: int) -> bool:
        return any(low <= code <= high for low, high in self.ranges) != self.negated


Element = Characters | int
"""A character, or the number of a rule."""

Rule = list[tuple[Element, ...]]
"""The alternatives of a rule, each a sequence of elements."""


@dataclass(frozen=True)
class Grammar:
    """A grammar's rules by number. names: the numbers of the rules that the text names."""

    rules: list[Rule]
    names: dict[str, int]


def parse(text: str) -> Grammar:
    """Parse the rules of `text`. Raises NotGbnf."""
    return _Parser(text).grammar()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._elements = 0
        self._rules: list[Rule | None] = []
        self._names: dict[str, int] = {}
        self._mentioned: dict[str, int] = {}

    def grammar(self) -> Grammar:
        if len(self._text) > MAX_LENGTH:
            self._fail(f"it is longer than {MAX_LENGTH} characters", MAX_LENGTH)
        if found := _NO_TEXT.search(self._text):
            self._fail("this is a null character or half a character", found.start())
        self._skip(_BLANK_OR_BREAK)
        while self._at < len(self._text):
            self._definition()
        for name, number in self._names.items():
            if self._rules[number] is None:
                self._fail(f"there is no rule “{name}”", self._mentioned[name])
        return Grammar([rule for rule in self._rules if rule is not None], self._names)

    def _definition(self) -> None:
        number = self._named("a rule's name is expected here")
        self._skip(_BLANK)
        if not self._text.startswith("::=", self._at):
            self._fail("“::=” is expected here")
        self._at += 3
        self._skip(_BLANK_OR_BREAK)
        self._rules[number] = self._alternatives(_BLANK)
        if self._at < len(self._text) and not self._skip(_BREAK):
            self._fail("this character does not belong here")
        self._skip(_BLANK_OR_BREAK)

    def _alternatives(self, blank: re.Pattern[str]) -> Rule:
        found = [self._sequence(blank)]
        while self._peek() == "|":
            self._at += 1
            self._skip(_BLANK_OR_BREAK)
            found.append(self._sequence(blank))
        return found

    def _sequence(self, blank: re.Pattern[str]) -> tuple[Element, ...]:
        sequence: list[Element] = []
        start, weight = 0, 1
        while char := self._peek():
            if char in "*+?{":
                weight = self._repeat(sequence, start, weight)
            elif char in "|)\r\n":
                break
            else:
                start, before, begin = len(sequence), len(self._rules), self._at
                item = self._item(char)
                self._count(len(item), begin)
                sequence += item
                weight = max(1, len(self._rules) - before) if char == "(" else 1
            self._skip(blank)
        return tuple(sequence)

    def _item(self, char: str) -> list[Element]:
        if char == '"':
            return self._literal()
        if char == "[":
            return self._set()
        if char == "(":
            return [self._group()]
        if char == ".":
            self._at += 1
            return [Characters((), negated=True)]
        if char in "<!":
            self._fail("a reference to a token, which Hearth does not take")
        return [self._named("this character does not belong here")]

    def _literal(self) -> list[Element]:
        begin = self._at
        self._at += 1
        found: list[Element] = []
        while self._peek() != '"':
            code = self._character("a text begins here and has no end", begin)
            found.append(Characters(((code, code),)))
        self._at += 1
        return found

    def _set(self) -> list[Element]:
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
            ranges.append((low, high))
        self._at += 1
        self._count(len(ranges), begin)
        # llama.cpp takes an empty set for nothing at all.
        return [Characters(tuple(ranges), negated)] if ranges else []

    def _group(self) -> int:
        begin = self._at
        self._depth += 1
        if self._depth > MAX_NESTING:
            self._fail(f"more than {MAX_NESTING} parentheses are open")
        self._at += 1
        self._skip(_BLANK_OR_BREAK)
        number = self._new()
        self._rules[number] = self._alternatives(_BLANK_OR_BREAK)
        if self._peek() != ")":
            if self._at == len(self._text):
                self._fail("this parenthesis is never closed", begin)
            self._fail("this character does not belong here")
        self._at += 1
        self._depth -= 1
        return number

    def _repeat(self, sequence: list[Element], start: int, weight: int) -> int:
        """Write a repetition of the last item out; returns how many rules it stands for now."""
        begin = self._at
        least, most = self._times()
        if start == len(sequence):
            self._fail("there is nothing to repeat before this", begin)
        weight *= most or least or 1
        if max(least, most or 0, weight) > MAX_REPETITIONS:
            self._fail(f"this repeats more than {MAX_REPETITIONS} times or rules", begin)
        item = tuple(sequence[start:])
        self._count(len(item) * max(least, most or 0), begin)
        sequence[start:] = item * least
        if most is None:
            number = self._new()
            self._rules[number] = [(*item, number), ()]
            sequence.append(number)
            return weight
        last: tuple[Element, ...] = ()
        for _ in range(most - least):
            number = self._new()
            self._rules[number] = [item + last, ()]
            last = (number,)
        sequence += last
        return weight

    def _times(self) -> tuple[int, int | None]:
        """Read the least and the most repetitions that this sign stands for; None is no limit."""
        sign = self._peek()
        if sign != "{":
            self._at += 1
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
        if (found := _BRACES.match(self._text, self._at)) is None:
            self._fail("a repetition is written {3}, {3,} or {3,5}")
        least_digits, comma, most_digits = found.groups()
        if max(len(least_digits), len(most_digits or "")) > 9:
            self._fail(f"this repeats more than {MAX_REPETITIONS} times or rules")
        least = int(least_digits)
        most = int(most_digits) if most_digits else None if comma else least
        if most is not None and most < least:
            self._fail(f"at most {most} and at least {least} cannot be")
        self._at = found.end()
        return least, most

    def _character(self, missing: str, begin: int) -> int:
        """Read the code point of the next character, which may be an escape."""
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

    def _named(self, missing: str) -> int:
        if (found := _NAME.match(self._text, self._at)) is None:
            self._fail(missing)
        name = found[0]
        self._mentioned.setdefault(name, self._at)
        self._at = found.end()
        if name not in self._names:
            self._names[name] = self._new()
        return self._names[name]

    def _new(self) -> int:
        self._rules.append(None)
        return len(self._rules) - 1

    def _count(self, elements: int, at: int) -> None:
        self._elements += elements
        if self._elements > MAX_ELEMENTS:
            self._fail(f"written out, the grammar has more than {MAX_ELEMENTS} parts", at)

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
