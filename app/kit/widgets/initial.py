"""The initial of a name, in a circle."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.kit.look.scale import scaled
from app.kit.look.theme import BASE, theme_of

_SIZE = 28


class Initial(QWidget):
    """The first letter of a name, without an accessible name: the text beside it says the same.

    Args:
        name: The name.
    """

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.letter = next((sign for sign in name if sign.isalnum()), "?").upper()
        self.setFixedSize(_SIZE, _SIZE)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the letter and the circle."""
        theme = theme_of(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.accent_soft))
        painter.drawEllipse(QRectF(self.rect()))
        font = self.font()
        font.setPixelSize(scaled(BASE))
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(QColor(theme.accent_text))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.letter)
        painter.end()
