"""The welcome in a chat without messages: an offer of a model at first, a question later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.kit.look.scale import scaled
from app.kit.look.theme import COLUMN, GRID
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.emptying import empty
from app.kit.widgets.label import Label
from app.kit.widgets.picture import Picture
from app.kit.widgets.row_button import RowButton
from app.models.pages.computer_card import ComputerCard

if TYPE_CHECKING:
    from app.chats.history.values.first_questions import QuestionKind
    from app.models.discover.pages.offer_card import OfferCard
    from app.models.discover.values.offers import Offer, Offers
    from app.models.downloads.values.downloads import Download
    from app.models.presenters import SystemCheck


_LEAST_FOR_FLAME = 320
"""The height in pixels below which the flame is hidden, to leave room for the text."""

GUIDE_QUESTIONS: Final = (
    "What can you do?",
    "How do I get a bigger model?",
    "Where are my chats kept?",
)
"""The questions that the suggestions send to the guide, which understands only English."""


class Welcome(PartPage):
    """The welcome in a chat without messages.

    Signals:
        suggested(question): The user clicked a suggested question.
        get(offer, pictures): The user wants the recommended model; `pictures` is whether with its
            projector, so that it accepts pictures.
        choose(): The user wants to choose another model.
    """

    suggested = Signal(str)
    get = Signal(object, bool)
    choose = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("welcome", width=COLUMN - 12 * GRID, parent=parent)
        column = self.column
        self._head = QWidget()
        column.addWidget(self._head)
        self._flame = Picture("flame", "accent_text", 44)
        column.addWidget(self._flame, 0, Qt.AlignmentFlag.AlignHCenter)
        self._title = Label("", "display", name="welcomeTitle", wrap=True)
        self._title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(self._title)
        self._promise = Label(
            self.tr("Private: questions and answers stay on this computer."),
            "muted",
            name="promise",
            wrap=True,
        )
        self._promise.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._promise.setContentsMargins(0, 0, 0, GRID)
        column.addWidget(self._promise)
        self._first = self._guide = True
        self._offer: OfferCard | None = None
        self._downloads: Sequence[Download] = ()
        self._first_of_all = QVBoxLayout()
        column.addLayout(self._first_of_all)
        self._kind: QuestionKind | None = None
        self._suggestions = QVBoxLayout()
        self._suggestions.setSpacing(GRID)
        column.addLayout(self._suggestions)
        # The offer, which comes later, is below the questions, which must not move under the mouse.
        self._offer_place = QVBoxLayout()
        column.addLayout(self._offer_place)
        self._computer = ComputerCard()
        column.addWidget(self._computer)
        column.addStretch(3)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adapt the space above the headline to the height."""
        super().resizeEvent(event)
        # A share of the page, not of the free room, so that later widgets move nothing above them.
        self._head.setFixedHeight(event.size().height() // 10)
        self._flame.setVisible(event.size().height() >= scaled(_LEAST_FOR_FLAME))

    @property
    def shows_computer(self) -> bool:
        """True if the card about this computer is shown."""
        return self._first

    @property
    def shows_offer(self) -> bool:
        """True if a model can be offered."""
        return self._first and self._guide

    def put_first(self, widget: QWidget) -> None:
        """Show a widget under the headline, above everything else."""
        self._first_of_all.addWidget(widget)

    def set_first(self, first: bool) -> None:
        """Set whether the user has no chats yet."""
        if first:
            self._title.setText(self.tr("Welcome to Hearth"))
        else:
            self._title.setText(self.tr("What would you like to talk about?"))
        self.column.setStretch(0, 0 if first else 2)
        self._promise.setVisible(first)
        self._computer.setVisible(first)
        self._first = first
        self._show_offer()

    def set_guide(self, guide: bool) -> None:
        """Set whether the built-in guide answers; then a larger model is offered."""
        self._guide = guide
        self._show_offer()

    def suggest(self, kind: QuestionKind | None) -> None:
        """Show example questions that suit the model; None shows none."""
        if kind == self._kind:
            return
        self._kind = kind
        empty(self._suggestions)
        if kind is None:
            return
        guide = kind == "guide"
        self._suggestions.addWidget(
            Label(self.tr("Ask the guide") if guide else self.tr("For example"), "group")
        )
        questions = self._questions(kind)
        sent_questions = GUIDE_QUESTIONS if guide else questions
        for number, (question, sent) in enumerate(
            zip(questions, sent_questions, strict=True), start=1
        ):
            button = RowButton(
                f"suggestion{number}", self.tr("Ask: {question}").format(question=question)
            )
            button.setProperty("look", "suggestion")
            button.setToolTip(question)
            button.box.addWidget(ElidedLabel(question, name=f"question{number}"))
            button.let_clicks_through()
            button.clicked.connect(lambda _=False, sent=sent: self.suggested.emit(sent))
            self._suggestions.addWidget(button)

    def show_offers(self, offers: Offers) -> None:
        """Offer the first recommended model; nothing is downloaded automatically."""
        old_card, self._offer = self._offer, None
        empty(self._offer_place)
        if offers.offers:
            from app.models.discover.pages.offer_card import OfferCard

            card = OfferCard(
                offers.offers[0], self.tr("This computer can run"), self.tr("Choose another")
            )
            if old_card is not None and old_card.offer.repo == card.offer.repo:
                card.tick_pictures(old_card.pictures)
            card.get.connect(self._get)
            card.more.connect(self.choose)
            self._offer_place.addWidget(card)
            self._offer = card
            self.show_downloads(self._downloads)
        self._show_offer()

    def show_downloads(self, downloads: Sequence[Download]) -> None:
        """Show the progress of the offered model's download."""
        self._downloads = downloads
        if self._offer is not None:
            from app.models.downloads.values.requests import download_of

            offer = self._offer.offer
            self._offer.show_download(download_of(downloads, offer.repo, offer.label))

    def show_not_queued(self) -> None:
        """Show the offer again after its download could not be queued."""
        self.show_downloads(self._downloads)

    def show_check(self, check: SystemCheck) -> None:
        """Show the result of the check of this computer."""
        self._computer.show_check(check)

    def show_check_failed(self) -> None:
        """Show that this computer could not be checked."""
        self._computer.show_failure()

    def _get(self, offer: Offer, pictures: bool) -> None:
        if self._offer is not None:
            self._offer.show_waiting()
        self.get.emit(offer, pictures)

    def _show_offer(self) -> None:
        """Show the offer until there is a model besides the guide."""
        if self._offer is not None:
            self._offer.setVisible(self.shows_offer)

    def _questions(self, kind: QuestionKind) -> tuple[str, ...]:
        return {
            "guide": (
                self.tr("What can you do?"),
                self.tr("How do I get a bigger model?"),
                self.tr("Where are my chats kept?"),
            ),
            "documents": (
                self.tr("What are these documents about?"),
                self.tr("Which dates and deadlines do they name?"),
                self.tr("What matters most in them? Quote it"),
            ),
            "code": (
                self.tr("Write a Python script that sorts photos by date"),
                self.tr("What should I test in a sign-in form?"),
                self.tr("When do I merge in git, and when rebase?"),
            ),
            "thinking": (
                self.tr("Three switches, one lamp next door: which is it?"),
                self.tr("Plan five days in Vienna for two, under 900 euros"),
                self.tr("Rent or buy: what should I work out before I decide?"),
            ),
            "general": (
                self.tr("Write a friendly reminder of an unpaid invoice"),
                self.tr("Explain inflation as you would to a twelve-year-old"),
                self.tr("What can I cook with eggs, spinach and rice?"),
            ),
        }[kind]
