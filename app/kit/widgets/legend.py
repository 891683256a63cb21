"""The legend of a chart: small squares of colour with their labels, in lines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.kit.look.scale import FITS_ITSELF, scaled
from app.kit.look.theme import SMALL, theme_of

_SQUARE = 10
_BESIDE = 6
_BETWEEN = 16
_LEAD = 4


class Legend(QWidget):
    """The labels of the colours in a chart.

    It is only visual: the chart itself tells screen readers the same.

    Args:
        entries: The name of a colour in the theme, and its label.
    """

    def __init__(self, entries: Sequence[tuple[str, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("legend")
        self.setProperty(FITS_ITSELF, True)
        self._entries = tuple(entries)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Return the size for the current width."""
        return QSize(320, self.heightForWidth(max(self.width(), 120)))

    def minimumSizeHint(self) -> QSize:
        """Return a small width, and the height for the current width."""
        return QSize(120, self.heightForWidth(max(self.width(), 120)))

    def heightForWidth(self, width: int) -> int:
        """Return the height of all lines for a width, in pixels."""
        last = max((place.y() for _, place in self._places(width)), default=0.0)
        return round(last + self._line())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fix the height for the new width."""
        super().resizeEvent(event)
        self.setFixedHeight(self.heightForWidth(event.size().width()))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the squares and the labels."""
        theme = theme_of(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._font())
        line = self._line()
        for (colour, words), place in self._places(self.width()):
            square = QRectF(place.x(), place.y() + (line - _SQUARE) / 2, _SQUARE, _SQUARE)
            painter.setPen(QPen(QColor(theme.muted), 1))
            painter.setBrush(QColor(getattr(theme, colour)))
            painter.drawRoundedRect(square.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)
            painter.setPen(QColor(theme.text))
            text = QRectF(square.right() + _BESIDE, place.y(), self.width(), line)
            painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, words)
        painter.end()

    def _font(self) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(scaled(SMALL))
        return font

    def _line(self) -> int:
        """Return the height of one line in pixels."""
        return math.ceil(QFontMetricsF(self._font()).height()) + _LEAD

    def _places(self, width: int) -> Iterator[tuple[tuple[str, str], QPointF]]:
        """Yield each entry with its upper left corner, for a width in pixels."""
        metrics = QFontMetricsF(self._font())
        left = top = 0.0
        for entry in self._entries:
            entry_width = _SQUARE + _BESIDE + metrics.horizontalAdvance(entry[1])
            if left and left + entry_width > width:
                left, top = 0.0, top + self._line()
            yield entry, QPointF(left, top)
            left += entry_width + _BETWEEN
