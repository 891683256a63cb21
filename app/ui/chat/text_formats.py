"""How each kind of block and span looks in a text document."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextFormat,
    QTextFrameFormat,
    QTextOption,
    QTextTableFormat,
)

from app.markdown.blocks import Block, Code, Paragraph, Place, Rule, Span
from app.markdown.highlight import Kind
from app.ui.theme import Theme, code_font, text_font

CODE_ID = QTextFormat.Property.UserProperty.value + 1
QUOTES = QTextFormat.Property.UserProperty.value + 2
IS_RULE = QTextFormat.Property.UserProperty.value + 3
"""Marks on blocks, from which the view knows what to paint behind them."""

CODE_PAD = 14
QUOTE_STEP = 18
_HEADINGS = (1.0, 1.5, 1.3, 1.15, 1.05, 1.0, 1.0)


@dataclass(frozen=True)
class TextFormats:
    """size: of plain text, in pixels."""

    theme: Theme
    size: int

    @property
    def step(self) -> float:
        """The indent of one level of lists."""
        return self.size * 1.75

    @cached_property
    def text(self) -> QTextCharFormat:
        return self._format(text_font(self.size), self.theme.text)

    @cached_property
    def code(self) -> QTextCharFormat:
        return self._format(code_font(self.size - 1), self.theme.text)

    @cached_property
    def code_label(self) -> QTextCharFormat:
        return self._format(text_font(max(10, self.size - 2)), self.theme.muted)

    def span(self, span: Span, heading: int) -> QTextCharFormat:
        shape = QTextCharFormat(self.text)
        font = text_font(round(self.size * _HEADINGS[heading]))
        if span.code:
            font = code_font(round((self.size - 1) * _HEADINGS[heading]))
            shape.setBackground(QBrush(QColor(self.theme.code)))
        if span.bold or heading:
            font.setWeight(QFont.Weight.DemiBold)
        font.setItalic(span.italic)
        font.setStrikeOut(span.strike)
        shape.setFont(font)
        if span.href:
            shape.setAnchor(True)
            shape.setAnchorHref(span.href)
            shape.setForeground(QBrush(QColor(self.theme.accent_text)))
            shape.setFontUnderline(True)
        return shape

    def colour(self, kind: Kind) -> QTextCharFormat:
        shape = QTextCharFormat()
        shape.setForeground(QBrush(QColor(getattr(self.theme, f"syntax_{kind}"))))
        return shape

    def block(self, block: Block, before: Block | None) -> QTextBlockFormat:
        """The format of a block's first line, given the block above it."""
        shape = QTextBlockFormat()
        self._stand(shape, block.place)
        shape.setTopMargin(self._gap(block, before))
        if isinstance(block, Paragraph):
            proportional = QTextBlockFormat.LineHeightTypes.ProportionalHeight
            shape.setLineHeight(120 if block.heading else 140, proportional.value)
            shape.setHeadingLevel(block.heading)
        elif isinstance(block, Rule):
            shape.setProperty(IS_RULE, True)
        return shape

    def code_line(self, place: Place, code_id: int, top: float) -> QTextBlockFormat:
        shape = QTextBlockFormat()
        self._stand(shape, Place(place.indent, "", place.quote))
        shape.setLeftMargin(shape.leftMargin() + CODE_PAD)
        shape.setRightMargin(CODE_PAD)
        shape.setTopMargin(top)
        shape.setProperty(CODE_ID, code_id)
        proportional = QTextBlockFormat.LineHeightTypes.ProportionalHeight
        shape.setLineHeight(130, proportional.value)
        return shape

    def table(self, place: Place, columns: int) -> QTextTableFormat:
        shape = QTextTableFormat()
        shape.setBorderCollapse(True)
        shape.setBorder(1)
        shape.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        shape.setBorderBrush(QBrush(QColor(self.theme.line)))
        shape.setCellPadding(self.size * 0.5)
        shape.setCellSpacing(0)
        shape.setColumns(columns)
        shape.setHeaderRowCount(1)
        shape.setTopMargin(self.size * 0.7)
        shape.setLeftMargin(place.indent * self.step + place.quote * QUOTE_STEP)
        return shape

    def marker_width(self, marker: str) -> float:
        needed = QFontMetricsF(text_font(self.size)).horizontalAdvance(marker) + self.size * 0.45
        return max(self.step * 0.8, needed)

    def _stand(self, shape: QTextBlockFormat, place: Place) -> None:
        shape.setLeftMargin(place.indent * self.step + place.quote * QUOTE_STEP)
        if place.quote:
            shape.setProperty(QUOTES, place.quote)
        if place.marker:
            width = self.marker_width(place.marker)
            shape.setTextIndent(-width)
            shape.setTabPositions([QTextOption.Tab(width, QTextOption.TabType.LeftTab)])

    def _gap(self, block: Block, before: Block | None) -> float:
        if before is None:
            return 0.0
        if block.place.tight:
            gap = 0.3
        elif isinstance(block, Paragraph) and block.heading:
            gap = 1.3
        else:
            gap = 0.8
        after_code = CODE_PAD if isinstance(before, Code) else 0
        return self.size * gap + after_code

    @staticmethod
    def _format(font: QFont, colour: str) -> QTextCharFormat:
        shape = QTextCharFormat()
        shape.setFont(font)
        shape.setForeground(QBrush(QColor(colour)))
        return shape
