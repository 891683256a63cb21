"""The switches at the composer: side by side, or stacked where there is little room."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QWidget

from app.ui.look.scale import scaled
from app.ui.look.theme import GRID


class Switches(QWidget):
    """Lays switches out; the last one takes all the room that is left."""

    def __init__(self, *switches: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._switches = switches
        self._box = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        for switch in switches[:-1]:
            self._box.addWidget(switch, 0, Qt.AlignmentFlag.AlignTop)
        self._box.addWidget(switches[-1], 1)
        self._arrange(narrow=False)

    def minimumSizeHint(self) -> QSize:
        """Return the size of a stack: the window may become as narrow as that."""
        width = max((hint.width() for hint in self._least()), default=0)
        return QSize(width, self._box.minimumSize().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        spacing = 2 * scaled(GRID) * (len(self._switches) - 1)
        needed = sum(hint.width() for hint in self._least()) + spacing
        self._arrange(narrow=event.size().width() < needed)

    def _least(self) -> list[QSize]:
        """Return the least size of each."""
        return [it.minimumSizeHint() for it in self._switches if it.isVisibleTo(self)]

    def _arrange(self, *, narrow: bool) -> None:
        direction = QBoxLayout.Direction
        self._box.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)
        self._box.setSpacing(GRID // 2 if narrow else 2 * GRID)
