"""The choice of the collections that the open chat uses."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.chats.composer.pages.collections_chip import CollectionsChip
from app.chats.history.presenters.chat_settings import ChatSettings
from app.chats.pages.chat_page import ChatPage
from app.documents.collections.pages.words import reading_of
from app.documents.collections.presenters import Collections


class ChatCollections(QObject):
    """The connection of the composer's collections chip with the presenters.

    Args:
        page: The page of the chat.
        collections: The collections.
        chat_settings: The settings of chats.
        show_all: Shows the page of the collections.
    """

    def __init__(
        self,
        page: ChatPage,
        collections: Collections,
        chat_settings: ChatSettings,
        show_all: Callable[[], object],
    ) -> None:
        super().__init__(page)
        self._page = page
        self._collections = collections
        self._chat_settings = chat_settings
        self._chip = CollectionsChip()
        composer = page.composer
        composer.options.add(self._chip, self._chip.fill)
        composer.add_to_menu(lambda menu: self._chip.fill(menu) if self._chip.isHidden() else None)
        composer.order_tabs()
        self._chip.chosen.connect(self._choose)
        self._chip.manage.connect(show_all)
        page.shown.connect(self.show)
        chat_settings.changed.connect(self.show)
        collections.changed.connect(self.show)
        self.show()
        collections.look()

    def show(self) -> None:
        """Show the choice of the open chat."""
        states = self._collections.states
        chosen = self._chat_settings.collections(self._page.chat_id)
        reading = reading_of([it for it in states if it.collection.id in chosen])
        self._chip.show_choice([it.collection for it in states], chosen, reading)

    def open_menu(self) -> None:
        """Open the menu at the composer; a keyboard shortcut calls this."""
        composer = self._page.composer
        self._chip.open_menu(composer.edit if self._chip.isHidden() else self._chip)

    def _choose(self, chosen: tuple[str, ...]) -> None:
        self._chat_settings.set_collections(self._page.chat_id, chosen)
        self._page.composer.focus()
