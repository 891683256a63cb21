"""The card with the passages of files that the model was given; each opens at its place."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.chats.citations.pages.words import given_words, passage_place
from app.documents.citations.values import GivenPassage
from app.kit.look.format import shortened
from app.kit.widgets.label import Label
from app.kit.widgets.picture import Picture
from app.kit.widgets.popover import Popover, fit_words
from app.kit.widgets.row_button import RowButton

_WIDTH = 290
"""The width of a passage in pixels."""
_LONGEST = 120


class PassageCard(Popover):
    """The card with the passages.

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
        place, text = passage_place(passage), shortened(passage.text, _LONGEST)
        row = RowButton(f"passage{number}", f"{place}. {text}")
        row.box.setContentsMargins(8, 8, 8, 8)
        row.box.addWidget(Picture("document", "muted", 18), 0, Qt.AlignmentFlag.AlignTop)
        texts = QVBoxLayout()
        texts.setSpacing(4)
        for words, style in ((place, ""), (text, "muted")):
            if words:
                label = Label(words, style, wrap=True)
                fit_words(label, _WIDTH)
                texts.addWidget(label)
        row.box.addLayout(texts, 1)
        row.let_clicks_through()
        row.clicked.connect(lambda: self._choose(passage))
        return row

    def _choose(self, passage: GivenPassage) -> None:
        self.close()
        self.chosen.emit(passage)
