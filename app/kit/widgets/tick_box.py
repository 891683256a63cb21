"""A check box in the colours of the theme, also visible in dark themes."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QCheckBox,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QWidget,
)

from app.kit.look.icons import pixmap
from app.kit.look.theme import theme_of


class TickBox(QCheckBox):
    """A check box whose text is also its accessible name, unless another name is set."""

    def __init__(self, text: str, object_name: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setObjectName(object_name)
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the box, the tick and the text."""
        theme = theme_of(self.palette())
        option = QStyleOptionButton()
        self.initStyleOption(option)
        style, parts = self.style(), QStyle.SubElement
        place = style.subElementRect(parts.SE_CheckBoxIndicator, option, self)
        ticked = self.isChecked()
        painter = QStylePainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        edge = theme.accent if ticked and self.isEnabled() else theme.muted
        painter.setPen(QPen(QColor(edge), 1.5))
        painter.setBrush(QColor(edge if ticked else theme.raised))
        painter.drawRoundedRect(QRectF(place).adjusted(1, 1, -1, -1), 3, 3)
        if ticked:
            size = place.width() - 4
            tick = pixmap("check", theme.on_accent, size, painter.device().devicePixelRatio())
            painter.drawPixmap(place.adjusted(2, 2, -2, -2).topLeft(), tick)
        label = QStyleOptionButton(option)
        label.rect = style.subElementRect(parts.SE_CheckBoxContents, option, self)
        painter.drawControl(QStyle.ControlElement.CE_CheckBoxLabel, label)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(theme.accent), 1))
            words = QRectF(style.subElementRect(parts.SE_CheckBoxFocusRect, option, self))
            ring = words.adjusted(-1, -1, 3, 1) & QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
            painter.drawRoundedRect(ring, 4, 4)
        painter.end()
