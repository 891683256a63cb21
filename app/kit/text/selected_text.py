"""The text of a document as it was written: sources for pictures, no direction marks."""

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
from app.kit.text.long_lines import joined

_SPECIAL = re.compile(f"[\ufffc{LEFT_TO_RIGHT}{END_OF_RUN}]")
"""A picture, and the isolates around code; the author can also have written the last two."""


def plain_text(cursor: QTextCursor) -> str:
    """Return the selected text as it was written, with the sources of its pictures."""
    text = joined(cursor.selection().toPlainText())
    if not _SPECIAL.search(text):
        return text
    replacements = _replacements(cursor)
    return _SPECIAL.sub(lambda character: next(replacements, character[0]), text)


def line_of(block: QTextBlock, start: int, end: int) -> str:
    """Return the characters `start` to `end` of a block, with the sources of its pictures."""
    text = block.text()[start:end]
    if not _SPECIAL.search(text):
        return text
    cursor = QTextCursor(block)
    cursor.setPosition(block.position() + start)
    cursor.setPosition(block.position() + end, QTextCursor.MoveMode.KeepAnchor)
    return plain_text(cursor)


def anchor_height(document: QTextDocument, name: str) -> float | None:
    """Return the vertical position of an anchor in pixels; None if there is no such anchor."""
    block = document.begin()
    while block.isValid():
        for fragment in fragments_of(block):
            if name in fragment.charFormat().anchorNames():
                return document.documentLayout().blockBoundingRect(block).top()
        block = block.next()
    return None


def scroll_to(view: QWidget, height: float | None) -> None:
    """Scroll the area around a view until a height of the view is visible.

    Args:
        view: A widget inside a scroll area.
        height: The position in pixels from the top of the view; None does nothing.
    """
    area = view.parentWidget()
    while area is not None and not isinstance(area, QScrollArea):
        area = area.parentWidget()
    page = area.widget() if area is not None else None
    if height is not None and area is not None and page is not None:
        place = view.mapTo(page, view.rect().topLeft())
        area.ensureVisible(0, place.y() + round(height), 0, area.viewport().height() // 4)


def fragments_of(block: QTextBlock) -> Iterator[QTextFragment]:
    """Yield the fragments of a block."""
    place = block.begin()
    while not place.atEnd():
        yield place.fragment()
        place += 1


def _replacements(cursor: QTextCursor) -> Iterator[str]:
    """Yield the replacement of each `_SPECIAL` character in a selection."""
    start, end = cursor.selectionStart(), cursor.selectionEnd()
    block = cursor.document().findBlock(start)
    while block.isValid() and block.position() < end:
        for fragment in fragments_of(block):
            shape = fragment.charFormat()
            first, last = fragment.position(), fragment.position() + fragment.length()
            length = max(0, min(last, end) - max(first, start))
            if shape.isImageFormat():
                source = shape.stringProperty(QTextFormat.Property.ImageAltText.value)
                yield from [source] * length
            elif shape.boolProperty(IS_ISOLATE):
                yield from [""] * length
            else:
                before = max(0, start - first)
                yield from _SPECIAL.findall(_part(fragment.text(), before, before + length))
        block = block.next()


def _part(text: str, start: int, end: int) -> str:
    """Cut a text at Qt's positions, where a character beyond the first plane counts as two."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le", "ignore")
