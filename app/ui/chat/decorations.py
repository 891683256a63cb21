"""What is painted behind a text: cards under code, bars beside quotations, rules."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QTextBlock
from PySide6.QtWidgets import QTextEdit

from app.ui.chat.text_formats import CODE_ID, CODE_PAD, IS_RULE, QUOTE_STEP, QUOTES, TextFormats

_RADIUS = 10


def paint_decorations(view: QTextEdit, formats: TextFormats, area: QRectF) -> None:
    """Paint what lies in `area` of the view; only blocks in sight are looked at."""
    painter = QPainter(view.viewport())
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    block = _first_in(view, area)
    while block.isValid() and _box(view, block).top() <= area.bottom() + CODE_PAD * 3:
        shape = block.blockFormat()
        if shape.hasProperty(QUOTES):
            _paint_quote(painter, view, block, formats)
        if shape.hasProperty(CODE_ID):
            block = _paint_code(painter, view, block, formats)
        elif shape.hasProperty(IS_RULE):
            middle = _box(view, block).center().y()
            painter.setPen(QPen(QColor(formats.theme.line), 1))
            painter.drawLine(QPointF(0, middle), QPointF(view.viewport().width(), middle))
        block = block.next()
    painter.end()


def code_card(view: QTextEdit, first: QTextBlock) -> tuple[QRectF, QTextBlock]:
    """The card under a block of code that begins at `first`, and the code's last block."""
    code_id = first.blockFormat().intProperty(CODE_ID)
    last = first
    while last.next().isValid() and last.next().blockFormat().intProperty(CODE_ID) == code_id:
        last = last.next()
    top = _box(view, first).top() - CODE_PAD * 0.6
    left = first.blockFormat().leftMargin() - CODE_PAD
    right = view.viewport().width() - 1
    return QRectF(left, top, right - left, _box(view, last).bottom() + CODE_PAD * 0.8 - top), last


def _first_in(view: QTextEdit, area: QRectF) -> QTextBlock:
    """The first block to look at: the one at the top of the area, or where its code begins."""
    place = QPointF(0, max(0.0, area.top() - CODE_PAD * 2))
    layout = view.document().documentLayout()
    block = view.document().findBlock(layout.hitTest(place, Qt.HitTestAccuracy.FuzzyHit))
    code_id = block.blockFormat().intProperty(CODE_ID)
    while code_id and block.previous().blockFormat().intProperty(CODE_ID) == code_id:
        block = block.previous()
    return block


def _paint_code(
    painter: QPainter, view: QTextEdit, first: QTextBlock, formats: TextFormats
) -> QTextBlock:
    card, last = code_card(view, first)
    painter.setPen(QPen(QColor(formats.theme.line), 1))
    painter.setBrush(QColor(formats.theme.code))
    painter.drawRoundedRect(card.adjusted(0.5, 0.5, -0.5, -0.5), _RADIUS, _RADIUS)
    return last


def _paint_quote(
    painter: QPainter, view: QTextEdit, block: QTextBlock, formats: TextFormats
) -> None:
    box = _box(view, block)
    above = block.previous()
    if above.isValid() and above.blockFormat().hasProperty(QUOTES):
        box.setTop(_box(view, above).bottom())
    for depth in range(block.blockFormat().intProperty(QUOTES)):
        bar = QRectF(depth * QUOTE_STEP, box.top(), 3, box.height())
        painter.fillRect(bar, QColor(formats.theme.line))


def _box(view: QTextEdit, block: QTextBlock) -> QRectF:
    return view.document().documentLayout().blockBoundingRect(block)
