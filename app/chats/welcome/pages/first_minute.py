"""The first minute: it offers a model on the first screen, and begins the chat when it is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject

from app.chats.welcome.pages.first_screen import FirstScreen
from app.kit.timer import timer
from app.models.library.values.entry import STARTER

if TYPE_CHECKING:
    from app.chats.pages.chat_page import ChatPage
    from app.kit.notify import Notifier
    from app.models.discover.presenters.discover import Discover
    from app.models.discover.presenters.suggestions import Suggestions
    from app.models.discover.values.offers import Offer
    from app.models.downloads.presenters import DownloadList
    from app.models.downloads.values.downloads import Download
    from app.models.library.pages.chooser import ModelChooser
    from app.models.library.presenters.models import Models
    from app.models.library.values.entry import ModelEntry

_DELAY_MS = 300
"""The delay in milliseconds, so that the window comes first: the check takes memory and time."""


class FirstMinute(QObject):
    """The connection of the first screen with the presenters.

    Args:
        page: The page on which it takes the place of an empty chat.
        discover: Returns the presenter that starts downloads, which is made when needed.
        chat_with: Begins a chat with the model of this id.
    """

    def __init__(
        self,
        page: ChatPage,
        chooser: ModelChooser,
        models: Models,
        discover: Callable[[], Discover],
        suggestions: Suggestions,
        downloads: DownloadList,
        notifier: Notifier,
        chat_with: Callable[[str], object],
    ) -> None:
        super().__init__(page)
        self.screen = screen = FirstScreen()
        self._page = page
        self._chooser = chooser
        self._models = models
        self._discover = discover
        self._suggestions = suggestions
        self._notifier = notifier
        self._chat_with = chat_with
        self._recommended = False
        self._delay = timer(self, _DELAY_MS, self._recommend)
        screen.installEventFilter(self)
        screen.guide.connect(page.write)
        screen.use.connect(chat_with)
        screen.get.connect(self._get)
        suggestions.offered.connect(screen.show_offers)
        suggestions.failed.connect(screen.show_problem)
        downloads.changed.connect(screen.show_downloads)
        downloads.completed.connect(self._take)
        chooser.announced.connect(lambda entries, _: screen.show_models(entries))
        screen.show_models(chooser.entries())
        screen.show_downloads(downloads.last_downloads or ())

    def others(self, downloads: Sequence[Download]) -> list[Download]:
        """Leave out the model whose progress the first screen shows, and its companion file."""
        offer = self.screen.offer
        if not self._page.shows_first_screen or offer is None:
            return list(downloads)
        repos = {offer.repo, offer.drafter.repo if offer.drafter is not None else ""}
        return [download for download in downloads if download.wanted.repo not in repos]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Look for a model when the first screen is shown."""
        if event.type() is QEvent.Type.Show and not self._recommended:
            self._delay.start()
        return super().eventFilter(watched, event)

    def _recommend(self) -> None:
        if self.screen.isVisible() and not self._recommended:
            self._recommended = True
            self._suggestions.recommend()

    def _get(self, offer: Offer) -> None:
        def failed(error: Exception) -> None:
            self.screen.show_not_queued()
            self._notifier.error(error)

        self.screen.show_waiting()
        self._discover().get_offer(offer, lambda _: None, failed)

    def _take(self, download: Download, entry: ModelEntry | None) -> None:
        """Begin the chat with the offered model, unless the user is busy elsewhere."""
        offer = self.screen.offer
        if offer is None or entry is None or download.wanted.repo != offer.repo:
            return

        def begin() -> None:
            is_idle = self._page.isVisible() and self._page.chat_id is None
            if is_idle and self._chooser.usual == STARTER:
                self._chat_with(entry.id)

        self._models.look(begin)
