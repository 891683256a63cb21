"""A frame with a look from the style sheet and a layout."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.kit.look.theme import GRID
from app.kit.widgets.layouts import Part, fill


class Panel(QFrame):
    """A frame with a layout, `box`.

    Args:
        look: The look in the style sheet.
        name: The object name.
        parts: The first parts, as for `row`.
        across: Whether the layout is horizontal.
        margins: The left, top, right and bottom margins, in steps of the grid.
        spacing: The gap between the widgets, in steps of the grid.
    """

    def __init__(
        self,
        look: str,
        name: str,
        *parts: Part,
        across: bool = False,
        margins: tuple[float, float, float, float] = (2, 1.5, 2, 1.5),
        spacing: float = 1,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setProperty("look", look)
        self.setObjectName(name)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.box: QBoxLayout = QHBoxLayout(self) if across else QVBoxLayout(self)
        self.box.setContentsMargins(*(round(GRID * margin) for margin in margins))
        self.box.setSpacing(round(GRID * spacing))
        fill(self.box, *parts)
