"""A small button that is on or off, for filters."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QPushButton, QWidget

from app.kit.look.icons import icon
from app.kit.look.theme import theme_of

_ICON = 14


class Chip(QPushButton):
    """A toggle button that shows a tick while it is on, so that the state is not colour alone."""

    def __init__(
        self, text: str, name: str, *, checked: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(text, parent)
        self.setObjectName(name)
        self.setAccessibleName(text)
        self.setProperty("look", "chip")
        self.setCheckable(True)
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setIconSize(QSize(_ICON, _ICON))
        self.toggled.connect(self._draw)
        self.setChecked(checked)
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        """Draw the icon in the colours of a new theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._draw()

    def _draw(self) -> None:
        theme = theme_of(self.palette())
        drawing = "check" if self.isChecked() else "plus"
        self.setIcon(icon(drawing, theme.text if self.isChecked() else theme.muted, _ICON))
