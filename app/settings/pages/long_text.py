"""A field for a longer text that reports changes when the user pauses."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QWidget

from app.kit.text.long_lines import LongLineEdit
from app.kit.timer import timer

_PAUSE_MS = 400
_HEIGHT = 140


class LongText(LongLineEdit):
    """A text field of several lines.

    Signals:
        changed(text): The user paused after typing, or the field was hidden while they were typing.
    """

    changed = Signal(str)

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setTabChangesFocus(True)
        self.setFixedHeight(_HEIGHT)
        self._pause = timer(self, _PAUSE_MS, self._report_change)
        self.textChanged.connect(self._pause.start)

    def show_text(self, text: str) -> None:
        """Show another text without emitting `changed`."""
        self.setPlainText(text)
        self._pause.stop()

    def hideEvent(self, event: QHideEvent) -> None:
        """Report a change that the pause has not reported yet."""
        super().hideEvent(event)
        self.commit()
        if self._pause.isActive():
            self._pause.stop()
            self._report_change()

    def _report_change(self) -> None:
        self.changed.emit(self.toPlainText())
