"""A button as wide as its column that contains widgets instead of a text."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from app.kit.look.theme import GRID


class RowButton(QPushButton):
    """A button that contains widgets.

    `box` is the layout for the widgets. Screen readers read only the accessible name.

    Args:
        object_name: The object name.
        name: The accessible name.
    """

    def __init__(self, object_name: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(object_name)
        self.setAccessibleName(name)
        self.setProperty("look", "row")
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.box = QHBoxLayout(self)
        self.box.setContentsMargins(2 * GRID, 10, 2 * GRID, 10)
        self.box.setSpacing(12)

    def sizeHint(self) -> QSize:
        """Return the size of the widgets."""
        return self.box.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return the minimum size of the widgets."""
        return self.box.minimumSize()

    def let_clicks_through(self) -> None:
        """Let the button receive every click; call it after adding the widgets."""
        for part in self.findChildren(QWidget):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
