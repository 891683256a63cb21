"""The meter at the message box: a ring that shows how full the context is."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QToolButton, QWidget

from app.chats.context.pages.words import full_sentence, meter, percent
from app.chats.context.values.budget import ContextUse
from app.kit.look.scale import scaled
from app.kit.look.theme import Theme, theme_of

_SIZE = 18
_NEARLY = 0.85
"""Share of the room above which the ring also warns by its colour."""


class ContextMeter(QToolButton):
    """A button that opens the card of the context."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("contextMeter")
        self.setIconSize(QSize(_SIZE, _SIZE))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._use: ContextUse | None = None
        self.show_use(None)

    @property
    def use(self) -> ContextUse | None:
        """The use that is shown; None if unknown."""
        return self._use

    def show_use(self, use: ContextUse | None) -> None:
        """Show the use; None hides the meter."""
        self._use = use
        self.setVisible(use is not None)
        if use is None:
            return
        self.setAccessibleName(self.tr("Context: {amount} tokens").format(amount=meter(use)))
        self.setAccessibleDescription(full_sentence(use))
        self.setToolTip(f"{percent(use)} {full_sentence(use)}".strip())
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        """Draw the ring in the colours of a new theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._draw()

    def _draw(self) -> None:
        if self._use is None:
            return
        share = self._use.total / max(1, self._use.room) if self._use.context else 0.0
        theme = theme_of(self.palette())
        drawn = QIcon()
        for ratio in (1, 2, 3):
            drawn.addPixmap(ring(theme, share, ratio))
        self.setIcon(drawn)


def ring(theme: Theme, share: float, ratio: float) -> QPixmap:
    """Draw a circle that closes as the share reaches 1; above 1 it has a mark in its middle."""
    size = scaled(_SIZE)
    picture = QPixmap(QSize(size, size) * ratio)
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(size / _SIZE, size / _SIZE)
    circle = QRectF(2, 2, _SIZE - 4, _SIZE - 4)
    painter.setPen(QPen(QColor(theme.edge), 2.4))
    painter.drawEllipse(circle)
    colour = theme.danger if share > 1 else theme.warn if share > _NEARLY else theme.accent
    pen = QPen(QColor(colour), 3)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    painter.setPen(pen)
    # Qt counts in sixteenths of a degree, anticlockwise from three o'clock.
    painter.drawArc(circle, 90 * 16, -round(min(1.0, share) * 360 * 16))
    if share > 1:
        painter.setPen(QPen(QColor(colour), 1.8, c=Qt.PenCapStyle.RoundCap))
        painter.drawLine(QPointF(_SIZE / 2, 6), QPointF(_SIZE / 2, 9.5))
        painter.drawPoint(QPointF(_SIZE / 2, _SIZE - 6))
    painter.end()
    return picture
