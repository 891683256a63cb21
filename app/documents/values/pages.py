"""A drawn page of a document, and the text of documents in parts to display."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from app.documents.citations.values import CopyState
from app.documents.values.documents import Document, DocumentKind, Location

_PART: Final = 20_000
"""Maximum characters of text displayed at once, so that any place appears immediately."""

Rectangle = tuple[float, float, float, float]
"""Left, top, right and bottom, as shares of a page's width and height."""


@dataclass(frozen=True)
class DrawnPage:
    """A page as a picture.

    Attributes:
        stride: Bytes per row.
        pixels: The rows; each pixel is blue, green and red.
        points: The width and height of the page itself, in points.
        marks: Where the requested words are; None if that is uncertain.
    """

    width: int
    height: int
    stride: int
    pixels: bytes = field(repr=False)
    points: tuple[float, float]
    marks: tuple[Rectangle, ...] | None = ()


@dataclass(frozen=True)
class OpenedFile:
    """A file that is being viewed.

    Attributes:
        copy: The state of its stored copy, from which pages are drawn.
    """

    name: str
    document: Document
    copy: CopyState

    @property
    def has_pages(self) -> bool:
        """True if its pages can be drawn; the text is always available."""
        return self.document.kind is DocumentKind.PDF and self.copy == "here"


@dataclass(frozen=True)
class TextPart:
    """A part of a document's text that is displayed at once, within one place."""

    place: Location
    start: int
    end: int


def text_parts(document: Document) -> Iterator[TextPart]:
    """Divide a document's text into parts to display: each place, long ones at line ends."""
    for section in document.sections:
        text, start = section.text, 0
        while len(text) - start > _PART:
            end = text.rfind("\n", start + _PART // 2, start + _PART) + 1 or start + _PART
            yield TextPart(section.place, start, end)
            start = end
        yield TextPart(section.place, start, len(text))
