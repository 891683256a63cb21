"""The blocks of a markdown text: a flat list, in which each block knows its place.

It is flat because a text document is flat: a list item is a paragraph with an indent and a marker,
so a growing list costs one new paragraph and not a new list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Align = Literal["left", "center", "right"]


MathStyle = Literal["", "inline", "display"]

Mark = Literal["", "found", "place_unchecked", "elsewhere", "not_found", "uncited"]
"""The marks on a span. "found" to "not_found": a quote, by its verdict. "uncited": a sentence
without a quote.
"""

SIGNS: Final = {"found": "✓", "place_unchecked": "○", "elsewhere": "↪", "not_found": "✗"}
"""The sign after a checked quote, by its verdict."""


@dataclass(frozen=True)
class Span:
    """A run of text in one style.

    Attributes:
        href: Address that a click offers to open.
        math: Whether the text is a formula in LaTeX, inline or in full height.
        note: Name of the footnote whose number the text is.
        picture: Path of the file that the text stands for.
        mark: A remark on the text, such as that it is a quote that was found.
        quote: Number, from 1, of the checked quote that it belongs to.
        ends: Whether that quote ends with it.
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

    Attributes:
        indent: Number of lists that it is in.
        marker: Marker of the list item that it begins, such as "•" or "2.".
        quote: Number of quotations that it is in.
        tight: Whether it follows the block before without a gap.
        note: Name of the footnote that it begins.
    """

    indent: int = 0
    marker: str = ""
    quote: int = 0
    tight: bool = False
    note: str = ""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph or a heading.

    Attributes:
        heading: 1 to 6, or 0 for plain text.
    """

    spans: tuple[Span, ...]
    heading: int = 0
    place: BlockPlace = BlockPlace()


@dataclass(frozen=True)
class Code:
    """A block of code.

    Attributes:
        closed: Whether its end has been written.
        name: Name of its file, if the text says it.
    """

    text: str
    language: str = ""
    closed: bool = True
    place: BlockPlace = BlockPlace()
    name: str = ""


@dataclass(frozen=True)
class Formula:
    """A formula in LaTeX on lines of its own.

    Attributes:
        closed: Whether its end has been written.
    """

    text: str
    closed: bool = True
    place: BlockPlace = BlockPlace()


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        rows: The heading row first; every row has as many cells as `align`.
    """

    rows: tuple[tuple[tuple[Span, ...], ...], ...]
    align: tuple[Align, ...]
    place: BlockPlace = BlockPlace()


@dataclass(frozen=True)
class Rule:
    """A horizontal line."""

    place: BlockPlace = BlockPlace()


Block = Paragraph | Code | Formula | Table | Rule
