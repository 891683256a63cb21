"""A line of text that changes often without flickering or moving other widgets."""

from __future__ import annotations

from PySide6.QtWidgets import QSizePolicy, QWidget

from app.kit.timer import timer
from app.kit.widgets.elided_label import ElidedLabel

PAUSE_MS = 250
"""The minimum time between two texts in milliseconds, so that people can read them."""


class LiveLine(ElidedLabel):
    """A line that takes the remaining room, whatever its text.

    Args:
        title: The accessible name; the text becomes the accessible description.
    """

    def __init__(
        self, title: str, look: str = "", name: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__("", look, name, parent)
        self._title = title
        self._next: str | None = None
        self._pause = timer(self, PAUSE_MS, self._show_next)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(title)

    def say(self, text: str, *, at_once: bool = False) -> None:
        """Show a text as soon as the last one was visible for `PAUSE_MS`; with `at_once`, now."""
        if self._pause.isActive() and not at_once:
            self._next = text
            return
        self._next = None
        if text != self.text():
            self.setText(text)
            self.setAccessibleName(self._title)
            self.setAccessibleDescription(text)
            self._pause.start()

    def _show_next(self) -> None:
        if self._next is not None:
            self.say(self._next)
