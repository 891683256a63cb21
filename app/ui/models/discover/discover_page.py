"""Discovering models: recommendations and search first, then the page of one repository."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core.errors import GatedRepository, TokenRefused
from app.core.models.downloads import Download
from app.core.models.hub import Query
from app.core.models.offers import Choice, Offer, Opened
from app.core.models.wanted import name_of
from app.presenters.window import WindowServices
from app.ui.models.discover.discover_home import DiscoverHome
from app.ui.models.discover.repository_page import RepositoryPage
from app.ui.models.discover.token_question import TokenQuestion
from app.ui.notify import Notifier
from engines.errors import UserError


class DiscoverPage(QStackedWidget):
    """go_online(): the user wants Hearth to reach the Hub."""

    go_online = Signal()

    def __init__(
        self, services: WindowServices, notifier: Notifier, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("discover")
        self._service = services.discover
        self._suggestions = services.suggestions
        self._notifier = notifier
        self._label = ""
        self.home = DiscoverHome()
        self.repository = RepositoryPage()
        self.addWidget(self.home)
        self.addWidget(self.repository)
        self._token = TokenQuestion(
            services.hub_token, lambda: self._service.page("settings/tokens"), notifier, self
        )
        self._connect()
        if self._suggestions.told is not None:
            self.home.offers.show_offers(self._suggestions.told)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._suggestions.recommend_again()

    def set_offline(self, offline: bool, *, for_good: bool = False) -> None:
        """Whether neither search nor download is possible. for_good: as long as Hearth runs."""
        self.home.set_offline(offline, for_good=for_good)
        if offline:
            self._suggestions.look_at_families()

    def show_downloads(self, downloads: Sequence[Download]) -> None:
        self.home.offers.show_downloads(downloads)
        self.repository.show_downloads(downloads)

    def open(self, repo: str, label: str = "") -> None:
        """Open a repository; label: the quantisation to choose first."""
        self._label = label
        self.setCurrentWidget(self.repository)
        self.repository.show_opening(repo)
        self.repository.focus()
        self._service.open(repo)

    def get_offer(self, offer: Offer) -> None:
        card = self.home.offers.card_of(offer.repo, offer.label)
        if card is not None:
            card.show_waiting()
        self._service.get_offer(offer)

    def _connect(self) -> None:
        service, home, page = self._service, self.home, self.repository
        home.offers.get.connect(self.get_offer)
        home.offers.details.connect(lambda offer: self.open(offer.repo, offer.label))
        home.offers.again.connect(self._recommend)
        home.bar.search.connect(self._search)
        home.results.again.connect(home.bar.ask)
        home.results.widen.connect(home.bar.drop_filters)
        home.results.opened.connect(self.open)
        home.go_online.connect(self.go_online)
        page.back.connect(self._go_back)
        page.chosen.connect(self._judge)
        page.get.connect(self._get)
        page.again.connect(lambda repo: self.open(repo, self._label))
        page.page.connect(self._open_page)
        page.link.connect(self._notifier.offer_to_open)
        page.token.connect(self._token.ask)
        self._token.kept.connect(lambda: self.open(page.repo, self._label))
        suggestions = self._suggestions
        suggestions.offered.connect(home.offers.show_offers)
        suggestions.families.connect(home.show_families)
        suggestions.failed.connect(home.offers.show_problem)
        suggestions.crashed.connect(self._notifier.error)
        service.found.connect(home.results.show_found)
        service.not_found.connect(home.results.show_problem)
        service.found.connect(home.show_search)
        service.not_found.connect(home.show_search)
        service.opened.connect(self._opened)
        service.not_opened.connect(self._not_opened)
        service.card.connect(page.show_card)
        service.judged.connect(page.show_judged)
        service.not_judged.connect(page.show_not_judged)
        service.queued.connect(self._queued)
        service.not_queued.connect(self._not_queued)
        service.crashed.connect(self._notifier.error)

    def _recommend(self) -> None:
        self.home.offers.show_looking()
        self._suggestions.recommend()

    def _search(self, query: Query, fits: bool) -> None:
        self.home.results.show_searching()
        self._service.search(query, fits=fits)

    def _go_back(self) -> None:
        self.setCurrentWidget(self.home)
        if not self.home.results.focus(self.repository.repo):
            self.home.bar.words.setFocus()

    def _opened(self, opened: Opened) -> None:
        if opened.repository.id == self.repository.repo:
            self.repository.show_opened(opened, label=self._label)

    def _not_opened(self, error: UserError) -> None:
        gated = isinstance(error, GatedRepository | TokenRefused)
        self.repository.show_problem(error, gated=gated)

    def _judge(self, choice: Choice) -> None:
        self._label = choice.variant.label
        if self.repository.opened is not None:
            self._service.judge(self.repository.opened, choice)

    def _get(self, choice: Choice) -> None:
        if self.repository.opened is not None:
            self.repository.show_waiting()
            self._service.get(self.repository.opened, choice)

    def _open_page(self) -> None:
        self._notifier.offer_to_open(self._service.page(self.repository.repo))

    def _queued(self, download: Download) -> None:
        text = self.tr("{0} is among the downloads now.")
        self._notifier.say(text.format(name_of(download.wanted)))

    def _not_queued(self, repo: str, label: str, error: UserError) -> None:
        card = self.home.offers.card_of(repo, label)
        if card is not None:
            card.show_download(None)
        self.repository.show_not_queued(repo, label)
        self._notifier.error(error)
