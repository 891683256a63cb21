"""The lines above the composer about the server that gets the open chat's text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from app.chats.composer.pages.composer import Composer
    from app.chats.composer.pages.local_only_line import LocalOnlyLine
    from app.chats.pages.engine_badge import EngineBadge
    from app.chats.presenters.open_chat import OpenChat
    from app.servers.presenters import Destination


class ChatDestination(QObject):
    """The badge of the server, and the line for a chat that the user has not sent to one.

    Attributes:
        server: The name of the server; "" if Hearth answers itself.
    """

    def __init__(self, composer: Composer, chat: OpenChat, parent: QObject) -> None:
        super().__init__(parent)
        self._composer = composer
        self._chat = chat
        self._badge: EngineBadge | None = None
        self._local_only_line: LocalOnlyLine | None = None
        self.server = ""
        for signal in (chat.opened, chat.stored, chat.changed):
            signal.connect(self.refresh)

    def show_place(self, place: Destination | None) -> None:
        """Show the server before the text is sent; None if Hearth itself answers."""
        if self._badge is None and place is not None:
            from app.chats.pages.engine_badge import EngineBadge

            self._badge = EngineBadge(parent=self._composer)
            self._composer.above.addWidget(self._badge)
        if self._badge is not None:
            self._badge.show_place(place)
        self.server = place.server if place is not None else ""
        self.refresh()

    def refresh(self) -> None:
        """Show or hide the line for a chat that the user has not sent to the default server."""
        server = self._chat.withheld_model
        if self._local_only_line is None and server is not None:
            from app.chats.composer.pages.local_only_line import LocalOnlyLine

            self._local_only_line = LocalOnlyLine(self._composer)
            self._local_only_line.chosen.connect(self._send_there)
            self._composer.above.addWidget(self._local_only_line)
        if self._local_only_line is not None:
            self._local_only_line.show_model(server)

    def _send_there(self) -> None:
        """Let the server answer in this chat from now on, as the user has just chosen."""
        server = self._chat.withheld_model
        if server is not None:
            self._chat.set_model(server)
