"""A growing markdown text: what will not change any more, and the tail that still may.

Only the text from the last top-level block on is parsed again when more arrives, so that the
cost of an update does not grow with the length of the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.markdown.blocks import Block
from app.markdown.parser import Parser


@dataclass(frozen=True)
class Update:
    """settled: blocks that are new and final. tail: what follows them for now."""

    settled: tuple[Block, ...]
    tail: tuple[Block, ...]


class StreamSplitter:
    """Fed with pieces of any size.

    The split is judged by whole lines only: a line that has only begun can mean anything
    (“***” may become a rule or bold text).
    """

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._env: dict[str, Any] = {}
        self._tail_env: dict[str, Any] = {}
        self._settled: list[str] = []
        self._open = ""
        self._try_at = 0

    @property
    def text(self) -> str:
        """Everything that was fed."""
        return "".join(self._settled) + self._open

    def feed(self, text: str) -> Update:
        text = clean(text)
        self._open += text
        worthwhile = "\n" in text and len(self._open) >= self._try_at
        settled = self._settle() if worthwhile else ()
        self._tail_env = self._trial()
        tail, _ = self._parser.parse_piece(self._open, self._tail_env)
        return Update(settled, tail)

    def finish(self) -> tuple[Block, ...] | None:
        """All blocks anew where a link definition may have changed early ones, else None."""
        if self._tail_env.get("references"):
            return self._parser.parse(self.text)
        return None

    def _settle(self) -> tuple[Block, ...]:
        whole = self._open[: self._open.rfind("\n") + 1]
        _, line = self._parser.parse_piece(whole, self._trial())
        if line == 0:
            # One long list or table: looking again at every line would cost as much as drawing.
            self._try_at = len(self._open) * 5 // 4
            return ()
        self._try_at = 0
        lines = whole.split("\n")
        done = "".join(f"{text}\n" for text in lines[:line])
        blocks, _ = self._parser.parse_piece(done, self._env)
        self._settled.append(done)
        self._open = self._open[len(done) :]
        return blocks

    def _trial(self) -> dict[str, Any]:
        """A copy for text that may still grow: the first definition of a link is the one kept."""
        return {**self._env, "references": dict(self._env.get("references", {}))}


def clean(text: str) -> str:
    """Line ends as the parser counts them, whatever pieces they arrive in."""
    return text.replace("\r", "")
