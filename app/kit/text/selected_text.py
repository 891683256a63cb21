"""Reads a document's text as it was written: pictures by their words, no marks of direction."""

from __future__ import annotations

import re
from collections.abc import Iterator

from PySide6.QtGui import (
    QTextBlock,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFragment,
)
from PySide6.QtWidgets import QScrollArea, QWidget

from app.kit.text.formats import END_OF_RUN, IS_ISOLATE, LEFT_TO_RIGHT

_SIGNS = re.compile(f"[\ufffc{LEFT_TO_RIGHT}{END_OF_RUN}]")
"""A picture, and what stands around code; the last two may also be the author's own."""


def plain_text(cursor: QTextCursor) -> str:
    """The selected text, with the source of each formula in its place."""
    text = cursor.selection().toPlainText()
    if not _SIGNS.search(text):
        return text
    words = _words_of_signs(cursor)
    return _SIGNS.sub(lambda sign: next(words, sign[0]), text)


def line_of(block: QTextBlock, start: int, end: int) -> str:
    """Return the characters `start` to `end` of a block, with the words of its pictures."""
    text = block.text()[start:end]
    if not _SIGNS.search(text):
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


def _words_of_signs(cursor: QTextCursor) -> Iterator[str]:
    """Yield what stands for each of the signs of a selection."""
    start, end = cursor.selectionStart(), cursor.selectionEnd()
    block = cursor.document().findBlock(start)
    while block.isValid() and block.position() < end:
        for fragment in fragments_of(block):
            shape = fragment.charFormat()
            first, last = fragment.position(), fragment.position() + fragment.length()
            seen = max(0, min(last, end) - max(first, start))
            if shape.isImageFormat():
                words = shape.stringProperty(QTextFormat.Property.ImageAltText.value)
                yield from [words] * seen
            elif shape.boolProperty(IS_ISOLATE):
                yield from [""] * seen
            else:
                before = max(0, start - first)
                yield from _SIGNS.findall(_part(fragment.text(), before, before + seen))
        block = block.next()


def _part(text: str, start: int, end: int) -> str:
    """Cut a text where Qt counts: it counts two for a character beyond the first plane."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le", "ignore")
