"""From markdown to blocks, with CommonMark, tables, strike-through, task lists and bare links.

Raw HTML stays text, pictures become links, and only http, https and mailto addresses are links:
what a model writes can neither load nor run anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.markdown.blocks import Align, Block, Code, Paragraph, Place, Rule, Span, Table
from app.markdown.spans import spans_of

_MARKERS = ("•", "◦", "▪")
_TASKS = {"[ ] ": "☐", "[x] ": "☑", "[X] ": "☑"}
_OPENERS = {"bullet_list_open", "ordered_list_open", "blockquote_open"}


class Parser:
    """Parses whole texts and pieces of one. `env` carries link definitions between pieces."""

    def __init__(self) -> None:
        self._markdown = MarkdownIt("gfm-like", {"html": False, "breaks": True})
        if self._markdown.linkify is not None:
            # “main.py” is a file and not a web site in Paraguay.
            self._markdown.linkify.set({"fuzzy_link": False, "fuzzy_email": False})

    def parse(self, text: str) -> tuple[Block, ...]:
        return self.parse_piece(text, {})[0]

    def parse_piece(self, text: str, env: dict[str, Any]) -> tuple[tuple[Block, ...], int]:
        """The blocks of a text, and the line at which its last top-level block begins."""
        tokens = self._markdown.parse(text, env)
        starts = [token.map[0] for token in tokens if token.level == 0 and token.map]
        return tuple(_Walk(tokens, text.split("\n")).blocks()), starts[-1] if starts else 0


@dataclass
class _Item:
    """A list item that is being walked through."""

    marker: str
    begun: bool = False


@dataclass
class _List:
    number: int | None
    marker: str
    items: int = 0
    item: _Item = field(default_factory=lambda: _Item(""))


class _Walk:
    """Goes once through the tokens of one text and yields its blocks."""

    def __init__(self, tokens: Sequence[Token], lines: list[str]) -> None:
        self._tokens = tokens
        self._lines = lines
        self._lists: list[_List] = []
        self._quotes = 0

    def blocks(self) -> Iterator[Block]:
        tokens = iter(self._tokens)
        for token in tokens:
            if token.type in _OPENERS or token.type.endswith("_close"):
                self._enter_or_leave(token)
            elif token.type == "list_item_open":
                self._begin_item()
            elif token.type == "paragraph_open":
                yield self._paragraph(next(tokens), 0, token.hidden)
            elif token.type == "heading_open":
                yield self._paragraph(next(tokens), int(token.tag[1:]), False)
            elif token.type in {"fence", "code_block"}:
                yield self._code(token)
            elif token.type == "hr":
                yield Rule(self._place(False))
            elif token.type == "table_open":
                yield self._table(tokens)

    def _enter_or_leave(self, token: Token) -> None:
        if token.type == "bullet_list_open":
            depth = sum(known.number is None for known in self._lists)
            self._lists.append(_List(None, _MARKERS[min(depth, len(_MARKERS) - 1)]))
        elif token.type == "ordered_list_open":
            start = token.attrGet("start")
            self._lists.append(_List(1 if start is None else int(start), ""))
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            self._lists.pop()
        elif token.type == "blockquote_open":
            self._quotes += 1
        elif token.type == "blockquote_close":
            self._quotes -= 1

    def _begin_item(self) -> None:
        current = self._lists[-1]
        number = current.number
        current.item = _Item(current.marker if number is None else f"{number + current.items}.")
        current.items += 1

    def _place(self, tight: bool) -> Place:
        """The place of the next block; the first block of an item carries the item's marker."""
        marker = ""
        if self._lists and not self._lists[-1].item.begun:
            item = self._lists[-1].item
            marker, item.begun = item.marker, True
            inner = len(self._lists) > 1 and self._lists[-1].items == 1
            tight = tight and (inner or self._lists[-1].items > 1)
        return Place(len(self._lists), marker, self._quotes, tight)

    def _paragraph(self, inline: Token, heading: int, tight: bool) -> Paragraph:
        spans = spans_of(inline.children or [])
        place = self._place(tight)
        task = _TASKS.get(spans[0].text[:4]) if place.marker and spans else None
        if task:
            first = Span(spans[0].text[4:], *_style(spans[0]))
            spans = (first, *spans[1:])
            place = Place(place.indent, task, place.quote, place.tight)
        return Paragraph(spans, heading, place)

    def _code(self, token: Token) -> Code:
        words = token.info.split()
        return Code(
            text=token.content.removesuffix("\n"),
            language=words[0].lower() if words else "",
            closed=token.type == "code_block" or self._is_closed(token),
            place=self._place(False),
        )

    def _is_closed(self, fence: Token) -> bool:
        """Whether a fence ends with its own line of at least as many marks."""
        first, end = fence.map or [0, 0]
        last = self._lines[end - 1].strip("> \t") if end - 1 > first else ""
        return len(last) >= len(fence.markup) and set(last) == {fence.markup[0]}

    def _table(self, tokens: Iterator[Token]) -> Table:
        rows: list[list[tuple[Span, ...]]] = []
        align: list[Align] = []
        for token in tokens:
            if token.type == "table_close":
                break
            if token.type == "tr_open":
                rows.append([])
            elif token.type in {"th_open", "td_open"}:
                if len(rows) == 1:
                    align.append(_align_of(token))
            elif token.type == "inline":
                rows[-1].append(spans_of(token.children or []))
        filled = (tuple((row + [()] * len(align))[: len(align)]) for row in rows)
        return Table(tuple(filled), tuple(align), self._place(False))


def _align_of(cell: Token) -> Align:
    style = str(cell.attrGet("style") or "")
    if style.endswith("center"):
        return "center"
    return "right" if style.endswith("right") else "left"


def _style(span: Span) -> tuple[bool, bool, bool, bool, str]:
    return span.bold, span.italic, span.strike, span.code, span.href
