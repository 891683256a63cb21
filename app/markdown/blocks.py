"""The blocks of a markdown text: a flat list, in which each block knows where it stands.

Flat, because a text document is flat: a list item is a paragraph with an indent and a marker, so
a growing list costs one new paragraph and not a new list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Align = Literal["left", "center", "right"]


MathStyle = Literal["", "inline", "display"]

Mark = Literal["", "found", "place_unchecked", "elsewhere", "not_found", "uncited"]
"""found to not_found: A quote, by its verdict. uncited: A sentence without a quote."""

SIGNS: Final = {"found": "✓", "place_unchecked": "○", "elsewhere": "↪", "not_found": "✗"}
"""The sign behind a checked quote, by its verdict."""


@dataclass(frozen=True)
class Span:
    """A run of text in one style.

    href: an address that a click offers to open. math: the text is a formula in LaTeX, to be set
    among words or in full height. note: the text is the number of a footnote, which has this name.
    picture: the path of a file that the text stands for. mark: what is said of it besides its own
    style, such as that it is a quote that was found. quote: the number of the checked quote that it
    is of, from 1; ends: with its last word.
    """

    text: str
    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False
    href: str = ""
    math: MathStyle = ""
    note: str = ""
    picture: str = ""
    mark: Mark = ""
    quote: int = 0
    ends: bool = False


@dataclass(frozen=True)
class BlockPlace:
    """The place of a block in lists, quotations and footnotes.

    indent: how many lists it is in. marker: of the list item that it begins, such as "•" or "2.".
    quote: how many quotations it is in. tight: it follows the block before without a gap.
    note: the name of the footnote that it begins.
    """

    indent: int = 0
    marker: str = ""
    quote: int = 0
    tight: bool = False
    note: str = ""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph. heading: 1 to 6, or 0 for plain text."""

    spans: tuple[Span, ...]
    heading: int = 0
    place: BlockPlace = BlockPlace()


@dataclass(frozen=True)
class Code:
    """A block of code. closed: its end has been written. name: of its file, if the text says it."""

    text: str
    language: str = ""
    closed: bool = True
    place: BlockPlace = BlockPlace()
    name: str = ""


@dataclass(frozen=True)
class Formula:
    """A formula in LaTeX on lines of its own. closed: its end has been written."""

    text: str
    closed: bool = True
    place: BlockPlace = BlockPlace()


@dataclass(frozen=True)
class Table:
    """A table. rows: the heading row first; every row has as many cells as `align`."""

    rows: tuple[tuple[tuple[Span, ...], ...], ...]
    align: tuple[Align, ...]
    place: BlockPlace = BlockPlace()


@dataclass(frozen=True)
class Rule:
    """A line across."""

    place: BlockPlace = BlockPlace()


Block = Paragraph | Code | Formula | Table | Rule
