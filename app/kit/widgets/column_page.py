"""A scrolling page with one centred column."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.kit.look.theme import BAR, COLUMN, GRID


class ColumnPage(QScrollArea):
    """A scrolling page with one centred column.

    `column` is the layout for the content. It belongs to the widget `middle`, which is in the
    middle of the layout `across`.

    Args:
        name: The object name.
        width: The maximum width of the column in pixels.
        spacing: The gap between the widgets in the column, in pixels.
        left: Pixels to add to the left margin.
    """

    def __init__(
        self,
        name: str,
        *,
        width: int = COLUMN,
        spacing: int = 2 * GRID,
        left: int = 0,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        page = QWidget()
        page.setProperty("look", "page")
        self.across = across = QHBoxLayout(page)
        across.setContentsMargins(3 * GRID + left, 3 * GRID, 3 * GRID, 3 * GRID)
        across.addStretch(1)
        self.middle = QWidget()
        self.middle.setMaximumWidth(width)
        across.addWidget(self.middle, 1000)
        across.addStretch(1)
        self.column = QVBoxLayout(self.middle)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(spacing)
        self.setWidget(page)


class PartPage(ColumnPage):
    """A page or a part of one: it reserves space for its scroll bar, so that all line up."""

    def __init__(self, name: str, parent: QWidget | None = None, *, width: int = COLUMN) -> None:
        super().__init__(name, width=width, left=BAR, parent=parent)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().rangeChanged.connect(self._enable_bar)

    def _enable_bar(self, _lowest: int, highest: int) -> None:
        self.verticalScrollBar().setEnabled(highest > 0)
