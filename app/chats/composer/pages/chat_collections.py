"""The choice of the collections that the open chat uses."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.chats.composer.pages.collections_chip import CollectionsChip
from app.chats.composer.pages.composer import Composer
from app.chats.presenters.open_chat import OpenChat
from app.documents.collections.pages.words import reading_of
from app.documents.collections.presenters import Collections


class ChatCollections(QObject):
    """The connection of the composer's collections chip with the presenters.

    Args:
        composer: The composer of the page.
        chat: The open chat.
        collections: The collections.
        show_all: Shows the page of the collections.
    """

    def __init__(
        self,
        composer: Composer,
        chat: OpenChat,
        collections: Collections,
        show_all: Callable[[], object],
    ) -> None:
        super().__init__(composer)
        self._composer = composer
        self._chat = chat
        self._collections = collections
        self._chip = CollectionsChip()
        composer.options.add(self._chip, self._chip.fill)
        composer.add_to_menu(lambda menu: self._chip.fill(menu) if self._chip.isHidden() else None)
        composer.order_tabs()
        self._chip.chosen.connect(self._choose)
        self._chip.manage.connect(show_all)
        for signal in (chat.opened, chat.stored, chat.changed):
            signal.connect(self.show)
        collections.changed.connect(self.show)
        self.show()
        collections.refresh()

    def show(self) -> None:
        """Show the choice of the open chat."""
        states = self._collections.states
        chosen = self._chat.collections
        reading = reading_of([state for state in states if state.collection.id in chosen])
        self._chip.show_choice([state.collection for state in states], chosen, reading)

    def open_menu(self) -> None:
        """Open the menu at the composer; a keyboard shortcut calls this."""
        self._chip.open_menu(self._composer.edit if self._chip.isHidden() else self._chip)

    def _choose(self, chosen: tuple[str, ...]) -> None:
        self._chat.set_collections(chosen)
        self._composer.focus()
