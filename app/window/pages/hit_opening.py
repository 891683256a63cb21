"""Opens a chat at a search hit, whichever branch contains it."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.chats.find.pages.chat_find import ChatFind
from app.chats.history.presenters.branches import Branches
from app.chats.search.values.hits import Hit
from app.chats.sidebar.pages.chat_order import ChatOrder
from app.kit.navigation import Navigation


class HitOpening(QObject):
    """A controller that opens search hits.

    A message of another branch is shown once the chat has switched to it.
    """

    def __init__(
        self, order: ChatOrder, branches: Branches, finding: ChatFind, navigation: Navigation
    ) -> None:
        super().__init__(order)
        self._branches = branches
        self._finding = finding
        self._navigation = navigation
        self._waiting: tuple[str, str] | None = None
        order.found.connect(self._open)
        branches.switched.connect(self._switched)

    def _open(self, hit: Hit, words: str) -> None:
        self._waiting = None
        self._navigation.open_chat(hit.chat.id, to_write=False)
        if hit.message_id and not self._finding.mark(hit.message_id, words):
            self._waiting = hit.message_id, words
            self._branches.go(hit.chat.id, hit.message_id)

    def _switched(self, _chat_id: str, message_id: str) -> None:
        if self._waiting and self._waiting[0] == message_id:
            _, words = self._waiting
            self._waiting = None
            self._finding.mark(message_id, words)
