"""Grammars for answers that match a regular expression or are one of several texts.

The grammars are GBNF, like a client's own `grammar`, so every engine handles them alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NoReturn

_CLASSES: Final = {
    "d": "0-9",
    "w": "A-Za-z0-9_",
    "s": r" \x09\x0A\x0B\x0C\x0D",
}
_CONTROLS: Final = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "0": "\0", "a": "\a"}
_COUNTS: Final = re.compile(r"\{(\d{1,6})(?:(,)(\d{1,6})?)?\}")
_HEX: Final = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})")
_GROUP_START: Final = re.compile(r"\?(?::|P?<[A-Za-z_]\w*>)")
_MOST_DEPTH: Final = 50


class UnreadablePattern(ValueError):
    """A regular expression that no grammar can express. Its message has no full stop."""


def choice_grammar(texts: Sequence[str]) -> str:
    """Return the grammar of an answer that is exactly one of the texts."""
    return "root ::= " + " | ".join(map(_literal, texts))


def regex_grammar(pattern: str) -> str:
    """Return the grammar of an answer that matches a regular expression as a whole.

    Raises:
        UnreadablePattern: The expression is wrong, or uses something other than characters, sets,
            groups, alternatives, repetitions, and anchors at its ends.
    """
    return f"root ::= {_Reader(pattern).grammar()}"


class _Reader:
    """A reader of one regular expression that writes GBNF as it goes."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._position = 0

    def grammar(self) -> str:
        grammar = self._alternatives(0)
        if self._position < len(self._text):
            self._fail("a parenthesis was never opened")
        return grammar

    def _alternatives(self, depth: int) -> str:
        if depth > _MOST_DEPTH:
            self._fail(f"more than {_MOST_DEPTH} parentheses are open")
        sequences = [self._sequence(depth)]
        while self._skip("|"):
            sequences.append(self._sequence(depth))
        return " | ".join(sequences)

    def _sequence(self, depth: int) -> str:
        items: list[str] = []
        if not depth and not self._skip("^"):
            self._skip("\\A")
        while (char := self._text[self._position : self._position + 1]) not in ("", "|", ")"):
            if not depth and self._skip_end_anchor():
                break
            items.append(self._repeated(self._atom(char, depth)))
        return " ".join(items) or '""'

    def _skip_end_anchor(self) -> bool:
        """Skip an anchor at the end of the expression or of an alternative.

        Returns:
            Whether there was one.
        """
        for anchor in ("$", "\\Z", "\\z"):
            behind = self._text[self._position + len(anchor) :][:1]
            if self._text.startswith(anchor, self._position) and behind in ("", "|"):
                self._position += len(anchor)
                return True
        return False

    def _atom(self, char: str, depth: int) -> str:
        if char in "^$":
            self._fail("“^” and “$” are only allowed at the ends")
        if char in "*+?" or (char == "{" and _COUNTS.match(self._text, self._position)):
            self._fail(f"there is nothing before “{char}” to repeat")
        self._position += 1
        if char == "(":
            return self._group(depth + 1)
        if char == "[":
            return self._set()
        if char == ".":
            return r"[^\x0A\x0D]"
        if char == "\\":
            letter = self._text[self._position : self._position + 1]
            if letter.lower() in _CLASSES:
                self._position += 1
                return f"[{'^' if letter.isupper() else ''}{_CLASSES[letter.lower()]}]"
            char = self._escaped()
        return _literal(char)

    def _group(self, depth: int) -> str:
        if start := _GROUP_START.match(self._text, self._position):
            self._position = start.end()
        elif self._text.startswith("?", self._position):
            self._fail("look-around groups and flags are not supported")
        inside = self._alternatives(depth)
        if not self._skip(")"):
            self._fail("a parenthesis is never closed")
        return f"({inside})"

    def _repeated(self, item: str) -> str:
        counts = _COUNTS.match(self._text, self._position)
        if counts:
            self._position = counts.end()
            if counts[3] and int(counts[3]) < int(counts[1]):
                self._fail("the upper limit of a repetition is below its lower limit")
            sign = counts[0]
        else:
            sign = next((mark for mark in "*+?" if self._skip(mark)), "")
        if sign:
            if not self._skip("?") and self._skip("+"):
                self._fail("possessive repetitions are not supported")
            if self._text.startswith(("*", "+"), self._position) or _COUNTS.match(
                self._text, self._position
            ):
                self._fail("a repetition is repeated")
        return item + sign

    def _set(self) -> str:
        negated = self._skip("^")
        members = [self._member()]  # “]” as the first member stands for itself
        while not self._skip("]"):
            members.append(self._member())
        return f"[{'^' if negated else ''}{''.join(members)}]"

    def _member(self) -> str:
        start = self._read_member()
        dashed = self._text.startswith("-", self._position)
        if (
            not dashed
            or self._text[self._position + 1 : self._position + 2] in ("]", "")
            or len(start) > 1
        ):
            return _CLASSES[start[1:]] if len(start) > 1 else _escape(start)
        self._position += 1
        end = self._read_member()
        if len(end) > 1 or end < start:
            self._fail("a range in a set has no order")
        return f"{_escape(start)}-{_escape(end)}"

    def _read_member(self) -> str:
        """Read one member of a set: a character, or a class with its backslash."""
        char = self._text[self._position : self._position + 1]
        if not char:
            self._fail("a set is never closed")
        self._position += 1
        if char != "\\":
            return char
        letter = self._text[self._position : self._position + 1]
        if letter in _CLASSES:
            self._position += 1
            return f"\\{letter}"
        return "\b" if self._skip("b") else self._escaped()

    def _escaped(self) -> str:
        """Read an escape after its backslash and return the character it stands for."""
        letter = self._text[self._position : self._position + 1]
        if match := _HEX.match(self._text, self._position):
            self._position = match.end()
            return chr(int(match[1] or match[2], 16))
        if not letter or (letter.isalnum() and letter not in _CONTROLS):
            self._fail(f"“\\{letter}” is not supported")
        self._position += 1
        return _CONTROLS.get(letter, letter)

    def _skip(self, sign: str) -> bool:
        if not self._text.startswith(sign, self._position):
            return False
        self._position += len(sign)
        return True

    def _fail(self, reason: str) -> NoReturn:
        raise UnreadablePattern(f"at character {self._position + 1}, {reason}")


def _literal(text: str) -> str:
    return f'"{"".join(map(_escape, text))}"'


def _escape(char: str) -> str:
    """Write one character for a GBNF literal or set."""
    if char.isascii() and (char.isalnum() or char in " _.,:;/@#%&=+!?'"):
        return char
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
