"""One part of the models page, below its head: a scrolling column."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.kit.look.theme import BAR, COLUMN
from app.kit.widgets.column_page import ColumnPage


class PartPage(ColumnPage):
    """A column that always reserves space for its scroll bar, so that all parts line up."""

    def __init__(self, name: str, *, width: int = COLUMN, parent: QWidget | None = None) -> None:
        super().__init__(name, width=width, left=BAR, parent=parent)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().rangeChanged.connect(self._enable_bar)

    def _enable_bar(self, _lowest: int, highest: int) -> None:
        self.verticalScrollBar().setEnabled(highest > 0)
