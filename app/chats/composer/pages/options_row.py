"""The options of the next message in one line; a menu has those for which there is no room."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QWidget

from app.kit.look.theme import GRID

Fill = Callable[[QMenu], None]
"""A function that adds entries to a menu."""


class OptionsRow(QWidget):
    """A row that shows as many options as fit, the first ones first.

    A hidden option does not take part. The row takes the available room, however little, and
    never makes the window wider.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._options: list[tuple[QWidget, QWidget, Fill]] = []
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(0)
        self._row.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def add(self, option: QWidget, fill: Fill) -> None:
        """Add an option after the others.

        Args:
            option: The widget.
            fill: Adds the option to the menu if there is no room for the widget.
        """
        slot = QWidget(self)
        slot_layout = QHBoxLayout(slot)
        slot_layout.setContentsMargins(0, 0, GRID, 0)
        slot_layout.addWidget(option)
        option.installEventFilter(self)
        self._options.append((option, slot, fill))
        self._row.insertWidget(self._row.count() - 1, slot, 0, Qt.AlignmentFlag.AlignVCenter)
        self._arrange()

    @property
    def widgets(self) -> list[QWidget]:
        """The options, also those without room."""
        return [option for option, _, _ in self._options]

    def fill(self, menu: QMenu) -> None:
        """Add the options without room to a menu."""
        for option, slot, fill in self._options:
            if not option.isHidden() and slot.isHidden():
                fill(menu)

    def minimumSizeHint(self) -> QSize:
        """Return width 0, so that the row never widens the window."""
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many options as fit into the new width."""
        super().resizeEvent(event)
        self._arrange()

    def event(self, event: QEvent) -> bool:
        """Arrange the options again after one has grown."""
        if event.type() is QEvent.Type.LayoutRequest:
            self._arrange()  # an option has grown
        return super().event(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrange the options again after one was shown or hidden."""
        if event.type() in {QEvent.Type.ShowToParent, QEvent.Type.HideToParent}:
            self._arrange()
        return super().eventFilter(watched, event)

    def _arrange(self) -> None:
        room = self.width()
        for option, slot, _ in self._options:
            if not option.isHidden():
                room -= option.sizeHint().width() + GRID
            slot.setVisible(not option.isHidden() and room >= 0)
