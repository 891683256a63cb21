"""The QApplication, which also receives the files and links that macOS tells it to open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QUrl, Signal
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from app.window.values.launch_request import LaunchRequest


class Application(QApplication):
    """The QApplication. Receives files and links that macOS sends as events, not as arguments.

    `event` is overridden because an event filter on the application would see every event of every
    widget.

    Signals:
        asked(wish): Hearth is asked to carry out this `LaunchRequest`. Emitted only after `hear`;
            earlier requests are kept until then.
    """

    asked = Signal(object)

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__(list(words))
        self._hears = False
        self._waiting: list[LaunchRequest] = []

    def event(self, event: QEvent) -> bool:
        if not isinstance(event, QFileOpenEvent):
            return super().event(event)
        wish = _wish(event.url())
        if self._hears:
            self.asked.emit(wish)
        else:
            self._waiting.append(wish)
        return True

    def hear(self) -> None:
        """Begin to emit `asked`, first for the requests that were kept."""
        self._hears = True
        waiting, self._waiting = self._waiting, []
        for wish in waiting:
            self.asked.emit(wish)


def _wish(url: QUrl) -> LaunchRequest:
    if url.isLocalFile():
        return LaunchRequest(files=(Path(url.toLocalFile()),))
    return LaunchRequest(link=url.toString(QUrl.ComponentFormattingOption.FullyEncoded))
