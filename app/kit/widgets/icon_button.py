"""A button that shows an icon and redraws it when the theme changes."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QToolButton, QWidget

from app.kit.look.icons import icon
from app.kit.look.theme import Tone, colour_of, theme_of


class IconButton(QToolButton):
    """A square button without text; screen readers and the tooltip use its name."""

    def __init__(
        self,
        drawing: str,
        name: str,
        object_name: str,
        *,
        tone: Tone = "muted",
        look: str = "",
        size: int = 20,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._drawing = drawing
        self._tone: Tone = tone
        self._size = size
        self.setObjectName(object_name)
        self.setProperty("look", look)
        self.setIconSize(QSize(size, size))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.rename(name)
        self._draw()

    def rename(self, name: str) -> None:
        """Set the accessible name and the tooltip."""
        self.setAccessibleName(name)
        self.setToolTip(name)

    def redraw(self, drawing: str, tone: Tone | None = None) -> None:
        """Show another icon; without a tone, in the same tone."""
        self._drawing = drawing
        self._tone = tone or self._tone
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        """Draw the icon again for a new theme or state."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange or event.type() is QEvent.Type.EnabledChange:
            self._draw()

    def _draw(self) -> None:
        tone: Tone = self._tone if self.isEnabled() else "muted"
        self.setIcon(icon(self._drawing, colour_of(theme_of(self.palette()), tone), self._size))
