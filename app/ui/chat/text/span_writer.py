"""Writes spans into a document, and puts pictures into the places that wait for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QUrl
from PySide6.QtGui import QImage, QTextCursor, QTextDocument

from app.markdown.blocks import Span
from app.markdown.spans import LINE_BREAK
from app.ui.chat.text.drawing import Order
from app.ui.chat.text.formats import PictureKind, TextFormats

MOST_PICTURES = 300
"""In one text; what comes after stays as it was written."""


@dataclass(frozen=True)
class _Gap:
    """A place where the source of a picture stands for now."""

    order: Order
    start: int
    length: int
    words: str


class SpanWriter:
    """Knows of the places in a document that wait for pictures. ratio: see `Order`."""

    def __init__(self, document: QTextDocument, formats: TextFormats, ratio: float) -> None:
        self._document = document
        self._formats = formats
        self._ratio = ratio
        self._gaps: list[_Gap] = []
        self._room = MOST_PICTURES

    def restyle(self, formats: TextFormats, ratio: float) -> None:
        self._formats = formats
        self._ratio = ratio

    def insert(self, cursor: QTextCursor, spans: Sequence[Span], heading: int = 0) -> None:
        for span in spans:
            if span.math:
                self._leave_gap(cursor, span.text, span.math, _written(span), heading)
            elif span.picture:
                self._leave_gap(cursor, span.picture, "file", span.text, heading)
            else:
                cursor.insertText(span.text, self._formats.span(span, heading))

    def forget_from(self, position: int) -> None:
        """What stood from here on is about to be removed."""
        self._gaps = [gap for gap in self._gaps if gap.start < position]
        if not position:
            self._room = MOST_PICTURES

    def missing(self) -> tuple[Order, ...]:
        """The pictures that are waited for, each once."""
        return tuple(dict.fromkeys(gap.order for gap in self._gaps[: self._room]))

    def put(self, pictures: Mapping[Order, QImage | None]) -> Iterator[tuple[int, int]]:
        """Put pictures where they belong; yields where, and by how much the text became longer.

        Where a picture could not be made (None), its source stays.
        """
        moved = 0
        gaps: list[_Gap] = []
        for gap in self._gaps:
            image = pictures.get(gap.order)
            start = gap.start + moved
            if image is not None and self._room:
                self._room -= 1
                self._fill(replace(gap, start=start), image)
                yield start, 1 - gap.length
                moved += 1 - gap.length
            elif gap.order not in pictures:
                gaps.append(replace(gap, start=start))
        self._gaps = gaps

    def _leave_gap(
        self, cursor: QTextCursor, source: str, kind: PictureKind, words: str, heading: int
    ) -> None:
        order = self._formats.order(source, kind, heading, self._ratio)
        start = cursor.position()
        cursor.insertText(words.replace("\n", LINE_BREAK), self._formats.source(kind, heading))
        self._gaps.append(_Gap(order, start, cursor.position() - start, words))

    def _fill(self, gap: _Gap, image: QImage) -> None:
        name = f"picture:{hash(gap.order):x}"
        self._document.addResource(
            QTextDocument.ResourceType.ImageResource.value, QUrl(name), image
        )
        cursor = QTextCursor(self._document)
        cursor.setPosition(gap.start)
        cursor.setPosition(gap.start + gap.length, QTextCursor.MoveMode.KeepAnchor)
        size = image.deviceIndependentSize()
        cursor.insertImage(self._formats.image(name, size, gap.words, gap.order.kind))


def _written(span: Span) -> str:
    """A formula as it stands in markdown."""
    marks = "$" if span.math == "inline" else "$$"
    return f"{marks}{span.text}{marks}"
