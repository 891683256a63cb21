"""The three recommended models side by side, or a text in their place."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from app.base.language import translated
from app.kit.look.scale import scaled
from app.kit.widgets.emptying import empty
from app.kit.widgets.label import Label
from app.kit.widgets.problem_card import ProblemCard
from app.models.discover.pages.offer_button import OfferButton
from app.models.discover.pages.offer_card import OfferCard
from app.models.discover.values.offers import Offers
from app.models.downloads.values.downloads import Download
from app.models.library.values.entry import ModelEntry
from engines.errors import UserError

_NARROW = 640
"""The width in pixels below which two cards no longer stand side by side."""


class OffersArea(QWidget):
    """The recommended models.

    Signals:
        get: The Offer to download, and whether to include the projector.
        use: The id of a model on this computer.
        details: The Offer whose repository to open.
        again: The user wants to check this computer again.
    """

    get = Signal(object, bool)
    use = Signal(str)
    details = Signal(object)
    again = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("offers")
        self._cards: list[OfferCard] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(12)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(12)
        self._downloads: Sequence[Download] = ()
        self._entries: Sequence[ModelEntry] = ()
        self.show_looking()

    def show_looking(self) -> None:
        """Show that this computer is being checked."""
        self._clear()
        self._column.addWidget(
            Label(self.tr("Checking what this computer can run…"), "muted", name="offersWait")
        )

    def show_offers(self, offers: Offers) -> None:
        """Replace the cards; ticked projectors of the same repositories stay ticked."""
        ticked = {card.offer.repo for card in self._cards if card.pictures}
        self._clear()
        self._cards = [OfferCard(offer) for offer in offers.offers]
        for card in self._cards:
            card.tick_pictures(card.offer.repo in ticked)
            card.get.connect(self.get)
            card.use.connect(self.use)
            card.more.connect(self.details)
        if self._cards:
            self._column.addWidget(self._cards[0])
        if self._cards[1:]:
            self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
            self._row.setSpacing(12)
            for card in self._cards[1:]:
                self._row.addWidget(card, 1)
            self._column.addLayout(self._row)
        if offers.note:
            self._column.addWidget(
                Label(translated(offers.note), "small", name="offersNote", wrap=True)
            )
        self.show_entries(self._entries)
        self.show_downloads(self._downloads)
        self._arrange(self.width())

    def show_problem(self, error: UserError) -> None:
        """Show why there are no recommendations, with a button to try again."""
        self._clear()
        card = ProblemCard(error, (("offersAgain", "again", self.tr("Try again")),))
        card.acted.connect(lambda _: self.again.emit())
        self._column.addWidget(card)

    def show_entries(self, entries: Sequence[ModelEntry]) -> None:
        """Show on each card whether its model is among these, which are on this computer."""
        self._entries = entries
        for card in self._cards:
            card.button.show_entries(entries)

    def show_downloads(self, downloads: Sequence[Download]) -> None:
        """Show on each card the download of its model."""
        self._downloads = downloads
        for card in self._cards:
            card.button.show_downloads(downloads)

    def buttons_of(self, repo: str, label: str) -> list[OfferButton]:
        """Return the button of a model's card, if there is one."""
        wanted = (repo, label)
        return [c.button for c in self._cards if (c.offer.repo, c.offer.label) == wanted]

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the alternatives below each other if they do not fit side by side."""
        super().resizeEvent(event)
        self._arrange(event.size().width())

    def _arrange(self, width: int) -> None:
        direction = QBoxLayout.Direction
        narrow = width < scaled(_NARROW)
        self._row.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)

    def _clear(self) -> None:
        self._cards = []
        empty(self._column)
