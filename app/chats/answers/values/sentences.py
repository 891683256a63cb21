"""Splits an answer into sentences for reading aloud while it is written, without markup."""

from __future__ import annotations

import re
from dataclasses import dataclass

_END = re.compile(r"[.!?…]+[\"”’»)*_]*(?=\s)|[。！？]+|\n")  # noqa: RUF001 - ends of sentences
_SHORT = re.compile(
    r"(?:^|[\s(])(?:[^\W\d_]|\d+|[A-Za-z]\.\s?[A-Za-z]|bzw|ca|etc|vs|Dr|Mr|Mrs|Nr)$"
)
"""Text before a full stop that does not end a sentence: a single letter, a number, “e.g”."""
_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})\s*([\w+#.-]*)")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_LEAD = re.compile(r"^\s*(?:#{1,6}\s+|>\s?|[-*+]\s+(?:\[[ xX]\]\s+)?)+")
_MARKS = re.compile(r"[*`~|]+|(?<!\w)_+|_+(?!\w)")
_LONGEST = 400
"""Characters after which text without a sentence end is cut at its last space."""


@dataclass(frozen=True)
class Spoken:
    """A sentence to read aloud, or the language of a code block, which can be empty."""

    text: str
    is_code: bool = False


class SentenceSplitter:
    """Splits text into sentences as it arrives; an incomplete one waits for more or for `end`."""

    def __init__(self) -> None:
        self._rest = ""
        self._fence = ""

    def feed(self, text: str) -> list[Spoken]:
        """Add a piece of text and return the sentences that it completes."""
        self._rest += text
        found: list[Spoken] = []
        while (sentences := self._next()) is not None:
            found += sentences
        return found

    def end(self) -> list[Spoken]:
        """End the text and return the rest of it."""
        rest, self._rest = self._rest, ""
        return [] if self._fence else _spoken(rest)

    def _next(self) -> list[Spoken] | None:
        """Remove and return the next line or sentence; return None if it is incomplete."""
        fence = _FENCE.match(self._rest)
        if self._fence or fence:
            line, newline, rest = self._rest.partition("\n")
            if not newline:
                return None
            self._rest = rest
            return self._cross(line)
        if re.match(r"\s{0,3}[`~]{1,2}$", self._rest):
            return None  # perhaps the beginning of a code fence
        for end in _END.finditer(self._rest):
            if end[0] == "." and _SHORT.search(self._rest[: end.start()]):
                continue
            sentence, self._rest = self._rest[: end.end()], self._rest[end.end() :].lstrip(" ")
            return _spoken(sentence)
        if len(self._rest) > _LONGEST:
            cut = self._rest.rfind(" ", 0, _LONGEST) + 1 or _LONGEST
            sentence, self._rest = self._rest[:cut], self._rest[cut:]
            return _spoken(sentence)
        return None

    def _cross(self, line: str) -> list[Spoken]:
        """Handle a line inside a code block, or one that opens or closes a block."""
        fence = _FENCE.match(line)
        if not self._fence and fence:
            self._fence = fence[1]
            return [Spoken(fence[2], is_code=True)]
        if fence and fence[1].startswith(self._fence) and not fence[2]:
            self._fence = ""
        return []


def _spoken(sentence: str) -> list[Spoken]:
    words = _LINK.sub(r"\1", _LEAD.sub("", sentence))
    words = " ".join(_MARKS.sub(" ", words).split())
    words = re.sub(r" ([.,;:!?…])", r"\1", words)
    return [Spoken(words)] if any(character.isalnum() for character in words) else []
