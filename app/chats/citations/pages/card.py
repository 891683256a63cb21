"""The card with an answer's quotes, each with its verdict and its place."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.chats.citations.pages.words import summary, verdict
from app.documents.citations.values import CheckedAnswer, Citation
from app.kit.text.formats import VERDICTS
from app.kit.widgets.label import Label
from app.kit.widgets.picture import Picture
from app.kit.widgets.popover import Popover, fit_words
from app.kit.widgets.row_button import RowButton

_WIDTH = 290
"""The width of a quote and its verdict in pixels."""
_LONGEST = 200
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
        if len(quote) > _LONGEST:
            quote = quote[:_LONGEST].rstrip() + "…"
        sentence = verdict(citation, self._checked)
        row = RowButton(f"quote{number}", f"“{quote}” {sentence}")
        row.box.setContentsMargins(8, 8, 8, 8)
        drawing, tone = VERDICTS[citation.verdict]
        row.box.addWidget(Picture(drawing, tone, 18), 0, Qt.AlignmentFlag.AlignTop)
        texts = QVBoxLayout()
        texts.setSpacing(4)
        hash_line = ""
        if citation.document:
            hash_line = self.tr("SHA-256 {document}…").format(document=citation.document[:_HASH])
        for words, style in ((f"“{quote}”", ""), (sentence, "muted"), (hash_line, "small")):
            if words:
                label = Label(words, style, wrap=True)
                fit_words(label, _WIDTH)
                texts.addWidget(label)
        row.box.addLayout(texts, 1)
        row.let_clicks_through()
        if citation.document:
            row.clicked.connect(lambda: self._choose(number))
        else:
            row.setCursor(Qt.CursorShape.ArrowCursor)
        return row

    def _choose(self, number: int) -> None:
        self.close()
        self.chosen.emit(number)
