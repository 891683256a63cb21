"""The division of growing markdown into final blocks and a tail that can still change.

When more text arrives, only the text from the last top-level block on is parsed again, so the cost
of an update does not grow with the length of the answer. A very long last block is cut, and a
fenced code block is continued without the parser: so the cost of every update is bounded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from app.markdown.blocks import Block, Code, Formula
from app.markdown.parser import Parser

LONGEST_BLOCK = 4_000
"""Characters of a block above which it is cut, at a place where this shows least."""
_LONGEST_WITH_CODE = 24_000
"""The same limit for a list with unfinished code, where a cut would show."""
_WORTHWHILE = 400
"""Characters of a text without an empty line above which it is searched for complete blocks."""
_READ_AGAIN = 24_000
"""Characters of an answer above which it is not parsed again for definitions at its end."""

_FENCE = re.compile(r"( {0,3})(`{3,}(?=[^`\n]*\n)|~{3,})[^\n]*\n")
_TABLE_HEAD = re.compile(r"[^\n]*\|[^\n]*\n {0,3}[|:-][-| :\t]*\n")


@dataclass(frozen=True)
class Update:
    """The blocks that an addition changed.

    Attributes:
        settled: New blocks that are final.
        tail: The blocks after them, which can still change.
    """

    settled: tuple[Block, ...]
    tail: tuple[Block, ...]


class StreamSplitter:
    """A parser of a text that grows by pieces of any size.

    The split considers whole lines only: an unfinished line can still mean anything (“***” may
    become a rule or bold text).
    """

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._env: dict[str, Any] = {}
        self._tail_env: dict[str, Any] = {}
        self._pieces: list[str] = []
        self._open = ""
        self._fence: _Fence | None = None
        self._try_at = 0
        self._in_code = False
        self._in_formula = False

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._pieces)

    def feed(self, text: str) -> Update:
        """Add a piece of text; return the blocks that it changed."""
        text = clean(text)
        self._pieces.append(text)
        self._open += text
        settled: list[Block] = []
        if self._fence is not None:
            code, self._open = self._fence.read(self._open)
            if not code.closed:
                return Update((), (self._fence.with_begun(code, self._open),))
            self._fence = None
            settled.append(code)
            text = self._open
        if "\n" in text and len(self._open) >= self._try_at and self._has_parts():
            settled += self._settle()
        if len(self._open) > (_LONGEST_WITH_CODE if self._in_code else LONGEST_BLOCK):
            settled += self._cut()
        self._tail_env = self._copied_env()
        tail = self._parser.parse_piece(self._open, self._tail_env).blocks
        self._in_code = bool(tail) and isinstance(tail[-1], Code) and not tail[-1].closed
        self._in_formula = any(isinstance(block, Formula) and not block.closed for block in tail)
        if self._in_code and len(tail) == 1:
            self._begin_fence(tail[0])
        return Update(tuple(settled), tail)

    def finish(self) -> tuple[Block, ...] | None:
        """Return all blocks again if the end of the text may have changed early ones, else None."""
        notes = self._tail_env.get("footnotes", {}).get("refs")
        unsure = notes or self._tail_env.get("references") or self._in_formula
        if unsure and len(self.text) <= _READ_AGAIN:
            return self._parser.parse(self.text)
        return None

    def _has_parts(self) -> bool:
        """Return whether it is worthwhile to look for blocks to settle."""
        return "\n\n" in self._open or len(self._open) > _WORTHWHILE

    def _settle(self) -> tuple[Block, ...]:
        complete_lines = self._open[: self._open.rfind("\n") + 1]
        env = self._copied_env()
        piece = self._parser.parse_piece(complete_lines, env)
        if piece.line == 0:
            # This is one long list or table: parsing it again at every line would cost as much as
            # drawing it.
            self._try_at = len(self._open) * 5 // 4
            return ()
        self._env, self._try_at = env, 0
        done = sum(len(line) + 1 for line in complete_lines.split("\n")[: piece.line])
        self._open = self._open[done:]
        return piece.before

    def _cut(self) -> tuple[Block, ...]:
        """Settle most of a block that has become too long; the rest begins a new block."""
        head = _TABLE_HEAD.match(self._open)
        place = _place_to_cut(self._open)
        settled = self._parser.parse_piece(self._open[:place], self._env).blocks
        self._open, self._try_at = self._open[place:], 0
        if head and len(head.group()) < LONGEST_BLOCK // 4:
            self._open = head.group() + self._open
        return settled

    def _begin_fence(self, code: Block) -> None:
        """Continue without the parser if the open text is a single fenced code block."""
        opening = _FENCE.match(self._open)
        if opening and isinstance(code, Code):
            begun = replace(code, text="")
            self._fence = _Fence(begun, opening.group(2), len(opening.group(1)))
            _, self._open = self._fence.read(self._open[opening.end() :])

    def _copied_env(self) -> dict[str, Any]:
        """Copy the definitions for text that can still grow: a link's first definition wins."""
        notes = self._env.get("footnotes", {})
        return {
            "references": dict(self._env.get("references", {})),
            "footnotes": {
                "refs": dict(notes.get("refs", {})),
                "list": {key: dict(note) for key, note in notes.get("list", {}).items()},
            },
        }


class _Fence:
    """A fenced code block at the top level, read line by line until its closing fence."""

    def __init__(self, code: Code, marks: str, indent: int) -> None:
        self._code = code
        self._indent = re.compile(rf" {{0,{indent}}}")
        self._end = re.compile(rf" {{0,3}}{re.escape(marks[0])}{{{len(marks)},}}[ \t]*\Z")
        self._lines: list[str] = []

    def read(self, text: str) -> tuple[Code, str]:
        """Take the whole lines of a text; return the code and the rest of the text.

        The rest is an unfinished line, or the text after the closing fence.
        """
        while "\n" in text:
            line, _, text = text.partition("\n")
            if self._end.match(line):
                return replace(self._code, text="\n".join(self._lines), closed=True), text
            self._lines.append(self._indent.sub("", line, count=1))
        return replace(self._code, text="\n".join(self._lines)), text

    def with_begun(self, code: Code, line: str) -> Code:
        """Return the code with an unfinished line, which may become the closing fence."""
        if self._end.match(line):
            return replace(code, closed=True)
        lines = [*self._lines, self._indent.sub("", line, count=1)] if line else self._lines
        return replace(code, text="\n".join(lines))


def _place_to_cut(text: str) -> int:
    """Return where to cut: before the last unindented line, else the last line, word or letter."""
    least = len(text) // 2
    for mark in (re.compile(r"\n(?=[^\s])"), re.compile(r"\n"), re.compile(r" ")):
        places = [match.end() for match in mark.finditer(text, least)]
        if places:
            return places[-1]
    return least


def clean(text: str) -> str:
    """Normalise line ends as the parser counts them, whatever pieces they arrive in."""
    return text.replace("\r", "")
