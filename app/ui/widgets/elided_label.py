"""A line of text, or two, that ends in “…” where there is no room for all of it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QTextLayout
from PySide6.QtWidgets import QWidget

from app.ui.widgets.label import Label


class ElidedLabel(Label):
    """The whole text is in the tip and in the accessible name. lines: how many at most; it is as
    high as they are, whatever it says."""

    def __init__(
        self,
        text: str = "",
        look: str = "",
        name: str = "",
        parent: QWidget | None = None,
        *,
        lines: int = 1,
    ) -> None:
        self._lines = lines
        super().__init__(text, look, name=name, parent=parent)

    def setText(self, text: str) -> None:
        super().setText(text)
        self.setToolTip(text)
        self.setAccessibleName(text)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._height(super().sizeHint()))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self._height(super().minimumSizeHint()))

    def shown(self) -> list[str]:
        """The lines as there is room for them."""
        text, width = self.text(), self.contentsRect().width()
        found: list[str] = []
        end = 0
        layout = QTextLayout(text, self.font())
        layout.beginLayout()
        while len(found) < self._lines - 1 and (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            begin, end = end, line.textStart() + line.textLength()
            found.append(text[begin:end].rstrip())
        layout.endLayout()
        rest = text[end:]
        if rest or not found:
            found.append(self.fontMetrics().elidedText(rest, Qt.TextElideMode.ElideRight, width))
        return found

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        room, each = self.contentsRect(), self.fontMetrics().lineSpacing()
        lines = self.shown()
        top = room.top() + (room.height() - each * len(lines)) / 2
        across = self.alignment() & Qt.AlignmentFlag.AlignHorizontal_Mask
        side = Qt.AlignmentFlag.AlignVCenter | across
        for number, line in enumerate(lines):
            place = QRectF(room.left(), top + number * each, room.width(), each)
            painter.drawText(place, side, line)
        painter.end()

    def _height(self, one: QSize) -> int:
        return one.height() + (self._lines - 1) * self.fontMetrics().lineSpacing()
