"""A page of a document as it is looked at, and the text of documents in parts to look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from app.documents.citations.values import CopyState
from app.documents.values.documents import Document, DocumentKind, Location

_PART: Final = 20_000
"""Characters of a text that are shown at once: a place in ten million of them is found at once."""

Rectangle = tuple[float, float, float, float]
"""Left, top, right and bottom, in shares of a page's width and height."""


@dataclass(frozen=True)
class DrawnPage:
    """A page as a picture. pixels: rows of `stride` bytes, each pixel as blue, green and red.

    points: the width and height of the page itself. marks: where the words stand that were asked
    for; None where that is not certain.
    """

    width: int
    height: int
    stride: int
    pixels: bytes = field(repr=False)
    points: tuple[float, float]
    marks: tuple[Rectangle, ...] | None = ()


@dataclass(frozen=True)
class OpenedFile:
    """A file that is looked at. copy: the state of its kept copy, from which pages are drawn."""

    name: str
    document: Document
    copy: CopyState

    @property
    def has_pages(self) -> bool:
        """Whether its pages can be drawn; the text is there in any case."""
        return self.document.kind is DocumentKind.PDF and self.copy == "here"


@dataclass(frozen=True)
class TextPart:
    """A part of a document's text that is shown at once: characters of the section at a place."""

    place: Location
    start: int
    end: int


def text_parts(document: Document) -> Iterator[TextPart]:
    """Divide a document's text into parts to be shown: each place, long ones at ends of lines."""
    for section in document.sections:
        text, start = section.text, 0
        while len(text) - start > _PART:
            end = text.rfind("\n", start + _PART // 2, start + _PART) + 1 or start + _PART
            yield TextPart(section.place, start, end)
            start = end
        yield TextPart(section.place, start, len(text))
