"""A button that opens a menu: a text with a small arrow after it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QSize, Qt
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from app.kit.look.icons import icon
from app.kit.look.theme import theme_of

_ARROW = 14
_GAP = 4
"""Pixels between a menu and its button."""


class MenuButton(QPushButton):
    """A button with an arrow, drawn as an icon: a character for it would need one more font."""

    def __init__(self, object_name: str, look: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(object_name)
        self.setProperty("look", look)
        self.setIconSize(QSize(_ARROW, _ARROW))
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        """Draw the arrow in the colour of a new theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._draw()

    def _draw(self) -> None:
        self.setIcon(icon("down", theme_of(self.palette()).muted, _ARROW))


def pop_up(menu: QMenu, anchor: QWidget) -> None:
    """Open a menu above a widget at the foot of its window, without covering it."""
    size, window = menu.sizeHint(), anchor.window()
    corner = anchor.mapToGlobal(QPoint(0, 0))
    right = window.mapToGlobal(QPoint(window.width() - _GAP, 0)).x()
    x = min(corner.x(), right - size.width())
    menu.popup(QPoint(x, corner.y() - size.height() - _GAP))
