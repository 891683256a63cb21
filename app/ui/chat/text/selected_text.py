"""Reads what a document's plain text lacks: pictures by their words, and anchors."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtGui import (
    QTextBlock,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFragment,
)
from PySide6.QtWidgets import QScrollArea, QWidget

_PICTURE = "\ufffc"


def plain_text(cursor: QTextCursor) -> str:
    """The selected text, with the source of each formula in its place."""
    text = cursor.selection().toPlainText()
    if _PICTURE not in text:
        return text
    words = list(_words_of_pictures(cursor))
    first, *rest = text.split(_PICTURE)
    return first + "".join(f"{word}{part}" for word, part in zip(words, rest, strict=False))


def line_of(block: QTextBlock, start: int, end: int) -> str:
    """Return the characters `start` to `end` of a block, with the words of its pictures."""
    text = block.text()[start:end]
    if _PICTURE not in text:
        return text
    cursor = QTextCursor(block)
    cursor.setPosition(block.position() + start)
    cursor.setPosition(block.position() + end, QTextCursor.MoveMode.KeepAnchor)
    return plain_text(cursor)


def anchor_height(document: QTextDocument, name: str) -> float | None:
    """Return how far down an anchor stands, in pixels; None if there is none of this name."""
    block = document.begin()
    while block.isValid():
        for fragment in fragments_of(block):
            if name in fragment.charFormat().anchorNames():
                return document.documentLayout().blockBoundingRect(block).top()
        block = block.next()
    return None


def scroll_to(view: QWidget, height: float | None) -> None:
    """Scroll what the view lies in, so that this height of it can be seen."""
    area = view.parentWidget()
    while area is not None and not isinstance(area, QScrollArea):
        area = area.parentWidget()
    page = area.widget() if area is not None else None
    if height is not None and area is not None and page is not None:
        place = view.mapTo(page, view.rect().topLeft())
        area.ensureVisible(0, place.y() + round(height), 0, area.viewport().height() // 4)


def fragments_of(block: QTextBlock) -> Iterator[QTextFragment]:
    place = block.begin()
    while not place.atEnd():
        yield place.fragment()
        place += 1


def _words_of_pictures(cursor: QTextCursor) -> Iterator[str]:
    start, end = cursor.selectionStart(), cursor.selectionEnd()
    block = cursor.document().findBlock(start)
    while block.isValid() and block.position() < end:
        for fragment in fragments_of(block):
            shape = fragment.charFormat()
            first, last = fragment.position(), fragment.position() + fragment.length()
            if shape.isImageFormat():
                words = shape.stringProperty(QTextFormat.Property.ImageAltText.value)
                seen = max(0, min(last, end) - max(first, start))
                yield from [words] * seen
        block = block.next()
