"""A button with an icon and a text."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QPushButton, QWidget

from app.kit.look.icons import icon
from app.kit.look.theme import Tone, colour_of, theme_of

_TONES: Mapping[str, Tone] = {"primary": "on_accent", "link": "accent_text"}
"""The tone of the icon in each look in which it is not muted."""


class LabelledButton(QPushButton):
    """A button with an icon before its text; the icon is redrawn when the theme changes.

    Args:
        drawing: The icon; "" for none.
        text: The text, which is also the accessible name.
        object_name: The object name.
        look: The look in the style sheet.
        tone: The tone of the icon; None for the tone that suits the look.
    """

    def __init__(
        self,
        drawing: str,
        text: str,
        object_name: str,
        *,
        look: str = "",
        tone: Tone | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self._drawing = drawing
        self._tone: Tone = tone or _TONES.get(look, "muted")
        self.setObjectName(object_name)
        self.setAccessibleName(text)
        self.setProperty("look", look)
        self.setIconSize(QSize(18, 18))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._draw()

    def redraw(self, drawing: str, text: str) -> None:
        """Show another icon and text."""
        self._drawing = drawing
        self.setText(text)
        self.setAccessibleName(text)
        self._draw()

    def set_look(self, look: str) -> None:
        """Give the button another look of the style sheet."""
        if look == self.property("look"):
            return
        self._tone = _TONES.get(look, "muted")
        self.setProperty("look", look)
        self.style().unpolish(self)
        self.style().polish(self)
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        """Draw the icon again for a new theme or state."""
        super().changeEvent(event)
        if event.type() in {QEvent.Type.PaletteChange, QEvent.Type.EnabledChange}:
            self._draw()

    def _draw(self) -> None:
        tone: Tone = self._tone if self.isEnabled() else "muted"
        if self._drawing:
            self.setIcon(icon(self._drawing, colour_of(theme_of(self.palette()), tone), 18))
