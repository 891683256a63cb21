"""The models of the catalogue as cards, narrowed down by purpose."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from app.kit.look.scale import scaled
from app.kit.widgets.chip import Chip
from app.kit.widgets.emptying import empty
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.layouts import at_start, column
from app.models.discover.pages.catalogue_card import CatalogueCard
from app.models.discover.pages.offer_button import OfferButton
from app.models.discover.pages.words import purpose_word
from app.models.discover.values.offers import CatalogueModel, ModelPurpose
from app.models.downloads.values.downloads import Download
from app.models.library.values.entry import ModelEntry

_PURPOSES: tuple[ModelPurpose, ...] = ("everyday", "code", "sees", "small", "long")
_FIRST = 6
"""How many cards are shown before the user asks for all of them."""
_NARROW = 640
"""The width in pixels below which two cards no longer stand side by side."""


class CatalogueArea(QWidget):
    """The models of the catalogue, hidden while there are none.

    Signals:
        get: The Offer to download.
        use: The id of a model on this computer.
        details: The Offer whose repository to open.
    """

    get = Signal(object)
    use = Signal(str)
    details = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("catalogue")
        self._models: Sequence[CatalogueModel] = ()
        self._downloads: Sequence[Download] = ()
        self._entries: Sequence[ModelEntry] = ()
        self._cards: list[CatalogueCard] = []
        self._has_room = True
        self._shows_all = False
        self._new = Chip(self.tr("New since your last look"), "listedNew")
        self._purposes = {
            purpose: Chip(purpose_word(purpose), f"purpose-{purpose}") for purpose in _PURPOSES
        }
        self._fits = Chip(self.tr("Fits this computer"), "listedFits", checked=True)
        chips = (self._new, *self._purposes.values(), self._fits)
        for chip in chips:
            chip.toggled.connect(self._show)
        self._count = Label("", "group", name="listedCount")
        self._grid = QGridLayout()
        self._grid.setSpacing(12)
        self._all = LabelledButton("", self.tr("Show all"), "listedAll", look="link")
        self._all.clicked.connect(self._show_all)
        self.setLayout(
            column(
                Label(self.tr("Models by purpose"), "strong"),
                FlowRow(*chips),
                self._count,
                self._grid,
                at_start(self._all),
                spacing=12,
            )
        )
        self.hide()

    def show_models(self, models: Sequence[CatalogueModel]) -> None:
        """Show the cards of other models, or the same ones with other verdicts."""
        if models == self._models:
            return
        self._models = models
        self._new.setHidden(not any(model.is_new for model in models))
        for purpose, chip in self._purposes.items():
            chip.setHidden(not any(purpose in model.purposes for model in models))
        self.setHidden(not models)
        self._show()

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
        """Put the cards below each other if they do not fit side by side."""
        super().resizeEvent(event)
        has_room = event.size().width() >= scaled(_NARROW)
        if has_room != self._has_room:
            self._has_room = has_room
            self._place()

    def _show(self) -> None:
        """Make the cards of the models that pass the filters."""
        found = [model for model in self._models if self._passes(model)]
        shown = found if self._shows_all else found[:_FIRST]
        empty(self._grid)
        self._cards = [CatalogueCard(model) for model in shown]
        for card in self._cards:
            card.get.connect(self.get)
            card.use.connect(self.use)
            card.details.connect(self.details)
        self._place()
        self._count.setText(self._words(len(found)))
        self._all.redraw("", self.tr("Show all {count}").format(count=len(found)))
        self._all.setHidden(len(shown) == len(found))
        self.show_entries(self._entries)
        self.show_downloads(self._downloads)
        buttons = (button for card in self._cards for button in (card.title, card.button))
        for button, following in pairwise((self._fits, *buttons, self._all)):
            QWidget.setTabOrder(button, following)

    def _passes(self, model: CatalogueModel) -> bool:
        chosen = [purpose for purpose, chip in self._purposes.items() if chip.isChecked()]
        return (
            set(chosen) <= set(model.purposes)
            and (model.offer.fits != "no" or not self._fits.isChecked())
            and (model.is_new or not self._new.isChecked())
        )

    def _words(self, found: int) -> str:
        if not found:
            return self.tr("No model matches. Turn a filter off.")
        words = self.tr("{found} of {count} models")
        return words.format(found=found, count=len(self._models))

    def _show_all(self) -> None:
        """Show all cards, and move the focus to the first that was not shown before."""
        before = len(self._cards)
        self._shows_all = True
        self._show()
        self._cards[before].title.setFocus()

    def _place(self) -> None:
        """Put the cards into one column or two."""
        columns = 2 if self._has_room else 1
        for at in range(2):
            self._grid.setColumnStretch(at, int(at < columns))
        for at, card in enumerate(self._cards):
            self._grid.addWidget(card, at // columns, at % columns)
