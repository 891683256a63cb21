"""The cards with an answer's quotes and with the passages that the model was given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.chats.citations.pages.words import given_words, passage_place, summary, verdict
from app.documents.citations.values import CheckedAnswer, Citation, GivenPassage
from app.kit.look.format import shortened
from app.kit.text.formats import VERDICTS
from app.kit.widgets.label import Label
from app.kit.widgets.picture import Picture
from app.kit.widgets.popover import Popover, fit_words
from app.kit.widgets.row_button import RowButton

_WIDTH = 290
"""The width of the words of a row in pixels."""
_LONGEST_QUOTE, _LONGEST_PASSAGE = 200, 120
"""The largest numbers of characters that are shown."""
_HASH = 12
"""The number of digits of a hash that are shown, enough to tell files apart."""


class CitationCard(Popover):
    """The card with an answer's quotes.

    Signals:
        chosen(number): The user wants to see the place of this quote. A quote that was not found
            has no place and cannot be chosen.
    """

    chosen = Signal(int)

    def __init__(self, checked: CheckedAnswer, parent: QWidget) -> None:
        super().__init__("citationCard", self.tr("Checked quotes"), parent)
        self._checked = checked
        self.card.box.addWidget(Label(summary(checked), "strong", name="citationTitle"))
        rows = [self._row(number, citation) for number, citation in enumerate(checked.citations, 1)]
        for row in rows:
            self.card.box.addWidget(row)
        if rows:
            rows[0].setFocus()

    def _row(self, number: int, citation: Citation) -> QWidget:
        quote = citation.quote
        if len(quote) > _LONGEST_QUOTE:
            quote = quote[:_LONGEST_QUOTE].rstrip() + "…"
        sentence = verdict(citation, self._checked)
        hash_line = ""
        if citation.document:
            hash_line = self.tr("SHA-256 {document}…").format(document=citation.document[:_HASH])
        lines = ((f"“{quote}”", ""), (sentence, "muted"), (hash_line, "small"))
        picture = Picture(*VERDICTS[citation.verdict], 18)
        row = _row(f"quote{number}", f"“{quote}” {sentence}", picture, lines)
        if citation.document:
            row.clicked.connect(lambda: self._choose(number))
        else:
            row.setCursor(Qt.CursorShape.ArrowCursor)
        return row

    def _choose(self, number: int) -> None:
        self.close()
        self.chosen.emit(number)


class PassageCard(Popover):
    """The card with the passages of files that the model was given.

    Signals:
        chosen(passage): The user wants to see this passage at its place.
    """

    chosen = Signal(object)

    def __init__(self, passages: Sequence[GivenPassage], parent: QWidget) -> None:
        super().__init__("passageCard", self.tr("Passages given to the model"), parent)
        title = Label(given_words(len(passages)), "strong", name="passageTitle")
        self.card.box.addWidget(title)
        rows = [self._row(number, passage) for number, passage in enumerate(passages, 1)]
        for row in rows:
            self.card.box.addWidget(row)
        rows[0].setFocus()

    def _row(self, number: int, passage: GivenPassage) -> QWidget:
        place, text = passage_place(passage), shortened(passage.text, _LONGEST_PASSAGE)
        picture = Picture("document", "muted", 18)
        lines = ((place, ""), (text, "muted"))
        row = _row(f"passage{number}", f"{place}. {text}", picture, lines)
        row.clicked.connect(lambda: self._choose(passage))
        return row

    def _choose(self, passage: GivenPassage) -> None:
        self.close()
        self.chosen.emit(passage)


def _row(name: str, spoken: str, picture: Picture, lines: Iterable[tuple[str, str]]) -> RowButton:
    """Return a row with a picture and lines of text.

    Args:
        name: The object name.
        spoken: The accessible name.
        lines: Each line with its look; empty ones are left out.
    """
    row = RowButton(name, spoken)
    row.box.setContentsMargins(8, 8, 8, 8)
    row.box.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
    texts = QVBoxLayout()
    texts.setSpacing(4)
    for words, look in lines:
        if words:
            label = Label(words, look, wrap=True)
            fit_words(label, _WIDTH)
            texts.addWidget(label)
    row.box.addLayout(texts, 1)
    row.let_clicks_through()
    return row
