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
        requested(request): Hearth is asked to carry out this `LaunchRequest`. Emitted only
            after `start_receiving`; earlier requests are kept until then.
    """

    requested = Signal(object)

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__(list(words))
        self._is_receiving = False
        self._waiting: list[LaunchRequest] = []

    def event(self, event: QEvent) -> bool:
        """Emit or keep the request in an event that opens a file or a link."""
        if not isinstance(event, QFileOpenEvent):
            return super().event(event)
        request = _request_of(event.url())
        if self._is_receiving:
            self.requested.emit(request)
        else:
            self._waiting.append(request)
        return True

    def start_receiving(self) -> None:
        """Begin to emit `asked`, first for the requests that were kept."""
        self._is_receiving = True
        waiting, self._waiting = self._waiting, []
        for request in waiting:
            self.requested.emit(request)


def _request_of(url: QUrl) -> LaunchRequest:
    if url.isLocalFile():
        return LaunchRequest(files=(Path(url.toLocalFile()),))
    return LaunchRequest(link=url.toString(QUrl.ComponentFormattingOption.FullyEncoded))
