"""The first screen: the model that suits this computer, and a smaller way to try the guide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.base.language import translated
from app.chats.welcome.pages.first_offer import FirstOffer
from app.kit.look.scale import scaled
from app.kit.look.theme import COLUMN, GRID
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.emptying import empty
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.picture import Picture

if TYPE_CHECKING:
    from app.models.discover.values.offers import Offer, Offers
    from app.models.downloads.values.downloads import Download
    from app.models.library.values.entry import ModelEntry
    from engines.errors import UserError

_LEAST_FOR_FLAME = 460
"""The height in pixels below which the flame is hidden, to leave room for the model."""


class FirstScreen(PartPage):
    """The page that a new user sees instead of an empty chat.

    Signals:
        get(offer): The user wants the offered model.
        use(id): The user wants to chat with the offered model, which is on this computer.
        guide(): The user wants to try the guide.
    """

    get = Signal(object)
    use = Signal(str)
    guide = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("firstScreen", width=COLUMN - 18 * GRID, parent=parent)
        column = self.column
        column.addStretch(1)
        self._flame = Picture("flame", "accent_text", 44)
        column.addWidget(self._flame, 0, Qt.AlignmentFlag.AlignHCenter)
        sentence = self.tr("Chat with an AI that stays on this computer.")
        self.setAccessibleName(sentence)  # the page itself has the focus at first
        title = Label(sentence, "display", name="firstSentence", wrap=True)
        title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        title.setContentsMargins(0, 0, 0, GRID)
        column.addWidget(title)
        self._words = Label("", "muted", name="firstWords", wrap=True)
        self._words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(self._words)
        self._place = QVBoxLayout()
        column.addLayout(self._place)
        self._guide = LabelledButton(
            "chat", self.tr("Try the small guide that comes with Hearth"), "tryGuide", look="quiet"
        )
        self._guide.clicked.connect(self.guide)
        column.addWidget(self._guide, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(2)
        self._card: FirstOffer | None = None
        self._downloads: Sequence[Download] = ()
        self._entries: Sequence[ModelEntry] = ()
        self._show_words(self.tr("Looking for a model for this computer…"))
        # It comes with the model, so that nothing moves under the mouse.
        self._guide.hide()

    @property
    def offer(self) -> Offer | None:
        """The model that is offered; None if there is none."""
        return None if self._card is None else self._card.offer

    def show_offers(self, offers: Offers) -> None:
        """Offer the first recommended model, or say why there is none."""
        empty(self._place)
        self._card = None
        if offers.offers:
            card = self._card = FirstOffer(offers.offers[0])
            card.get.connect(self.get)
            card.use.connect(self.use)
            self._place.addWidget(card)
            self.setTabOrder(card.button, self._guide)
            self._refresh()
        self._show_words("" if offers.offers else translated(offers.note))
        self._guide.show()

    def show_problem(self, error: UserError) -> None:
        """Say why no model can be recommended."""
        empty(self._place)
        self._card = None
        parts = (error.what, error.why, error.do)
        self._show_words(" ".join(translated(part) for part in parts))
        self._guide.show()

    def show_downloads(self, downloads: Sequence[Download]) -> None:
        """Show the progress of the offered model's download."""
        self._downloads = downloads
        self._refresh()

    def show_models(self, entries: Sequence[ModelEntry]) -> None:
        """Offer to chat with the offered model if it is among these models."""
        self._entries = entries
        self._refresh()

    def show_waiting(self) -> None:
        """Show that the download was requested and is not in the queue yet."""
        if self._card is not None:
            self._card.show_waiting()

    def show_not_queued(self) -> None:
        """Show the offer again after its download could not be queued."""
        self._refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the flame in a low window."""
        super().resizeEvent(event)
        self._flame.setVisible(event.size().height() >= scaled(_LEAST_FOR_FLAME))

    def _refresh(self) -> None:
        if self._card is not None:
            self._card.show_state(self._downloads, self._entries)

    def _show_words(self, words: str) -> None:
        self._words.setText(words)
        self._words.setVisible(bool(words))
