"""One part of the page of models, under its head: a column that scrolls."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.kit.look.theme import BAR, COLUMN
from app.kit.widgets.column_page import ColumnPage


class PartPage(ColumnPage):
    """A column that always has room for its scroll bar, so that parts stand in line."""

    def __init__(self, name: str, *, width: int = COLUMN, parent: QWidget | None = None) -> None:
        super().__init__(name, width=width, left=BAR, parent=parent)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().rangeChanged.connect(self._enable_bar)

    def _enable_bar(self, _lowest: int, highest: int) -> None:
        self.verticalScrollBar().setEnabled(highest > 0)
