"""Opens a chat where the words of a search stand, on whichever of its branches that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.core.search.hits import Hit

if TYPE_CHECKING:
    from app.ui.window.main_window import MainWindow


class HitOpening(QObject):
    """A message of another branch is shown once the chat has switched to it."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._branches = window.services.answering.branches
        self._waiting: tuple[str, str] | None = None
        window.order.found.connect(self._open)
        self._branches.switched.connect(self._switched)

    def _open(self, hit: Hit, words: str) -> None:
        self._waiting = None
        self._window.open_chat(hit.chat.id)
        if hit.message_id and not self._window.page.finding.mark(hit.message_id, words):
            self._waiting = hit.message_id, words
            self._branches.go(hit.chat.id, hit.message_id)

    def _switched(self, _chat_id: str, message_id: str) -> None:
        if self._waiting and self._waiting[0] == message_id:
            _, words = self._waiting
            self._waiting = None
            self._window.page.finding.mark(message_id, words)
