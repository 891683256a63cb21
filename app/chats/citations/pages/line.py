"""The line under an answer that sums up its checked quotes."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.chats.citations.pages.words import given_words, summary
from app.documents.citations.values import CheckedAnswer
from app.kit.look.theme import Tone
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton


class CitationLine(FlowRow):
    """The summary of an answer's checked quotes.

    Args:
        checked: The checked answer.
        shows_uncited: Whether sentences without a quote are marked.

    Signals:
        all(): The user wants the list of the quotes.
        given(): The user wants the list of the passages that the model was given.
        uncited(shown): The user wants sentences without a quote to be marked in all answers, or
            no longer marked.
    """

    all = Signal()
    given = Signal()
    uncited = Signal(bool)

    def __init__(
        self, checked: CheckedAnswer, *, shows_uncited: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent=parent)
        self.setObjectName("citationLine")
        words = summary(checked)
        if checked.citations:
            drawing, tone = _icon_and_tone(checked)
            button = LabelledButton(drawing, words, "showQuotes", look="link", tone=tone)
            button.setAccessibleName(self.tr("{words}. Show them.").format(words=words))
            button.clicked.connect(self.all)
            self.add(button)
        else:
            self.add(Label(words, "small", name="noQuotes"))
        if checked.given:
            passages = LabelledButton(
                "document", given_words(len(checked.given)), "showPassages", look="link"
            )
            passages.setToolTip(self.tr("Shows the parts of the files that the model was given."))
            passages.clicked.connect(self.given)
            self.add(passages)
        self._uncited = LabelledButton(
            "partly", self.tr("Sentences without a quote"), "showUncited", look="quiet"
        )
        self._uncited.setToolTip(self.tr("Marks the sentences that no quote backs."))
        self._uncited.setCheckable(True)
        self._uncited.setChecked(shows_uncited)
        self._uncited.toggled.connect(self.uncited)
        self.add(self._uncited)

    def show_uncited(self, shown: bool) -> None:
        """Set the switch after the user changed it under another answer."""
        self._uncited.setChecked(shown)


def _icon_and_tone(checked: CheckedAnswer) -> tuple[str, Tone]:
    if checked.count("not_found"):
        return "close", "danger"
    if checked.count("elsewhere"):
        return "elsewhere", "warn"
    return ("help", "muted") if checked.count("place_unchecked") else ("check", "good")
