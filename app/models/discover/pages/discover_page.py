"""The Discover page: recommendations, catalogue and search, then the page of one repository."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.base.errors import GatedRepository, TokenRefused
from app.kit.notify import Notifier
from app.models.discover.pages.discover_home import DiscoverHome
from app.models.discover.pages.offer_button import OfferButton
from app.models.discover.pages.repository_page import RepositoryPage
from app.models.discover.pages.token_question import TokenQuestion
from app.models.discover.presenters.discover import Discover
from app.models.discover.presenters.hub_token import HubToken
from app.models.discover.presenters.suggestions import Suggestions
from app.models.discover.values.offers import Choice, Offer, Offers, OpenedRepository
from app.models.downloads.pages.download_words import queued_words
from app.models.downloads.values.downloads import Download
from app.models.hub.values.hub import Query, SearchResult
from app.models.library.values.entry import ModelEntry
from engines.errors import UserError


class DiscoverPage(QStackedWidget):
    """The Discover page.

    Signals:
        use: The id of a model on this computer, to chat with.
        go_online: The user allows Hearth to reach the Hub.
    """

    use = Signal(str)
    go_online = Signal()

    def __init__(
        self,
        discover: Discover,
        suggestions: Suggestions,
        hub_token: HubToken,
        notifier: Notifier,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("discover")
        self._service = discover
        self._suggestions = suggestions
        self._notifier = notifier
        self._label = ""
        self.home = DiscoverHome()
        self.repository = RepositoryPage()
        self.addWidget(self.home)
        self.addWidget(self.repository)
        self._token = TokenQuestion(
            hub_token, lambda: self._service.page("settings/tokens"), notifier, self
        )
        self._connect()
        if self._suggestions.last_offers is not None:
            self._show_offers(self._suggestions.last_offers)

    def showEvent(self, event: QShowEvent) -> None:
        """Recommend models again if the last recommendation is old; mark all models as seen."""
        super().showEvent(event)
        self._suggestions.recommend_again()
        self._suggestions.mark_seen()

    def set_offline(self, offline: bool, *, for_good: bool = False) -> None:
        """Disable search and downloads while offline.

        Args:
            for_good: Whether Hearth stays offline as long as it runs.
        """
        self.home.set_offline(offline, for_good=for_good)

    def show_entries(self, entries: Sequence[ModelEntry]) -> None:
        """Show on the cards which models are on this computer."""
        self.home.offers.show_entries(entries)
        self.home.catalogue.show_entries(entries)

    def show_downloads(self, downloads: Sequence[Download]) -> None:
        """Show the downloads on the cards and on the repository's page."""
        self.home.offers.show_downloads(downloads)
        self.home.catalogue.show_downloads(downloads)
        self.repository.show_downloads(downloads)

    def open(self, repo: str, label: str = "") -> None:
        """Open a repository.

        Args:
            label: The quantisation to choose first; "" means the recommended one.
        """
        self._label = label
        self.setCurrentWidget(self.repository)
        self.repository.show_opening(repo)
        self.repository.focus()
        self._service.open(repo, self._opened, self._notifier.error_handler(self._not_opened))

    def get_offer(self, offer: Offer, pictures: bool) -> None:
        """Download a recommended model.

        Args:
            pictures: Whether to include its projector.
        """
        for button in self._buttons_of(offer.repo, offer.label):
            button.show_waiting()
        self._service.get_offer(
            offer,
            self._queued,
            lambda error: self._not_queued(offer.repo, offer.label, error),
            projector=pictures,
        )

    def _connect(self) -> None:
        home, page = self.home, self.repository
        home.offers.get.connect(self.get_offer)
        home.offers.use.connect(self.use)
        home.catalogue.use.connect(self.use)
        home.offers.details.connect(lambda offer: self.open(offer.repo, offer.label))
        home.offers.again.connect(self._recommend)
        home.catalogue.get.connect(lambda offer: self.get_offer(offer, pictures=False))
        home.catalogue.details.connect(lambda offer: self.open(offer.repo, offer.label))
        home.bar.search.connect(self._search)
        home.results.again.connect(home.bar.search_now)
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
        self._token.saved.connect(lambda: self.open(page.repo, self._label))
        suggestions = self._suggestions
        suggestions.offered.connect(self._show_offers)
        suggestions.failed.connect(home.offers.show_problem)
        suggestions.crashed.connect(self._notifier.error)

    def _buttons_of(self, repo: str, label: str) -> list[OfferButton]:
        """Return the buttons of a model: among the suggestions and in the catalogue."""
        home = self.home
        return [*home.offers.buttons_of(repo, label), *home.catalogue.buttons_of(repo, label)]

    def _recommend(self) -> None:
        self.home.offers.show_looking()
        self._suggestions.recommend()

    def _show_offers(self, offers: Offers) -> None:
        """Show the recommendations and the catalogue; a search below them stays in view."""
        self.home.offers.show_offers(offers)
        self.home.catalogue.show_models(offers.listed)
        if self.isVisible():
            self._suggestions.mark_seen()
        if self.home.bar.words.text():
            self.home.show_search()

    def _search(self, query: Query, fits: bool) -> None:
        home = self.home

        def show_results(results: Sequence[SearchResult]) -> None:
            home.results.show_results(results)
            home.show_search()

        def show_error(error: UserError) -> None:
            home.results.show_problem(error)
            home.show_search()

        home.results.show_searching()
        failed = self._notifier.error_handler(show_error)
        self._service.search(query, fits=fits, done=show_results, failed=failed)

    def _go_back(self) -> None:
        self.setCurrentWidget(self.home)
        if not self.home.results.focus(self.repository.repo):
            self.home.bar.words.setFocus()

    def _opened(self, opened: OpenedRepository) -> None:
        repo = opened.repository.id
        if repo == self.repository.repo:
            self.repository.show_opened(opened, label=self._label)
        self._service.card(
            opened,
            lambda text: self.repository.show_card(repo, text),
            self._notifier.error_handler(lambda _: self.repository.show_card(repo, "")),
        )

    def _not_opened(self, error: UserError) -> None:
        gated = isinstance(error, GatedRepository | TokenRefused)
        self.repository.show_problem(error, gated=gated)

    def _judge(self, choice: Choice) -> None:
        self._label = choice.variant.label
        opened, page = self.repository.opened, self.repository
        if opened is None:
            return
        repo, label = opened.repository.id, choice.variant.label
        failed = self._notifier.error_handler(
            lambda error: page.show_not_judged(repo, label, error)
        )
        self._service.judge(opened, choice, page.show_judged, failed)

    def _get(self, choice: Choice, projector: bool) -> None:
        opened = self.repository.opened
        if opened is None:
            return
        repo, label = opened.repository.id, choice.variant.label
        self.repository.show_waiting()
        self._service.get(
            opened,
            choice,
            self._queued,
            lambda error: self._not_queued(repo, label, error),
            projector=projector,
        )

    def _open_page(self) -> None:
        self._notifier.offer_to_open(self._service.page(self.repository.repo))

    def _queued(self, download: Download) -> None:
        self._notifier.say(queued_words(download))

    def _not_queued(self, repo: str, label: str, error: Exception) -> None:
        for button in self._buttons_of(repo, label):
            button.show_downloads(())
        self.repository.show_not_queued(repo, label)
        self._notifier.error(error)
