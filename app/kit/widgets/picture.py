"""An icon that is only visual."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QLabel, QWidget

from app.kit.look.icons import pixmap
from app.kit.look.scale import scaled
from app.kit.look.theme import Tone, colour_of, theme_of


class Picture(QLabel):
    """An icon without an accessible name: the text beside it says the same."""

    def __init__(
        self, drawing: str, tone: Tone = "muted", size: int = 20, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._drawing = drawing
        self._tone: Tone = tone
        self._size = size
        self.setFixedSize(size, size)
        self._draw()

    def redraw(self, drawing: str) -> None:
        """Show another icon."""
        self._drawing = drawing
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        """Draw the icon in the colours of a new theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._draw()

    def _draw(self) -> None:
        colour = colour_of(theme_of(self.palette()), self._tone)
        size = scaled(self._size)
        self.setPixmap(pixmap(self._drawing, colour, size, self.devicePixelRatioF()))
