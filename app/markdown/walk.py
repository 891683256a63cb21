"""The conversion of markdown-it's tokens into blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from markdown_it.common.utils import unescapeAll
from markdown_it.token import Token

from app.markdown.blocks import (
    Align,
    Block,
    BlockPlace,
    Code,
    Formula,
    Paragraph,
    Rule,
    Span,
    Table,
)
from app.markdown.code_file import name_in
from app.markdown.limits import CELLS, COLUMNS
from app.markdown.spans import spans_of

_MARKERS = ("•", "◦", "▪")
_TASKS = {"[ ] ": "☐", "[x] ": "☑", "[X] ": "☑"}
_ENDS_EMPTY_ITEM = {
    "bullet_list_open",
    "ordered_list_open",
    "list_item_close",
    "footnote_reference_close",
}
"""Tokens at which an item that is still empty ends, or begins a nested list."""


@dataclass
class _Item:
    """The list item that is being converted."""

    marker: str
    begun: bool = False


@dataclass
class _List:
    """The list that is being converted, or a footnote in place of one.

    Attributes:
        number: First number of an ordered list; None for any other.
        note: Name of the footnote.
        rank: Position of the footnote.
    """

    number: int | None
    marker: str
    items: int = 0
    item: _Item = field(default_factory=lambda: _Item(""))
    note: str = ""
    rank: int = 0


class Walk:
    """A single pass through the tokens of a text, at once or in parts between its blocks."""

    def __init__(self, lines: list[str], env: dict[str, Any]) -> None:
        self._lines = lines
        self._numbers: dict[str, int] = env.get("footnotes", {}).get("refs", {})
        self._lists: list[_List] = []
        self._quotes = 0

    def blocks(self, tokens: Sequence[Token]) -> Iterator[tuple[int, Block]]:
        """Yield blocks with ranks: 0 in the text, from 1 in footnotes in order of mention."""
        remaining = iter(tokens)
        for token in remaining:
            for block in self._blocks_of(token, remaining):
                rank = max((list_.rank for list_ in self._lists), default=0)
                for part in _parts(block):
                    yield rank, part

    def _blocks_of(self, token: Token, tokens: Iterator[Token]) -> Iterator[Block]:
        if token.type in _ENDS_EMPTY_ITEM and self._lists and not self._lists[-1].item.begun:
            yield Paragraph((), 0, self._place(True))
        if token.type == "paragraph_open":
            yield self._paragraph(next(tokens), 0, token.hidden)
        elif token.type == "heading_open":
            yield self._paragraph(next(tokens), int(token.tag[1:]), False)
        elif token.type in {"fence", "code_block"}:
            yield self._code(token)
        elif token.type == "math_block":
            yield Formula(token.content, bool(token.markup), self._place(False))
        elif token.type == "hr":
            yield Rule(self._place(False))
        elif token.type == "table_open":
            yield self._table(token, tokens)
        else:
            self._enter_or_leave(token)

    def _enter_or_leave(self, token: Token) -> None:
        if token.type == "list_item_open":
            self._begin_item()
        elif token.type == "footnote_reference_open":
            self._begin_note(str(token.meta["label"]))
        elif token.type == "bullet_list_open":
            depth = sum(list_.number is None and not list_.note for list_ in self._lists)
            self._lists.append(_List(None, _MARKERS[min(depth, len(_MARKERS) - 1)]))
        elif token.type == "ordered_list_open":
            start = token.attrGet("start")
            self._lists.append(_List(1 if start is None else int(start), ""))
        elif token.type in {
            "bullet_list_close",
            "ordered_list_close",
            "footnote_reference_close",
        }:
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

    def _begin_note(self, label: str) -> None:
        """Begin a footnote; one without a reference so far shows its own label."""
        number = self._numbers.get(f":{label}", -1) + 1
        marker = f"{number}." if number else f"[{label}]"
        rank = number or len(self._numbers) + 1
        self._lists.append(_List(None, marker, note=str(number or label), rank=rank))
        self._begin_item()

    def _place(self, tight: bool) -> BlockPlace:
        """Return the next block's place; the first block of an item carries the item's marker."""
        marker = note = ""
        if self._lists and not self._lists[-1].item.begun:
            item = self._lists[-1].item
            marker, item.begun, note = item.marker, True, self._lists[-1].note
            inner = len(self._lists) > 1 and self._lists[-1].items == 1
            tight = tight and (inner or self._lists[-1].items > 1)
        return BlockPlace(len(self._lists), marker, self._quotes, tight, note)

    def _paragraph(self, inline: Token, heading: int, tight: bool) -> Paragraph:
        spans = spans_of(inline.children or [])
        place = self._place(tight)
        task = _TASKS.get(spans[0].text[:4]) if place.marker and spans else None
        if task:
            spans = (replace(spans[0], text=spans[0].text[4:]), *spans[1:])
            place = replace(place, marker=task)
        return Paragraph(spans, heading, place)

    def _code(self, token: Token) -> Code:
        words = unescapeAll(token.info).split()
        return Code(
            text=token.content.removesuffix("\n"),
            language=words[0].lower() if words else "",
            closed=token.type == "code_block" or self._is_closed(token),
            place=self._place(False),
            name=name_in(words),
        )

    def _is_closed(self, fence: Token) -> bool:
        """Return whether a fence ends with a line of its own with at least as many marks."""
        first, end = fence.map or [0, 0]
        last = self._lines[end - 1].strip("> \t") if end - 1 > first else ""
        return len(last) >= len(fence.markup) and set(last) == {fence.markup[0]}

    def _table(self, opening: Token, tokens: Iterator[Token]) -> Table | Code:
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
        if len(align) > COLUMNS or len(align) * len(rows) > CELLS:
            first, end = opening.map or [0, 0]
            return Code("\n".join(self._lines[first:end]), "markdown", True, self._place(False))
        filled = (tuple((row + [()] * len(align))[: len(align)]) for row in rows)
        return Table(tuple(filled), tuple(align), self._place(False))


def _parts(block: Block) -> tuple[Block, ...]:
    """Return a block, with an empty paragraph before it if it cannot carry its marker itself."""
    if isinstance(block, Paragraph) or not block.place.marker:
        return (block,)
    bare = replace(block.place, marker="", note="")
    return Paragraph((), 0, block.place), replace(block, place=bare)


def _align_of(cell: Token) -> Align:
    style = str(cell.attrGet("style") or "")
    if style.endswith("center"):
        return "center"
    return "right" if style.endswith("right") else "left"
