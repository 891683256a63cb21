"""Buttons side by side, or one under another where there is no room for all of them."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QWidget

from app.ui.look.scale import scaled
from app.ui.look.theme import GRID


class ButtonRow(QWidget):
    """Lays buttons out from the left, in the order given."""

    def __init__(self, *buttons: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._buttons = buttons
        self._box = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(GRID)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        for button in buttons:
            self._box.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self._box.addStretch(1)

    def minimumSizeHint(self) -> QSize:
        """Return the size of a stack: the window may become as narrow as that."""
        width = max((hint.width() for hint in self._hints()), default=0)
        return QSize(width, self._box.minimumSize().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrange()

    def arrange(self) -> None:
        """Arrange the buttons anew: others are shown, or say something else."""
        hints = self._hints()
        needed = sum(it.width() for it in hints) + scaled(GRID) * max(0, len(hints) - 1)
        direction = QBoxLayout.Direction
        narrow = needed > self.width()
        self._box.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)

    def _hints(self) -> list[QSize]:
        return [it.sizeHint() for it in self._buttons if it.isVisibleTo(self)]
