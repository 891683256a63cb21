"""The painting behind a text: cards under code, bars beside quotations, rules."""

from __future__ import annotations

import math
from collections.abc import Mapping

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QTextBlock
from PySide6.QtWidgets import QTextEdit

from app.kit.text.document_writer import WrittenCode
from app.kit.text.formats import CODE_ID, CODE_PAD, IS_RULE, QUOTE_STEP, QUOTES, TextFormats

_RADIUS = 10
_DIFFS = {"diff", "patch", "udiff"}
_TINT = 0.18
"""The share of the colour in the background of added and removed lines, 0 to 1."""


def paint_decorations(
    view: QTextEdit, formats: TextFormats, area: QRectF, codes: Mapping[int, WrittenCode]
) -> None:
    """Paint the decorations of the visible blocks.

    Args:
        view: The text.
        formats: Its formats.
        area: The part of the view to paint, in pixels.
        codes: The code blocks in the document, by their ids.
    """
    painter = QPainter(view.viewport())
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(-view.horizontalScrollBar().value(), 0)
    line = QColor(formats.theme.line)
    document = view.document()
    layout = document.documentLayout()
    place = QPointF(0, max(0.0, area.top() - CODE_PAD * 2))
    block = document.findBlock(layout.hitTest(place, Qt.HitTestAccuracy.FuzzyHit))
    end = area.bottom() + CODE_PAD * 3
    while block.isValid():
        box = layout.blockBoundingRect(block)
        if box.top() > end:
            break
        shape = block.blockFormat()
        if shape.hasProperty(QUOTES):
            _paint_quote(painter, view, block, line)
        code = codes.get(shape.intProperty(CODE_ID))
        if code is not None:
            painter.setPen(QPen(line, 1))
            painter.setBrush(QColor(formats.theme.code))
            card = code_card(view, code).adjusted(0.5, 0.5, -0.5, -0.5)
            painter.drawRoundedRect(card, _RADIUS, _RADIUS)
            if code.code.language in _DIFFS:
                _paint_changes(painter, view, formats, code, card, block, end)
            block = document.findBlockByNumber(code.last)
        elif shape.hasProperty(IS_RULE):
            middle = box.center().y()
            painter.setPen(QPen(line, 1))
            painter.drawLine(QPointF(0, middle), QPointF(view.viewport().width(), middle))
        block = block.next()
    painter.end()


def code_card(view: QTextEdit, code: WrittenCode) -> QRectF:
    """Return the rectangle of the card under a code block, in pixels of the document."""
    first = view.document().findBlockByNumber(code.line)
    last = view.document().findBlockByNumber(code.last)
    top = _box(view, first).top() - CODE_PAD * 0.6
    left = first.blockFormat().leftMargin() - CODE_PAD
    right = max(view.viewport().width(), math.ceil(view.document().size().width())) - 1
    return QRectF(left, top, right - left, _box(view, last).bottom() + CODE_PAD * 0.8 - top)


def _paint_changes(
    painter: QPainter,
    view: QTextEdit,
    formats: TextFormats,
    code: WrittenCode,
    card: QRectF,
    first_visible: QTextBlock,
    end: float,
) -> None:
    """Paint the background of added and removed lines of a diff, from the first visible block."""
    block = view.document().findBlockByNumber(max(code.line + 1, first_visible.blockNumber()))
    while block.isValid() and block.blockNumber() <= code.last:
        box, text = _box(view, block), block.text()
        if box.top() > end:
            break
        if text[:1] in {"+", "-"} and text[:3] not in {"+++", "---"}:
            tone = formats.theme.good if text[0] == "+" else formats.theme.danger
            colour = blended(formats.theme.code, tone, _TINT)
            painter.fillRect(
                QRectF(card.left() + 1, box.top(), card.width() - 2, box.height()), colour
            )
        block = block.next()


def blended(under: str, over: str, share: float) -> QColor:
    """Mix two colours; `share` is the share of `over`, 0 to 1."""
    under_channels, over_channels = (
        (colour.red(), colour.green(), colour.blue()) for colour in (QColor(under), QColor(over))
    )
    red, green, blue = (
        round(low + (high - low) * share)
        for low, high in zip(under_channels, over_channels, strict=True)
    )
    return QColor(red, green, blue)


def _paint_quote(painter: QPainter, view: QTextEdit, block: QTextBlock, colour: QColor) -> None:
    box = _box(view, block)
    above = block.previous()
    if above.isValid() and above.blockFormat().hasProperty(QUOTES):
        box.setTop(_box(view, above).bottom())
    shape = block.blockFormat()
    mirrored = shape.layoutDirection() is Qt.LayoutDirection.RightToLeft
    for depth in range(shape.intProperty(QUOTES)):
        left = view.viewport().width() - depth * QUOTE_STEP - 3 if mirrored else depth * QUOTE_STEP
        painter.fillRect(QRectF(left, box.top(), 3, box.height()), colour)


def _box(view: QTextEdit, block: QTextBlock) -> QRectF:
    return view.document().documentLayout().blockBoundingRect(block)
