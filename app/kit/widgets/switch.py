"""A check box that looks like a switch."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QCheckBox, QWidget

from app.kit.look.theme import theme_of

_SIZE = QSize(44, 26)
_RING = 2


class Switch(QCheckBox):
    """A check box in the shape of a switch; screen readers read it as a check box."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedSize(_SIZE)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def hitButton(self, place: QPoint) -> bool:
        """Return whether a place is on the switch, all of which can be pressed."""
        return self.rect().contains(place)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the switch."""
        theme = theme_of(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.hasFocus():
            ring = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
            painter.setPen(QPen(QColor(theme.text), 1))
            painter.drawRoundedRect(ring, ring.height() / 2, ring.height() / 2)
        track = QRectF(self.rect()).adjusted(_RING + 1, _RING + 1, -_RING - 1, -_RING - 1)
        painter.setPen(QPen(QColor(theme.accent if self.isChecked() else theme.muted), 1.5))
        painter.setBrush(QColor(theme.accent if self.isChecked() else theme.raised))
        painter.drawRoundedRect(track, track.height() / 2, track.height() / 2)
        knob = track.height() - 6
        left = track.right() - knob - 3 if self.isChecked() else track.left() + 3
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.on_accent if self.isChecked() else theme.muted))
        painter.drawEllipse(QRectF(left, track.top() + 3, knob, knob))
        painter.end()
