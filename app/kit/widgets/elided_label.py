"""A line of text that ends in “…” if it is too long for its room."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.kit.look.direction import isolated
from app.kit.widgets.label import Label


class ElidedLabel(Label):
    """A label that elides its text; the tooltip and the accessible name have the whole text."""

    def __init__(
        self, text: str = "", look: str = "", name: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(text, look, name=name, parent=parent)

    def setText(self, text: str) -> None:
        """Set the text, the tooltip and the accessible name."""
        super().setText(text)
        self.setToolTip(text)
        self.setAccessibleName(text)

    def minimumSizeHint(self) -> QSize:
        """Return width 0, as the text can be cut."""
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the text, cut to the available width."""
        room = self.contentsRect()
        words = self.fontMetrics().elidedText(
            isolated(self.text()), Qt.TextElideMode.ElideRight, room.width()
        )
        across = self.alignment() & Qt.AlignmentFlag.AlignHorizontal_Mask
        painter = QPainter(self)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | across, words)
        painter.end()
